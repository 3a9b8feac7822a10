"""The consequences of facts about any number of sets.

Read in this order: `graph` (sets as an and-inverter graph), `facts` (statements become graph and constraints),
`simulation`, `sat`, `theory` and `reasoner` (whether an object is possible), `search` (whether a world is possible),
`conflicts` and `explanation` (why no world is possible), `classification`, and `knowledge`, which puts them together.
"""

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
