"""The formats and options that Spark may read: formats of files, and options that only say how to read them.

Spark loads any class that a format names, and passes it all options: ``jdbc`` runs statements in a database, ``path``
reads elsewhere, ``modifiedAfter`` depends on the clock, ``ignoreCorruptFiles`` drops rows. The list has none of these.
The list is checked when a catalog is defined, and again when Spark reads the catalog, wherever the definition was. The
owner extends the list by name: ``provenn allow format:avro``, ``provenn allow option:recordName``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from provenn.errors import BaseFilesError
from provenn.gate.permits import read_permits

__all__ = [
    "FORMATS",
    "FORMATS_WITHOUT_FILES",
    "OPTION_VALUES",
    "TABLE_PROVIDERS",
    "can_be_read",
    "check_reading",
    "check_table_provider",
]

_TIMES = "dateformat locale timestampformat timestampntzformat timezone"
_TEXT = "charset encoding linesep"
_NUMBERS = "nanvalue negativeinf positiveinf"
_CSV = f"""
    {_TIMES} {_TEXT} {_NUMBERS} chartoescapequoteescaping comment compression delimiter emptyvalue enforceschema escape
    header ignoreleadingwhitespace ignoretrailingwhitespace inferschema maxcharspercolumn maxcolumns mode multiline
    nullvalue quote sep unescapedquotehandling
"""
_JSON = f"""
    {_TIMES} {_TEXT} allowbackslashescapinganycharacter allowcomments allownonnumericnumbers allownumericleadingzeros
    allowsinglequotes allowunquotedcontrolchars allowunquotedfieldnames compression mode multiline primitivesasstring
"""
_REBASING = "datetimerebasemode int96rebasemode mergeschema"

FORMATS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        format_: frozenset(options.split())
        for format_, options in {
            "csv": _CSV,
            "ecsv": "nullvalue",
            "fits": "hdu",
            "ipac": "",
            "json": _JSON,
            "mrt": "",
            "orc": "mergeschema",
            "parquet": f"{_REBASING} layout",
            "text": f"{_TEXT} wholetext",
            "votable": "table",
        }.items()
    }
)
"""The options of each format that needs no permit, by lower-case name."""

FORMATS_WITHOUT_FILES = frozenset({"external", "given", "table"})
"""Formats without files: external datasets, tables in the archive's own store, tables of Spark's catalog."""

TABLE_PROVIDERS = frozenset({"csv", "delta", "hive", "hudi", "iceberg", "json", "orc", "parquet", "text"})
"""The providers that tables of Spark's catalog may have."""

OPTION_VALUES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        # DROPMALFORMED drops a row or not, depending on the requested columns.
        "mode": frozenset({"failfast", "permissive"}),
        # Python and Java both have these encodings; Python also has zlib and bz2, which would unpack data.
        **dict.fromkeys(
            ("charset", "encoding"),
            frozenset(
                {"ascii", "us-ascii", "utf-8", "utf8", "utf-16", "utf-16be", "utf-16le", "utf-32", "utf-32be"}
                | {"utf-32le", "latin1", "latin-1", "cp1252", "shift_jis", "euc-jp", "euc-kr", "gbk", "gb18030", "big5"}
                | {f"iso-8859-{number}" for number in range(1, 16)}
                | {f"windows-125{number}" for number in range(9)}
                | {"koi8-r", "koi8-u"}
            ),
        ),
    }
)
"""The allowed values, in lower case, of options with a limited set of values."""


def check_reading(format: str, options: Mapping[str, str], what: str) -> None:  # noqa: A002 - Spark's word
    """Check that the format and the options of files are listed or allowed by the owner.

    Parameters
    ----------
    format
        Spark's name of the format.
    options
        The options, by name.
    what
        The data to be read, for error messages.

    Raises
    ------
    BaseFilesError
        If the format, an option or its value is neither on provenn's list nor allowed by the owner.
    """
    permits = read_permits()
    if format not in FORMATS and format not in FORMATS_WITHOUT_FILES and f"format:{format}" not in permits:
        raise BaseFilesError(
            f"{what} is in the format {format!r}, which provenn does not read: {', '.join(sorted(FORMATS))}",
            hint="name the folder alone: HATS is recognised by its properties"
            if format.lower() == "hats"
            else f"if you trust its author, run: provenn allow format:{format.lower()}",
        )
    for name in _find_unlisted_options(format, options, permits):
        raise BaseFilesError(
            f"{what} uses the option {name!r}, which may do more than describe {format} files",
            hint=f"omit it; or, if you trust its author, run: provenn allow option:{name.lower()}",
        )
    for name, value in options.items():
        allowed_values = OPTION_VALUES.get(name)
        if allowed_values is not None and str(value).lower() not in allowed_values and f"option:{name}" not in permits:
            raise BaseFilesError(
                f"{what} uses {name}={value!r}, which is not one of {', '.join(sorted(allowed_values))}",
                hint=f"if you trust its author, run: provenn allow option:{name}",
            )


def can_be_read(format: str, options: Mapping[str, str]) -> bool:  # noqa: A002 - Spark's word
    """Return whether `check_reading` accepts a format and options."""
    try:
        check_reading(format, options, "it")
    except BaseFilesError:
        return False
    return True


def check_table_provider(provider: str, what: str) -> None:
    """Check that a table of Spark's catalog is made of files, or that the owner allows its provider by name.

    Raises
    ------
    BaseFilesError
        If neither holds.
    """
    if provider not in TABLE_PROVIDERS and f"format:{provider}" not in read_permits():
        raise BaseFilesError(
            f"the table {what} is made of {provider!r}, which provenn does not read",
            hint=f"if you trust it, run: provenn allow format:{provider}",
        )


def _find_unlisted_options(format: str, options: Iterable[str], permits: frozenset[str]) -> list[str]:  # noqa: A002 - Spark's word
    """Return the options neither listed for a format nor allowed; only lower-case options are listed."""
    listed = FORMATS.get("parquet" if format == "given" else format, frozenset())
    return [name for name in options if name not in listed and f"option:{name}" not in permits]
