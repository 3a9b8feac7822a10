"""Random rows of nasty values, and random conditions on several attributes that are tight around a row.

Nothing here uses the code under test: a condition is a small tree that writes itself as SQL, and says in plain Python
whether it is TRUE, FALSE or NULL for a row.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce

import numpy as np
from hypothesis import strategies as st

from tests.criteria.oracle import BITS, OPERATORS, compare, holds

NUMBERS = ("double", "float", "int", "tinyint", "decimal(5,2)")
COLUMNS = {f"{letter}{number}": kind for letter, kind in zip("dfitm", NUMBERS, strict=True) for number in range(3)} | {
    "s0": "string",
    "s1": "string",
    **dict.fromkeys(["b0", "b1", "b2"], "boolean"),
}

_DOUBLES = [0.0, -0.0, 5e-324, -5e-324, 1e-300, 0.1, 0.3, 1.0, -1.0, 2.0, 3.0, 20.0, 21.0, 30.0, 1e16, -1e16, 1e300]
_SPECIAL = [math.inf, -math.inf, math.nan, 1.7976931348623157e308, -1.7976931348623157e308]
_WORDS = ["", "a", "b", "ab", "A", "\0"]


def values(kind: str) -> st.SearchStrategy:
    """Nasty values of a type; NULL is among them."""
    if kind == "double":
        some = st.one_of(st.sampled_from([*_DOUBLES, *_SPECIAL]), st.floats(-100, 100), st.floats())
    elif kind == "float":
        limit = float(np.finfo(np.float32).max)
        small = [float(np.float32(value)) for value in (0.0, -0.0, 1e-45, -1e-45, 0.1, 0.3, 1.0, -1.0, 20.0, 1e20)]
        some = st.one_of(
            st.sampled_from([*small, math.inf, -math.inf, math.nan, limit, -limit]), st.floats(-100, 100, width=32)
        )
    elif kind in BITS:
        top = 2 ** (BITS[kind] - 1)
        some = st.one_of(st.sampled_from([-top, 1 - top, top - 1, top - 2, 0, 1, -1]), st.integers(-12, 12))
    elif kind == "string":
        some = st.sampled_from(_WORDS)
    elif kind == "boolean":
        some = st.booleans()
    else:
        some = st.one_of(st.sampled_from([-99_999, 99_999, 0, 1, -1]), st.integers(-500, 500)).map(
            lambda cents: Decimal(cents) / 100
        )
    return st.one_of(some, some, some, some, st.none())


def neighbours(kind: str, value) -> list:
    """A value, and the values next to it in its type."""
    if kind in ("double", "float"):
        width = np.float64 if kind == "double" else np.float32
        if math.isnan(value):
            return [value, math.inf]
        with np.errstate(all="ignore"):
            return [value, *(float(np.nextafter(width(value), width(end))) for end in (-math.inf, math.inf))]
    if kind == "string":
        return [value, value + "\0", value[:-1]]
    if kind == "boolean":
        return [True, False]
    step = Decimal(1) / 100 if kind.startswith("decimal") else 1
    return [value, value + step, value - step]


def fit(kind: str, value):
    """A value rounded to its type, or NULL if it lies beyond the type."""
    if value is None or kind in ("double", "string", "boolean"):
        return value
    if kind == "float":
        with np.errstate(all="ignore"):
            return float(np.float32(value))
    if kind in BITS:
        top = 2 ** (BITS[kind] - 1)
        return value if -top <= value < top else None
    return value


def calculate(operator: str, kind: str, left, right):
    """The result of an operation in Spark, where failures are NULL."""
    if left is None or right is None or (operator == "/" and right == 0):
        return None
    if operator == "/":
        return divide(left, right)
    if kind == "float":
        with np.errstate(all="ignore"):
            first, other = np.float32(left), np.float32(right)
            return float({"+": first + other, "-": first - other, "*": first * other}[operator])
    return fit(kind, {"+": left + right, "-": left - right, "*": left * right}[operator])


def divide(left: float, right: float) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(left) / np.float64(right))


@dataclass(frozen=True)
class Column:
    name: str
    kind: str

    def sql(self):
        return self.name

    def value(self, row):
        return row[self.name]


@dataclass(frozen=True)
class Number:
    """A constant."""

    number: object
    kind: str

    def sql(self):
        return write_constant(self.kind, self.number)

    def value(self, _row):
        return self.number


def write_constant(kind: str, value) -> str:
    """A constant as SQL."""
    if value is None:
        return f"CAST(NULL AS {kind})"
    if kind in ("double", "float"):
        if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
            text = str(value) if math.isfinite(value) else "NaN" if math.isnan(value) else f"{value:+}".replace("+", "")
            return f"CAST('{text}' AS {kind.upper()})"
        return f"{value!r}D" if kind == "double" else f"{np.float32(value)!s}F"
    if kind == "string":
        return "'" + "".join("\\u0000" if item == "\0" else item for item in value) + "'"
    if kind == "boolean":
        return str(value).upper()
    if kind == "tinyint":
        return f"CAST({value} AS TINYINT)"
    return f"CAST({value} AS {kind.upper()})" if kind.startswith("decimal") else str(value)


@dataclass(frozen=True)
class Arithmetic:
    operator: str
    left: object
    right: object
    kind: str

    def sql(self):
        return f"({self.left.sql()}) {self.operator} ({self.right.sql()})"

    def value(self, row):
        return calculate(self.operator, self.kind, self.left.value(row), self.right.value(row))


@dataclass(frozen=True)
class Sign:
    """The negative or the absolute value."""

    function: str
    part: object
    kind: str

    def sql(self):
        return f"{self.function}({self.part.sql()})"

    def value(self, row):
        value = self.part.value(row)
        return None if value is None else fit(self.kind, -value if self.function == "-" else abs(value))


@dataclass(frozen=True)
class AsDouble:
    part: object
    kind: str = "double"

    def sql(self):
        return f"CAST({self.part.sql()} AS DOUBLE)"

    def value(self, row):
        value = self.part.value(row)
        return None if value is None else float(value)


@dataclass(frozen=True)
class Extreme:
    """The greatest or the least of several values; NULLs are passed over."""

    function: str
    parts: tuple
    kind: str

    def sql(self):
        return f"{self.function}({', '.join(part.sql() for part in self.parts)})"

    def value(self, row):
        present = [value for part in self.parts if (value := part.value(row)) is not None]
        if not present:
            return None
        sign = 1 if self.function == "greatest" else -1
        return reduce(lambda item, other: other if sign * compare(other, item) > 0 else item, present)


@dataclass(frozen=True)
class Comparison:
    left: object
    operator: str
    right: object

    def sql(self):
        return f"{self.left.sql()} {self.operator} {self.right.sql()}"

    def truth(self, row):
        first, other = self.left.value(row), self.right.value(row)
        return None if first is None or other is None else holds(self.operator, compare(first, other))


@dataclass(frozen=True)
class Presence:
    part: object

    def sql(self):
        return f"({self.part.sql()}) IS NOT NULL"

    def truth(self, row):
        return self.part.value(row) is not None


@st.composite
def terms(draw, kind: str, depth: int = 2):
    """Terms of a type."""
    names = [name for name, own in COLUMNS.items() if own == kind]
    if kind in ("string", "boolean") or depth == 0 or draw(st.integers(0, 2)) == 0:
        return Column(draw(st.sampled_from(names)), kind)
    if draw(st.integers(0, 5)) == 0:
        return Number(fit(kind, draw(values(kind).filter(lambda value: value is not None))), kind)
    part = terms(kind, depth - 1)
    form = draw(st.sampled_from(["+", "-", "*", "/", "+", "-", "sign", "cast", "extreme"]))
    if form == "sign":
        return Sign(draw(st.sampled_from(["-", "abs"])), draw(part), kind)
    if form == "extreme":
        return Extreme(draw(st.sampled_from(["greatest", "least"])), (draw(part), draw(part)), kind)
    if form == "cast" and kind == "double":
        return AsDouble(draw(terms(draw(st.sampled_from(["float", "int", "tinyint"])), depth - 1)))
    if form in ("cast", "/") and kind != "double":
        return draw(part)
    if kind.startswith("decimal"):
        form = "-" if form == "*" else form  # sums and differences of decimals keep their scale, and stay exact
    return Arithmetic(form, draw(part), draw(part), kind)


@st.composite
def conditions(draw, row: dict):
    """Conditions that a row just fulfils, or just misses."""
    kind = draw(st.sampled_from([*NUMBERS, "double", "double", "string", "boolean"]))
    term = draw(terms(kind))
    form = draw(st.integers(0, 6))
    if form == 0:
        return Presence(term)
    operator = draw(st.sampled_from(OPERATORS))
    if form < 4:
        value = term.value(row)
        near = (
            values(kind).filter(lambda item: item is not None)
            if value is None
            else st.sampled_from(neighbours(kind, value))
        )
        number = fit(kind, draw(near))
        if number is not None and (not kind.startswith("decimal") or abs(number) < 1000):
            return Comparison(term, operator, Number(number, kind))
    return Comparison(term, operator, draw(terms(kind)))


rows = st.fixed_dictionaries({name: values(kind) for name, kind in COLUMNS.items()})
