"""Writing data to files: Parquet, CSV, FITS, VOTable, ECSV, HATS; to one file, or to a folder of part files.

Everything is written to a hidden folder beside the target, ``.provenn-writing-…``, and renamed when complete. A killed
process leaves only the hidden folder behind; the next process that writes there from this machine deletes it.

Spark computes and writes part files on all cores. If a single file is wanted, this process then reads the part files
piece by piece and writes a single file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike, fspath
from shutil import copyfileobj
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sql

from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria.types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ
from provenn.data.leftovers import Hold, open_writing_folder
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import NO_NOTES, FileNotes
from provenn.spark.columns import column
from provenn.spark.engine import Engine
from provenn.spark.output_forms import FORMATS, WrittenFiles, format_csv_header, read_output_form
from provenn.spark.placing import publish
from provenn.spark.progress import Listener, watch_run
from provenn.spark.reading import conform_to_attributes, format_spark_address
from provenn.spark.spark_errors import translate_errors

if TYPE_CHECKING:
    from provenn.spark.hats_writing import HatsOptions

__all__ = ["FORMATS", "WrittenFiles", "write"]

_CSV = {
    # As in RFC 4180. NULL is an empty field, the empty text a quoted empty field; blanks are kept.
    "quote": '"',
    "escape": '"',
    "nullValue": "",
    "emptyValue": '""',
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
}
_LONGEST = 1 << 24
_MOMENT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"


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
    hold: Hold | None = None,
    pixel_rows: int | None = None,
    margin: object = None,
    on: Sequence[str] | None = None,
    layer: str | PathLike[str] | None = None,
) -> WrittenFiles:
    """Write data to files, either completely or not at all.

    Parameters
    ----------
    engine
        The engine that computes.
    frame
        The data.
    schema
        The attributes of the data.
    path
        The target: a path or a URI that both Spark and pyarrow reach.
    format
        One of `FORMATS`; by default the suffix of the path decides.
    partition_by
        Attributes whose values become names of folders, ``year=2026``.
    single
        Whether to write one file; by default if the path has the suffix of a file and `partition_by` is empty.
    overwrite
        Whether to replace an existing file or folder.
    listener
        Receives the progress.
    check
        Called when everything is written, before it appears at the path: if it raises, nothing appears.
    notes
        The metadata of the files, if the format can hold them; by default none.
    hold
        Pins the hidden folder, so that `provenn gc` finds it if this process is killed.
    pixel_rows, margin, on
        For HATS: the most sources of a part; the width of the margin, in arcseconds or as text; the names of the
        attributes of the position.
    layer
        For HATS: the folder of a core, of whose sources only the attributes that it lacks are written.

    Raises
    ------
    FormatError
        If the format is unknown, or cannot hold the data.
    StoreError
        If the target exists, or cannot be written.
    """
    form = read_output_form(
        schema,
        path,
        format=format,
        partition_by=partition_by,
        single=single,
        overwrite=overwrite,
        pixel_rows=pixel_rows,
        margin=margin,
        on=on,
        layer=layer,
    )
    parent, name, format_name, one_file, hats = form.parent, form.name, form.format, form.one_file, form.hats
    text = fspath(path)
    with ExitStack() as stack:
        temporary = stack.enter_context(open_writing_folder(parent, name, hold))
        stack.enter_context(translate_errors(f"writing {text}"))
        stack.enter_context(watch_run(engine, f"writing {text}", listener))
        job = _Job(frame, schema, parent, temporary, format_name, form.folders, one_file, notes)
        rows = _write_parts(job) if hats is None else _write_sky(engine, job, name, hats)
        if not one_file and hats is None and notes.version:
            _write_notes(job)
        if not one_file and format_name == "parquet":
            _write_headers(job)
        if check is not None:
            check()
        size = next(entry.size for entry in parent.entries(temporary) if entry.name == "result")
        publish(parent, temporary, name, overwrite=overwrite)
    return WrittenFiles(form.target, rows, size, notes.left_out)


# --- writing ---


@dataclass(frozen=True, slots=True)
class _Job:
    """The data to write, and the temporary folder in which ``result`` is written."""

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
        """The entry of the temporary folder to which Spark writes."""
        return "parts" if self.one_file else "result"


def _write_parts(job: _Job) -> int:
    """Write the result, and return the number of rows."""
    convert = {"csv": _convert_to_csv, "parquet": _keep_value}.get(job.format, _convert_to_iso)
    frame = conform_to_attributes(job.frame, job.schema.attributes)
    frame = frame.select(*(convert(attribute) for attribute in job.schema.attributes))
    observation = Observation("rows")
    if job.format == "csv":
        frame = frame.observe(observation, sql.count(sql.lit(1)).alias("rows"))
        writer = frame.write.format("csv").options(**_CSV, header=str(not job.one_file).lower())
    else:
        writer = frame.write.format("parquet")
    place = format_spark_address(job.parent.at(job.temporary, job.place))
    writer.partitionBy([attribute.name for attribute in job.folders]).save(place)
    rows = observation.get["rows"] if job.format == "csv" else 0
    _remove_hidden_files(job)
    if job.format != "csv":
        return _merge_parquet(job, frame)
    if job.one_file:
        _merge_csv(job)
    return int(rows)


def _write_sky(engine: Engine, job: _Job, name: str, options: HatsOptions) -> int:
    """Write the result in HATS, and return the number of rows."""
    from provenn.spark.hats_writing import write_hats  # noqa: PLC0415 - few files are HATS

    return write_hats(
        engine,
        job.frame,
        job.schema,
        parent=job.parent,
        temporary=job.temporary,
        name=job.notes.name or name,
        options=options,
        notes=job.notes,
    )


def _keep_value(attribute: Attribute) -> Column:
    return column(attribute.name)


def _convert_to_csv(attribute: Attribute) -> Column:
    """Return Spark's text of a value, which is exact, has NaN and Infinity, and which Spark reads as the same value."""
    return (
        column(attribute.name)
        if attribute.type == STRING
        else column(attribute.name).cast("string").alias(attribute.name)
    )


