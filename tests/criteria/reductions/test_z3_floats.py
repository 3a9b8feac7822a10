"""z3's theory of floating-point numbers finds no number for which a reduction is wrong."""

import pytest
import z3

from provenn.criteria import Attribute, parse_criterion, parse_type
from provenn.criteria.domains import INFINITY, decode_number
from provenn.criteria.nodes import Leaf
from provenn.criteria.reductions import REDUCTIONS

SORTS = {"float": z3.Float32(), "double": z3.Float64()}
NEAREST = z3.RNE()


def compute(form: str, x: z3.FPRef, sort: z3.FPSortRef) -> z3.FPRef:
    """Return the value of a form in IEEE 754; the form is a name, and perhaps a constant."""
    name, _, number = form.partition(" ")
    constant = z3.FPVal(float(number or 0), sort)
    return {
        "-x": lambda: z3.fpNeg(x),
        "abs(x)": lambda: z3.fpAbs(x),
        "sqrt(x)": lambda: z3.fpSqrt(NEAREST, x),
        "rint(x)": lambda: z3.fpRoundToIntegral(NEAREST, x),
        "x+": lambda: z3.fpAdd(NEAREST, x, constant),
        "x-": lambda: z3.fpSub(NEAREST, x, constant),
        "c-x": lambda: z3.fpSub(NEAREST, constant, x),
        "x*": lambda: z3.fpMul(NEAREST, x, constant),
        "x/": lambda: z3.fpDiv(NEAREST, x, constant),
        "c/x": lambda: z3.fpDiv(NEAREST, constant, x),
    }[name]()


def write(form: str, suffix: str) -> str:
    name, _, number = form.partition(" ")
    if not number:
        return name
    return {"c-x": f"{number}{suffix} - x", "c/x": f"{number}{suffix} / x"}.get(name, f"x {name[1:]} {number}{suffix}")


def is_below(value: z3.FPRef, cut: int, kind: str) -> z3.BoolRef:
    """Whether a value lies below a cut, in Spark's order: NaN is the largest number."""
    if cut > INFINITY[parse_type(kind)]:
        return z3.Not(z3.fpIsNaN(value))
    return z3.fpLT(value, z3.FPVal(float(decode_number(parse_type(kind), cut)), SORTS[kind]))


def lies_in(value: z3.FPRef, where, kind: str) -> z3.BoolRef:
    result = z3.BoolVal(False)
    for low, high in where.intervals():
        above = z3.BoolVal(True) if low is None else z3.Not(is_below(value, low, kind))
        result = z3.Or(result, z3.And(above, z3.BoolVal(True) if high is None else is_below(value, high, kind)))
    return result


FORMS = ["-x", "abs(x)", "x+ 1.5", "x- 0.1", "c-x 3.0", "x* 2.0", "x* -4.0", "x* 0.1"]


@pytest.mark.parametrize("value", ["0.1", "-7.0", "20.0"])
@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *(("float", form) for form in FORMS),
        ("double", "-x"),
        ("double", "abs(x)"),
        ("double", "rint(x)"),
        ("double", "x/ 2.0"),
        ("double", "x+ 0.1"),
    ],
)
def test_no_number_lies_in_one_set_and_not_in_the_other(kind, form, value):
    suffix = "F" if kind == "float" else "D"
    schema = {"x": Attribute("x", parse_type(kind))}
    leaf = parse_criterion(f"{write(form, suffix)} < {value}{suffix}", schema).condition
    assert isinstance(leaf, Leaf)
    reduced = next(filter(None, (rule(leaf.term, leaf.where) for rule in REDUCTIONS)))
    assert isinstance(reduced, Leaf)
    x = z3.FP("x", SORTS[kind])
    solver = z3.Solver()
    solver.add(lies_in(compute(form, x, SORTS[kind]), leaf.where, kind) != lies_in(x, reduced.where, kind))
    assert solver.check() == z3.unsat, solver.model()
