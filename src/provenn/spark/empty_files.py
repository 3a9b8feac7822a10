"""Writing one file without rows, without Spark: an answer that is proved empty has columns, and nothing to compute."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from provenn.criteria.types import DATE, TIMESTAMP, TIMESTAMP_NTZ
from provenn.data.leftovers import Hold, open_writing_folder
from provenn.files.data_folder import explain_io_errors
from provenn.spark.output_forms import OutputForm, WrittenFiles, format_csv_header, read_output_form
from provenn.spark.placing import publish

if TYPE_CHECKING:
    from provenn.catalogs.schema import Schema
    from provenn.files.export_notes import FileNotes

__all__ = ["write_empty_file"]


def write_empty_file(
    schema: Schema,
    path: str | PathLike[str],
    notes: FileNotes,
    hold: Hold,
    *,
    overwrite: bool = False,
    **options: Any,  # noqa: ANN401 - those of read_output_form
) -> WrittenFiles | None:
    """Write one file without rows, the same that `provenn.spark.writing.write` writes.

    Parameters
    ----------
    schema
        The attributes.
    path, overwrite, options
        As for `read_output_form`.
    notes
        The metadata of the file, if the format can hold them.
    hold
        Pins the hidden folder in which the file is written.

    Returns
    -------
    WrittenFiles or None
        None if only Spark can write it: a folder of files, or attributes whose types in files only Spark knows.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    from provenn.look.arrow_tables import make_empty_table  # noqa: PLC0415 - as above

    form = read_output_form(schema, path, overwrite=overwrite, **options)
    columns = make_empty_table(schema).schema
    if not form.one_file or pa.null() in columns.types:
        return None
    with open_writing_folder(form.parent, form.name, hold) as temporary, explain_io_errors(form.target):
        with (
            form.parent.open_filesystem(temporary) as (filesystem, place),
            filesystem.open_output_stream(f"{place}/result") as stream,
        ):
            _write_columns(form, columns, schema, stream, notes)
        size = next(entry.size for entry in form.parent.entries(temporary) if entry.name == "result")
        publish(form.parent, temporary, form.name, overwrite=overwrite)
    return WrittenFiles(form.target, 0, size, notes.left_out)


def _write_columns(form: OutputForm, columns: Any, schema: Schema, stream: Any, notes: FileNotes) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write the columns, without any rows."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    from provenn.spark.tables.ecsv_file import write_ecsv  # noqa: PLC0415 - as above
    from provenn.spark.tables.fits_file import write_fits  # noqa: PLC0415
    from provenn.spark.tables.parquet_file import write_parquet  # noqa: PLC0415
    from provenn.spark.tables.parts import PartFiles  # noqa: PLC0415
    from provenn.spark.tables.votable_file import write_votable  # noqa: PLC0415

    if form.format == "csv":
        stream.write(format_csv_header(schema))
        return
    moments = {attribute.name for attribute in schema.attributes if attribute.type in (DATE, TIMESTAMP, TIMESTAMP_NTZ)}
    texts = moments if form.format != "parquet" else set()  # the other formats hold moments as text
    kinds = [pa.string() if name in texts else _name_elements(columns.field(name).type) for name in schema]
    parts = PartFiles(None, (), pa.schema([*zip(schema, kinds, strict=True)]))
    writers = {"parquet": write_parquet, "fits": write_fits, "votable": write_votable, "ecsv": write_ecsv}
    writers[form.format](parts, schema.attributes, stream, notes)


def _name_elements(kind: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a type whose lists name their elements as in files that Spark writes."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    return pa.list_(pa.field("element", _name_elements(kind.value_type))) if pa.types.is_list(kind) else kind
