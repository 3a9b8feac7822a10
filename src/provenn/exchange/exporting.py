"""Export lineage for external systems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, Literal, get_args

from provenn.archive import Archive
from provenn.errors import FormatError, LineageError, did_you_mean
from provenn.exchange.records import Activity, Record, read_activities, read_records

__all__ = ["FORMATS", "LineageFormat", "export_lineage"]

LineageFormat = Literal["openlineage", "prov-json", "prov-n", "prov-xml"]
FORMATS: tuple[str, ...] = get_args(LineageFormat)
"""The formats in which lineage can be written."""


def export_lineage(
    archive: Archive,
    file: IO[str],
    which: str | None = None,
    *,
    format: LineageFormat = "openlineage",  # noqa: A002 - as the command
    namespace: str = "provenn",
    shows_folders: bool = True,
) -> None:
    """Write lineage for external systems to read.

    The same archive gives the same text, regardless of the user.

    Parameters
    ----------
    archive
        The archive.
    file
        The text file to write, in UTF-8.
    which
        A catalog, which is written with its whole lineage; by default, all catalogs are written.
    format
        ``"openlineage"``: events, a line of JSON each; or W3C PROV as ``"prov-json"``, ``"prov-n"``, ``"prov-xml"``.
    namespace
        The OpenLineage namespace of the datasets and jobs.
    shows_folders
        Whether files are named with their folders; otherwise only by the last part of their path.

    Raises
    ------
    UnknownCatalogError
        If the catalog is not known.
    FormatError
        If the format is not known.
    LineageError
        If the libraries for the format are not installed.
    """
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"one of {', '.join(FORMATS)}"
        raise FormatError(f"lineage is not written as {format!r}", hint=hint)
    if which is not None:
        archive.catalog(which)  # before anything is written
    records = read_records(archive, which, shows_folders=shows_folders)
    entries: Iterator[Record | Activity] = chain(records, read_activities(archive, which))
    try:
        if format == "openlineage":
            from provenn.exchange.openlineage_events import write_event  # noqa: PLC0415 - an extra
        else:
            from provenn.exchange.prov_records import write_prov  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "provenn":
            raise
        raise LineageError(
            f"lineage cannot be written without the library {error.name}", hint="pip install 'provenn[exchange]'"
        ) from error
    if format == "openlineage":
        for entry in entries:
            file.write(write_event(entry, namespace) + "\n")
    else:
        write_prov(entries, format, file)
