"""The columns of CSV files, seen in their first block; and how numbers are spelt there, so that Spark reads them."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import IO, Any

from provenn.catalogs.file_columns import Column, Contents, check_columns
from provenn.catalogs.type_names import known_type
from provenn.criteria import Type, parse_type
from provenn.errors import BaseFilesError, did_you_mean

__all__ = ["DEFAULT_OPTIONS", "NULL_WORDS", "csv_columns", "null_hint"]

DEFAULT_OPTIONS = {"header": "true", "escape": '"'}
"""A quote within quotes is doubled, as RFC 4180 has it and nearly all write it; Spark would expect a backslash."""

_BLOCK = 1 << 20
_DIGITS = 15  # that every double keeps
_FRACTIONS = ("float", "double")
_SPELLINGS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), r"[+-]?\d+"),
    **dict.fromkeys(_FRACTIONS, r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|NaN|Infinity)\s*|-?Inf"),
    "boolean": r"(?i)true|false",
}
"""What Spark reads as a value of a type; pyarrow is more tolerant."""
_SPECIAL = {"nanvalue": r"(?i)[+-]?nan", "negativeinf": r"(?i)-inf(inity)?", "positiveinf": r"(?i)[+]?inf(inity)?"}
"""Spark's options for other spellings of numbers that are none."""
NULL_WORDS = ("null", "NULL", "Null", "\\N", "NA", "N/A", "n/a", "None", "NaT", "-", "--", "---")
"""How writers spell NULL. None of these is assumed: NA may be a continent."""
_SURE_NULLS = frozenset(NULL_WORDS[:4])
"""Those that hardly mean anything else, also where nothing else is seen."""


def csv_columns(file: IO[bytes], name: str, options: Mapping[str, str], schema: Mapping[str, str]) -> Contents:
    """Return the columns of an open CSV file: of the types in `schema`, the others of types seen in its first block.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    options
        Spark's options.
    schema
        Types by column; without a header it names the columns, all of them.

    Returns
    -------
    Contents
        The columns, and Spark's options that are needed besides because of how ``nan`` and the like are spelt.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new base files need it

    header = options["header"] == "true"
    if not header and not schema:
        hint = 'name the columns, in order: schema={"hip": "bigint", …}'
        raise BaseFilesError(f"{name} has no header, so its columns have no names", hint=hint)
    try:
        beginning = _without_comments(file.read(4 * _BLOCK), options)
        _check_dashes(beginning, name, options)
        seen, texts = _first_block(beginning, options)
    except (pa.ArrowException, TypeError, ValueError, LookupError, OSError) as error:
        hint = 'lines of comments are left out with options={"comment": "#"}' if beginning[:1] == b"#" else ""
        raise BaseFilesError(f"{name} cannot be read as CSV: {error}", hint=hint or "see options=") from error
    blanks = [options.get(f"ignore{side}whitespace") == "true" for side in ("leading", "trailing")]
    names = [_stripped(one, *blanks) for one in seen.names] if header else list(schema)
    if len(names) != len(seen.names):
        raise BaseFilesError(f"{name} has {len(seen.names)} columns, the schema names {len(names)}")
    for given in schema:
        if given not in names:
            hint = did_you_mean(given, names) or f"there are {', '.join(names)}"
            raise BaseFilesError(f"{name} has no column {given!r}", hint=hint)
    columns = check_columns(
        [
            Column(one, known_type(schema[one], scalar=True) if one in schema else _seen_type(kind), nullable=True)
            for one, kind in zip(names, seen.types, strict=True)
        ],
        name,
    )
    _check_nulls(
        {one: texts for one, texts in zip(columns, texts, strict=True) if one.name not in schema}, name, options
    )
    needed: dict[str, str] = {}
    for column, texts_of in zip(columns, texts, strict=True):
        values = sorted(texts_of - {"", options.get("nullvalue", ""), *(options.get(one, "") for one in _SPECIAL)})
        if column.name not in schema and column.type.name == "double":
            _check_digits(column.name, values, name)
        for value in values:
            if _readable(column.type, _stripped(value, *blanks)):
                continue
            option = next((one for one, spelling in _SPECIAL.items() if re.fullmatch(spelling, value)), None)
            if option is None or column.type.name not in _FRACTIONS or needed.setdefault(option, value) != value:
                raise BaseFilesError(
                    f"{name}: Spark cannot read {value!r} in the column {column.name} as a {column.type}",
                    hint='for blanks: options={"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": True}; '
                    f'otherwise schema={{"{column.name}": "string"}}',
                )
    return Contents(columns, options=needed)


def _first_block(beginning: bytes, options: Mapping[str, str]) -> tuple[Any, list[set[str]]]:
    """Return the schema that pyarrow sees, and the texts of each column."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    from pyarrow import csv  # noqa: PLC0415

    quote, escape = options.get("quote", '"'), options["escape"]
    given = {
        "read_options": csv.ReadOptions(
            autogenerate_column_names=options["header"] != "true", encoding=options.get("encoding", "utf-8").lower()
        ),
        "parse_options": csv.ParseOptions(
            delimiter=_separator(options),
            quote_char=quote,
            escape_char=False if escape == quote else escape,
            newlines_in_values=options.get("multiline") == "true",
        ),
    }
    nulls = ["", options.get("nullvalue", "")]
    with csv.open_csv(io.BytesIO(beginning), **given, convert_options=csv.ConvertOptions(null_values=nulls)) as reader:
        seen = reader.schema
    every = csv.ConvertOptions(column_types=dict.fromkeys(seen.names, pa.string()))
    with csv.open_csv(io.BytesIO(beginning), **given, convert_options=every) as reader:
        batch = next(iter(reader), None)
    texts = [set(column.unique().to_pylist()) for column in batch.columns] if batch else [set()] * len(seen)
    return seen, texts


