"""Every fact of a rule holds on rows that Spark evaluates, around each threshold and at the extremes of each type."""

import numpy as np
import pytest
from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.errors import CriterionError
from tests.criteria.reductions.facts_on_rows import check_facts
from tests.repetitions import repeat_a_few
from tests.strategies import drawn

SPECIAL = [f"CAST('{text}' AS DOUBLE)" for text in ("NaN", "inf", "-inf")]
DOUBLES = ["0D", "1D", "-1D", "2.5D", "-20D", "0.1D", "1000D", "1e300D", "-1e308D", "5e-324D", *SPECIAL]
FLOATS = ["0F", "1F", "-2.5F", "0.1F", "3e38F", "1e-45F", "CAST('NaN' AS FLOAT)"]
BINARY = ["x + {}", "{} - x", "x - {}", "x * {}"]
DIVISIONS = ["x / {}", "{} / x"]


def compare(terms: list[str], values: list[str]) -> list[str]:
    """Compare all terms with all values, and ask where the terms are NULL."""
    comparisons = [f"{term} {operator} {value}" for term in terms for value in values for operator in ("<", "=")]
    return [*comparisons, *(f"{term} IS NULL" for term in terms)]


def fill(forms: list[str], numbers: list[str]) -> list[str]:
    return [form.format(number) for form in forms for number in numbers]


WHOLE = {"tinyint": "Y", "smallint": "S", "int": "", "bigint": "L"}
TOPS = {"tinyint": 2**7, "smallint": 2**15, "int": 2**31, "bigint": 2**63}


