"""Data written to files: Parquet, CSV, FITS, VOTable, ECSV; one file, or a folder of part files.

Everything is written to a hidden folder beside the target, ``.provenn-writing-…``, and renamed when it is complete. A
process that is killed leaves that folder behind, and nothing else; who next writes there from this machine deletes it.

Spark computes and writes part files, on all its cores. Where one file is wanted, they are then read and written piece
by piece into one, in this process.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike, fspath
from shutil import copyfileobj

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sql

from provenn.catalogs.file_notes import NO_NOTES, FileNotes
from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria.types import BOOLEAN, DATE, INTEGRAL, STRING, TIMESTAMP, TIMESTAMP_NTZ
from provenn.errors import FormatError
from provenn.spark.columns import column
from provenn.spark.engine import Engine
from provenn.spark.failures import told
from provenn.spark.placing import check_target, publish, temporary_folder
from provenn.spark.progress import Listener, watched
from provenn.spark.reading import address, as_schema
from provenn.store.folder import DataFolder

__all__ = ["FORMATS", "Written", "write"]

FORMATS = ("parquet", "csv", "fits", "votable", "ecsv")
_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".ecsv": "ecsv",
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
_LONGEST = 1 << 24
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
    left_out
        Keywords such as RADESYS that the files do not have because the tables that they come from do not agree.
    """

    path: str
    rows: int
    size: int
    left_out: tuple[str, ...] = ()


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
    notes: FileNotes = NO_NOTES,
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
    notes
        What the files say of themselves, where the format has a place for it; by default, nothing.

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
    check_target(parent, name, overwrite=overwrite)
    with ExitStack() as stack:
        temporary = stack.enter_context(temporary_folder(parent, name))
        stack.enter_context(told(f"writing {text}"))
        stack.enter_context(watched(engine, f"writing {text}", listener))
        job = _Job(frame, schema, parent, temporary, known, folders, one_file, notes)
        rows = _written(job)
        if not one_file and notes.version:
            _note(job)
        if check is not None:
            check()
        size = next(one.size for one in parent.entries(temporary) if one.name == "result")
        publish(parent, temporary, name, overwrite=overwrite)
    return Written(target, rows, size, notes.left_out)


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
    if known in ("fits", "votable", "ecsv"):
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
    notes: FileNotes

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


def _note(job: _Job) -> None:
    """Put beside part files what they say of themselves; a name with _ is no data for Spark, nor for provenn."""
    text = {"origin": json.loads(job.notes.text(_LONGEST)), "table": dict(job.notes.metadata)}
    with (
        job.parent.reached(job.temporary, job.place, "_provenn.json") as (filesystem, path),
        filesystem.open_output_stream(path) as stream,
    ):
        stream.write(json.dumps(text, indent=1).encode())


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

    from provenn.spark.tables.ecsv_file import write_ecsv  # noqa: PLC0415
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
        merges = {"parquet": write_parquet, "fits": write_fits, "votable": write_votable, "ecsv": write_ecsv}
        with filesystem.open_output_stream(f"{path}/result") as stream:
            return merges[job.format](parts, job.schema.attributes, stream, job.notes)