def _without_comments(beginning: bytes, options: Mapping[str, str]) -> bytes:
    """Return the lines that Spark does not take for comments."""
    mark = options.get("comment", "").encode()
    lines = beginning.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(mark)) if mark else beginning


def _check_dashes(beginning: bytes, name: str, options: Mapping[str, str]) -> None:
    """Refuse a table below whose header stand units and a line of dashes, which would be rows."""
    below = beginning.split(b"\n", 4)[1:4]
    if _separator(options) == "\t" and any(re.fullmatch(rb"[ \t\r-]*-[ \t\r-]*", line) for line in below):
        raise BaseFilesError(
            f"{name} has a line of dashes below its header, and above it perhaps units, which would be rows",
            hint="VizieR writes such files: fetch the table as VOTable or FITS; or delete these lines",
        )


def _check_nulls(texts: Mapping[Column, set[str]], name: str, options: Mapping[str, str]) -> None:
    """Refuse a column that is text only because of a word for NULL, until it is said what that word is."""
    known = {"", options.get("nullvalue", "")}
    for column, seen in texts.items():
        words = [word for word in NULL_WORDS if word in seen - known]
        others = seen - known - {*words}
        if column.type.name != "string" or not words or (not others and not _SURE_NULLS.issuperset(words)):
            continue
        kind = _common_type(others)
        if kind == "string":
            continue
        found = f"all other values that are seen are a {kind}" if others else f"nothing but {words[0]!r} is seen"
        raise BaseFilesError(
            f"{name}: the column {column.name} would be text because of {words[0]!r}; {found}",
            hint=f"if {words[0]!r} stands for NULL, say null={words[0]!r} (--null={words[0]}); if it is text, "
            f'schema={{"{column.name}": "string"}} (--schema {column.name}=string)',
        )


def null_hint(word: str) -> str:
    r"""Return how to say that a word stands for NULL.

    >>> print(null_hint("NA"))
    if 'NA' stands for NULL, say null='NA' (--null=NA)
    """
    return f"if {word!r} stands for NULL, say null={word!r} (--null={word})"


def _common_type(texts: set[str]) -> str:
    """Return the type that all texts have in common; that of none is no string."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    from pyarrow import csv  # noqa: PLC0415

    quoted = "".join('"' + text.replace('"', '""') + '"\n' for text in sorted(texts))
    options = csv.ConvertOptions(null_values=[], quoted_strings_can_be_null=False)
    try:
        read = csv.read_csv(
            io.BytesIO(quoted.encode()),
            read_options=csv.ReadOptions(column_names=["x"]),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=options,
        )
    except pa.ArrowInvalid:  # there is no text
        return "null"
    return str(_seen_type(read.schema[0].type))


def _separator(options: Mapping[str, str]) -> str:
    return options.get("sep", options.get("delimiter", ","))


def _check_digits(column: str, values: Sequence[str], name: str) -> None:
    """Refuse whole numbers, as of an identifier, that were taken for doubles because no integer type holds them."""
    numbers = [one.strip() for one in values if not any(re.fullmatch(each, one) for each in _SPECIAL.values())]
    long = [one for one in numbers if len(one.lstrip("+-0")) > _DIGITS]
    if long and all(re.fullmatch(r"[+-]?\d+", one) for one in numbers):
        raise BaseFilesError(
            f"{name}: {long[0]} in the column {column} has more digits than a double keeps",
            hint=f'say what it is: schema={{"{column}": "decimal(20,0)"}}, or "string", or "double" all the same',
        )


def _readable(kind: Type, text: str) -> bool:
    return re.fullmatch(_SPELLINGS.get(kind.name, "(?s).*"), text) is not None


def _stripped(text: str, leading: bool, trailing: bool) -> str:
    text = text.lstrip() if leading else text
    return text.rstrip() if trailing else text


def _seen_type(kind: Any) -> Type:  # noqa: ANN401 - pyarrow has no types
    name = {"int64": "bigint", "double": "double", "bool": "boolean", "date32[day]": "date"}.get(str(kind))
    return parse_type(name or ("timestamp" if str(kind).startswith("timestamp") else "string"))
