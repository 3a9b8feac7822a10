"""An independent reading of criteria: random ones, what they mean in plain Python, and where to look.

Nothing here uses the code under test. A random criterion is a small tree that can write itself as SQL and say whether
it is TRUE, FALSE or NULL for a row; values are Python's own (int, float, Decimal, str, bool, date, datetime).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cache, wraps
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BITS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
TYPES = (*BITS, "float", "double", "decimal(5,2)", "string", "boolean", "date", "timestamp")
OPERATORS = ("<", "<=", "=", "<>", ">=", ">")
TICK = timedelta(microseconds=1)


# ---- Spark's order of values -----------------------------------------------------------------------------------


def compare(item, other) -> int:
    """Return -1, 0 or 1, in Spark's order: NaN is the largest number and equal to itself."""
    nan = [isinstance(value, float) and math.isnan(value) for value in (item, other)]
    if any(nan):
        return nan[0] - nan[1]
    return (item > other) - (item < other)


def holds(operator: str, order: int) -> bool:
    return {"<": order < 0, "<=": order <= 0, "=": order == 0, "<>": order != 0, ">=": order >= 0, ">": order > 0}[
        operator
    ]


def coerced(value, kind: str, literal: "Literal"):
    """Return a value of a column and a constant in the type in which Spark compares the two."""
    if kind == "float" and literal.kind == "float":
        return value, literal.value
    if kind in ("float", "double") or literal.kind in ("float", "double"):
        return float(value), float(literal.value)
    return value, literal.value


# ---- conditions --------------------------------------------------------------------------------------------------


def negation(value):
    return None if value is None else not value


def conjunction(values):
    values = list(values)
    return False if False in values else None if None in values else True


@dataclass(frozen=True)
class Literal:
    """A constant: how it is written, what it is, and its type."""

    sql: str
    value: object
    kind: str


@dataclass(frozen=True)
class Compare:
    column: str
    kind: str
    operator: str
    literal: Literal
    mirrored: bool = False

    def sql(self):
        if self.mirrored:
            return f"{self.literal.sql} {MIRROR[self.operator]} {self.column}"
        return f"{self.column} {self.operator} {self.literal.sql}"

    def truth(self, row):
        if row[self.column] is None or self.literal.value is None:
            return None
        return holds(self.operator, compare(*coerced(row[self.column], self.kind, self.literal)))


MIRROR = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">=": "<=", ">": "<"}


@dataclass(frozen=True)
class Between:
    column: str
    kind: str
    low: Literal
    high: Literal
    negated: bool

    def sql(self):
        return f"{self.column} {'NOT ' * self.negated}BETWEEN {self.low.sql} AND {self.high.sql}"

    def truth(self, row):
        result = conjunction(
            Compare(self.column, self.kind, operator, literal).truth(row)
            for operator, literal in ((">=", self.low), ("<=", self.high))
        )
        return negation(result) if self.negated else result


@dataclass(frozen=True)
class In:
    column: str
    kind: str
    items: tuple[Literal, ...]
    negated: bool

    def sql(self):
        return f"{self.column} {'NOT ' * self.negated}IN ({', '.join(item.sql for item in self.items)})"

    def truth(self, row):
        none = conjunction(Compare(self.column, self.kind, "<>", item).truth(row) for item in self.items)
        return none if self.negated else negation(none)


@dataclass(frozen=True)
class NullSafe:
    column: str
    kind: str
    literal: Literal
    form: str

    def sql(self):
        return f"{self.column} {self.form} {self.literal.sql}"

    def truth(self, row):
        value = row[self.column]
        if value is None or self.literal.value is None:
            same = value is None and self.literal.value is None
        else:
            same = compare(*coerced(value, self.kind, self.literal)) == 0
        return same if self.form in ("<=>", "IS NOT DISTINCT FROM") else not same


@dataclass(frozen=True)
class IsNull:
    column: str
    negated: bool

    def sql(self):
        return f"{self.column} IS {'NOT ' * self.negated}NULL"

    def truth(self, row):
        return (row[self.column] is None) != self.negated


