"""A small archive with a catalog of every class, two populations, facts, a stored fragment, and odd names."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import provenn
from provenn.data import fragments, run_records
from provenn.data.parquet_contents import read_parquet_contents
from provenn.files.data_folder import DataFolder
from provenn.knowledge import observations
from provenn.logic import statement

__all__ = ["ODD", "STARS", "distance", "make_survey"]

STARS: dict[str, list[Any]] = {
    "hip": [1, 2, 3, 4, 5, 6],
    "vmag": [1.5, 5.9, 6.0, 11.0, None, 7.5],
    "plx": [100.0, 20.0, 5.0, 10.0, 1.0, None],
    "spect": ["A0", "G2V", None, "M5", "K1", "G8"],
}

ODD = (
    "<img src=x onerror=alert(1)>",
    "\"quoted\" & 'single'",
    "a/b/../c",
    "telescope \N{TELESCOPE}",
    "Robert'); DROP TABLE catalogs;--",
    "50% of ?x=1#y",
    "{{ 7 * 7 }}",
    "..",
)
"""Names that somebody may give, and that must do no harm anywhere."""


def distance(batch: Any) -> Any:
    """Return distances in parsec."""
    return batch.assign(dist_pc=1000 / batch.plx)[["dist_pc"]]


def make_survey(folder: Path) -> provenn.Archive:
    """Make the archive in a folder, and return it open; nothing is computed, and Spark is not started.

    ``stars`` is the base, ``galaxies`` one of another population. ``bright`` (stored), ``faint``, ``both``, ``rest``,
    ``tenth``, ``light``, ``renamed``, ``near``, ``far`` (by a function), ``wide`` and ``all`` are made from ``stars``,
    each of another class; a catalog without a name is there too. Four facts were declared, one of them retracted, one
    suspended by an observation.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(STARS), folder / "stars.parquet")
    pq.write_table(pa.table({"id": ["m31", "m51"], "z": [0.0, 0.0015]}), folder / "galaxies.parquet")
    archive = provenn.open(folder, who="ada", progress=False, notify=False)
    stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
    archive.ingest("galaxies", folder / "galaxies.parquet", key="id", population="galaxy")
    bright = stars.select("vmag < 6", name="bright")
    faint = stars.select("vmag >= 6", name="faint")
    tenth = stars.sample(0.1, seed=1, name="tenth")
    bright.restrict(tenth, name="both")
    stars.exclude(bright, name="rest")
    stars.keep("vmag", name="light")
    stars.rename(vmag="v", name="renamed")
    near = stars.derive(near="1000 / plx", name="near")
    far = archive.calculator("distance", distance, inputs=["plx"], outputs={"dist_pc": "double"})
    stars.derive(far, name="far")
    bright.combine(near, name="wide")
    bright.concat(faint, name="all")
    stars.select("plx > 5")
    for number, name in enumerate(ODD):
        stars.select(f"plx > {number + 10}", name=name)
    archive.name(archive["wide"], "bright", move=True)
    archive.name(bright, "bright", move=True)
    archive.name(bright, "naked eye")
    _learn(archive)
    _store(archive, bright)
    return archive


def _learn(archive: provenn.Archive) -> None:
    archive.declare("tenth <= faint", reason="made <b>so</b>")
    archive.retract(archive.declare("light <= faint", reason="a guess").id, reason="it was wrong")
    archive.declare("nonempty(bright)", reason="Sirius")
    archive.declare("empty(faint)", reason="nobody saw any")
    with archive.context.database.writing() as writing:
        observations.observe_fact(
            writing, statement(f"nonempty('{archive['faint'].digest}')"), "4 sources were counted"
        )


def _store(archive: provenn.Archive, catalog: provenn.Catalog) -> None:
    """Store a fragment by hand, and say that it was computed for a target."""
    folder = DataFolder.of(Path(archive.place).parent / "store")
    path = Path(folder.at("fragments", "one"))
    path.mkdir(parents=True)
    pq.write_table(pa.table({"hip": [1, 2], "vmag": [1.5, 5.9]}), path / "part.parquet")
    found = read_parquet_contents(folder, "fragments/one", 1)
    schema = catalog.definition.schema
    columns = [(schema[name].identity, name) for name in ("hip", "vmag")]
    with archive.context.database.writing() as writing:
        place: dict[str, Any] = {"location": "fragments/one", "rows": found.rows, "files": found.files}
        fragments.register(writing, catalog.definition, columns, seconds=2.5, **place)
        run = run_records.begin_run(writing, "vmag of bright", catalog=catalog.digest)
        run_records.end_run(writing, run, "done", seconds=2.5, rows=2, computed=[columns[1][0]])
