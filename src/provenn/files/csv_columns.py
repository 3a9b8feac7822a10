"""The columns of CSV files, seen in the first block; and the spelling of numbers, so that Spark reads them."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import IO, Any

from provenn.criteria import Type, parse_type
from provenn.criteria.moments import is_fixed_timestamp
from provenn.errors import BaseFilesError, did_you_mean
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.csv_slips import find_other_separator, suggest_reading
from provenn.files.type_names import parse_spark_type
from provenn.hints import Hint

__all__ = ["DEFAULT_OPTIONS", "NULL_WORDS", "make_null_hint", "read_csv_columns"]

DEFAULT_OPTIONS = {"header": "true", "escape": '"'}
"""A quote within quotes is doubled, as in RFC 4180 and most files; Spark would expect a backslash."""

_BLOCK = 1 << 20
_DIGITS = 15  # kept exactly by every double
_FRACTIONS = ("float", "double")
_SPELLINGS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), r"[+-]?\d+"),
    **dict.fromkeys(_FRACTIONS, r"\s*[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|NaN|Infinity)\s*|-?Inf"),
    "boolean": r"(?i)true|false",
}
"""The spellings that Spark reads as a value of a type; pyarrow is more tolerant."""
_SPECIAL = {"nanvalue": r"(?i)[+-]?nan", "negativeinf": r"(?i)-inf(inity)?", "positiveinf": r"(?i)[+]?inf(inity)?"}
"""Spark's options for other spellings of NaN and infinities."""
NULL_WORDS = ("null", "NULL", "Null", "\\N", "NA", "N/A", "n/a", "None", "NaT", "-", "--", "---")
"""Common spellings of NULL. provenn assumes none of them: NA may be a continent."""
_SURE_NULLS = frozenset(NULL_WORDS[:4])
"""The spellings with hardly any other meaning, even in a column without other values."""