def _convert_to_iso(attribute: Attribute) -> Column:
    """Return a moment as text in ISO 8601, for formats that have no moments; return other values unchanged."""
    if attribute.type == DATE:
        return column(attribute.name).cast("string").alias(attribute.name)
    if attribute.type in (TIMESTAMP, TIMESTAMP_NTZ):
        return sql.date_format(column(attribute.name), _MOMENT).alias(attribute.name)
    return column(attribute.name)


def _remove_hidden_files(job: _Job) -> None:
    """Delete the additional files of Spark: success markers and checksums."""
    with job.parent.open_filesystem(job.temporary, job.place) as (filesystem, path):
        from pyarrow import fs  # noqa: PLC0415 - it takes a while to import

        for entry in filesystem.get_file_info(fs.FileSelector(path, recursive=True)):
            if entry.type == fs.FileType.File and entry.base_name.startswith(("_", ".")):
                filesystem.delete_file(entry.path)


def _write_notes(job: _Job) -> None:
    """Write the notes beside the part files; Spark and provenn read no file whose name begins with _ as data."""
    notes = {"origin": json.loads(job.notes.text(_LONGEST)), "table": dict(job.notes.metadata)}
    with (
        job.parent.open_filesystem(job.temporary, job.place, "_provenn.json") as (filesystem, path),
        filesystem.open_output_stream(path) as stream,
    ):
        stream.write(json.dumps(notes, indent=1).encode())


def _write_headers(job: _Job) -> None:
    """Give all part files the header of VOParquet."""
    from provenn.spark.tables.part_headers import add_headers  # noqa: PLC0415 - it takes a while to import

    names = [file.name for file in job.parent.files(job.temporary, job.place)]
    folders = {attribute.name for attribute in job.folders}
    attributes = [attribute for attribute in job.schema.attributes if attribute.name not in folders]
    with job.parent.open_filesystem(job.temporary, job.place) as (filesystem, path):
        add_headers(filesystem, path, names, attributes, job.notes)


def _merge_csv(job: _Job) -> None:
    """Write the CSV part files, which have no headers, into one file with a header."""
    files = job.parent.files(job.temporary, "parts")
    with (
        job.parent.open_filesystem(job.temporary) as (filesystem, path),
        filesystem.open_output_stream(f"{path}/result") as stream,
    ):
        stream.write(format_csv_header(job.schema))
        for file in files:
            with filesystem.open_input_stream(f"{path}/parts/{file.name}") as part:
                copyfileobj(part, stream, 1 << 22)


def _merge_parquet(job: _Job, frame: DataFrame) -> int:
    """Write the Parquet part files into a single file of the job's format, if wanted; return the number of rows."""
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    from provenn.spark.tables.ecsv_file import write_ecsv  # noqa: PLC0415
    from provenn.spark.tables.fits_file import write_fits  # noqa: PLC0415
    from provenn.spark.tables.parquet_file import write_parquet  # noqa: PLC0415
    from provenn.spark.tables.parts import PartFiles  # noqa: PLC0415
    from provenn.spark.tables.votable_file import write_votable  # noqa: PLC0415

    names = [file.name for file in job.parent.files(job.temporary, job.place)]
    with job.parent.open_filesystem(job.temporary) as (filesystem, path):
        paths = [f"{path}/{job.place}/{name}" for name in names]
        schema = parquet.read_schema(paths[0], filesystem=filesystem) if paths else frame.limit(0).toArrow().schema
        parts = PartFiles(filesystem, paths, schema)
        if not job.one_file:
            return parts.rows
        writers = {"parquet": write_parquet, "fits": write_fits, "votable": write_votable, "ecsv": write_ecsv}
        with filesystem.open_output_stream(f"{path}/result") as stream:
            return writers[job.format](parts, job.schema.attributes, stream, job.notes)
