"""Tables of Delta and Iceberg with random histories, written by the libraries' own writers, for tests."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

__all__ = ["DeltaHistory", "IcebergHistory", "make_rows"]

Row = tuple[Any, ...]


def make_rows(ids: list[int], **columns: object) -> pa.Table:
    """Rows with a key, a number with some NULLs, and a night; more columns if they are given."""
    table = {
        "id": pa.array(ids, pa.int64()),
        "mag": pa.array([None if key % 7 == 0 else key / 4 for key in ids], pa.float64()),
        "night": pa.array([key % 3 for key in ids], pa.int32()),
    }
    return pa.table({**table, **{name: pa.array([value] * len(ids)) for name, value in columns.items()}})


class DeltaHistory:
    """A Delta table, and steps that change it at random."""

    def __init__(self, folder: Path, seed: int, *, partitioned: bool = False) -> None:
        self.folder, self.random, self.next = folder, random.Random(seed), 0
        self.extra: dict[str, object] = {}
        write_deltalake(folder, make_rows(self._new()), partition_by=["night"] if partitioned else None)

    def _new(self) -> list[int]:
        start, self.next = self.next, self.next + self.random.randint(2, 6)
        return list(range(start, self.next))

    def step(self, names: tuple[str, ...] = ()) -> str:
        """Change the table; return the name of what was done."""
        name = self.random.choice(names or ("append", "append", "overwrite", "delete", "merge", "compact", "order"))
        table = DeltaTable(self.folder)
        if name == "append":
            if self.random.random() < 0.2:
                self.extra = {"colour": 1.5}
            write_deltalake(self.folder, make_rows(self._new(), **self.extra), mode="append", schema_mode="merge")
        elif name == "overwrite":
            write_deltalake(self.folder, make_rows(self._new(), **self.extra), mode="overwrite", schema_mode="merge")
        elif name == "delete":
            table.delete(f"id % 5 = {self.random.randrange(5)}")
        elif name == "merge":
            ids = sorted({*self.random.choices(range(self.next), k=2), *self._new()})
            changed = make_rows(ids).set_column(1, "mag", pa.array([0.25] * len(ids), pa.float64()))
            merging = table.merge(changed, "t.id = s.id", source_alias="s", target_alias="t")
            values = {name: f"s.{name}" for name in ("id", "mag", "night")}
            merging.when_matched_update(values).when_not_matched_insert(values).execute()
        elif name == "compact":
            table.optimize.compact()
        elif name == "order":
            table.optimize.z_order(["id"])
        elif name == "checkpoint":
            table.create_checkpoint()
        elif name == "vacuum":
            table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
        return name

    @property
    def version(self) -> int:
        """The newest version."""
        return DeltaTable(self.folder).version()

    def read(self, version: int | None = None) -> pa.Table:
        """The rows of a version, as the library reads them."""
        return pa.table(DeltaTable(self.folder, version=version).scan())


class IcebergHistory:
    """An Iceberg table in a catalog on SQLite, and steps that change it at random."""

    def __init__(self, folder: Path, seed: int, *, partitioned: bool = False) -> None:
        from pyiceberg.catalog.sql import SqlCatalog  # noqa: PLC0415 - slow to import, in every process of the tests
        from pyiceberg.transforms import IdentityTransform  # noqa: PLC0415

        self.random, self.next = random.Random(seed), 0
        self.extra: dict[str, object] = {}
        folder.mkdir(parents=True)
        self.catalog = SqlCatalog(
            "lake", uri=f"sqlite:///{folder}/catalog.sqlite", warehouse=f"file://{folder}/warehouse"
        )
        self.catalog.create_namespace("survey")
        rows = make_rows(self._new())
        self.table = self.catalog.create_table("survey.stars", rows.schema)
        if partitioned:
            with self.table.update_spec() as update:
                update.add_field("night", IdentityTransform(), "night")
        self.table.append(rows)
        self.folder = next(folder.glob("warehouse/**/metadata")).parent

    def close(self) -> None:
        """Close the catalog."""
        self.catalog.close()

    def _new(self) -> list[int]:
        start, self.next = self.next, self.next + self.random.randint(2, 6)
        return list(range(start, self.next))

    def step(self, names: tuple[str, ...] = ()) -> str:
        """Change the table; return the name of what was done."""
        name = self.random.choice(names or ("append", "append", "overwrite", "delete", "upsert"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the library: nothing was there to delete
            self._change(name)
        return name

    def _change(self, name: str) -> None:
        from pyiceberg.io.pyarrow import _dataframe_to_data_files  # noqa: PLC0415
        from pyiceberg.types import DoubleType  # noqa: PLC0415

        if name == "append":
            if not self.extra and self.random.random() < 0.2:
                self.extra = {"colour": 1.5}
                with self.table.update_schema() as update:
                    update.add_column("colour", DoubleType())
            self.table.append(self._fit(make_rows(self._new(), **self.extra)))
        elif name == "overwrite":
            self.table.overwrite(self._fit(make_rows(self._new(), **self.extra)))
        elif name == "delete":
            self.table.delete(f"id >= {self.next - 5} and id < {self.next - 3}")
        elif name == "upsert":
            row = make_rows([self.next - 1], **self.extra).set_column(1, "mag", pa.array([self.random.random()]))
            self.table.overwrite(self._fit(row), overwrite_filter=f"id == {self.next - 1}")
        elif name == "compact":  # the library has no compaction, so its overwrite is called one in the metadata
            files = [task.file for task in self.table.scan().plan_files()]
            rows = self.read()
            with self.table.transaction() as change, change.update_snapshot().overwrite() as snapshot:
                for file in files:
                    snapshot.delete_data_file(file)
                for file in _dataframe_to_data_files(self.table.metadata, rows, self.table.io):
                    snapshot.append_data_file(file)
            newest = Path(self.table.metadata_location.removeprefix("file://"))
            metadata = json.loads(newest.read_text())
            metadata["snapshots"][-1]["summary"]["operation"] = "replace"
            newest.write_text(json.dumps(metadata))
            self.table = self.catalog.load_table("survey.stars")

    def _fit(self, rows: pa.Table) -> pa.Table:
        return rows.select([field.name for field in self.table.schema().fields])

    @property
    def version(self) -> int:
        """The newest snapshot."""
        return self.table.current_snapshot().snapshot_id

    def read(self, version: int | None = None) -> pa.Table:
        """The rows of a snapshot, as the library reads them."""
        return self.table.scan(snapshot_id=version).to_arrow()

    def snapshots(self) -> Iterator[int]:
        """All snapshots, the oldest first."""
        return iter([entry.snapshot_id for entry in self.table.metadata.snapshot_log])