@dataclass(frozen=True)
class Flag:
    column: str

    def sql(self):
        return self.column

    def truth(self, row):
        return row[self.column]


@dataclass(frozen=True)
class Columns:
    """Two columns of one type, compared."""

    left: str
    operator: str
    right: str

    def sql(self):
        return f"{self.left} {self.operator} {self.right}"

    def truth(self, row):
        first, other = row[self.left], row[self.right]
        if self.operator == "<=>":
            return (first is None and other is None) if None in (first, other) else compare(first, other) == 0
        return None if None in (first, other) else holds(self.operator, compare(first, other))


@dataclass(frozen=True)
class Constant:
    value: bool | None

    def sql(self):
        return {True: "TRUE", False: "1 = 2", None: "NULL"}[self.value]

    def truth(self, _row):
        return self.value


@dataclass(frozen=True)
class Not:
    part: object

    def sql(self):
        return f"NOT ({self.part.sql()})"

    def truth(self, row):
        return negation(self.part.truth(row))


@dataclass(frozen=True)
class Asked:
    part: object
    form: str

    def sql(self):
        return f"({self.part.sql()}) {self.form}"

    def truth(self, row):
        value = self.part.truth(row)
        asked = {"TRUE": value is True, "FALSE": value is False, "NULL": value is None}[self.form.split()[-1]]
        return asked != ("NOT" in self.form)


@dataclass(frozen=True)
class Joined:
    operator: str
    parts: tuple

    def sql(self):
        return f" {self.operator} ".join(f"({part.sql()})" for part in self.parts)

    def truth(self, row):
        values = [part.truth(row) for part in self.parts]
        if self.operator == "AND":
            return conjunction(values)
        return negation(conjunction(map(negation, values)))


@dataclass(frozen=True)
class Chosen:
    """if(c, p, q) and coalesce(p, q), of conditions."""

    function: str
    parts: tuple

    def sql(self):
        return f"{self.function}({', '.join(part.sql() for part in self.parts)})"

    def truth(self, row):
        values = [part.truth(row) for part in self.parts]
        if self.function == "if":
            return values[1] if values[0] else values[2]
        return next((value for value in values if value is not None), None)


# ---- random ones -------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SMALL = st.integers(-4, 4)
WORDS = st.text(alphabet="ab\\'% é😀", max_size=2)
DAYS = st.integers(-3, 3).map(lambda n: date(2020, 3, 1) + timedelta(n))
MOMENTS = st.tuples(DAYS, st.sampled_from(["00:00:00", "12:30:00", "23:59:59.999999"]))


def literals(kind: str):
    """Constants that a column of this type is compared with."""
    whole = SMALL.map(lambda n: Literal(str(n), n, "int"))
    tenths = st.integers(-45, 45).map(lambda n: Literal(f"{n / 10}", Decimal(n) / 10, "decimal"))
    double = st.one_of(
        st.floats(-4, 4).map(lambda x: Literal(f"{x!r}D", x, "double")),
        st.sampled_from([0.0, 0.1, 2.5]).map(lambda x: Literal(f"{x!r}D", x, "double")),
        st.sampled_from(["NaN", "inf", "-inf"]).map(lambda s: Literal(f"CAST('{s}' AS DOUBLE)", float(s), "double")),
    )
    if kind in BITS:
        top = 2 ** (BITS[kind] - 1)
        edges = st.sampled_from([-top - 1, -top, top - 1, top]).map(lambda n: Literal(str(n), n, "bigint"))
        return st.one_of(whole, edges, tenths, double)
    if kind == "decimal(5,2)":
        hundredths = st.integers(-99_999, 99_999).map(
            lambda n: Literal(f"{Decimal(n) / 100:.2f}", Decimal(n) / 100, "decimal")
        )
        thousandths = st.integers(-9, 9).map(lambda n: Literal(f"{n / 1000:.3f}", Decimal(n) / 1000, "decimal"))
        return st.one_of(whole, tenths, hundredths, thousandths, double)
    if kind == "float":
        single = st.floats(-4, 4, width=32).map(lambda x: Literal(f"{np.float32(x)!s}F", x, "float"))
        return st.one_of(whole, tenths, double, single)
    if kind == "double":
        return st.one_of(whole, tenths, double)
    if kind == "string":
        return WORDS.map(lambda text: Literal(quoted(text), text, kind))
    if kind == "boolean":
        return st.booleans().map(lambda value: Literal(str(value), value, kind))
    if kind == "date":
        return DAYS.map(lambda day: Literal(quoted(day.isoformat()), day, kind))
    return MOMENTS.map(lambda pair: Literal(quoted(f"{pair[0]} {pair[1]}"), moment(f"{pair[0]} {pair[1]}"), kind))


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NULL = Literal("NULL", None, "void")


