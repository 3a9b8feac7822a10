"""Data written to files: Parquet, CSV, FITS, VOTable; one file, or a folder of part files.

Everything is written to a hidden folder beside the target, ``.provenn-writing-…``, and renamed when it is complete. A
process that is killed leaves that folder behind, and nothing else; who next writes there from this machine deletes it.

Spark computes and writes part files, on all its cores. Where one file is wanted, they are then read and written piece
by piece into one, in this process.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from shutil import copyfileobj, rmtree
from uuid import uuid4

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sql

from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria.types import BOOLEAN, DATE, INTEGRAL, STRING, TIMESTAMP, TIMESTAMP_NTZ
from provenn.errors import FormatError, StoreError
from provenn.spark.columns import column
from provenn.spark.engine import Engine
from provenn.spark.failures import told
from provenn.spark.progress import Listener, watched
from provenn.spark.reading import address, as_schema
from provenn.store.folder import DataFolder, reaching
from provenn.store.processes import is_gone, new_holder

__all__ = ["FORMATS", "LEFTOVER", "Written", "write"]

LEFTOVER = ".provenn-writing-"
"""How the names begin of what killed processes leave behind."""

_WHOSE = "_process"
"""The file in such a folder that tells which process writes there, and what."""

FORMATS = ("parquet", "csv", "fits", "votable")
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".fits": "fits",
    ".fit": "fits",
    ".vot": "votable",
    ".votable": "votable",
    ".xml": "votable",
}
_CSV = {
    # As RFC 4180 has it. NULL is an empty field, the empty text a quoted one; blanks are kept.
    "quote": '"',
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"


@dataclass(frozen=True, slots=True)
class Written:
    """What was written.

    Parameters
    ----------
    path
        Where.
    rows
        How many rows.
    size
        How many bytes, of all files together.
    """

    path: str
    rows: int
    size: int


def write(
    engine: Engine,
    frame: DataFrame,
    schema: Schema,
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - Spark's word
    partition_by: Sequence[str] = (),
    single: bool | None = None,
    overwrite: bool = False,
    listener: Listener | None = None,
    check: Callable[[], None] | None = None,
) -> Written:
    """Write data to files, all of them or nothing.

    Parameters
    ----------
    engine
        Where data are computed.
    frame
        The data.
    schema
        Its attributes.
    path
        Where to; a path or a URI that both Spark and pyarrow reach.
    format
        One of `FORMATS`; by default the suffix tells.
    partition_by
        Attributes whose values become names of folders, ``year=2026``.
    single
        Whether to write one file; by default if the path has the suffix of one, and nothing becomes folders.
    overwrite
        Whether what is there is replaced.
    listener
        Told of the progress.
    check
        Called when all is written, before it appears at the path: what it raises leaves nothing there.

    Raises
    ------
    FormatError
        If the format is not known, or cannot hold the data.
    StoreError
        If something is there, or it cannot be written.
    """
    text = fspath(path)
    known = _format(text, format)
    folders = tuple(schema[name] for name in partition_by)
    one_file = _is_single(text, known, folders, single)
    _check_types(schema, known, folders)
    target = DataFolder.of(text).location
    above, _, name = target.rpartition("/")
    parent = DataFolder.of(above or "/")
    _check_target(parent, name, overwrite=overwrite)
    with ExitStack() as stack:
        temporary = stack.enter_context(_temporary(parent, name))
        stack.enter_context(told(f"writing {text}"))
        stack.enter_context(watched(engine, f"writing {text}", listener))
        rows = _written(_Job(frame, schema, parent, temporary, known, folders, one_file))
        if check is not None:
            check()
        size = next(one.size for one in parent.entries(temporary) if one.name == "result")
        _publish(parent, temporary, name, overwrite=overwrite)
    return Written(target, rows, size)


# --- what is asked for ---


def _format(path: str, given: str | None) -> str:
    if given is not None:
        if given.lower() not in FORMATS:
            raise FormatError(f"provenn does not write {given}", hint=f"it writes {', '.join(FORMATS)}")
        return given.lower()
    found = _suffix(path)
    if found is None:
        raise FormatError(f"the name of {path} does not tell a format", hint=f"say format=: {', '.join(FORMATS)}")
    return found


def _suffix(path: str) -> str | None:
    return next((one for suffix, one in _SUFFIXES.items() if path.lower().endswith(suffix)), None)


def _is_single(path: str, known: str, folders: Sequence[Attribute], single: bool | None) -> bool:
    if known in ("fits", "votable"):
        if folders or single is False:
            raise FormatError(f"{known} is written as one file", hint="folders of part files can be Parquet or CSV")
        return True
    if folders and single:
        raise FormatError("one file cannot be in several folders", hint="leave out single=, or partition_by=")
    return not folders and (_suffix(path) is not None if single is None else single)


def _check_types(schema: Schema, known: str, folders: Sequence[Attribute]) -> None:
    for one in folders:
        if one.type not in (*INTEGRAL, STRING, DATE, BOOLEAN):
            raise FormatError(f"values of {one.name}, a {one.type}, cannot be names of folders")
    if len(folders) == len(schema):
        raise FormatError("all attributes would be names of folders", hint="leave one for the files")
    if known == "csv":
        for one in schema.attributes:
            if not one.type.scalar:
                raise FormatError(
                    f"CSV cannot hold {one.name}, a {one.type}", hint="write Parquet; or keep others only"
                )


def _check_target(parent: DataFolder, name: str, *, overwrite: bool) -> None:
    with parent.reached() as (filesystem, path):
        kind = filesystem.get_file_info(path).type.name
        if filesystem.type_name in ("local", "hdfs") and kind != "Directory":
            problem = "is not there" if kind == "NotFound" else "is no folder"
            raise StoreError(f"{parent.location} {problem}", hint="make the folder first")
    with parent.reached(name) as (filesystem, path):
        if filesystem.get_file_info(path).type.name != "NotFound" and not overwrite:
            raise StoreError(f"{parent.at(name)} is there already", hint="choose another name, or say overwrite=True")


@contextmanager
def _temporary(parent: DataFolder, target: str) -> Iterator[str]:
    """Give the name of a fresh hidden folder; it is removed afterwards."""
    name = f"{LEFTOVER}{uuid4().hex}"
    with parent.reached(name) as (filesystem, path):
        if parent.local:
            _clear(Path(parent.location))
        filesystem.create_dir(path)
    try:
        if parent.local:
            with reaching(parent.at(name)):
                Path(parent.at(name), _WHOSE).write_bytes(os.fsencode(f"{new_holder()}\n{target}"))
        yield name
    finally:
        with suppress(StoreError):
            parent.remove(name)


def _clear(parent: Path) -> None:
    """Delete what processes have left that were killed; a folder that one had just put aside is put back before."""
    for one in parent.glob(f"{LEFTOVER}*"):
        try:
            holder, _, target = os.fsdecode((one / _WHOSE).read_bytes()).partition("\n")
        except OSError:
            continue
        if is_gone(holder):
            if (one / "result").exists() and (one / "result-before").exists():
                with suppress(OSError):
                    (one / "result-before").rename(parent / target)
            rmtree(one, ignore_errors=True)


# --- writing ---


@dataclass(frozen=True, slots=True)
class _Job:
    """What is written, to ``result`` in a temporary folder."""

    frame: DataFrame
    schema: Schema
    parent: DataFolder
    temporary: str
    format: str
    folders: tuple[Attribute, ...]
    one_file: bool

    @property
    def place(self) -> str:
        """Where in that folder Spark writes."""
        return "parts" if self.one_file else "result"


def _written(job: _Job) -> int:
    """Write, and return how many rows."""
    text = {"csv": _csv_text, "parquet": _no_text}.get(job.format, _iso_text)
    frame = as_schema(job.frame, job.schema.attributes)
    frame = frame.select(*(text(one) for one in job.schema.attributes))
    counted = Observation("rows")
    if job.format == "csv":
        frame = frame.observe(counted, sql.count(sql.lit(1)).alias("rows"))
        writer = frame.write.format("csv").options(**_CSV, header=str(not job.one_file).lower())
    else:
        writer = frame.write.format("parquet")
    place = address(job.parent.at(job.temporary, job.place))
    writer.partitionBy([one.name for one in job.folders]).save(place)
    rows = counted.get["rows"] if job.format == "csv" else 0
    _tidy(job)
    if job.format != "csv":
        return _merged(job, frame)
    if job.one_file:
        _joined(job)
    return int(rows)


def _no_text(one: Attribute) -> Column:
    return column(one.name)


def _csv_text(one: Attribute) -> Column:
    """Return Spark's own text of a value: exact, with NaN and Infinity, and read again by Spark as it was."""
    return column(one.name) if one.type == STRING else column(one.name).cast("string").alias(one.name)


