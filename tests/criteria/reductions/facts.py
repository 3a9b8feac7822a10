"""All facts about the atoms of some criteria, without an archive."""

from collections.abc import Callable, Mapping, Sequence

from provenn.criteria import Attribute, Criterion, Type, order_facts, parse_criterion, parse_type
from provenn.criteria.schema import DefinedAttribute
from provenn.criteria.term_facts import derive_term_facts
from provenn.logic import Knowledge, Statement, disjoint, equal, subset


def make_schema(columns: Mapping[str, str], nullable: bool = True) -> dict[str, Attribute]:
    """Attributes of a base catalog: their identities have a colon."""
    return {
        name: Attribute(f"b:{name}", Type(kind) if "<" in kind else parse_type(kind), nullable)
        for name, kind in columns.items()
    }


def derive_facts(criteria: Sequence[Criterion], schema: Mapping[str, Attribute]) -> list[Statement]:
    """All that follows from what the terms are, and from the order of their values."""
    defined = {
        attribute.identity: DefinedAttribute(attribute.identity, attribute.type, attribute.nullable)
        for attribute in schema.values()
    }
    atoms = [atom for criterion in criteria for atom in criterion.atoms]
    reduced = derive_term_facts(atoms, defined.get)
    reductions = (fact.statement for fact in reduced.facts)
    return [*reductions, *reduced.relations, *order_facts([*atoms, *reduced.atoms])]


def relate(item: str, other: str, schema: Mapping[str, Attribute]) -> str:
    """The first relation that is proved: equal, inside, contains, disjoint or unknown."""
    first, second = (parse_criterion(text, schema) for text in (item, other))
    knowledge = Knowledge(derive_facts([first, second], schema), open_universe=False)
    questions = {
        "equal": equal(first.true, second.true),
        "inside": subset(first.true, second.true),
        "contains": subset(second.true, first.true),
        "disjoint": disjoint(first.true, second.true),
    }
    return next((name for name, question in questions.items() if knowledge.entails(question)), "unknown")


def find_refuted(facts: Sequence[Statement], rows_of: Callable[[str], int], everything: int) -> list[Statement]:
    """The facts that some row refutes; `rows_of` returns the rows in the set of a label, as the bits of a number."""
    return [
        fact
        for fact in facts
        if any(claim.region.evaluate(rows_of, 0, everything) & everything for claim in fact.claims())
    ]
