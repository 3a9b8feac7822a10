"""What can be known of sets without knowing what they hold. Pure: no I/O, no catalogs, no Spark."""

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
    "Relationship",
    "Statement",
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
