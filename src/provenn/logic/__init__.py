"""The logic of sets whose content is unknown. Pure: no I/O, no catalogs, no Spark."""

from provenn.logic.knowledge import (
    Budget,
    Classification,
    Explanation,
    Knowledge,
    Lineage,
    Operation,
    Verdict,
    World,
)
from provenn.logic.parser import statement
from provenn.logic.relationship import Relationship
from provenn.logic.statements import (
    Statement,
    difference,
    disjoint,
    empty,
    equal,
    intersection,
    nonempty,
    outside,
    overlapping,
    proper_subset,
    proper_superset,
    subset,
    superset,
    union,
)

__all__ = [
    "Budget",
    "Classification",
    "Explanation",
    "Knowledge",
    "Lineage",
    "Operation",
    "Relationship",
    "Statement",
    "Verdict",
    "World",
    "difference",
    "disjoint",
    "empty",
    "equal",
    "intersection",
    "nonempty",
    "outside",
    "overlapping",
    "proper_subset",
    "proper_superset",
    "statement",
    "subset",
    "superset",
    "union",
]
