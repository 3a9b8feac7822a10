"""The sources that satisfy some criteria and not others, compared with Python's own comparisons."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.criteria import Attribute, describe_difference, parse_criterion, parse_type

SCHEMA = {name: Attribute(f"stars.{name}", parse_type("double")) for name in "xyz"}
ATOM = st.builds("{} {} {}".format, st.sampled_from("xyz"), st.sampled_from(["<", "<=", ">", ">="]), st.integers(0, 4))
CRITERION = st.one_of(
    ATOM, st.builds("{} AND {}".format, ATOM, ATOM), st.builds("({} OR {})".format, ATOM, ATOM)
)  # OR in parentheses, so that Python reads the same
VALUES = [None, *(number / 2 for number in range(-1, 10))]


def holds(text: str, row: dict[str, float | None]) -> bool:
    """Whether a criterion is TRUE for a row: what is compared with NULL is not."""
    python = re.sub(r"(\w) IS (NOT )?NULL", lambda match: f"({match[1]}.is_null is {not match[2]})", text)
    python = re.sub(r" = ", " == ", python).replace("<>", "!=").replace("FALSE", "False").replace("TRUE", "True")
    python = python.replace(" AND ", " and ").replace(" OR ", " or ")
    return bool(eval(python, {}, {name: Number(value) for name, value in row.items()}))  # noqa: S307 - our own text


class Number:
    """A number, or NULL, whose comparisons are false."""

    def __init__(self, value: float | None) -> None:
        self.value, self.is_null = value, value is None

    def __lt__(self, other: object) -> bool:
        return self.value is not None and self.value < unpack(other)

    def __le__(self, other: object) -> bool:
        return self.value is not None and self.value <= unpack(other)

    def __gt__(self, other: object) -> bool:
        return self.value is not None and self.value > unpack(other)

    def __ge__(self, other: object) -> bool:
        return self.value is not None and self.value >= unpack(other)

    def __eq__(self, other: object) -> bool:
        return self.value is not None and self.value == unpack(other)

    def __ne__(self, other: object) -> bool:
        return self.value is not None and self.value != unpack(other)

    __hash__ = None


def unpack(value: object) -> float:
    return value.value if isinstance(value, Number) else value


@settings(max_examples=100)
@given(
    st.lists(CRITERION, min_size=1, max_size=2),
    st.lists(CRITERION, min_size=1, max_size=2),
    st.lists(st.tuples(*[st.sampled_from(VALUES)] * 3), min_size=8, max_size=8),
)
def test_a_difference_is_true_for_the_same_rows(wanted, unwanted, rows):
    text = describe_difference(
        [parse_criterion(criterion, SCHEMA) for criterion in wanted],
        [parse_criterion(criterion, SCHEMA) for criterion in unwanted],
    )
    for values in rows:
        row = dict(zip("xyz", values, strict=True))
        expected = all(holds(text, row) for text in wanted) and not all(holds(text, row) for text in unwanted)
        assert holds(text, row) == expected, (text, row)


def test_ranges_are_written_as_people_write_them():
    def ring(wanted: str, unwanted: str) -> str:
        return describe_difference([parse_criterion(wanted, SCHEMA)], [parse_criterion(unwanted, SCHEMA)])

    assert ring("x < 7", "x < 6") == "6 <= x < 7"
    assert ring("x < 7 AND y > 0", "x < 6 AND y > 0") == "(6 <= x < 7) AND y > 0"
    assert ring("x + y < 7", "x + y < 6") == "x + y >= 6 AND x + y < 7", "no name alone"
    assert ring("x > -1.5", "x > 2.5E10") == "-1.5 < x <= 25000000000"