def _iso_text(one: Attribute) -> Column:
    """Return the text of a moment, as ISO 8601 has it, for formats that have no moments; other values as they are."""
    if one.type == DATE:
        return column(one.name).cast("string").alias(one.name)
    if one.type in (TIMESTAMP, TIMESTAMP_NTZ):
        return sql.date_format(column(one.name), _MOMENT).alias(one.name)
    return column(one.name)


def _tidy(job: _Job) -> None:
    """Remove what Spark leaves besides data: marks of success, checksums."""
    with job.parent.reached(job.temporary, job.place) as (filesystem, path):
        from pyarrow import fs  # noqa: PLC0415 - it takes a while to import

        for one in filesystem.get_file_info(fs.FileSelector(path, recursive=True)):
            if one.type == fs.FileType.File and one.base_name.startswith(("_", ".")):
                filesystem.delete_file(one.path)


def _joined(job: _Job) -> None:
    """Make one CSV file of many, none of which has a header."""
    header = ",".join('"' + name.replace('"', '""') + '"' if set(name) & set('", ') else name for name in job.schema)
    files = job.parent.files(job.temporary, "parts")
    with (
        job.parent.reached(job.temporary) as (filesystem, path),
        filesystem.open_output_stream(f"{path}/result") as stream,
    ):
        stream.write(f"{header}\n".encode())
        for one in files:
            with filesystem.open_input_stream(f"{path}/parts/{one.name}") as part:
                copyfileobj(part, stream, 1 << 22)


