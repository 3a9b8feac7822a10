"""The files of a folder in HATS, made from the rows that Spark has distributed to the parts of the sky.

::

    hats.properties, properties        kind, columns and origin
    partition_info.csv                 the list of parts
    skymap.fits                        the number of sources in each cell
    data_thumbnail.parquet             one row of each part
    dataset/_metadata                  the footers of all parts
    dataset/_common_metadata           the columns
    dataset/Norder=1/Dir=0/Npix=17.parquet
    SHA256SUMS                         checksums of all files

With a margin, the folder is a collection: ``collection.properties``, a folder with the catalog, and a folder with the
margin, which is a catalog as well. A layer also has ``extension.properties``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import fs, parquet

from provenn.catalogs.schema import Attribute
from provenn.errors import StoreError
from provenn.files.columns import FileColumn
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import FileNotes
from provenn.files.hats_properties import (
    CHECKSUMS,
    COLLECTION,
    EXTENSION,
    HEALPIX_COLUMN,
    PARTITIONS,
    PROPERTIES,
    HatsPart,
    describe_origin,
    format_checksums,
    format_partitions,
    format_properties,
    make_folder_name,
)
from provenn.sky.cells import DEEPEST, Integers
from provenn.sky.partitions import Partitions, find_near_sources
from provenn.sky.points import Points
from provenn.spark.tables.parquet_file import build_file_schema
from provenn.spark.tables.parts import PartFiles
from provenn.spark.tables.skymap_file import make_skymap

__all__ = ["HatsFolder"]

_LONGEST_ORIGIN = 1 << 14
"""The most characters of the origin in the footer of each part; `_provenn.json` has all of it."""
_LONGEST = 1 << 24
_MOST_THREADS = 8
_THUMBNAIL_ROWS = 100_000
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class HatsFolder:
    """Writes a folder in HATS.

    Parameters
    ----------
    parent, temporary
        The temporary folder with the rows in ``pixels`` and ``margins``, and the folder in which it lies.
    name
        The name of the catalog.
    columns
        The columns of the files, in order.
    position
        The names of the columns of right ascension and declination.
    partitions
        The parts.
    notes
        The notes about the contents.
    schema
        The Arrow types of the columns.
    is_sorted
        Whether rows are sorted by cell; those of a layer have the order of their core.
    """

    parent: DataFolder
    temporary: str
    name: str
    columns: tuple[Attribute | FileColumn, ...]
    position: tuple[str, str]
    partitions: Partitions
    notes: FileNotes
    schema: Any
    is_sorted: bool = True

    def write(self, histogram: tuple[Integers, Integers], order: int, pixel_rows: int, margin: float | None) -> int:
        """Write all files to the entry ``result`` of the temporary folder, and return the number of rows.

        Parameters
        ----------
        histogram, order
            The cells with sources, the number of sources in each, and the order of the cells.
        pixel_rows
            The most rows of a part, as requested.
        margin
            The width of the margin, in arcseconds; None for no margin.
        """
        with self.parent.open_filesystem(self.temporary) as (filesystem, path):
            root = f"{path}/result"
            main, beside = make_folder_name(self.name), ""
            place = root if margin is None else f"{root}/{main}"
            target = _Target(filesystem, place)
            parts = self._write_parts(target, f"{path}/pixels", None)
            skymap_order = min(order, max(4, self.partitions.highest_order + 2))
            target.put_file("skymap.fits", make_skymap(histogram, order, skymap_order))
            properties = self._describe("object", parts)
            properties |= {"hats_skymap_order": skymap_order, "hats_max_rows": pixel_rows}
            properties["moc_sky_fraction"] = f"{self.partitions.sky_fraction:.6f}"
            self._write_texts(target, parts, properties)
            if margin is not None:
                beside = f"{main}_{margin:g}arcs"
                self._write_margin(filesystem, path, f"{root}/{beside}", main, margin)
                collection = {"obs_collection": self.name, "hats_primary_table_url": main}
                collection |= {"all_margins": beside, "default_margin": beside, **describe_origin(self.notes)}
                _Target(filesystem, root).put_file(COLLECTION, format_properties(collection).encode())
            return sum(part.rows for part in parts)

    def write_layer(self, core: str, key: str) -> int:
        """Write the files of a layer, and return the number of rows.

        ``extension.properties`` is for LSDB, which calls a layer an extension of a catalog. It names the folder of the
        core, and no path: the files may be published.

        Parameters
        ----------
        core
            The folder of the core.
        key
            The column by which rows belong together.
        """
        with self.parent.open_filesystem(self.temporary) as (filesystem, path):
            target = _Target(filesystem, f"{path}/result")
            parts = self._write_parts(target, f"{path}/pixels", None)
            extension = {"obs_collection": make_folder_name(self.name), "dataproduct_type": "extension"}
            extension |= {"hats_primary_table_url": core.rpartition("/")[2], "hats_col_assn_primary": key}
            extension |= {"hats_assn_join_table_url": ".", "hats_col_assn_join": key, "hats_ext_join_style": "inner"}
            extension |= {"hats_ext_shares_primary_coords": "true", **describe_origin(self.notes)}
            target.put_file(EXTENSION, format_properties(extension).encode())
            self._write_texts(target, parts, self._describe("object", parts))
            return sum(part.rows for part in parts)

    def _write_margin(self, filesystem: Any, path: str, place: str, main: str, width: float) -> None:  # noqa: ANN401 - pyarrow has no types
        """Write the margin as a catalog beside the catalog."""
        target = _Target(filesystem, place)
        parts = self._write_parts(target, f"{path}/margins", width / 3600)
        properties = self._describe("margin", parts)
        properties |= {"hats_primary_table_url": main, "hats_margin_threshold": f"{width!r}"}
        self._write_texts(target, parts, properties)

    # -- parts -------------------------------------------------------------------------------------------------------

    def _write_parts(self, target: _Target, rows: str, margin: float | None) -> list[HatsPart]:
        """Write the files of all parts, and the files about their footers; return the parts with rows."""
        folders = _list_pixel_folders(target.filesystem, rows)
        with ThreadPoolExecutor(max(1, min(_MOST_THREADS, os.cpu_count() or 1))) as pool:
            futures = [
                pool.submit(self._write_part, target, place, folders[place], margin)
                for place in range(len(self.partitions))
                if place in folders
            ]
            written = [part for future in futures if (part := future.result()) is not None]
        schema = written[0].schema if written else self._build_schema(self.schema)
        target.create_folder("dataset")
        target.write_metadata("dataset/_common_metadata", schema, [])
        target.write_metadata("dataset/_metadata", schema, [part.footer for part in written])
        first_rows = [part.first_row for part in written[:_THUMBNAIL_ROWS]]
        if first_rows:
            stream = BytesIO()
            parquet.write_table(pa.Table.from_batches(first_rows, schema), stream)
            target.put_file("data_thumbnail.parquet", stream.getvalue())
        return [part.part for part in written]

    def _build_schema(self, schema: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        return build_file_schema(schema, self.columns, self.notes, _LONGEST_ORIGIN)

    def _write_part(
        self, target: _Target, place: int, paths: Sequence[str], margin: float | None
    ) -> _WrittenPart | None:
        """Write the file of a part; None if no row belongs to it."""
        order, number = int(self.partitions.orders[place]), int(self.partitions.numbers[place])
        schema = self._build_schema(parquet.read_schema(paths[0], filesystem=target.filesystem))
        part = HatsPart(order, number, 0)
        rows, last, first_row = 0, -1, None
        file = f"dataset/{part.path}"
        batches = PartFiles(target.filesystem, paths, schema).read_batches()
        kept = (self._keep_near(batch, order, number, margin) for batch in batches)
        with target.open_writer(file, schema) as writer:
            for batch in kept:
                if not len(batch):
                    continue
                if self.is_sorted:
                    last = _check_sequence(batch, last, (order, number) if margin is None else None)
                conformed = pa.RecordBatch.from_arrays(batch.columns, schema=schema)
                first_row = conformed.slice(0, 1) if first_row is None else first_row
                writer.write_batch(conformed)
                rows += len(batch)
        if first_row is None:
            target.delete(file)
            return None
        footer = target.read_footer(file)
        footer.set_file_path(part.path)
        return _WrittenPart(HatsPart(order, number, rows), schema, footer, first_row)

    def _keep_near(self, batch: Any, order: int, number: int, margin: float | None) -> Any:  # noqa: ANN401 - pyarrow has no types
        """Return the rows of a batch that lie in the margin of a pixel; without a margin, all rows."""
        if margin is None or not len(batch):
            return batch
        ra, dec = (np.asarray(batch[name].to_numpy(zero_copy_only=False), float) for name in self.position)
        return batch.filter(pa.array(find_near_sources(order, number, Points.at(ra, dec), margin)))

    # -- texts -------------------------------------------------------------------------------------------------------

    def _describe(self, kind: str, parts: Sequence[HatsPart]) -> dict[str, object]:
        """Return the properties of a catalog or a margin."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%MUTC")
        return {
            "obs_collection": self.name,
            "dataproduct_type": kind,
            "hats_nrows": sum(part.rows for part in parts),
            "hats_col_ra": self.position[0],
            "hats_col_dec": self.position[1],
            "hats_col_healpix": HEALPIX_COLUMN,
            "hats_col_healpix_order": DEEPEST,
            "hats_npix_suffix": ".parquet",
            "hats_order": max((part.order for part in parts), default=0),
            "hats_creation_date": now,
            "hats_version": "v1.0",
            **describe_origin(self.notes),
        }

    def _write_texts(self, target: _Target, parts: Sequence[HatsPart], properties: dict[str, object]) -> None:
        """Write properties, the list of parts, the origin, and last the checksums of all files."""
        in_order = sorted(parts, key=lambda part: (part.order, part.number))
        properties["hats_estsize"] = target.measure_size() // 1024
        for name in PROPERTIES:
            target.put_file(name, format_properties(properties).encode())
        target.put_file(PARTITIONS, format_partitions(in_order).encode())
        if self.notes.version:
            notes = {"origin": json.loads(self.notes.text(_LONGEST)), "table": dict(self.notes.metadata)}
            target.put_file("_provenn.json", json.dumps(notes, indent=1).encode())
        target.put_file(CHECKSUMS, format_checksums(target.compute_digests()).encode())


