"""What follows from criteria alone: asked of Knowledge, and of z3 for a second opinion."""

import z3

from provenn.criteria import Attribute, Criterion, order_facts, parse_criterion, parse_type
from provenn.logic import Knowledge, disjoint, equal, subset
from tests.logic.z3_formulas import build_formula

SCHEMA = {
    "hip": Attribute("star.hip", parse_type("int"), nullable=False),
    "vmag": Attribute("star.vmag", parse_type("double")),
    "plx": Attribute("star.plx", parse_type("float")),
    "dec": Attribute("star.dec", parse_type("double")),
    "n_obs": Attribute("star.n_obs", parse_type("int")),
    "big": Attribute("star.big", parse_type("bigint")),
    "price": Attribute("star.price", parse_type("decimal(5,2)")),
    "name": Attribute("star.name", parse_type("string")),
    "variable": Attribute("star.variable", parse_type("boolean")),
    "seen": Attribute("star.seen", parse_type("date")),
    "at": Attribute("star.at", parse_type("timestamp")),
    "spectrum": Attribute("star.spectrum", parse_type("array<double>")),
    "B-V": Attribute("star.bv", parse_type("double")),
}


def criterion(text: str) -> Criterion:
    return parse_criterion(text, SCHEMA)


def knowledge(*criteria: Criterion) -> Knowledge:
    return Knowledge(order_facts(atom for parsed in criteria for atom in parsed.atoms))


def inside(item: str, other: str) -> bool:
    a, b = criterion(item), criterion(other)
    return knowledge(a, b).entails(subset(a.true, b.true))


def same(item: str, other: str) -> bool:
    a, b = criterion(item), criterion(other)
    return knowledge(a, b).entails(equal(a.true, b.true))


def apart(item: str, other: str) -> bool:
    a, b = criterion(item), criterion(other)
    return knowledge(a, b).entails(disjoint(a.true, b.true))


def z3_inside(parsed: Criterion, other: Criterion) -> bool:
    """Whether the facts put the TRUE set of one inside that of the other, says z3."""
    solver = z3.Solver()
    for fact in order_facts([*parsed.atoms, *other.atoms]):
        solver.add(z3.Implies(build_formula(fact.left), build_formula(fact.right)))
    solver.add(build_formula(parsed.true), z3.Not(build_formula(other.true)))
    return solver.check() == z3.unsat
