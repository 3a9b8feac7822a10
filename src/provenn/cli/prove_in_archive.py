"""Whether a statement about the catalogs of an archive holds: written and drawn."""

from collections.abc import Iterator
from typing import Any

from provenn.archive import Proof
from provenn.cli.archives import caveat_lines, fact_data, reason_data, reason_lines
from provenn.display import world_svg, world_text
from provenn.display.figure import above, document, shortened, words
from provenn.display.markup import visible

__all__ = ["data", "paragraphs", "picture"]

_SAYS = {"holds": "proved", "fails": "refuted", "unknown": "not proved"}
_REASONS = {
    "holds": "it is true in every world that the facts allow",
    "fails": "it is false in every world that the facts allow",
    "unknown": "it is true in some worlds that the facts allow, and false in others",
}
_RAN_OUT = "the budget ran out"


def paragraphs(found: Proof) -> Iterator[tuple[str, str]]:
    """Write the answer for a terminal: headings, and what is below them."""
    yield _heading(found), "\n".join(visible(line) for line in _lines(found))
    if found.world is not None:
        yield "A possible world in which it is false", world_text(found.statement.labels, found.world.regions)


def data(found: Proof) -> dict[str, Any]:
    """Return the answer for programs."""
    world = found.world
    return {
        "statement": str(found.statement),
        "answer": _SAYS[found.verdict],
        "reason": _reason(found),
        "explanation": None if found.verdict == "unknown" else {"facts": reason_data(found.reasons)},
        "caveats": list(found.caveats),
        "rests_on": [fact_data(fact) for fact in found.rests_on],
        "world": world and {"regions": sorted((sorted(region) for region in world.regions), key=lambda r: (len(r), r))},
    }


def picture(found: Proof) -> str:
    """Draw a possible world in which the statement is false; where there is none, write the answer."""
    heading = _heading(found)
    if found.world is not None:
        title = f"{heading}, as this possible world shows"
        return world_svg(found.statement.labels, found.world.regions, title=title)
    lines = [words(shortened(visible(line), 100)) for line in _lines(found)]
    drawn = above([words(shortened(heading, 100), bold=True), above(lines, gap=4, align=0)], gap=16, align=0)
    return document(drawn, title=heading, description="\n".join(_lines(found)))


def _heading(found: Proof) -> str:
    return visible(f"{_SAYS[found.verdict]}: {found.statement}")


def _reason(found: Proof) -> str:
    ran_out = found.verdict == "unknown" and found.world is None
    return _RAN_OUT if ran_out else _REASONS[found.verdict]


def _lines(found: Proof) -> list[str]:
    reason = _reason(found)
    sentence = f"{reason[:1].upper()}{reason[1:]}"
    caveats = caveat_lines(found.caveats)
    if found.verdict == "unknown":
        return [f"{sentence}.", *caveats]
    lines = reason_lines(found.reasons)
    return [*([f"{sentence}, because", *lines] if lines else [f"{sentence}, whatever the sets are."]), *caveats]
