"""A small archive that holds something of everything, for tests of damage and crashes."""

import time
from collections.abc import Iterable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3
from sqlalchemy import insert

import provenn
from provenn.archive import Archive
from provenn.catalogs import Catalog
from provenn.data import followed_exports, fragments, pins, run_records, tallies
from provenn.data.file_memory import FileMemory
from provenn.data.parquet_contents import read_parquet_contents
from provenn.database.tables import definers, leases, members, projects, tokens
from provenn.database.transactions import Database
from provenn.definitions import catalog_store
from provenn.files.data_folder import DataFolder
from provenn.files.hashing import FileHash, Stamp
from provenn.knowledge import counts, verified_keys
from provenn.people import audit_log, quotas

ROWS = 40


def write_stars(folder: Path) -> Path:
    """Write the file of a base catalog, unless it is there."""
    path = folder / "stars.parquet"
    if not path.exists():
        values = [number / 4 for number in range(ROWS)]
        pq.write_table(pa.table({"hip": list(range(ROWS)), "vmag": values, "plx": values}), path)
    return path


def play_store(
    database: Database, folder: DataFolder, catalog: Catalog, name: str, *, parts: int = 2, facts: Iterable[int] = ()
) -> fragments.Fragment:
    """Store all attributes of a catalog as Spark would; the values are played."""
    place = Path(folder.at("fragments", name))
    place.mkdir(parents=True)
    names = [attribute.name for attribute in catalog.schema.attributes]
    size = ROWS // 4  # two stored catalogs without common sources fit into the base
    for part in range(parts):
        numbers = list(range(part * size, (part + 1) * size))
        pq.write_table(pa.table(dict.fromkeys(names, numbers)), place / f"part-{part}.parquet")
    parquet_contents = read_parquet_contents(folder, f"fragments/{name}", 1)
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, catalog)
        counts.record_count(writing, catalog.digest, parquet_contents.rows)
        return fragments.register(
            *(writing, catalog, [(attribute.identity, attribute.name) for attribute in catalog.schema.attributes]),
            location=f"fragments/{name}",
            rows=parquet_contents.rows,
            files=parquet_contents.files,
            seconds=1.5,
            facts=list(facts),
        )


def remember_digest(database: Database, path: Path) -> None:
    """Remember the digest of a file as if it was read long after it was written: digests of new files are not kept."""
    started = time.time_ns() + 3600 * 10**9
    known = FileHash(blake3(path.read_bytes()).hexdigest(), Stamp.of(path.stat()), started)
    FileMemory(database).remember({str(path): known})


def fill(archive: Archive, folder: Path) -> None:
    """Put something of everything into an archive."""
    stars = archive.ingest("stars", write_stars(folder), key="hip", population="star")
    remember_digest(archive.context.database, folder / "stars.parquet")
    bright = stars.select("vmag < 6", name="bright")
    faint = stars.exclude(bright, name="faint")
    near = bright.select("plx > 1", name="near")
    archive.define(near.definition, "for a while")
    archive.name("faint", "for a while", move=True)
    archive.delete_name("for a while")
    archive.calculator("distance", sql={"dist_pc": "1000 / plx"})
    distant = near.derive(dist_pc="1000 / plx", name="distant")
    archive.prefer("dist_pc", "distance")
    archive.declare("nonempty(near)", reason="seen")
    archive.retract(archive.declare("nonempty(faint)", reason="thought").id, reason="not so sure")
    assert archive.prove("near <= stars").verdict == "holds"
    assert archive.prove("nonempty(bright)").verdict == "holds"
    database, store = archive.context.database, archive.context.workshop.folder
    (fact,) = [item.id for item in archive.facts()]
    play_store(database, store, distant.definition, "distant", facts=[fact])
    gone = play_store(database, store, faint.definition, "faint")
    with database.writing() as writing:
        fragments.drop(writing, gone.id, "tried")
        verified_keys.record_verification(writing, stars.digest, ROWS)
        tallies.keep_tally(writing, bright.digest, "overview", {"rows_read": 3})
        number = run_records.begin_run(writing, "distant", catalog=distant.digest)
        values = {"seconds": 1.0, "rows": 3, "reused": {"a": "b"}, "computed": ["c"], "fragments": [1], "saved": 2.0}
        run_records.end_run(writing, number, "done", **values)
        pins.pin_places(writing, ["fragments/distant"])
        audit_log.record_action(writing, "declare", "fact #1")
        quotas.change_quota(writing, "Ada", "stored", 10**12)
        quotas.add_download(writing, "Ada", date(2026, 1, 1), 5)
        request = followed_exports.ExportRequest("near", ("vmag",))
        export = followed_exports.FollowedExport(
            "/nowhere/near.fits", request, {}, near.digest, "", 3, "Ada", writing.when
        )
        followed_exports.record_export(writing, export)
        execute, when = writing.connection.execute, writing.when
        execute(insert(projects), {"name": "survey", "owner": "Ada", "created_at": when})
        execute(insert(members), {"project": "survey", "who": "Grace"})
        token = {"who": "Ada", "role": "reader", "digest": "a" * 64, "created_at": when, "created_by": "Ada"}
        execute(insert(tokens), token | {"expires_at": when, "used_at": when, "revoked_at": when})
        lease = {"holder": "elsewhere/1", "catalog": near.digest, "identities": '["a"]', "by": "Ada"}
        execute(insert(leases), lease | {"taken_at": when, "expires_at": when})
        if not writing.connection.scalar(definers.select()):
            execute(insert(definers), {"catalog": near.digest, "who": "Ada", "at": when})


def make_archive(folder: Path) -> None:
    """Make such an archive in a folder."""
    with provenn.open(folder, store=folder / "data", who="Ada") as archive:
        fill(archive, folder)
