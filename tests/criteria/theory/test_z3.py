"""The theory against z3's floating-point theory: nothing is refuted that z3 can satisfy.

Attributes are 32-bit floats with a flag for NULL. z3 is given a limit of work, not of time; what it leaves open is
passed over.
"""

import z3
from hypothesis import strategies as st

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.criteria.nodes import Leaf
from provenn.criteria.theory.refuting import Literal, is_refuted
from tests.criteria.oracle import random_cases
from tests.criteria.theory.rows import Arithmetic, Column, Comparison, Number, Presence, Sign

NAMES = "abc"
SCHEMA = {name: Attribute(name, parse_type("float")) for name in NAMES}
SORT = z3.FPSort(8, 24)
ROUNDING = z3.RNE()
CONSTANTS = [0.0, 1.0, -1.0, 2.0, 0.5, 3.0, 16777216.0, 1e-45, 3.4028234663852886e38]
MOST_WORK = 3_000_000


def numbers(name: str) -> tuple[z3.FPRef, z3.BoolRef]:
    """The number of an attribute, and whether it is NULL."""
    return z3.FP(name, SORT), z3.Bool(f"{name} is null")


def translate(term) -> tuple[z3.FPRef, z3.BoolRef]:
    """The value of a term, and whether it is NULL."""
    match term:
        case Column(name, _):
            return numbers(name)
        case Number(number, _):
            return z3.FPVal(number, SORT), z3.BoolVal(False)
        case Sign(function, part, _):
            value, null = translate(part)
            return (z3.fpNeg(value) if function == "-" else z3.fpAbs(value)), null
        case Arithmetic(operator, left, right, _):
            (first, no_left), (other, no_right) = translate(left), translate(right)
            apply = {"+": z3.fpAdd, "-": z3.fpSub, "*": z3.fpMul}[operator]
            return apply(ROUNDING, first, other), z3.Or(no_left, no_right)
    raise AssertionError(term)


def is_below(item: z3.FPRef, other: z3.FPRef) -> z3.BoolRef:
    """Spark's order: NaN is the largest number."""
    return z3.And(z3.Not(z3.fpIsNaN(item)), z3.Or(z3.fpIsNaN(other), z3.fpLT(item, other)))


def is_true(condition) -> z3.BoolRef:
    """Whether a condition is TRUE."""
    if isinstance(condition, Presence):
        return z3.Not(translate(condition.part)[1])
    (first, no_left), (other, no_right) = translate(condition.left), translate(condition.right)
    less, greater = is_below(first, other), is_below(other, first)
    holds = {
        "<": less,
        ">": greater,
        "<=": z3.Not(greater),
        ">=": z3.Not(less),
        "=": z3.Not(z3.Or(less, greater)),
        "<>": z3.Or(less, greater),
    }[condition.operator]
    return z3.And(z3.Not(no_left), z3.Not(no_right), holds)


columns = st.sampled_from(NAMES).map(lambda name: Column(name, "float"))
constants = st.sampled_from(CONSTANTS).map(lambda number: Number(number, "float"))
sums = st.builds(Arithmetic, st.sampled_from(["+", "-"]), columns, st.one_of(columns, constants), st.just("float"))
scaled = st.builds(Arithmetic, st.just("*"), columns, constants, st.just("float"))
signs = st.builds(Sign, st.sampled_from(["-", "abs"]), columns, st.just("float"))
terms = st.one_of(columns, columns, sums, sums, scaled, signs)
conditions = st.one_of(
    st.builds(Comparison, terms, st.sampled_from(["<", "<=", "=", ">", ">="]), st.one_of(columns, constants, terms)),
    st.builds(Presence, columns),
)


@random_cases(30, 5_000)
def test_z3_satisfies_nothing_that_is_refuted(data):
    chosen = data.draw(st.lists(st.tuples(conditions, st.booleans()), min_size=2, max_size=5))
    literals = []
    solver = z3.SolverFor("QF_FP")
    solver.set("rlimit", MOST_WORK)
    for condition, holds in chosen:
        leaf = parse_criterion(condition.sql(), SCHEMA).condition
        if isinstance(leaf, Leaf):
            literals.append(Literal(leaf, holds))
            solver.add(is_true(condition) if holds else z3.Not(is_true(condition)))
    if is_refuted(literals):
        assert solver.check() != z3.sat, ([(item.sql(), holds) for item, holds in chosen], solver.model())
