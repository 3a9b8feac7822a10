"""The formats of base files: which one files have, and what files of each tell of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from provenn.catalogs.ascii_columns import ascii_columns
from provenn.catalogs.csv_columns import DEFAULT_OPTIONS, csv_columns
from provenn.catalogs.ecsv_columns import ecsv_columns, is_ecsv
from provenn.catalogs.file_columns import Column, Contents, given_columns
from provenn.catalogs.file_listing import File
from provenn.catalogs.fits_columns import fits_columns
from provenn.catalogs.parquet_columns import parquet_columns
from provenn.catalogs.table_metadata import agreed, clean
from provenn.catalogs.votable_columns import votable_columns
from provenn.errors import BaseFilesError

__all__ = ["look_at", "settle_format"]

_SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".ecsv": "ecsv",
    ".ipac": "ipac",
    ".tbl": "ipac",
    ".mrt": "mrt",
    ".fits": "fits",
    ".fit": "fits",
    ".vot": "votable",
    ".votable": "votable",
    ".xml": "votable",
}
_COMPRESSED = (".gz", ".bz2", ".zst")
_TEXT = ("csv", "tsv", "ecsv")
_OWN_SCHEMA = ("parquet", "fits", "votable", "ecsv", "ipac", "mrt")
"""The formats whose files say what their columns are."""


def settle_format(
    files: Sequence[File],
    format: str | None,  # noqa: A002 - Spark's word
    given: Mapping[str, Any],
    null: str | None,
) -> tuple[str, dict[str, str]]:
    """Return the format of files, and the options to read them, by lower-case name.

    Parameters
    ----------
    files
        The files.
    format
        Their format, if somebody has said it; otherwise the suffixes tell.
    given
        The options that somebody has given.
    null
        What stands for NULL, if somebody has said it.

    Raises
    ------
    BaseFilesError
        If the format cannot be told, or the options contradict it.
    """
    format = format.lower() if format else _format(files)  # noqa: A001 - see above
    options = dict(DEFAULT_OPTIONS) if format in ("csv", "tsv") else {}
    if format == "tsv":
        options["sep"] = "\t"
    for name, value in given.items():
        text = str(value)
        options[name.lower()] = text.lower() if text.lower() in ("true", "false") else text
    if null is not None:
        if format not in _TEXT:
            raise BaseFilesError(f"{format} files say themselves where a value is NULL", hint="leave out null=")
        if "nullvalue" in options:
            raise BaseFilesError("null= and the option nullValue say the same", hint="leave out one of them")
        options["nullvalue"] = null
    return "csv" if format == "tsv" else format, options


def _format(files: Sequence[File]) -> str:
    """Return the format that the suffixes tell, if they agree."""
    formats = set()
    for file in files:
        name = file.name.lower()
        for suffix in _COMPRESSED:
            name = name.removesuffix(suffix)
        found = next((one for suffix, one in _SUFFIXES.items() if name.endswith(suffix)), None)
        if found is None:
            hint = 'name it as Spark does: format="csv", "parquet", "orc", …'
            raise BaseFilesError(f"the name of {file.name} does not tell its format", hint=hint)
        formats.add(found)
    if len(formats) > 1:
        raise BaseFilesError(f"there are files of several formats: {', '.join(sorted(formats))}", hint="use a glob")
    if formats == {"csv"}:  # the Gaia archive calls ECSV so
        with files[0].open(decompressed=True) as opened:
            return "ecsv" if is_ecsv(opened.read(64)) else "csv"
    return formats.pop()


def look_at(
    files: Sequence[File],
    format: str,  # noqa: A002 - Spark's word
    options: Mapping[str, str],
    schema: Mapping[str, str] | None,
) -> Contents:
    """Return what files tell of themselves, all together.

    Parameters
    ----------
    files
        The files.
    format
        Their format.
    options
        Options to read them.
    schema
        Types by column, for formats that do not tell.

    Raises
    ------
    BaseFilesError
        If they cannot be read, or do not fit together.
    """
    if schema is not None and format in _OWN_SCHEMA:
        raise BaseFilesError(
            f"{format} files have a schema of their own", hint="leave out schema=; use keep and rename"
        )
    if format not in (*_OWN_SCHEMA, "csv"):
        if not schema:
            hint = 'give schema={"hip": "bigint", …}'
            raise BaseFilesError(f"the columns of {format} files are not known without a schema", hint=hint)
        return Contents(given_columns(schema))
    found: dict[str, Contents] = {}
    for file in files:
        size = None if file.name.lower().endswith(_COMPRESSED) else file.size
        with file.open(decompressed=format in _TEXT or (format != "parquet" and size is None)) as opened:
            match format:
                case "parquet":
                    found[file.name] = parquet_columns(opened, file.name)
                case "fits":
                    found[file.name] = fits_columns(opened, file.name, options, size)
                case "votable":
                    found[file.name] = votable_columns(opened, file.name, options, size)
                case "ipac" | "mrt":
                    found[file.name] = ascii_columns(opened, file.name, format)
                case "ecsv":
                    found[file.name] = ecsv_columns(opened, file.name, options)
                case _:
                    found[file.name] = csv_columns(opened, file.name, options, schema or {})
    rows = [one.rows for one in found.values()]
    needed: dict[str, str] = {}
    for contents in found.values():
        needed |= contents.options
    columns = _unified({name: one.columns for name, one in found.items()}, in_order=format == "csv")
    metadata = agreed([clean(one.metadata) for one in found.values()])
    return Contents(columns, None if None in rows else sum(filter(None, rows)), needed, metadata)


def _unified(columns: Mapping[str, Sequence[Column]], *, in_order: bool = False) -> tuple[Column, ...]:
    """Return the columns that all files have, if all have the same; in the order of the first file.

    Where columns are known by their place, as in CSV, the order must be the same in all files.
    """
    (first, found), *others = columns.items()
    unified = {one.name: one for one in found}
    for file, more in others:
        if in_order and [one.name for one in more] != list(unified):
            raise BaseFilesError(
                f"the columns of {first} and {file} differ, or their order", hint="ingest them one by one"
            )
        for one in more:
            known = unified.get(one.name)
            if known is None or known.type != one.type or len(more) != len(unified):
                what = f"{one.name} is a {one.type}" if known is None or known.type != one.type else "there are others"
                raise BaseFilesError(
                    f"the columns of {first} and {file} differ: in {file}, {what}",
                    hint="ingest them one by one; or, for CSV, give their types: schema={…}",
                )
            unified[one.name] = replace(known, nullable=known.nullable or one.nullable)
    return tuple(unified.values())
