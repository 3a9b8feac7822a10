"""The operations of plan steps with opaque SQL, on DataFrames.

The text was checked and written by `provenn.catalogs.opaque_text`. It runs in the session of the archive, with the
pinned settings: ANSI mode is off, so that a division by zero or a cast that fails is NULL, and whole numbers overflow
as in Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from uuid import uuid4

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession, types

from provenn.catalogs.opaque_query import OpaqueQuery
from provenn.catalogs.opaque_text import OpaqueText, make_input_name
from provenn.criteria.literals import quote_string
from provenn.errors import DefinitionError
from provenn.spark.columns import normalize_zeros, quote_name
from provenn.spark.row_digests import needs_exact_order, write_row_digest, write_row_text
from provenn.spark.spark_errors import OPAQUE_ROWS

__all__ = ["filter_rows", "identify_rows", "name_table", "run_query"]

_COPIES = "\x1fcopies"
"""A column that is no attribute: names of attributes are printable."""

_IDENTITY = re.compile(r"`\w+`\.`[0-9a-f]{64}:([^`]*)`")
"""A column of an input in a canonical text; people call it by its name."""


def name_table(frame: DataFrame, columns: Iterable[tuple[str, str]]) -> DataFrame:
    """Return columns of a frame, given as pairs of old and new name; every table has columns of its own in Spark.

    Conditions on floating-point numbers are not left to the reader of Parquet files, for which -0.0 is not 0.0.
    """
    kinds = dict(frame.dtypes)

    def write_value(name: str) -> str:
        quoted = quote_name(name)
        return f"nanvl({quoted}, {quoted})" if kinds[name] in ("float", "double") else quoted

    return frame.selectExpr(*(f"{write_value(old)} AS {quote_name(new)}" for old, new in columns))


def run_query(session: SparkSession, text: OpaqueText, tables: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of a query on tables, in the order of their numbers.

    Raises
    ------
    DefinitionError
        If Spark does not understand the query.
    """
    token = _make_token()
    views = {number: f"{token}_{make_input_name(number)}" for number in text.inputs}
    frames = {views[number]: tables[number - 1] for number in text.inputs}
    return _run_text(session, text.write_for_spark(views, token), frames, text)


