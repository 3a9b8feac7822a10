"""The answer whether a statement follows from facts: computed, then written and drawn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Any

from provenn.cli.given import FactPlace
from provenn.display import world_svg, world_text
from provenn.display.figure import Figure, draw_text, render_document, shorten_label, stack_vertically
from provenn.display.markup import make_printable
from provenn.display.relationship import relationship_figure
from provenn.errors import ContradictionError
from provenn.logic import Explanation, Knowledge, Statement, Verdict, World, equal
from provenn.logic import statement as parse_statement
from provenn.logic.knowledge.derivation import write_lines

__all__ = ["StatementAnswer", "answer_data", "answer_paragraphs", "answer_statement", "answer_svg"]

_SAYS = {"holds": "proved", "fails": "refuted", "unknown": "not proved"}
_MOST_RELATED = 4
_MOST_SHOWN = 64


@dataclass(frozen=True, slots=True)
class StatementAnswer:
    """The answer whether a statement follows from facts.

    Attributes
    ----------
    statement
        The statement to prove.
    places
        The facts, and where each was given.
    knowledge
        The knowledge built from the facts.
    verdict
        Whether the statement follows, with the reason.
    explanation
        The facts from which the statement, or its negation, follows; None if neither does.
    world
        A possible world in which the statement is false; None if there is none, or the search was not made.
    """

    statement: Statement
    places: Mapping[Statement, FactPlace]
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
        """The answer in one line."""
        return make_printable(f"{_SAYS[self.verdict]}: {self.statement}")


def answer_statement(
    text: str, places: Mapping[Statement, FactPlace], *, open_universe: bool, budget: float | None
) -> StatementAnswer:
    """Decide whether a statement follows from facts, searching for a proof within the budget in seconds."""
    statement = parse_statement(text)
    knowledge = Knowledge(places, open_universe=open_universe)
    start = monotonic()
    try:
        verdict = knowledge.judge(statement, budget)
    except ContradictionError as error:
        error.message = "\n".join(["the facts contradict each other:", *_fact_lines(error.conflict, places)])
        raise
    ran_out = verdict == "unknown" and budget is not None and monotonic() - start >= budget
    match verdict:
        case "holds":
            explanation = knowledge.explain(statement)
        case "fails":
            explanation = knowledge.explain(~statement)
        case _:
            explanation = None
    return StatementAnswer(
        statement, places, knowledge, verdict, explanation, None if ran_out else knowledge.counterexample(statement)
    )


def answer_paragraphs(answer: StatementAnswer) -> Iterator[tuple[str, str]]:
    """Yield headings and bodies of the answer, for a terminal."""
    yield answer.heading, "\n".join(make_printable(line) for line in _reason_lines(answer))
    if answer.world is not None:
        yield "A possible world in which it is false", world_text(answer.statement.labels, answer.world.regions)


def _reason_lines(answer: StatementAnswer) -> list[str]:
    """Return the reason of the verdict, and the facts of the explanation, as lines."""
    reason = f"{answer.verdict.reason[:1].upper()}{answer.verdict.reason[1:]}"
    if answer.explanation is None:
        return [f"{reason}."]
    lines = _fact_lines(answer.explanation, answer.places)
    return [f"{reason}, because", *lines] if lines else [f"{reason}, whatever the sets are."]


def _fact_lines(explanation: Explanation, places: Mapping[Statement, FactPlace]) -> list[str]:
    """Return the proof of an explanation as lines, facts with their places in files."""
    lines = explanation.lines
    fact_places = [None if line.premises or line.statement is None else places[line.statement] for line in lines]
    place_by_line = ["" if place is None or place.file is None else str(place) for place in fact_places]
    texts = list(zip(write_lines(lines), place_by_line, strict=True))
    width = max((len(text) for text, place in texts if place), default=0)
    return [f"  {text:{width}}   ({place})" if place else f"  {text}" for text, place in texts]


def answer_data(answer: StatementAnswer) -> dict[str, Any]:
    """Return the answer as JSON data."""
    explanation, world = answer.explanation, answer.world
    return {
        "statement": str(answer.statement),
        "answer": _SAYS[answer.verdict],
        "reason": answer.verdict.reason,
        "open_universe": answer.knowledge.open_universe,
        "facts": len(answer.places),
        "explanation": explanation
        and {
            "facts": [_fact_data(fact, answer.places[fact]) for fact in explanation.facts],
            "open_universe": explanation.open_universe,
            "chain": [
                {
                    "statement": str(step.statement),
                    "from": [str(premise) for premise in step.premises],
                    "open_universe": step.open_universe,
                }
                for step in explanation.chain
            ],
        },
        "world": world and {"regions": sorted((sorted(region) for region in world.regions), key=lambda r: (len(r), r))},
    }


def _fact_data(fact: Statement, place: FactPlace) -> dict[str, Any]:
    """Return a fact and its place as JSON data."""
    return {"statement": str(fact), "file": place.file, "line": place.line}


def answer_svg(answer: StatementAnswer) -> str:
    """Draw a possible world in which the statement is false; for a proved statement, draw the relationship of the sets.

    Otherwise, the picture holds the answer in words.
    """
    labels = answer.statement.labels
    if answer.world is not None:
        return world_svg(labels, answer.world.regions, title=f"{answer.heading}, as this possible world shows")
    if answer.proved and len(labels) <= _MOST_RELATED:
        figure = _draw_relationship(answer)
    else:
        figure = stack_vertically(
            [draw_text(shorten_label(make_printable(line), 100)) for line in _reason_lines(answer)], gap=4, align=0
        )
    heading = draw_text(shorten_label(answer.heading, 100), bold=True)
    return render_document(
        stack_vertically([heading, figure], gap=16, align=0),
        title=answer.heading,
        description="\n".join(_reason_lines(answer)),
    )


def _draw_relationship(answer: StatementAnswer) -> Figure:
    """Return the relationship of the sets in the statement as a figure."""
    knowledge, labels = answer.knowledge, answer.statement.labels
    # That a set equals itself adds no information, but makes its label known to the knowledge.
    knowledge.add(*(equal(label, label) for label in labels))
    relationship = knowledge.relationship(*labels)
    return relationship_figure(labels, list(islice(relationship.arrays(), _MOST_SHOWN)), total=len(relationship))
