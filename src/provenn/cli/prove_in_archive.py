"""The answer whether a statement about the catalogs of an archive holds: written and drawn."""

from collections.abc import Iterator
from typing import Any

from provenn.archive import Proof
from provenn.cli.archives import caveat_lines, chain_data, fact_data, help_data, help_lines, reason_data, reason_lines
from provenn.display import world_svg, world_text
from provenn.display.figure import draw_text, render_document, shorten_label, stack_vertically
from provenn.display.markup import make_printable

__all__ = ["answer_data", "answer_paragraphs", "answer_svg"]

_SAYS = {"holds": "proved", "fails": "refuted", "unknown": "not proved"}
_REASONS = {
    "holds": "it is true in every world that the facts allow",
    "fails": "it is false in every world that the facts allow",
    "unknown": "it is true in some worlds that the facts allow, and false in others",
}
_RAN_OUT = "the budget ran out"


def answer_paragraphs(proof: Proof) -> Iterator[tuple[str, str]]:
    """Yield headings and bodies of the answer, for a terminal."""
    yield _write_heading(proof), "\n".join(make_printable(line) for line in _reason_lines(proof))
    if proof.world is not None:
        yield "A possible world in which it is false", world_text(proof.statement.labels, proof.world.regions)


def answer_data(proof: Proof) -> dict[str, Any]:
    """Return the answer as JSON data."""
    world = proof.world
    return {
        "statement": str(proof.statement),
        "answer": _SAYS[proof.verdict],
        "reason": _find_reason(proof),
        "explanation": None
        if proof.verdict == "unknown"
        else {"facts": reason_data(proof.reasons), "chain": chain_data(proof.chain)},
        "caveats": list(proof.caveats),
        **help_data(proof.closest, proof.witnesses),
        "rests_on": [fact_data(fact) for fact in proof.rests_on],
        "world": world and {"regions": sorted((sorted(region) for region in world.regions), key=lambda r: (len(r), r))},
    }


def answer_svg(proof: Proof) -> str:
    """Draw a possible world in which the statement is false; without a world, draw the answer in words."""
    heading = _write_heading(proof)
    if proof.world is not None:
        title = f"{heading}, as this possible world shows"
        return world_svg(proof.statement.labels, proof.world.regions, title=title)
    lines = [draw_text(shorten_label(make_printable(line), 100)) for line in _reason_lines(proof)]
    figure = stack_vertically(
        [draw_text(shorten_label(heading, 100), bold=True), stack_vertically(lines, gap=4, align=0)], gap=16, align=0
    )
    return render_document(figure, title=heading, description="\n".join(_reason_lines(proof)))


def _write_heading(proof: Proof) -> str:
    """Return the answer in one line."""
    return make_printable(f"{_SAYS[proof.verdict]}: {proof.statement}")


def _find_reason(proof: Proof) -> str:
    """Return the reason of the verdict, in words."""
    ran_out = proof.verdict == "unknown" and proof.world is None
    return _RAN_OUT if ran_out else _REASONS[proof.verdict]


def _reason_lines(proof: Proof) -> list[str]:
    """Return the reason of the verdict, the facts of the proof, and the caveats, as lines."""
    reason = _find_reason(proof)
    sentence = f"{reason[:1].upper()}{reason[1:]}"
    caveats = caveat_lines(proof.caveats)
    if proof.verdict == "unknown":
        return [f"{sentence}.", *help_lines(proof.closest, proof.witnesses), *caveats]
    lines = reason_lines(proof.lines)
    return [*([f"{sentence}, because", *lines] if lines else [f"{sentence}, whatever the sets are."]), *caveats]
