"""Whether a statement follows from facts: found out, then written and drawn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any

from provenn.cli.given import Place
from provenn.display import OPEN_UNIVERSE, world_svg, world_text
from provenn.display.figure import Figure, above, document, shortened, words
from provenn.display.markup import visible
from provenn.display.relationship import relationship_figure
from provenn.errors import ContradictionError
from provenn.logic import Explanation, Knowledge, Statement, Verdict, World, equal
from provenn.logic import statement as read

__all__ = ["Answer", "answer", "data", "paragraphs", "picture"]

_SAYS = {"holds": "proved", "fails": "refuted", "unknown": "not proved"}
_MOST_RELATED = 4
_MOST_SHOWN = 64


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of a statement.

    Attributes
    ----------
    statement
        What was to be proved.
    places
        The facts, and where each was given.
    knowledge
        What follows from them.
    verdict
        Whether the statement does, with the reason.
    explanation
        The facts from which the statement, or its negation, follows; None if neither does.
    world
        A possible world in which the statement is false; None if there is none, or none was looked for.
    """

    statement: Statement
    places: Mapping[Statement, Place]
    knowledge: Knowledge
    verdict: Verdict
    explanation: Explanation | None
    world: World | None

    @property
    def proved(self) -> bool:
        """Whether the statement follows from the facts."""
        return self.verdict == "holds"

    @property
    def heading(self) -> str:
        """The answer in a line."""
        return visible(f"{_SAYS[self.verdict]}: {self.statement}")


def answer(text: str, places: Mapping[Statement, Place], *, open_universe: bool, budget: float | None) -> Answer:
    """Find out whether a statement follows from facts, looking for a proof no longer than the budget allows."""
    said = read(text)
    knowledge = Knowledge(places, open_universe=open_universe)
    start = monotonic()
    try:
        verdict = knowledge.judge(said, budget)
    except ContradictionError as error:
        error.message = "\n".join(["the facts contradict each other:", *_listed(error.conflict, places)])
        raise
    ran_out = verdict == "unknown" and budget is not None and monotonic() - start >= budget
    match verdict:
        case "holds":
            explanation = knowledge.explain(said)
        case "fails":
            explanation = knowledge.explain(~said)
        case _:
            explanation = None
    return Answer(said, places, knowledge, verdict, explanation, None if ran_out else knowledge.counterexample(said))


def paragraphs(found: Answer) -> Iterator[tuple[str, str]]:
    """Write the answer for a terminal: headings, and what is below them."""
    yield found.heading, "\n".join(visible(line) for line in _reasons(found))
    if found.world is not None:
        yield "A possible world in which it is false", world_text(found.statement.labels, found.world.regions)


def _reasons(found: Answer) -> list[str]:
    reason = f"{found.verdict.reason[:1].upper()}{found.verdict.reason[1:]}"
    if found.explanation is None:
        return [f"{reason}."]
    lines = _listed(found.explanation, found.places)
    return [f"{reason}, because", *lines] if lines else [f"{reason}, whatever the sets are."]


def _listed(explanation: Explanation, places: Mapping[Statement, Place]) -> list[str]:
    """Return the facts of an explanation, one a line, with their places in files."""
    facts = [(str(fact), places[fact]) for fact in explanation.facts]
    width = max((len(fact) for fact, place in facts if place.file), default=0)
    lines = [f"  {fact:{width}}   ({place})" if place.file else f"  {fact}" for fact, place in facts]
    return lines + [f"  {OPEN_UNIVERSE}"] * explanation.open_universe


def data(found: Answer) -> dict[str, Any]:
    """Return the answer for programs."""
    explanation, world = found.explanation, found.world
    return {
        "statement": str(found.statement),
        "answer": _SAYS[found.verdict],
        "reason": found.verdict.reason,
        "open_universe": found.knowledge.open_universe,
        "facts": len(found.places),
        "explanation": explanation
        and {
            "facts": [_fact_data(fact, found.places[fact]) for fact in explanation.facts],
            "open_universe": explanation.open_universe,
        },
        "world": world and {"regions": sorted((sorted(region) for region in world.regions), key=lambda r: (len(r), r))},
    }


def _fact_data(fact: Statement, place: Place) -> dict[str, Any]:
    return {"statement": str(fact), "file": place.file, "line": place.line}


def picture(found: Answer) -> str:
    """Draw a possible world in which the statement is false; where it is proved, how its sets are related.

    Where neither can be drawn, the answer is written.
    """
    labels = found.statement.labels
    if found.world is not None:
        return world_svg(labels, found.world.regions, title=f"{found.heading}, as this possible world shows")
    if found.proved and len(labels) <= _MOST_RELATED:
        drawn = _relationship(found)
    else:
        drawn = above([words(shortened(visible(line), 100)) for line in _reasons(found)], gap=4, align=0)
    heading = words(shortened(found.heading, 100), bold=True)
    return document(
        above([heading, drawn], gap=16, align=0), title=found.heading, description="\n".join(_reasons(found))
    )


def _relationship(found: Answer) -> Figure:
    known, labels = found.knowledge, found.statement.labels
    # That a set equals itself says nothing of it, but makes it one of those that are known.
    known.add(*(equal(label, label) for label in labels))
    related = known.relationship(*labels)
    return relationship_figure(labels, list(islice(related.arrays(), _MOST_SHOWN)), total=len(related))