def leaves(column: str, kind: str):
    """Conditions on one column."""
    values = literals(kind)
    # Spark compares all of a list in one type: an exact one here; doubles among integers are asked of elsewhere.
    listed = values if kind in ("float", "double") else values.filter(lambda catalog: catalog.kind != "double")
    items = st.lists(
        st.one_of(listed.filter(lambda catalog: catalog.kind != "float"), st.just(NULL)), min_size=1, max_size=4
    )
    named = {"column": st.just(column), "kind": st.just(kind)}
    safe = st.sampled_from(["<=>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
    forms = [
        st.builds(Compare, operator=st.sampled_from(OPERATORS), literal=values, mirrored=st.booleans(), **named),
        st.builds(Between, low=values, high=values, negated=st.booleans(), **named),
        st.builds(In, items=items.map(tuple), negated=st.booleans(), **named),
        st.builds(NullSafe, literal=st.one_of(values, st.just(NULL)), form=safe, **named),
        st.builds(IsNull, st.just(column), st.booleans()),
    ]
    if kind == "boolean":
        forms.append(st.just(Flag(column)))
    return st.one_of(forms)


@cache
def criteria(*columns: tuple[str, str], between_columns: bool = False, max_leaves: int = 6):
    """Random criteria over columns: (name, type)."""
    base = [leaves(*column) for column in columns]
    base.append(st.sampled_from([Constant(True), Constant(False), Constant(None)]))
    if between_columns:
        pairs = [(item, other) for (item, a), (other, b) in product(columns, columns) if a == b]
        operators = st.sampled_from([*OPERATORS, "<=>"])
        base.append(st.builds(lambda pair, how: Columns(pair[0], how, pair[1]), st.sampled_from(pairs), operators))
    asked = [f"IS {negated}{what}" for negated in ("", "NOT ") for what in ("TRUE", "FALSE", "NULL")]
    return st.recursive(
        st.one_of(base),
        lambda part: st.one_of(
            st.builds(Not, part),
            st.builds(Asked, part, st.sampled_from(asked)),
            st.builds(Joined, st.sampled_from(["AND", "OR"]), st.lists(part, min_size=2, max_size=3).map(tuple)),
            st.builds(Chosen, st.just("if"), st.tuples(part, part, part)),
            st.builds(Chosen, st.just("coalesce"), st.tuples(part, part)),
        ),
        max_leaves=max_leaves,
    )


# ---- where to look -----------------------------------------------------------------------------------------------


def constants(criterion) -> list[tuple[str, object]]:
    """Return all that a criterion compares its columns with: (column, value)."""
    match criterion:
        case Compare() | NullSafe():
            return [(criterion.column, criterion.literal.value)]
        case Between():
            return [(criterion.column, criterion.low.value), (criterion.column, criterion.high.value)]
        case In():
            return [(criterion.column, item.value) for item in criterion.items]
        case Not() | Asked():
            return constants(criterion.part)
        case Joined() | Chosen():
            return [pair for part in criterion.parts for pair in constants(part)]
    return []


def rows(columns: dict[str, str], near: list[tuple[str, object]], *, nullable: bool) -> list[dict]:
    """Return rows such that every cell between the constants holds one."""
    values = [
        [
            value
            for value in witnesses(kind, [constant for name, constant in near if name == column])
            if nullable or value is not None
        ]
        for column, kind in columns.items()
    ]
    return [dict(zip(columns, chosen, strict=True)) for chosen in product(*values)]


def witnesses(kind: str, near: list) -> list:
    """Return values of a type such that every cell between the given constants holds one; NULL is among them."""
    values = [value for value in near if value is not None]
    results: list = []
    if kind in BITS:
        top = 2 ** (BITS[kind] - 1)
        finite = [value for value in values if not isinstance(value, float) or math.isfinite(value)]
        nearby = [math.floor(value) + step for value in finite for step in (-1, 0, 1, 2)]
        results = [value for value in {0, -top, top - 1, *nearby} if -top <= value < top]
    elif kind == "decimal(5,2)":
        finite = [value for value in values if not isinstance(value, float) or math.isfinite(value)]
        cents = [math.floor(Decimal(value) * 100) + step for value in finite for step in (-1, 0, 1, 2)]
        results = [Decimal(n) / 100 for n in {0, -99_999, 99_999, *cents} if -99_999 <= n <= 99_999]
    elif kind in ("float", "double"):
        width = np.float32 if kind == "float" else np.float64
        edges = [
            width(value) for value in (0.0, -0.0, 1.0, "inf", "-inf", "nan", np.finfo(width).max, -np.finfo(width).max)
        ]
        for value in values:
            at = width(float(value))
            edges += [at, np.nextafter(at, width("-inf")), np.nextafter(at, width("inf"))]
        results = [float(value) for value in edges]
    elif kind == "string":
        results = ["", "\0", "zz", *values, *(value + "\0" for value in values)]
    elif kind == "boolean":
        results = [True, False]
    elif kind == "date":
        results = [date(1, 1, 1), date(9999, 12, 31)]
        results += [value + timedelta(step) for value in values for step in (-1, 0, 1)]
    else:
        results = [moment("0001-01-01 00:00:00"), moment("9999-12-31 23:59:59")]
        results += [value + step * TICK for value in values for step in (-1, 0, 1)]
    return [None, *results]


# ---- labels ------------------------------------------------------------------------------------------------------

_LABEL = re.compile(r"`(\w+)`(?: (<=|<>|<|=|>|>=) (.+)| IS NOT NULL)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)", re.DOTALL)


@cache
def labelled(label: str) -> Callable[[dict], bool]:
    """Return the test for the set that a label names. A label is a criterion on one column, or on two."""
    name, operator, text = _LABEL.fullmatch(label).groups()
    if label.endswith(" IS NOT NULL"):
        return lambda row: row[name] is not None
    if operator is None:
        return lambda row: row[name] is True
    if text.startswith("`"):
        return lambda row: Columns(name, operator, text[1:-1]).truth(row) is True
    value = constant(text)
    return lambda row: row[name] is not None and holds(operator, compare(row[name], value))


def constant(text: str):
    """Read a constant in canonical text."""
    if result := re.fullmatch(r"CAST\('(.+)' AS (?:DOUBLE|FLOAT)\)", text):
        return float(result[1])
    if result := re.fullmatch(r"DATE '(.+)'", text):
        return date.fromisoformat(result[1])
    if result := re.fullmatch(r"TIMESTAMP '(.+)'", text):
        return moment(result[1])
    if text.startswith("'"):
        return _ESCAPE.sub(lambda match: chr(int(match[1][1:], 16)) if len(match[1]) > 1 else match[1], text[1:-1])
    if text.endswith("BD"):
        return Decimal(text[:-2])
    if text.endswith("D"):
        return float(text[:-1])
    if text.endswith("F"):
        return float(np.float32(text[:-1]))
    return int(text.rstrip("YSL"))


# ---- running ------------------------------------------------------------------------------------------------------


def random_cases(quick: int, campaign: int = 5_000):
    """Run a test on some random cases in `make test`, on many in `make campaign`."""
    slow = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

    def decorate(test):
        @pytest.mark.parametrize(
            "examples", [quick, pytest.param(campaign, marks=pytest.mark.campaign)], ids=["quick", "campaign"]
        )
        @wraps(test)
        def run(examples):
            settings(max_examples=examples, deadline=None, suppress_health_check=slow)(given(data=st.data())(test))()

        del run.__wrapped__  # or pytest would ask for a fixture `data`
        return run

    return decorate
