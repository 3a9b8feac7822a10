"""Lineage for others: what is written, and in which format."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, Literal, get_args

from provenn.archive import Archive
from provenn.errors import FormatError, LineageError, did_you_mean
from provenn.exchange.records import Deed, Record, deeds, records

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
) -> None:
    """Write lineage for others to read. The same archive gives the same text, whoever writes it.

    Parameters
    ----------
    archive
        The archive.
    file
        Where to, as text in UTF-8.
    which
        A catalog, which is written with all it is made from; by default all catalogs are.
    format
        ``"openlineage"``: events, a line of JSON each; or W3C PROV as ``"prov-json"``, ``"prov-n"``, ``"prov-xml"``.
    namespace
        OpenLineage's namespace of the datasets and jobs.

    Raises
    ------
    UnknownCatalogError
        If there is no such catalog.
    FormatError
        If there is no such format.
    LineageError
        If the libraries for it are not installed.
    """
    if format not in FORMATS:
        hint = did_you_mean(format, FORMATS) or f"one of {', '.join(FORMATS)}"
        raise FormatError(f"lineage is not written as {format!r}", hint=hint)
    if which is not None:
        archive.catalog(which)  # before anything is written
    told: Iterator[Record | Deed] = chain(records(archive, which), deeds(archive, which))
    try:
        if format == "openlineage":
            from provenn.exchange.openlineage_events import line  # noqa: PLC0415 - an extra
        else:
            from provenn.exchange.prov_records import write_prov  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "provenn":
            raise
        raise LineageError(
            f"lineage cannot be written without the library {error.name}", hint="pip install 'provenn[exchange]'"
        ) from error
    if format == "openlineage":
        for one in told:
            file.write(line(one, namespace) + "\n")
    else:
        write_prov(told, format, file)
