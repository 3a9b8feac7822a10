"""What a criterion expands to is bounded, and found in steps that grow with the text and not with its nesting.

Steps are calls of Python functions, counted: a slow machine makes as many as a fast one.
"""

import sys
from collections.abc import Callable

import pytest

from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type
from provenn.criteria.expansion import MOST_PARTS
from provenn.errors import CriterionError

KINDS = {"p": "boolean", "a": "int", "s": "string", "d": "double"}
SCHEMA = {
    f"{letter}{number}": Attribute(f"t.{letter}{number}", parse_type(kind))
    for letter, kind in KINDS.items()
    for number in range(100)
}
IDENTITIES = {attribute.identity: attribute for attribute in SCHEMA.values()}

# One level of a nest: {} is what is inside; {n} and {m} number attributes.
BOOLEAN = {
    "nullif": "nullif({}, p{n})",
    "nullif of another": "nullif(p{n}, {})",
    "between": "({} BETWEEN p{n} AND p{m})",
    "between constants": "(({} AND p{n}) BETWEEN false AND true)",
    "between as bound": "(p{n} BETWEEN {} AND p{m})",
    "case test": "CASE WHEN {} THEN p{n} ELSE p{m} END",
    "case value": "CASE WHEN p{n} THEN {} ELSE p{m} END",
    "case subject": "CASE {} WHEN p{n} THEN p{m} WHEN p{m} THEN p{n} END",
    "if": "if({}, p{n}, p{m})",
    "coalesce": "coalesce({}, p{n})",
    "coalesce last": "coalesce(p{n}, {})",
    "nvl": "nvl({}, p{n})",
    "nvl2": "nvl2({}, p{n}, p{m})",
    "in": "({} IN (p{n}, p{m}))",
    "in as item": "(p{n} IN ({}, p{m}))",
    "null-safe": "({} <=> p{n})",
    "distinct": "({} IS DISTINCT FROM p{n})",
    "equal": "({} = (p{n} = p{m}))",
    "unequal": "({} <> p{n})",
    "at least": "({} >= false)",
    "not equal": "NOT (({} = p{n}))",
    "is null": "(({} AND p{n}) IS NULL)",
    "is true": "(({} OR p{n}) IS TRUE)",
    "and, or": "(({} AND p{n}) OR p{m})",
    "cast": "boolean(string({}))",
}
INTEGER = {
    "nullif": "nullif({}, a{n})",
    "nullif of a constant": "nullif({}, 7)",
    "between": "if({} BETWEEN a{n} AND a{m}, 1, 2)",
    "case subject": "CASE {} WHEN 1 THEN a{n} WHEN 2 THEN a{m} END",
    "in": "if({} IN (a{n}, a{m}), 1, 2)",
    "distinct": "if({} IS DISTINCT FROM a{n}, 1, 2)",
    "case and sum": "(CASE WHEN {} > 1 THEN a{n} ELSE 1 END + a{m})",
    "sum": "(a{n} + {})",
    "greatest": "greatest({}, a{n})",
    "round": "int(round({} / 2))",
}
FORMS = [*((form, "p0", "") for form in BOOLEAN.values()), *((form, "a0", " = 3") for form in INTEGER.values())]
NAMES = [*(f"boolean {name}" for name in BOOLEAN), *(f"integer {name}" for name in INTEGER)]


def nest(form: str, inside: str, end: str, depth: int) -> str:
    text = inside
    for level in range(depth):
        text = form.replace("{}", text, 1).replace("{n}", str(level + 1)).replace("{m}", str(level + 2))
    return text + end


class TooManyStepsError(BaseException):
    """Not an Exception, so that nothing under test catches it."""