@dataclass(frozen=True, slots=True)
class _WrittenPart:
    """A part as it was written: its pixel and rows, its schema, its footer and its first row."""

    part: HatsPart
    schema: Any
    footer: Any
    first_row: Any


@dataclass(frozen=True, slots=True)
class _Target:
    """A folder of a file system to which files are written."""

    filesystem: Any
    path: str

    def create_folder(self, name: str) -> None:
        self.filesystem.create_dir(f"{self.path}/{name}", recursive=True)

    def put_file(self, name: str, content: bytes) -> None:
        self.filesystem.create_dir(self.path, recursive=True)
        with self.filesystem.open_output_stream(f"{self.path}/{name}") as stream:
            stream.write(content)

    def open_writer(self, name: str, schema: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
        self.create_folder(name.rpartition("/")[0])
        return parquet.ParquetWriter(
            f"{self.path}/{name}",
            schema,
            filesystem=self.filesystem,
            compression="zstd",
            write_page_checksum=True,
        )

    def write_metadata(self, name: str, schema: Any, footers: Sequence[Any]) -> None:  # noqa: ANN401 - pyarrow has no types
        parquet.write_metadata(
            schema, f"{self.path}/{name}", metadata_collector=list(footers), filesystem=self.filesystem
        )

    def read_footer(self, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
        return parquet.read_metadata(f"{self.path}/{name}", filesystem=self.filesystem)

    def delete(self, name: str) -> None:
        self.filesystem.delete_file(f"{self.path}/{name}")

    def list_files(self) -> list[Any]:
        entries = self.filesystem.get_file_info(fs.FileSelector(self.path, recursive=True))
        return [entry for entry in entries if entry.type == fs.FileType.File]

    def measure_size(self) -> int:
        return sum(entry.size for entry in self.list_files())

    def compute_digests(self) -> dict[str, str]:
        """Return the SHA-256 of all files, by path."""
        entries = self.list_files()
        with ThreadPoolExecutor(max(1, min(_MOST_THREADS, os.cpu_count() or 1))) as pool:
            digests = list(pool.map(self._compute_digest, [entry.path for entry in entries]))
        return {entry.path[len(self.path) + 1 :]: digest for entry, digest in zip(entries, digests, strict=True)}

    def _compute_digest(self, path: str) -> str:
        digest = sha256()
        with self.filesystem.open_input_stream(path, compression=None) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
        return digest.hexdigest()


def _list_pixel_folders(filesystem: Any, path: str) -> dict[int, list[str]]:  # noqa: ANN401 - pyarrow has no types
    """Return the files of Spark for each part, by its place."""
    folders: dict[int, list[str]] = {}
    for entry in filesystem.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True)):
        folder, _, name = entry.path[len(path) + 1 :].rpartition("/")
        if entry.type == fs.FileType.File and folder and not name.startswith(("_", ".")):
            folders.setdefault(int(folder.rpartition("=")[2]), []).append(entry.path)
    return {place: sorted(paths) for place, paths in folders.items()}


def _check_sequence(batch: Any, last: int, pixel: tuple[int, int] | None) -> int:  # noqa: ANN401 - pyarrow has no types
    """Check that rows are sorted by cell and lie in the pixel; return the last cell.

    Raises
    ------
    StoreError
        If the rows are not sorted, or one lies elsewhere: Spark did not do what it was asked to.
    """
    cells = np.asarray(batch[HEALPIX_COLUMN].to_numpy(), np.int64)
    is_inside = pixel is None or bool(np.all(cells >> (2 * (DEEPEST - pixel[0])) == pixel[1]))
    if cells[0] < last or np.any(np.diff(cells) < 0) or not is_inside:
        raise StoreError(f"the rows of the pixel {pixel} are not in sequence", hint="report this as a bug of provenn")
    return int(cells[-1])
