"""Texts that may be criteria or expressions: whatever they are, they are read or refused."""

from collections.abc import Callable
from functools import partial
from typing import Any

from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type, render
from provenn.criteria.functions import FUNCTIONS
from provenn.errors import CriterionError
from tests.criteria.oracle import criteria
from tests.fuzz.texts import spoiled, texts
from tests.fuzz.trying import Tried, try_all

__all__ = ["accept_criterion", "accept_expression", "try_criteria", "try_expressions"]

TYPES = {
    "hip": "bigint",
    "vmag": "double",
    "plx": "float",
    "n_obs": "int",
    "price": "decimal(5,2)",
    "name": "string",
    "variable": "boolean",
    "seen": "date",
    "at": "timestamp",
    "spectrum": "array<double>",
    "B-V": "double",
}
SCHEMA = {name: Attribute(f"star.{name}", parse_type(kind), name != "hip") for name, kind in TYPES.items()}
IDENTITIES = {attribute.identity: attribute for attribute in SCHEMA.values()}

_WORDS = (
    *TYPES,
    *("`B-V`", "`", "'x'", "5", "5L", "1.5", "1e5", "-1", "DATE '2020-01-31'", "TIMESTAMP '2020-01-31 12:00:00'"),
    *("AND", "OR", "NOT", "IN", "(", ")", ",", "BETWEEN", "LIKE", "RLIKE", "ESCAPE", "IS", "NULL", "TRUE", "FALSE"),
    *("=", "<>", "<", "<=", ">", ">=", "<=>", "!", "==", "+", "-", "*", "/", "%", "&", "|", "^", "~", "||", "::", "."),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "AS", "INT", "DOUBLE", "DECIMAL(10,2)", "DISTINCT", "FROM"),
    *(
        "SELECT",
        "EXISTS",
        "OVER",
        "INTERVAL",
        "DAY",
        ":x",
        "?",
        "@x",
        "[0]",
        "[",
        "]",
        "EXTRACT",
        "=>",
        "->",
        "WITH",
        "UNION",
        "VALUES",
    ),
    *sorted(FUNCTIONS),
)
_GOOD = (
    "vmag < 6 AND plx IS NOT NULL",
    "name LIKE 'a!%%' ESCAPE '!' OR name RLIKE '^G[0-9]V?$'",
    "CASE WHEN n_obs > 3 THEN vmag ELSE `B-V` END BETWEEN 1.5 AND 2e0",
    "NOT (variable <=> seen < DATE '2020-01-31') IS TRUE",
    "CAST(price AS DECIMAL(10,3)) * 2 - hip % 7 IN (1, 2, NULL, 3.25)",
    "coalesce(vmag, abs(plx), 5) + sqrt(price) / -n_obs >= 0",
    "(hip & 3) = (~n_obs | 1) AND at IS DISTINCT FROM TIMESTAMP '2020-01-31 12:00:00'",
    "if(variable, upper(name), name || 'x') = 'GX'",
    "date_add(seen, 3) < '2020-01-31' AND length(name) <> 0",
    "spectrum[0] > 5 AND size(spectrum) = 3 OR array_contains(spectrum, 1.5) AND element_at(spectrum, -1) IS NULL",
    "EXTRACT(YEAR FROM seen) = 2020 AND date_trunc('month', at) >= '2020-01-31'",
)


def try_criteria(cases: int) -> Tried:
    """Try to read texts as criteria."""
    return try_all(_inputs(), accept_criterion, cases)


def try_expressions(cases: int) -> Tried:
    """Try to read texts as expressions."""
    return try_all(_inputs(), accept_expression, cases)


def _inputs() -> st.SearchStrategy[str]:
    columns = tuple((name, kind) for name, kind in TYPES.items() if kind != "array<double>" and name != "B-V")
    result = criteria(*columns, between_columns=True).map(lambda item: item.sql())
    return st.one_of(texts(), spoiled(st.one_of(st.sampled_from(_GOOD), result), _WORDS))


def _accept(parse: Callable[..., Any], text: str) -> bool:
    """Tell whether a text can be read; what can be reads back from what it writes."""
    try:
        parsed = parse(text, SCHEMA)
    except CriterionError as error:
        str(error).encode(errors="surrogatepass")
        return False
    assert parse(parsed.canonical, IDENTITIES) == parsed
    if parsed.text != "NULL":  # which is enough for people; of which type it is only canonical text says
        assert parse(parsed.text, SCHEMA).reads == parsed.reads
    assert render(parsed, {identity: identity for identity in parsed.reads})
    return True


accept_criterion = partial(_accept, parse_criterion)
accept_expression = partial(_accept, parse_expression)