def _merged(job: _Job, frame: DataFrame) -> int:
    """Make one file of Parquet files, or only count their rows."""
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    from provenn.spark.tables.fits_file import write_fits  # noqa: PLC0415
    from provenn.spark.tables.parquet_file import write_parquet  # noqa: PLC0415
    from provenn.spark.tables.parts import Parts  # noqa: PLC0415
    from provenn.spark.tables.votable_file import write_votable  # noqa: PLC0415

    names = [one.name for one in job.parent.files(job.temporary, job.place)]
    with job.parent.reached(job.temporary) as (filesystem, path):
        paths = [f"{path}/{job.place}/{name}" for name in names]
        shape = parquet.read_schema(paths[0], filesystem=filesystem) if paths else frame.limit(0).toArrow().schema
        parts = Parts(filesystem, paths, shape)
        if not job.one_file:
            return parts.rows
        merge = {"parquet": write_parquet, "fits": write_fits, "votable": write_votable}[job.format]
        with filesystem.open_output_stream(f"{path}/result") as stream:
            return merge(parts, job.schema.attributes, stream)


# --- putting it in place ---


def _publish(parent: DataFolder, temporary: str, name: str, *, overwrite: bool) -> None:
    """Rename what was written; what was there before goes with the temporary folder."""
    with parent.reached(name) as (filesystem, path):
        made = f"{path.rpartition('/')[0]}/{temporary}/result"
        before = filesystem.get_file_info(path).type.name
        if not parent.local:
            if before != "NotFound":
                _check_target(parent, name, overwrite=overwrite)
                parent.remove(name)
            filesystem.move(made, path)
            return
        _flush(made)
        if before == "File" and overwrite and os.path.isfile(made):  # noqa: PTH113 - a path of pyarrow's
            os.replace(made, path)  # noqa: PTH105 - at once
            return
        if before != "NotFound" and overwrite:
            os.rename(path, f"{made}-before")  # noqa: PTH104 - for a folder there is no better way
        try:
            _put(made, path)
        except BaseException:
            with suppress(OSError):
                os.rename(f"{made}-before", path)  # noqa: PTH104
            raise


def _put(made: str, path: str) -> None:
    """Rename a file or a folder, and never replace anything."""
    if os.path.isdir(made):  # noqa: PTH112 - a path of pyarrow's
        os.rename(made, path)  # noqa: PTH104 - fails where a file, or a folder that holds something, is
        return
    try:
        os.link(made, path)
    except FileExistsError:
        raise StoreError(f"{path} is there already", hint="something has written it meanwhile") from None
    except OSError:  # a file system without links
        os.rename(made, path)  # noqa: PTH104


def _flush(made: str) -> None:
    """Wait until data are on the disk, before they get their name."""
    inside = [os.path.join(where, one) for where, _, names in os.walk(made) for one in names]  # noqa: PTH118
    for one in inside or [made]:
        opened = os.open(one, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
