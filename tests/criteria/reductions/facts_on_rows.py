"""Look whether the facts that reduce atoms hold on rows that Spark evaluates.

Spark evaluates every label on every row by itself. A fact is a statement about sets; it must hold for the rows.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from types import MappingProxyType

from provenn.criteria import (
    DefinedAttribute,
    derive_term_facts,
    order_facts,
    parse_criterion,
    parse_expression,
    render,
)
from provenn.criteria.domains import decode_number, get_domain
from provenn.criteria.types import parse_type

BATCH = 95
"""The number of labels in one query: of more than 100 columns Spark would no longer compile whole stages."""


def find_facts(texts: Iterable[str], columns: dict[str, str], derived: Mapping[str, str] = MappingProxyType({})):
    """Return all facts about the atoms of criteria, all atoms and all attributes.

    Parameters
    ----------
    texts
        The criteria.
    columns
        The types of the columns by name.
    derived
        SQL expressions of further attributes by name, each over columns and earlier ones.
    """
    known = {name: DefinedAttribute(name, parse_type(kind), True) for name, kind in columns.items()}
    for name, text in derived.items():
        expression = parse_expression(text, known)
        known[name] = DefinedAttribute(name, expression.type, expression.nullable, expression=expression.canonical)
    atoms = {atom.label: atom for text in texts for atom in parse_criterion(text, known).atoms}
    reduced = derive_term_facts(atoms.values(), known.get)
    atoms |= {atom.label: atom for atom in reduced.atoms}
    facts = [*(fact.statement for fact in reduced.facts), *order_facts(atoms.values())]
    return facts, atoms, known


SPECIAL = {
    "double": [0.0, -0.0, 5e-324, -5e-324, 2.3e-308, 1.0, -1.0, 0.5, 1e300, -1e300, math.inf, -math.inf, math.nan],
    "float": [0.0, -0.0, 1e-45, -1e-45, 1.0, -1.0, 0.5, 3e38, -3e38, math.inf, -math.inf, math.nan],
}


def find_values(column: str, kind: str, atoms) -> list:
    """Return values of a column around all its cuts, and the extremes of its type."""
    parsed = parse_type(kind)
    within = get_domain(parsed)
    cuts = {
        key
        for atom in atoms.values()
        if atom.term == f"`{column}`" and atom.cut is not None
        for key in (atom.cut if isinstance(atom.cut, tuple) else (atom.cut,))
    }
    keys = {0, 1, -1, 2, within.lowest, within.lowest + 1, within.highest, within.highest - 1, within.highest - 2}
    keys |= {cut + step for cut in cuts for step in (-2, -1, 0, 1, 2)}
    if kind == "boolean":
        return [None, True, False]
    values = [decode_number(parsed, key) for key in sorted(keys) if within.lowest <= key <= within.highest]
    values += [Decimal(value).quantize(Decimal(1).scaleb(-parsed.scale)) for value in (5, -7)] * (
        parsed.name == "decimal"
    )
    return [None, *values, *SPECIAL.get(kind, [])]


def check_facts(
    session, texts: Sequence[str], columns: dict[str, str], rows=None, derived: Mapping[str, str] = MappingProxyType({})
) -> int:
    """Check all facts about the atoms of criteria on rows; return how many facts there are."""
    facts, atoms, known = find_facts(texts, columns, derived)
    if rows is None:
        ((column, kind),) = columns.items()
        rows = [(value,) for value in find_values(column, kind, atoms)]
    fields = ", ".join(f"{name} {kind}" for name, kind in columns.items())
    table = session.createDataFrame([(number, *row) for number, row in enumerate(rows)], f"i int, {fields}").coalesce(1)
    names = {name: name for name in known}
    for name, text in derived.items():
        table = table.selectExpr("*", f"{render(parse_expression(text, known), names)} AS {name}")
    table.cache().createOrReplaceTempView("reduced_rows")
    labels = sorted({label for fact in facts for label in fact.labels})
    sets: dict[str, set[int]] = {label: set() for label in labels}
    for start in range(0, len(labels), BATCH):
        batch = labels[start : start + BATCH]
        written = [render(parse_criterion(label, known, canonical=True), names) for label in batch]
        for number, *answers in session.sql(f"SELECT i, {', '.join(written)} FROM reduced_rows").collect():  # noqa: S608
            for label, answer in zip(batch, answers, strict=True):
                if answer is True:
                    sets[label].add(number)
    session.catalog.dropTempView("reduced_rows")
    everything = frozenset(range(len(rows)))
    for fact in facts:
        left, right = (
            side.evaluate(lambda label: frozenset(sets[label]), frozenset(), everything)
            for side in (fact.left, fact.right)
        )
        wrong = left ^ right if fact.operator == "==" else left - right
        assert not wrong, (str(fact), [rows[number] for number in sorted(wrong)][:5])
    return len(facts)
