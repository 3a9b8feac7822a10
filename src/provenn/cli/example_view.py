"""The paper's example: computed, then written."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_
from textwrap import fill
from typing import Any

from provenn.display.venn_regions import describe_hypercube
from provenn.logic import Relationship

__all__ = ["QUESTION", "USE", "Example", "compute_example", "example_data", "example_paragraphs"]

QUESTION = "B == D"
USE = "To make D, the attributes of C are needed for the sources of B alone. No data was read."


@dataclass(frozen=True, slots=True)
class Example:
    """The steps of the paper's example.

    Attributes
    ----------
    local
        The relationship of each catalog to its own dependencies, by its statement.
    together
        The conjunction of all local relationships.
    reduced
        The conjunction, reduced to B and D.
    wanted
        The relationship to prove.
    refuting
        The nonimplication: the hypercubes that the conjunction allows and the wanted relationship does not.
    """

    local: dict[str, Relationship]
    together: Relationship
    reduced: Relationship
    wanted: Relationship
    refuting: Relationship

    @property
    def is_proved(self) -> bool:
        """Whether the wanted relationship must hold."""
        return self.refuting.kind == "contradiction"

    @property
    def verdict(self) -> str:
        """The conclusion from the nonimplication, in a sentence."""
        if not self.is_proved:
            return f"{QUESTION} is not proved: there are hypercubes in which it fails."
        return f"{QUESTION} is proved: in none of the possible hypercubes do B and D differ."


def compute_example() -> Example:
    """Compute the paper's example."""
    local = {
        statement: Relationship.of(statement, labels=labels)
        for statement, labels in [
            ("nonempty(A) and outside(A)", "A"),
            ("B < A", "AB"),
            ("C == A", "AC"),
            ("D == B & C", "BCD"),
        ]
    }
    together = reduce(and_, local.values()).on(*"ABCD")
    wanted = Relationship.of(QUESTION)
    return Example(local, together, together.on("B", "D"), wanted, together - wanted)


def example_paragraphs(steps: Example) -> Iterator[tuple[str, str]]:
    """Yield headings and bodies of the example, for a terminal of 80 columns."""
    yield "Four catalogs, of which only A is stored", _LINEAGE
    yield (
        "1. What each catalog knows of its own dependencies",
        "\n\n".join([_LEGEND, *(f"{statement}\n{relationship}" for statement, relationship in steps.local.items())]),
    )
    total = len(Relationship.tautology(*steps.together.labels))
    possible = "\n".join(
        fill(describe_hypercube(steps.together.labels, array), 80, initial_indent="- ", subsequent_indent="  ")
        for array in steps.together.arrays()
    )
    yield (
        f"2. All of it together: {len(steps.together)} of {total:,} hypercubes remain",
        f"{steps.together}\n\n{possible}\n\nThe same, of B and D alone:\n{steps.reduced}",
    )
    yield f"3. The question: {QUESTION}", str(steps.wanted)
    yield (
        f"4. The nonimplication: what is known, and yet not {QUESTION}",
        f"{steps.refuting}\n\n{steps.verdict}\n{fill(USE, 70)}",
    )


def example_data(steps: Example) -> dict[str, Any]:
    """Return the example as JSON data: hypercubes as nested lists, index 1 = inside."""
    return {
        "local": [
            {"statement": statement, **_relationship_data(relationship)}
            for statement, relationship in steps.local.items()
        ],
        "together": _relationship_data(steps.together),
        "reduced": _relationship_data(steps.reduced),
        "question": {"statement": QUESTION, **_relationship_data(steps.wanted)},
        "refuting": _relationship_data(steps.refuting),
        "proved": steps.is_proved,
    }


_LEGEND = """\
In a hypercube ● is a region that holds something, ○ an empty one: at the top
what lies outside all sets, then what is in one of them, in two, …, in all."""
_LINEAGE = """\
    A        the base: it holds some sources, but not all there are
   / \\
  B   C      B: a selection of A; the criterion has not been evaluated
   \\ /       C: new attributes for the sources of A; not yet computed
    D        D: the attributes of both, for the sources that are in B and in C"""


def _relationship_data(relationship: Relationship) -> dict[str, Any]:
    """Return a relationship as JSON data."""
    return {
        "labels": list(relationship.labels),
        "kind": relationship.kind,
        "count": len(relationship),
        "hypercubes": [array.tolist() for array in relationship.arrays()],
    }