def steps(work: Callable[[], object], most: int) -> int:
    """Return how many calls some work makes; stop it when there are too many."""
    count = 0

    def called(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        if event == "call":
            count += 1
            if count > most:
                raise TooManyStepsError

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(("form", "inside", "end"), FORMS, ids=NAMES)
def test_a_nest_of_any_form_is_read_or_refused_in_bounded_steps(form, inside, end):
    refused = []
    for depth in (7, 24):
        text = nest(form, inside, end, depth)
        assert len(text) < 1_500

        def read(text: str = text) -> None:
            try:
                criterion = parse_criterion(text, SCHEMA)
            except CriterionError as error:
                refused.append(error.problem)
            else:
                again = parse_criterion(criterion.canonical, IDENTITIES, canonical=True)
                assert again == criterion
                assert again.atoms == criterion.atoms

        steps(read, most=10_000_000)
    reasons = ("conditions", "nested too deeply", "nested brackets", "characters to write")
    assert all(any(reason in problem for reason in reasons) for problem in refused)


def test_the_refusal_says_how_large_it_would_be_and_what_to_do():
    text = nest("nullif({}, p{n})", "p0", "", 24)
    with pytest.raises(CriterionError, match=rf"expands to more than {MOST_PARTS:,} conditions") as refused:
        parse_criterion(text, SCHEMA)
    assert "split it into several selections" in refused.value.hint
    with pytest.raises(CriterionError, match=r"expands to more than"):
        parse_expression(nest("nullif({}, a{n})", "a0", "", 24), SCHEMA)


def test_many_pieces_that_are_each_within_the_limit_are_refused_before_all_are_read():
    piece = nest("nullif({}, a{n})", "a0", " = 1", 8)
    parse_criterion(piece, SCHEMA)
    many = " OR ".join([piece] * 500)
    few = steps(lambda: parse_criterion(piece, SCHEMA), most=10_000_000)

    def refused() -> None:
        with pytest.raises(CriterionError, match=r"expands to more than"):
            parse_criterion(many, SCHEMA)

    one_by_one = 500 * few
    assert steps(refused, most=one_by_one) < one_by_one / 2


WIDE = {
    "or": lambda n: " OR ".join(f"a{i % 40} + {i} < d{i % 37}" for i in range(n)),
    "or of and": lambda n: " OR ".join(f"(a{i % 40} = {i} AND d{i % 37} < {i})" for i in range(n)),
    "cuts": lambda n: " AND ".join(f"a1 <> {2 * i}" for i in range(n)),
    "list": lambda n: f"a1 IN ({', '.join(str(2 * i) for i in range(n))})",
    "list of terms": lambda n: f"a1 IN ({', '.join(f'a2 + {i}' for i in range(n))})",
    "list of conditions": lambda n: f"p1 IN ({', '.join(f'(a1 + {i} < d1)' for i in range(n))})",
    "case subject": lambda n: f"CASE a1 {' '.join(f'WHEN {i} THEN {i}' for i in range(n))} END = 3",
    "coalesce": lambda n: f"coalesce({', '.join(f'a{i % 40}' for i in range(n))}) = 1",
    "nests": lambda n: " OR ".join(f"nullif(nullif(a1, {i}), a2) = 1" for i in range(n)),
    "Boolean comparisons": lambda n: " OR ".join(f"((p{i % 40} AND a1 < {i}) = p{(i + 1) % 40})" for i in range(n)),
}


@pytest.mark.parametrize("text_of", WIDE.values(), ids=WIDE)
def test_twice_the_text_takes_about_twice_the_steps(text_of):
    short, long = (steps(lambda n=n: parse_criterion(text_of(n), SCHEMA), most=50_000_000) for n in (100, 200))
    assert long < 2.5 * short


@pytest.mark.parametrize("form", ["CASE {} ELSE p1 END", "coalesce({})"])
def test_a_chain_of_choices_that_would_be_nested_too_deeply_is_refused_early(form):
    many = 1_000
    parts = [f"WHEN a1 = {i} THEN p{i % 40}" if "CASE" in form else f"p{i % 40} = p{i * 7 % 40}" for i in range(many)]
    text = form.format((" " if "CASE" in form else ", ").join(parts).replace("p0 = p0", "p0"))

    def refused() -> None:
        with pytest.raises(CriterionError, match=r"nested too deeply|in parentheses"):
            parse_criterion(text, SCHEMA)

    steps(refused, most=10_000_000)


@pytest.mark.parametrize("count", [10, 27, 28, 40, 90])
def test_what_is_accepted_can_be_read_again(count):
    """Operands are put in order, and the brackets that takes may be more than can be read."""
    text = " + ".join(f"d{number}" for number in range(99, 99 - count, -1))
    if count > 27:  # one bracket for each but the first two
        with pytest.raises(CriterionError, match=r"nested brackets"):
            parse_expression(text, SCHEMA)
    else:
        expression = parse_expression(text, SCHEMA)
        assert parse_expression(expression.canonical, IDENTITIES, canonical=True) == expression


def test_brackets_in_names_and_strings_are_no_brackets():
    odd = {"((((" * 10: Attribute("((((" * 10, parse_type("string"))}
    text = f"`{'((((' * 10}` = '{'((((' * 10}' OR `{'((((' * 10}` = 'CASE CASE'"
    criterion = parse_criterion(text, odd)
    assert parse_criterion(criterion.canonical, odd, canonical=True) == criterion


def test_a_criterion_that_is_as_large_as_its_text_is_read_however_large():
    text = " OR ".join(f"a{number % 40} + {number} < d{number % 37}" for number in range(1_000))
    criterion = parse_criterion(text, SCHEMA)
    assert criterion.condition.extent[0] > MOST_PARTS
