"""The logic of sets whose content is unknown. Pure: no I/O, no catalogs, no Spark."""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
    from provenn.logic.knowledge import (
        Budget,
        Classification,
        Explanation,
        Knowledge,
        Lineage,
        Operation,
        Refutation,
        Theory,
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
    "Refutation",
    "Relationship",
    "Statement",
    "Theory",
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

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.logic.knowledge": "Budget Classification Explanation Knowledge Lineage Operation Refutation "
        "Theory Verdict World",
        "provenn.logic.parser": "statement",
        "provenn.logic.relationship": "Relationship",
        "provenn.logic.statements": "Statement difference disjoint empty equal intersection nonempty outside "
        "overlapping proper_subset proper_superset subset superset union",
    },
)