def read_csv_columns(file: IO[bytes], name: str, options: Mapping[str, str], schema: Mapping[str, str]) -> FileContents:
    """Return the columns of an open CSV file, with types from `schema`, or else from the first block.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        The name of the file in errors.
    options
        Spark's options.
    schema
        Types by column; without a header, the schema names all columns.

    Returns
    -------
    FileContents
        The columns, and additional options of Spark for the spelling of ``nan`` and infinities.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only new base files need it

    header = options["header"] == "true"
    if not header and not schema:
        hint = Hint(
            'name the columns, in order: schema={"hip": "bigint", …}',
            command="name the columns, in order: --schema hip=bigint --schema …",
        )
        raise BaseFilesError(f"{name} has no header, so its columns have no names", hint=hint)
    beginning = b""
    try:
        beginning = _remove_comments(file.read(4 * _BLOCK), options)
        _check_dashes(beginning, name, options)
        inferred, texts = _read_first_block(beginning, options)
    except (pa.ArrowException, TypeError, ValueError, LookupError, OSError) as error:
        message = "it is empty" if not beginning.strip() else str(error)
        raise BaseFilesError(f"{name} cannot be read as CSV: {message}", hint=suggest_reading(beginning)) from error
    only = inferred.names[0] if header and len(inferred) == 1 else ""
    if only not in schema and find_other_separator(only) and not {"sep", "delimiter"} & options.keys():
        raise BaseFilesError(f"{name} has a single column, {only!r}", hint=suggest_reading(beginning))
    blanks = [options.get(f"ignore{side}whitespace") == "true" for side in ("leading", "trailing")]
    names = [_strip(column_name, *blanks) for column_name in inferred.names] if header else list(schema)
    if len(names) != len(inferred.names):
        raise BaseFilesError(f"{name} has {len(inferred.names)} columns, the schema names {len(names)}")
    for declared in schema:
        if declared not in names:
            advice = did_you_mean(declared, names) or f"there are {', '.join(names)}"
            raise BaseFilesError(f"{name} has no column {declared!r}", hint=advice)
    columns = check_columns(
        [
            FileColumn(
                column_name,
                parse_spark_type(schema[column_name], scalar=True) if column_name in schema else _convert_type(kind),
                nullable=True,
            )
            for column_name, kind in zip(names, inferred.types, strict=True)
        ],
        name,
    )
    _check_nulls(
        {column: texts for column, texts in zip(columns, texts, strict=True) if column.name not in schema},
        name,
        options,
    )
    fixed_format = "timestampformat" in options or options.get("mode", "").lower() == "permissive"
    needed: dict[str, str] = {}
    for column, column_texts in zip(columns, texts, strict=True):
        values = sorted(
            column_texts
            - {"", options.get("nullvalue", ""), *(options.get(option_name, "") for option_name in _SPECIAL)}
        )
        if column.name not in schema and column.type.name == "double":
            _check_digits(column.name, values, name)
        if column.type.name == "timestamp" and not fixed_format:
            _check_moments(column.name, values, name)
        for value in values:
            if _can_spark_read(column.type, _strip(value, *blanks)):
                continue
            option = next(
                (option_name for option_name, spelling in _SPECIAL.items() if re.fullmatch(spelling, value)), None
            )
            if option is None or column.type.name not in _FRACTIONS or needed.setdefault(option, value) != value:
                raise BaseFilesError(
                    f"{name}: Spark cannot read {value!r} in the column {column.name} as a {column.type}",
                    hint=Hint(
                        'for blanks: options={"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": True}; '
                        f'otherwise schema={{"{column.name}": "string"}}',
                        command="for blanks: --option ignoreLeadingWhiteSpace=true --option "
                        f"ignoreTrailingWhiteSpace=true; otherwise --schema {quote(f'{column.name}=string')}",
                    ),
                )
    return FileContents(columns, options=needed)


def _read_first_block(beginning: bytes, options: Mapping[str, str]) -> tuple[Any, list[set[str]]]:
    """Return the schema inferred by pyarrow, and the texts of each column."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    from pyarrow import csv  # noqa: PLC0415

    quote_mark, escape = options.get("quote", '"'), options["escape"]
    reader_options = {
        "read_options": csv.ReadOptions(
            autogenerate_column_names=options["header"] != "true", encoding=options.get("encoding", "utf-8").lower()
        ),
        "parse_options": csv.ParseOptions(
            delimiter=_find_separator(options),
            quote_char=quote_mark,
            escape_char=False if escape == quote_mark else escape,
            newlines_in_values=options.get("multiline") == "true",
        ),
    }
    nulls = ["", options.get("nullvalue", "")]
    with csv.open_csv(
        io.BytesIO(beginning), **reader_options, convert_options=csv.ConvertOptions(null_values=nulls)
    ) as reader:
        inferred = reader.schema
    all_text = csv.ConvertOptions(column_types=dict.fromkeys(inferred.names, pa.string()))
    with csv.open_csv(io.BytesIO(beginning), **reader_options, convert_options=all_text) as reader:
        batch = next(iter(reader), None)
    texts = [set(column.unique().to_pylist()) for column in batch.columns] if batch else [set()] * len(inferred)
    return inferred, texts


def _remove_comments(beginning: bytes, options: Mapping[str, str]) -> bytes:
    """Return the lines except comments, by Spark's rule for comments."""
    mark = options.get("comment", "").encode()
    lines = beginning.splitlines(keepends=True)
    return b"".join(line for line in lines if not line.startswith(mark)) if mark else beginning


def _check_dashes(beginning: bytes, name: str, options: Mapping[str, str]) -> None:
    """Refuse a table with units and a line of dashes below the header, which would become rows."""
    below = beginning.split(b"\n", 4)[1:4]
    if _find_separator(options) == "\t" and any(re.fullmatch(rb"[ \t\r-]*-[ \t\r-]*", line) for line in below):
        raise BaseFilesError(
            f"{name} has a line of dashes below its header, which would be read as a row",
            hint="VizieR writes such files: fetch the table as VOTable or FITS, or delete these lines",
        )


