"""The paper's example: computed, then written."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_
from textwrap import fill
from typing import Any

from provenn.display.regions import description
from provenn.logic import Relationship

__all__ = ["QUESTION", "USE", "Example", "data", "example", "paragraphs"]

QUESTION = "B == D"
USE = "To make D, the attributes of C are needed for the sources of B alone. No data was read."


@dataclass(frozen=True, slots=True)
class Example:
    """The steps of the paper's example.

    Attributes
    ----------
    local
        What each catalog knows of its own dependencies, by the statement that says it.
    together
        The conjunction of these.
    reduced
        What follows from it for B and D alone.
    wanted
        The relationship that is to be proved.
    refuting
        The nonimplication: what is known, and yet the wanted relationship does not hold.
    """

    local: dict[str, Relationship]
    together: Relationship
    reduced: Relationship
    wanted: Relationship
    refuting: Relationship

    @property
    def proved(self) -> bool:
        """Whether the wanted relationship must hold."""
        return self.refuting.kind == "contradiction"

    @property
    def verdict(self) -> str:
        """What the nonimplication tells."""
        if not self.proved:
            return f"{QUESTION} is not proved: there are hypercubes in which it fails."
        return f"{QUESTION} is proved: in none of the possible hypercubes do B and D differ."


def example() -> Example:
    """Compute the paper's example."""
    local = {
        said: Relationship.of(said, labels=labels)
        for said, labels in [
            ("nonempty(A) and outside(A)", "A"),
            ("B < A", "AB"),
            ("C == A", "AC"),
            ("D == B & C", "BCD"),
        ]
    }
    together = reduce(and_, local.values()).on(*"ABCD")
    wanted = Relationship.of(QUESTION)
    return Example(local, together, together.on("B", "D"), wanted, together - wanted)


def paragraphs(steps: Example) -> Iterator[tuple[str, str]]:
    """Write the example for a terminal of 80 columns: headings, and what is below them."""
    yield "Four catalogs, of which only A is stored", _LINEAGE
    yield (
        "1. What each catalog knows of its own dependencies",
        "\n\n".join([_LEGEND, *(f"{said}\n{one}" for said, one in steps.local.items())]),
    )
    every = len(Relationship.tautology(*steps.together.labels))
    possible = "\n".join(
        fill(description(steps.together.labels, array), 80, initial_indent="- ", subsequent_indent="  ")
        for array in steps.together.arrays()
    )
    yield (
        f"2. All of it together: {len(steps.together)} of {every:,} hypercubes remain",
        f"{steps.together}\n\n{possible}\n\nThe same, of B and D alone:\n{steps.reduced}",
    )
    yield f"3. The question: {QUESTION}", str(steps.wanted)
    yield (
        f"4. The nonimplication: what is known, and yet not {QUESTION}",
        f"{steps.refuting}\n\n{steps.verdict}\n{fill(USE, 70)}",
    )


def data(steps: Example) -> dict[str, Any]:
    """Return the example for programs: hypercubes as nested lists, index 1 = inside."""
    return {
        "local": [{"statement": said, **_as_data(one)} for said, one in steps.local.items()],
        "together": _as_data(steps.together),
        "reduced": _as_data(steps.reduced),
        "question": {"statement": QUESTION, **_as_data(steps.wanted)},
        "refuting": _as_data(steps.refuting),
        "proved": steps.proved,
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


def _as_data(one: Relationship) -> dict[str, Any]:
    return {
        "labels": list(one.labels),
        "kind": one.kind,
        "count": len(one),
        "hypercubes": [array.tolist() for array in one.arrays()],
    }