def filter_rows(session: SparkSession, text: OpaqueText, frame: DataFrame, tables: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of a frame for which a condition is TRUE.

    Raises
    ------
    DefinitionError
        If Spark does not understand the condition.
    """
    token = _make_token()
    views = {number: f"{token}_{make_input_name(number)}" for number in text.inputs}
    # New columns, so that a table made from the same rows has others.
    places = {name: f"{token}_{place}" for place, name in enumerate(frame.columns)}
    condition = text.write_for_spark(views, token, places)
    rows = f"{token}_rows"
    frames = {views[number]: tables[number - 1] for number in text.inputs}
    frames[rows] = name_table(frame, places.items())
    names = quote_name(token)
    filtered = _run_text(
        session,
        f"SELECT {names}.* FROM {quote_name(rows)} AS {names} WHERE ({condition})",  # noqa: S608 - checked text
        frames,
        text,
    )
    return name_table(filtered, ((place, name) for name, place in places.items()))


def _make_token() -> str:
    """Return a word that no name in a session or in a text holds."""
    return f"provenn_{uuid4().hex}"


def _run_text(session: SparkSession, written: str, frames: dict[str, DataFrame], text: OpaqueText) -> DataFrame:
    """Run a text on frames, which stand in it by their names; the session has no tables of these names afterwards."""
    template = written.replace("{", "{{").replace("}", "}}")
    for name in frames:
        template = template.replace(quote_name(name), f"{{{name}}}")
    try:
        result = session.sql(template, None, **frames)
        result.schema  # noqa: B018 - Connect analyses the text only now
    except (AnalysisException, ParseException) as error:
        reason = (error.getMessage() or str(error)).strip().splitlines()[0]
        reason = re.sub(r"^\[[A-Z_.0-9]+\] | SQLSTATE: \w+.*$", "", reason)
        shown = _IDENTITY.sub(r"\1", text.canonical)[:200]
        raise DefinitionError(
            f"Spark does not understand {shown}: {reason}",
            hint="columns of tables and their types must be those of the inputs",
        ) from error
    return result


def identify_rows(frame: DataFrame, query: OpaqueQuery) -> DataFrame:
    """Return the rows of a query with the columns of a catalog, named by identity, after comparing the columns.

    Rows are checked as they are computed: a key that is NULL or occurs twice, or a NULL in a column that has none,
    makes the run fail.

    Raises
    ------
    DefinitionError
        If the columns of the result have other names or types than those of the catalog.
    """
    _compare_columns(frame, query)
    identities = [query.schema[result.name].identity for result in query.columns]
    present = [
        result.name
        for result, field in zip(query.columns, frame.schema.fields, strict=True)
        if field.nullable and not result.nullable and result.name not in query.key
    ]
    named = frame.toDF(*identities)
    if query.is_bag:
        numbered = _number_copies(frame, named, query)
        problem = _write_problem(present, query, f"{quote_name(query.schema.key[1].identity)} < 1")
        return _check_rows(numbered, problem) if present else numbered
    keys = [attribute.identity for attribute in query.schema.key]
    named = normalize_zeros(named, ((identity, identity) for identity in keys))
    window = f"count(1) OVER (PARTITION BY {', '.join(map(quote_name, keys))}) AS {quote_name(_COPIES)}"
    counted = named.selectExpr("*", window)
    return _check_rows(counted, _write_problem(present, query, f"{quote_name(_COPIES)} > 1")).drop(_COPIES)


def _number_copies(frame: DataFrame, named: DataFrame, query: OpaqueQuery) -> DataFrame:
    """Return rows with the digest of their content, and the number of the copy among equal rows.

    Equal rows that can still be told apart, by the sign of a zero, are numbered in a definite order.
    """
    fields = frame.schema.fields
    renamed = [types.StructField(name, field.dataType) for name, field in zip(named.columns, fields, strict=True)]
    row, copy = (attribute.identity for attribute in query.schema.key)
    # The names in the digest are those of the result: identities differ from query to query.
    digest = write_row_digest(renamed, [field.name for field in fields])
    rows = named.selectExpr("*", f"{digest} AS {quote_name(row)}")
    is_exact = any(needs_exact_order(field.dataType) for field in fields)
    order = write_row_text(renamed, is_exact=True) if is_exact else quote_name(row)
    window = f"row_number() OVER (PARTITION BY {quote_name(row)} ORDER BY {order})"
    return rows.selectExpr("*", f"{window} AS {quote_name(copy)}")


def _check_rows(frame: DataFrame, problem: str) -> DataFrame:
    return frame.where(f"CASE WHEN ({problem}) IS NOT NULL THEN CAST(raise_error({problem}) AS BOOLEAN) ELSE true END")


def _write_problem(present: Sequence[str], query: OpaqueQuery, repeated: str) -> str:
    """Return SQL for what is wrong with a row, in words; NULL if nothing is.

    Every part reads the number of copies, so that Spark cannot check rows which the query itself leaves out later.
    """
    quoted = {name: quote_name(query.schema[name].identity) for name in (*query.key, *present)}
    missing = [
        f"WHEN {quoted[name]} IS NULL THEN {quote_string(_describe_null(name, is_key=name in query.key))}"
        for name in quoted
    ]
    values = ", ', ', ".join(f"coalesce(CAST({quoted[name]} AS STRING), 'NULL')" for name in query.key) or "''"
    words = f"{OPAQUE_ROWS}the key {', '.join(query.key)} occurs more than once: "
    again = f"concat({quote_string(words)}, {values})"
    return f"CASE {' '.join(missing)} WHEN {repeated} THEN {again} END"


def _describe_null(name: str, *, is_key: bool) -> str:
    return f"{OPAQUE_ROWS}the {'key ' if is_key else ''}column {name} holds a NULL"


def _compare_columns(frame: DataFrame, query: OpaqueQuery) -> None:
    """Make sure that a result has the columns that its catalog states."""
    stated = [(result.name, str(result.type)) for result in query.columns]
    computed = [(field.name, field.dataType.simpleString()) for field in frame.schema.fields]
    if _join_words(stated) == _join_words(computed):
        return
    raise DefinitionError(
        f"the query gives the columns {_list_columns(computed)}; the catalog states {_list_columns(stated)}",
        hint="define the catalog with the columns that Spark gives",
    )


def _join_words(columns: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return columns whose types have no spaces: names of fields lose them where types are read."""
    return [(name, "".join(kind.split())) for name, kind in columns]


def _list_columns(columns: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in columns)
