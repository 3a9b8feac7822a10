"""The consequences of facts about any number of sets.

Read in this order: `graph` (sets as an and-inverter graph), `facts` (statements become graph and constraints),
`simulation`, `sat`, `theory` and `reasoner` (whether an object is possible), `search` (whether a world is possible),
`conflicts` and `explanation` (why no world is possible), `classification`, and `knowledge`, which puts them together.
"""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
    from provenn.logic.knowledge.budget import Budget
    from provenn.logic.knowledge.classification import Classification
    from provenn.logic.knowledge.explanation import Explanation
    from provenn.logic.knowledge.knowledge import Knowledge
    from provenn.logic.knowledge.lineage import Lineage, Operation
    from provenn.logic.knowledge.theory import Refutation, Theory
    from provenn.logic.knowledge.verdict import Verdict
    from provenn.logic.knowledge.worlds import World

__all__ = [
    "Budget",
    "Classification",
    "Explanation",
    "Knowledge",
    "Lineage",
    "Operation",
    "Refutation",
    "Theory",
    "Verdict",
    "World",
]

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.logic.knowledge.budget": "Budget",
        "provenn.logic.knowledge.classification": "Classification",
        "provenn.logic.knowledge.explanation": "Explanation",
        "provenn.logic.knowledge.knowledge": "Knowledge",
        "provenn.logic.knowledge.lineage": "Lineage Operation",
        "provenn.logic.knowledge.theory": "Refutation Theory",
        "provenn.logic.knowledge.verdict": "Verdict",
        "provenn.logic.knowledge.worlds": "World",
    },
)