def whole_forms(kind: str) -> list[str]:
    suffix, top = WHOLE[kind], TOPS[kind]
    numbers = [f"{number}{suffix}" for number in (0, 1, -1, 3, -7, top // 2, top - 1)]
    values = [f"{number}{suffix}" for number in (0, 2, -5, top - 1)]
    return compare([*fill(BINARY, numbers), "-x", "abs(x)", f"-x * 2{suffix} + 1{suffix}"], values)


CASES = {
    "doubles": ("double", compare(fill(BINARY, DOUBLES), ["0D", "1.5D", "1e300D", *SPECIAL[:2]])),
    "divided doubles": ("double", compare(fill(DIVISIONS, DOUBLES), ["0D", "-1.5D", "1e300D", *SPECIAL[:2]])),
    "signs of doubles": (
        "double",
        compare(["-x", "abs(x)", "-abs(x)", "-(x / 3)", "abs(x - 20)"], ["0D", "-7D", "20D", *SPECIAL]),
    ),
    "floats": (
        "float",
        compare([*fill(BINARY, FLOATS), "-x", "abs(x)"], ["0F", "1.5F", "-3e38F", "CAST('NaN' AS FLOAT)"]),
    ),
    "floats with doubles": ("float", compare(["x * 2", "1000 / x", "x + 0.1", "x / 3D"], ["10", "0.1"])),
    **{kind: (kind, whole_forms(kind)) for kind in WHOLE},
    "divided integers": ("bigint", compare(["x / 3", "1 / x", "x / 0", "x * 1.5D"], ["1", "0.1D", "9e18D"])),
    "decimals": (
        "decimal(5,2)",
        compare(
            [*fill([*BINARY, *DIVISIONS], ["3", "0.01", "-2.5", "0", "99999"]), "-x", "abs(x)", "x * 2D"],
            ["0", "1.5", "-7.125", "33.3"],
        ),
    ),
    "wide decimals": (
        "decimal(38,10)",
        compare(
            [
                *fill([*BINARY, *DIVISIONS], ["3", "0.01", "CAST(2.5 AS DECIMAL(38,12))"]),
                "x * CAST(99999999999999 AS DECIMAL(38,0))",
            ],
            ["0", "1.5", "-7.125", "99999"],
        ),
    ),
    "rounded doubles": (
        "double",
        compare(
            ["floor(x)", "ceil(x)", "floor(x * 2) + 1"], ["0", "5", "-3", "9223372036854775807", "-9223372036854775808"]
        )
        + compare(
            ["rint(x)", "sqrt(x)", *(f"{name}(x, {n})" for name in ("round", "bround") for n in (0, 1, 2, 5, -2))],
            ["0", "1.5", "-3", "0.25", "1.005", "1e300D", *SPECIAL],
        ),
    ),
    "rounded floats": (
        "float",
        compare(["floor(x)", "ceil(x)"], ["0", "5"])
        + compare(["round(x)", "round(x, 2)", "bround(x, 1)"], ["0F", "1.25F", "0.1F"]),
    ),
    "rounded decimals": (
        "decimal(5,2)",
        compare(
            ["floor(x)", "ceil(x)", "round(x)", "round(x, 1)", "bround(x)", "bround(x, 1)", "round(x, 5)"],
            ["0", "5", "-3", "1.5"],
        ),
    ),
    "floats rounded as doubles": (
        "float",
        compare(["round(CAST(x AS DOUBLE), 2)", "bround(x + 0D, 1)"], ["0.25", "1e13D", "1e30D", "-0.1"]),
    ),
    "rounded integers": ("int", compare(["floor(x)", "ceil(x)", "round(x)", "bround(x, 2)"], ["0", "5"])),
    "casts of doubles": (
        "double",
        compare([f"CAST(x AS {kind})" for kind in ("tinyint", "smallint", "int", "bigint")], ["0", "5", "-3", "127"])
        + compare(["CAST(x AS bigint)"], ["9223372036854775807", "-9223372036854775808"])
        + compare(["CAST(x AS float)"], ["0F", "0.1F", "3e38F", "CAST('inf' AS FLOAT)", "CAST('NaN' AS FLOAT)"])
        + ["CAST(x AS boolean)", "NOT CAST(x AS boolean)", "CAST(x AS boolean) IS NULL"],
    ),
    "casts of floats": (
        "float",
        compare([f"CAST(x AS {kind})" for kind in ("tinyint", "int", "bigint")], ["0", "5", "-3", "127"])
        + compare(["CAST(x AS bigint)"], ["9223372036854775807"])
        + ["CAST(x AS boolean)"],
    ),
    "casts of integers": (
        "bigint",
        compare([f"CAST(x AS {kind})" for kind in ("tinyint", "smallint", "int")], ["0", "5", "-3", "127"])
        + compare(["CAST(x AS decimal(5,2))", "CAST(x AS decimal(3,0))"], ["0", "5", "-3.5", "127"])
        + compare(["CAST(x AS float)"], ["0F", "16777217F", "9e18F"])
        + ["CAST(x AS boolean)"],
    ),
    "casts of decimals": (
        "decimal(10,4)",
        compare([f"CAST(x AS {kind})" for kind in ("tinyint", "smallint", "int", "bigint")], ["0", "5", "-3", "127"])
        + compare(
            ["CAST(x AS decimal(5,2))", "CAST(x AS decimal(3,0))", "CAST(x AS decimal(2,2))"],
            ["0", "0.5", "-3.5", "127"],
        )
        + ["CAST(x AS boolean)"],
    ),
    "casts of Booleans": (
        "boolean",
        compare(
            [f"CAST(x AS {kind})" for kind in ("int", "double", "float", "decimal(3,1)")],
            ["0", "1", "0.5"],
        ),
    ),
    "extremes": (
        "double",
        compare(
            ["greatest(x, 5D)", "least(x, 5D, 3D)", "greatest(x, NULL, 0D)", "least(x, CAST('NaN' AS DOUBLE))"],
            ["5D", "3D", "0D", "7D", "CAST('NaN' AS DOUBLE)"],
        ),
    ),
    "extremes of integers": (
        "int",
        compare(["greatest(x, 5, 2)", "least(x + 1, 5)", "greatest(x, 5) * 2"], ["5", "3", "10"]),
    ),
}


REPEATED = ("smallint", "int")
"""Cases that reach no other code than "tinyint" and "bigint"."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.campaign if name in REPEATED else []) for name in CASES]
)
def test_facts_hold_on_rows_around_every_threshold(engine, name):
    kind, texts = CASES[name]
    assert check_facts(engine.session, texts, {"x": kind}) > len(texts) // 4


LIBRARY = ["ln", "log10", "log2", "log1p", "exp", "expm1", "cbrt", "atan", "sinh", "tanh", "cosh", "degrees", "radians"]
LIBRARY += ["asin", "acos", "sin", "cos", "tan", "atanh"]
POWERS = ["2", "3", "0.5", "-1", "-2", "-0.4", "1e10", "7.5"]
BASES = ["10", "2", "0.5", "1.0000001", "1e-300"]


def test_estimates_hold_on_rows_around_every_threshold(engine):
    terms = [*(f"{name}(x)" for name in LIBRARY), *(f"pow(x, {power})" for power in POWERS)]
    terms += [f"{function}({base}, x)" for function in ("pow", "log") for base in BASES]
    texts = compare(terms, ["0D", "1D", "-1D", "0.3D", "1e-300D", "1e300D", "1.5707963267948966D", *SPECIAL])
    assert check_facts(engine.session, texts, {"x": "double"}) > 500


def draw_numbers(kind: str):
    """Random constants of a type, of all sizes."""
    if kind == "double":
        values = st.one_of(st.floats(-100, 100), st.floats(allow_nan=False, allow_infinity=False))
        texts = values.map(lambda value: f"{value!r}D")
    elif kind == "float":
        values = st.one_of(st.floats(-9, 9, width=32), st.floats(allow_nan=False, allow_infinity=False, width=32))
        texts = values.map(lambda value: f"{np.float32(value)!s}F")
    elif kind in WHOLE:
        values = st.one_of(st.integers(-9, 9), st.integers(1 - TOPS[kind], TOPS[kind] - 1))
        texts = values.map(lambda value: f"{value}{WHOLE[kind]}")
    else:
        texts = st.integers(-9999, 9999).map(lambda value: f"{value / 100:.2f}")
    return texts.map(lambda text: f"({text})" if text.startswith("-") else text)


def draw_criteria(kind: str):
    """Random comparisons of nested arithmetic on one attribute."""
    numbers = draw_numbers(kind)
    forms = st.sampled_from(BINARY if kind in ("float", *WHOLE) else [*BINARY, *DIVISIONS])
    terms = st.recursive(
        st.just("x"),
        lambda inner: st.one_of(
            st.builds(lambda form, number, term: form.replace("x", f"({term})").format(number), forms, numbers, inner),
            inner.map(lambda term: f"-({term})"),
            inner.map(lambda term: f"abs({term})"),
        ),
        max_leaves=3,
    )
    operators = st.sampled_from(["<", "=", ">="])
    return st.builds(lambda *parts: " ".join(parts), terms.filter(lambda term: term != "x"), operators, numbers)


@pytest.mark.parametrize("kind", repeat_a_few(["double", "float", "bigint", "tinyint", "decimal(5,2)", "int"], 5))
@pytest.mark.parametrize("count", [60, pytest.param(3_000, marks=pytest.mark.campaign)])
def test_random_arithmetic_is_what_the_facts_say(engine, kind, count):
    texts = [text for text in drawn(draw_criteria(kind), count, count) if can_be_read(text, kind)]
    for start in range(0, len(texts), 100):
        check_facts(engine.session, texts[start : start + 100], {"x": kind})


def can_be_read(text: str, kind: str) -> bool:
    """Tell whether a criterion is accepted: some decimals become too wide."""
    try:
        parse_criterion(text, {"x": Attribute("x", parse_type(kind))})
    except CriterionError:
        return False
    return True
