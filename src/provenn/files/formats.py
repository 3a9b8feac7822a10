"""The formats of base files: choosing the format, and reading the columns of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from provenn.errors import BaseFilesError
from provenn.files.ascii_columns import read_ascii_columns
from provenn.files.column_bounds import join_bounds
from provenn.files.column_statistics import join_statistics
from provenn.files.columns import FileColumn, FileContents, parse_schema
from provenn.files.csv_columns import DEFAULT_OPTIONS, read_csv_columns
from provenn.files.ecsv_columns import is_ecsv, read_ecsv_columns
from provenn.files.fits_columns import read_fits_columns
from provenn.files.listing import File
from provenn.files.parquet_columns import read_parquet_columns
from provenn.files.suffixes import COMPRESSED, find_format, is_compressed
from provenn.files.table_metadata import clean_metadata, find_common_metadata
from provenn.files.votable_columns import read_votable_columns
from provenn.hints import Hint

__all__ = ["read_file_contents", "settle_format"]

_TEXT = ("csv", "tsv", "ecsv")
_OWN_SCHEMA = ("parquet", "fits", "votable", "ecsv", "ipac", "mrt")
"""The formats with column descriptions in the files."""


def settle_format(
    files: Sequence[File],
    format: str | None,  # noqa: A002 - Spark's word
    user_options: Mapping[str, Any],
    null: str | None,
) -> tuple[str, dict[str, str]]:
    """Return the format of files, and the options for reading them, by lower-case name.

    Parameters
    ----------
    files
        The files.
    format
        The format from the user; by default the suffixes decide.
    user_options
        The options from the user.
    null
        The text that stands for NULL, from the user.

    Raises
    ------
    BaseFilesError
        If the format is unknown, or the options contradict the format.
    """
    format = format.lower() if format else _guess_format(files)  # noqa: A001 - see above
    options = dict(DEFAULT_OPTIONS) if format in ("csv", "tsv") else {}
    if format == "tsv":
        options["sep"] = "\t"
    for name, value in user_options.items():
        text = str(value)
        options[name.lower()] = text.lower() if text.lower() in ("true", "false") else text
    if null is not None:
        if format not in _TEXT:
            raise BaseFilesError(
                f"{format} files already mark NULL values", hint=Hint("omit null=", command="omit --null")
            )
        if "nullvalue" in options:
            hint = Hint("pass null= or options, not both", command="use --null or --option, not both")
            raise BaseFilesError("the option nullValue repeats what null states", hint=hint)
        options["nullvalue"] = null
    return "csv" if format == "tsv" else format, options


_FOREIGN: Final = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "read_excel"),
    **dict.fromkeys((".h5", ".hdf5", ".hdf"), "read_hdf"),
    **dict.fromkeys((".feather", ".arrow"), "read_feather"),
    **dict.fromkeys((".pkl", ".pickle"), "read_pickle"),
    ".dta": "read_stata",
}
"""Suffixes of formats that provenn does not read, each with the function of pandas that does."""


def _suggest_conversion(name: str) -> Hint | None:
    """Return how to convert a file of a format that provenn does not read; None for another file."""
    if name.endswith((".zip", ".tar", ".7z", ".rar")):
        return Hint("unpack it first, and name the files inside")
    function = next((function for suffix, function in _FOREIGN.items() if name.endswith(suffix)), None)
    if function is None:
        return None
    return Hint(
        f"provenn does not read this format: pass pandas.{function}(…) itself, or write that to Parquet",
        command=f"convert it to Parquet, for example in Python: pandas.{function}(…).to_parquet(…)",
    )


def _guess_format(files: Sequence[File]) -> str:
    """Return the format according to the suffixes, if all agree."""
    formats = set()
    for file in files:
        name = file.name.lower()
        for suffix in COMPRESSED:
            name = name.removesuffix(suffix)
        file_format = find_format(name)
        if file_format is None:
            hint = Hint(
                'name the format: format="csv", "parquet", "fits", "votable", "orc", "json", "text" …',
                command="name the format: --format csv, parquet, fits, votable, orc, json, text …",
            )
            raise BaseFilesError(
                f"the format of {file.name} cannot be told from its name", hint=_suggest_conversion(name) or hint
            )
        formats.add(file_format)
    if len(formats) > 1:
        raise BaseFilesError(
            f"there are files of several formats: {', '.join(sorted(formats))}",
            hint="select files with a pattern, for example *.parquet",
        )
    if formats == {"csv"}:  # the Gaia archive names ECSV files .csv
        with files[0].open(decompressed=True) as opened:
            return "ecsv" if is_ecsv(opened.read(64)) else "csv"
    return formats.pop()


def read_file_contents(
    files: Sequence[File],
    format: str,  # noqa: A002 - Spark's word
    options: Mapping[str, str],
    schema: Mapping[str, str] | None,
    *,
    nested: bool = False,
) -> FileContents:
    """Return the columns, row count, options, metadata, statistics and bounds of files, all together.

    Parameters
    ----------
    files
        The files.
    format
        The format.
    options
        Options for reading them.
    schema
        Types by column, for formats without column descriptions.
    nested
        As for `read_parquet_columns`.

    Raises
    ------
    BaseFilesError
        If the files cannot be read, or do not fit together.
    """
    if schema is not None and format in _OWN_SCHEMA:
        raise BaseFilesError(
            f"{format} files already have a schema",
            hint=Hint(
                "omit schema=; use keep() and rename()", command="omit --schema; use provenn keep and provenn rename"
            ),
        )
    if format not in (*_OWN_SCHEMA, "csv"):
        if not schema:
            hint = Hint(
                'name each column and its type: schema={"id": "bigint", …}; or convert the files to Parquet',
                command="name each column and its type: --schema id=bigint --schema …; or convert the files to Parquet",
            )
            raise BaseFilesError(f"the columns of {format} files are not known without a schema", hint=hint)
        return FileContents(parse_schema(schema))
    contents_by_name: dict[str, FileContents] = {}
    for file in files:
        size = None if is_compressed(file.name) else file.size
        with file.open(decompressed=format in _TEXT or (format != "parquet" and size is None)) as opened:
            match format:
                case "parquet":
                    contents_by_name[file.name] = read_parquet_columns(opened, file.name, nested=nested)
                case "fits":
                    contents_by_name[file.name] = read_fits_columns(opened, file.name, options, size, file.size)
                case "votable":
                    contents_by_name[file.name] = read_votable_columns(opened, file.name, options, size)
                case "ipac" | "mrt":
                    contents_by_name[file.name] = read_ascii_columns(opened, file.name, format)
                case "ecsv":
                    contents_by_name[file.name] = read_ecsv_columns(opened, file.name, options)
                case _:
                    contents_by_name[file.name] = read_csv_columns(opened, file.name, options, schema or {})
    rows = [contents.rows for contents in contents_by_name.values()]
    needed: dict[str, str] = {}
    for contents in contents_by_name.values():
        needed |= contents.options
    columns = _unify_columns(
        {name: contents.columns for name, contents in contents_by_name.items()}, in_order=format == "csv"
    )
    metadata = find_common_metadata([clean_metadata(contents.metadata) for contents in contents_by_name.values()])
    statistics = join_statistics([contents.statistics for contents in contents_by_name.values()])
    file_bounds = tuple(contents.bounds for contents in contents_by_name.values())
    row_count = None if None in rows else sum(filter(None, rows))
    return FileContents(columns, row_count, needed, metadata, statistics, join_bounds(file_bounds), file_bounds)


def _unify_columns(columns: Mapping[str, Sequence[FileColumn]], *, in_order: bool = False) -> tuple[FileColumn, ...]:
    """Return the columns of all files, in the order of the first file; refuse files with different columns.

    With `in_order`, as in CSV, where the position identifies a column, the order must be the same in all files.
    """
    (first, first_columns), *others = columns.items()
    unified = {column.name: column for column in first_columns}
    for file, file_columns in others:
        if in_order and [column.name for column in file_columns] != list(unified):
            raise BaseFilesError(
                f"the columns of {first} and {file} differ, or their order", hint="ingest them one by one"
            )
        for column in file_columns:
            known = unified.get(column.name)
            if known is None or known.type != column.type or len(file_columns) != len(unified):
                what = (
                    f"{column.name} is a {column.type}"
                    if known is None or known.type != column.type
                    else "other columns exist"
                )
                raise BaseFilesError(
                    f"the columns of {first} and {file} differ: in {file}, {what}",
                    hint=Hint(
                        "ingest them one by one; or, for CSV, state their types: schema={…}",
                        command="ingest them one by one; or, for CSV, state their types: --schema COLUMN=TYPE",
                    ),
                )
            unified[column.name] = replace(known, nullable=known.nullable or column.nullable)
    return tuple(unified.values())
