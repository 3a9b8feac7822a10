"""What is done while calls fail: the works of `tests.crashes` without Spark, and those that copy, write and ingest.

To add an operation, add a `Work` to `WORKS`: what is there before, and steps, each of which is done wholly or not at
all, and can be repeated after it failed. `observe` must show what it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

import provenn
from provenn.archive import Archive
from provenn.catalogs import Base
from provenn.data.given_tables import locate_table
from provenn.data.leftovers import open_writing_folder
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN
from provenn.spark.placing import check_target, publish
from provenn.transfer.importing import batched_writing
from tests import crashes
from tests.crashes import Work, opened

__all__ = ["WORKS", "leftovers", "observe"]

State = dict[str, Any]
COPIES = "copies"


def ingest_table(archive: Archive, _folder: Path, *, name: str, rows: int) -> None:
    """Ingest a table from memory."""
    table = pa.table({"id": list(range(rows)), "flux": [number / 8 for number in range(rows)]})
    archive.ingest(name, table, key="id", population="source")


def prepare_copies(folder: Path) -> None:
    """Make an archive with fragments and a table from memory, and a folder for copies of it."""
    crashes.stored(folder)
    with opened(folder) as archive:
        ingest_table(archive, folder, name="given", rows=30)
        archive.declare("nonempty(bright)")
    (folder / COPIES).mkdir()


def prepare_tables(folder: Path) -> None:
    """Make an archive that has a data folder."""
    crashes.survey(folder)


def write_parts(archive: Archive, folder: Path, *, name: str, rows: int, parts: int = 0) -> None:
    """Write a file, or a folder of parts, as `provenn.spark.writing` does; pyarrow has Spark's part."""
    del archive
    parent = DataFolder.of(folder / "out")
    check_target(parent, name, overwrite=True)
    with open_writing_folder(parent, name) as temporary, parent.open_filesystem(temporary) as (filesystem, path):
        table = pa.table({"hip": list(range(rows))})
        if parts:
            filesystem.create_dir(f"{path}/result")
        for number in range(parts):
            pq.write_table(table, f"{path}/result/part-{number}.parquet", filesystem=filesystem)
        if not parts:
            pq.write_table(table, f"{path}/result", filesystem=filesystem)
        publish(parent, temporary, name, overwrite=True)


def import_in_batches(archive: Archive, folder: Path) -> None:
    """Import a file of three definitions as if they were many: each is written in a transaction of its own."""
    with mock.patch.object(batched_writing, "LARGEST_BATCH", 2):
        archive.import_definitions(folder / "file.provenn")


WORKS: dict[str, Work] = {
    **{name: work for name, work in crashes.WORKS.items() if not work.spark},
    "ingest": Work(
        prepare_tables, [partial(ingest_table, name="given", rows=30), partial(ingest_table, name="more", rows=50)]
    ),
    "write": Work(
        prepare_tables,
        [
            partial(write_parts, name="a.parquet", rows=3),
            partial(write_parts, name="a.parquet", rows=5),
            partial(write_parts, name="b", rows=7, parts=2),
            partial(write_parts, name="b", rows=11, parts=2),
        ],
    ),
    "export": Work(
        prepare_copies,
        [
            lambda archive, folder: archive.export_definitions(folder / COPIES / "all.provenn"),
            lambda archive, folder: archive.export_definitions(folder / COPIES / "bright.provenn", ["bright"]),
        ],
    ),
    "import in batches": Work(crashes.exported, [import_in_batches]),
    "backup": Work(prepare_copies, [lambda archive, folder: archive.backup(folder / COPIES / "backup", data=True)]),
}


def observe(archive: Archive, folder: Path) -> State:
    """Return all that a user sees of an archive, of what was written beside it, and of its copies."""
    seen = crashes.state(archive, folder)
    seen["tables"] = _given_tables(archive)
    seen["copies"] = {path.name: _copy(path) for path in sorted((folder / COPIES).glob("[!.]*"))}
    return seen


def leftovers(folder: Path) -> Sequence[Path]:
    """Return the hidden files and folders that an operation has left beside its target."""
    places = (folder, folder / "out", folder / COPIES)
    return [path for place in places if place.is_dir() for path in sorted(place.glob(".*"))]


def _given_tables(archive: Archive) -> dict[str, int]:
    """Return how many rows the tables have that were ingested from memory, by the names of their catalogs."""
    definitions = {name: archive[name].definition for name in archive}
    store = archive.context.workshop.folder
    return {
        name: pq.read_table(locate_table(store, definition.files).location).num_rows
        for name, definition in definitions.items()
        if isinstance(definition, Base) and definition.files.format == GIVEN
    }


def _copy(path: Path) -> object:
    """Return what a copy holds: of a portable file all bytes, which depend on the archive alone."""
    if path.is_file():
        return sha256(path.read_bytes()).hexdigest()
    with provenn.open(path, who="Ada", progress=False, create=False) as archive:
        soundness = archive.check(deep=True)
        assert soundness.sound, str(soundness)
        return crashes.state(archive, path) | {"tables": _given_tables(archive)}
