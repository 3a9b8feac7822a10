"""Over the 256 values of a tinyint, what is proved of remainders and bits is exactly what is true."""

import math
from dataclasses import dataclass

from hypothesis import strategies as st

from provenn.criteria import parse_criterion
from provenn.logic import Knowledge, subset
from tests.criteria.oracle import OPERATORS, holds, random_cases
from tests.criteria.reductions.facts import derive_facts, make_schema

VALUES = range(-128, 128)
SCHEMA = make_schema({"t": "tinyint"})
NUMBERS = st.integers(-12, 12)


@dataclass(frozen=True)
class Form:
    """A term of t: as SQL, and as a function of the value of t that gives None for NULL."""

    sql: str
    apply: object


def remainder(modulus: int) -> Form:
    return Form(f"t % {modulus}", lambda value: int(math.fmod(value, modulus)) if modulus else None)


def positive_remainder(modulus: int) -> Form:
    def apply(value):
        return None if modulus == 0 else value % modulus if modulus > 0 else int(math.fmod(value, modulus))

    return Form(f"pmod(t, {modulus})", apply)


MASKS = st.sampled_from([1, 2, 3, 4, 6, 12, 64, 96, 128, 255, -1, -8, -128, 0])
FORMS = st.one_of(
    st.just(Form("t", lambda value: value)),
    NUMBERS.map(remainder),
    NUMBERS.map(positive_remainder),
    MASKS.map(lambda mask: Form(f"(t & {mask})", lambda value: value & mask)),
    st.tuples(MASKS, NUMBERS).map(lambda pair: Form(f"((t & {pair[0]}) | {pair[1]})", lambda v: v & pair[0] | pair[1])),
    st.tuples(MASKS, NUMBERS).map(lambda pair: Form(f"((t & {pair[0]}) ^ {pair[1]})", lambda v: v & pair[0] ^ pair[1])),
    st.just(Form("~t", lambda value: ~value)),
)


@st.composite
def conditions(draw):
    """A condition on one or two terms: SQL, and the values for which it is TRUE."""
    joined = draw(st.sampled_from(["", "AND", "OR"]))
    parts = []
    for _ in range(2 if joined else 1):
        form, operator, number = draw(FORMS), draw(st.sampled_from(OPERATORS)), draw(NUMBERS)
        results = {value: form.apply(value) for value in VALUES}
        true = {
            v
            for v, result in results.items()
            if result is not None and holds(operator, (result > number) - (result < number))
        }
        parts.append((f"{form.sql} {operator} {number}", true))
    if not joined:
        return parts[0]
    (item, first), (other, second) = parts
    return f"{item} {joined} {other}", first & second if joined == "AND" else first | second


@random_cases(30, 3_000)
def test_a_relation_is_proved_exactly_if_it_holds_for_all_values(data):
    (item, first), (other, second) = data.draw(conditions()), data.draw(conditions())
    criteria = [parse_criterion(text, SCHEMA) for text in (item, other)]
    knowledge = Knowledge(derive_facts(criteria, SCHEMA), open_universe=False)
    assert knowledge.entails(subset(criteria[0].true, criteria[1].true)) == (first <= second), (item, other)
    assert knowledge.entails(subset(criteria[0].true, ~criteria[1].true)) == (not first & second), (item, other)