def _check_nulls(texts: Mapping[FileColumn, set[str]], name: str, options: Mapping[str, str]) -> None:
    """Refuse a column inferred as text only because of a word for NULL, until the user explains the word."""
    known = {"", options.get("nullvalue", "")}
    for column, column_texts in texts.items():
        words = [word for word in NULL_WORDS if word in column_texts - known]
        others = column_texts - known - {*words}
        if column.type.name != "string" or not words or (not others and not _SURE_NULLS.issuperset(words)):
            continue
        kind = _infer_common_type(others)
        if kind == "string":
            continue
        observation = f"all other values have the type {kind}" if others else "it holds nothing else"
        raise BaseFilesError(
            f"{name}: the column {column.name} would be text because of {words[0]!r}; {observation}",
            hint=Hint(
                f'{make_null_hint(words[0])}; if it is text, schema={{"{column.name}": "string"}}',
                command=f"{make_null_hint(words[0]).command}; if it is text, --schema {column.name}=string",
            ),
        )


def make_null_hint(word: str) -> Hint:
    r"""Return the hint to declare a word as NULL.

    >>> print(make_null_hint("NA"))
    if 'NA' stands for NULL, pass null='NA'
    >>> print(make_null_hint("NA").command)
    if 'NA' stands for NULL, add --null=NA
    """
    means = f"if {word!r} stands for NULL,"
    return Hint(f"{means} pass null={word!r}", command=f"{means} add --null={word}")


def _infer_common_type(texts: set[str]) -> str:
    """Return the common type of all texts; for no texts, null."""
    import pyarrow as pa  # noqa: PLC0415 - see above
    from pyarrow import csv  # noqa: PLC0415

    quoted = "".join('"' + text.replace('"', '""') + '"\n' for text in sorted(texts))
    options = csv.ConvertOptions(null_values=[], quoted_strings_can_be_null=False)
    try:
        table = csv.read_csv(
            io.BytesIO(quoted.encode()),
            read_options=csv.ReadOptions(column_names=["x"]),
            parse_options=csv.ParseOptions(newlines_in_values=True),
            convert_options=options,
        )
    except pa.ArrowInvalid:  # there is no text
        return "null"
    return str(_convert_type(table.schema[0].type))


def _find_separator(options: Mapping[str, str]) -> str:
    return options.get("sep", options.get("delimiter", ","))


def _check_digits(column: str, values: Sequence[str], name: str) -> None:
    """Refuse long integers, such as identifiers, inferred as doubles because no integer type holds them."""
    numbers = [
        value.strip() for value in values if not any(re.fullmatch(spelling, value) for spelling in _SPECIAL.values())
    ]
    long = [number for number in numbers if len(number.lstrip("+-0")) > _DIGITS]
    if long and all(re.fullmatch(r"[+-]?\d+", number) for number in numbers):
        raise BaseFilesError(
            f"{name}: {long[0]} in the column {column} has more digits than a double keeps",
            hint=Hint(
                f'state the type: schema={{"{column}": "decimal(20,0)"}}, or "string", or "double" with fewer digits',
                command=f"state the type: --schema '{column}=decimal(20,0)', or string, or double with fewer digits",
            ),
        )


def _check_moments(column: str, values: Sequence[str], name: str) -> None:
    """Refuse texts that Spark would make timestamps by the clock, or by the time zones that the machine knows."""
    for value in values:
        if not is_fixed_timestamp(value):
            raise BaseFilesError(
                f"{name}: {value!r} in the column {column} is not a complete date and time",
                hint=Hint(
                    "write dates and times in full, with zones such as +01:00; or state their format, "
                    f'options={{"timestampFormat": …}}; or read them as text, schema={{"{column}": "string"}}',
                    command="write dates and times in full, with zones such as +01:00; or state their format, "
                    f"--option timestampFormat=…; or read them as text, --schema {column}=string",
                ),
            )


def _can_spark_read(kind: Type, text: str) -> bool:
    return re.fullmatch(_SPELLINGS.get(kind.name, "(?s).*"), text) is not None


def _strip(text: str, leading: bool, trailing: bool) -> str:
    text = text.lstrip() if leading else text
    return text.rstrip() if trailing else text


def _convert_type(kind: Any) -> Type:  # noqa: ANN401 - pyarrow has no types
    name = {"int64": "bigint", "double": "double", "bool": "boolean", "date32[day]": "date"}.get(str(kind))
    return parse_type(name or ("timestamp" if str(kind).startswith("timestamp") else "string"))
