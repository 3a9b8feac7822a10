"""A plan: how something would be made and how it is made instead, as text for a terminal, as SVG, as HTML.

A plan is two trees of steps; drawn, they are graphs in which equal steps are one. What becomes of a step is told by
its label, and drawn as a shape: what is skipped is dashed, what is reused has a double border, what is partly reused is
filled as far as that.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from provenn.display.figure import ACCENT, Figure, above, beside, document, shortened, words
from provenn.display.layers import layered
from provenn.display.markup import Element, element, render, visible
from provenn.display.rows import Rows
from provenn.display.text import side_by_side
from provenn.display.wires import wires

__all__ = ["PlanArgument", "PlanNode", "PlanPicture", "plan_html", "plan_svg", "plan_text"]

BEFORE, AFTER = "As it is defined", "As it is computed"
_WIDTH = 56
_IN_SVG, _PADDING = 34, 8.0
_WIDEST = 1100.0
"""How wide both graphs may be to stand beside each other."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A step of a plan, and the steps it is made from.

    Parameters
    ----------
    label
        What becomes of it: ``"reuse"``, ``"partial reuse (…)"``, ``"compute"`` or ``"skip"``.
    what
        What it does.
    rows
        How many rows it gives, as far as that is known.
    because
        Why it is there, or why it is skipped; empty if the step above says so.
    inputs
        The steps it is made from.
    part
        How much of it is reused, from 0 to 1.
    step
        The same number for the same step, wherever it occurs; None if only steps that are equal are the same.
    again
        Whether the step occurred before, with its inputs, which are not given again.
    """

    label: str
    what: str
    rows: Rows = field(default_factory=Rows)
    because: str = ""
    inputs: tuple["PlanNode", ...] = ()
    part: float = 0.0
    step: int | None = None
    again: bool = False

    @property
    def told(self) -> str:
        """What it does, in a tree."""
        return f"{self.what}: see above" if self.again else self.what

    @property
    def sources(self) -> str:
        """How many rows it gives, in words; empty if nobody can tell."""
        return self.rows.of("source")


@dataclass(frozen=True, slots=True)
class PlanArgument:
    """Why one way may take the place of another: in words, as statements, and what proves them, a fact a line."""

    because: str
    statements: tuple[str, ...]
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanPicture:
    """A plan, to be shown.

    Parameters
    ----------
    title
        What it makes.
    before, after
        The steps as everything is defined, and those that are done.
    notes
        Headings, and lines below them.
    """

    title: str
    before: PlanNode
    after: PlanNode
    notes: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())


def plan_text(plan: PlanPicture, width: int = 120) -> str:
    """Return a plan for a terminal: both trees, beside each other where that fits, and the notes.

    >>> print(plan_text(PlanPicture("B", PlanNode("skip", "read A"), PlanNode("reuse", "fragment #1", Rows(3, 3, 3)))))
    B
    <BLANKLINE>
    As it is defined      As it is computed
    skip: read A          reuse: fragment #1
                                 3 sources
    """
    trees = [f"{BEFORE}\n{_tree(plan.before)}", f"{AFTER}\n{_tree(plan.after)}"]
    lines = [visible(plan.title), "", *side_by_side(trees, width=width, gap=4)]
    for heading, told in plan.notes:
        lines += ["", heading]
        for one in told:
            lines += wrap(visible(one), max(40, width - 4), initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def _tree(root: PlanNode) -> str:
    return "\n".join(_lines(root, "", ""))


def _lines(node: PlanNode, branch: str, indent: str) -> Iterator[str]:
    """Yield the lines of a tree; `branch` leads to the node, `indent` stands before all that is below it."""
    margin = " " * (len(node.label) + 2)
    below = indent + ("│" if node.inputs else " ") + margin[1:]
    first, *more = wrap(visible(node.told), max(24, _WIDTH - len(below))) or [""]
    yield f"{branch}{node.label}: {first}".rstrip()
    remarks = "; ".join(one for one in (node.sources, node.because) if one)
    for line in (*more, *wrap(visible(remarks), max(24, _WIDTH - len(below)))):
        yield below + line
    for one in node.inputs:
        last = one is node.inputs[-1]
        yield from _lines(one, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))


def plan_svg(plan: PlanPicture, *, inline: bool = False) -> str:
    """Draw a plan: what it would be, beside it or below what it is, and notes; steps below those they are made from."""
    graphs = [
        above([words(heading, bold=True), _figure(root)], gap=10, align=0)
        for heading, root in ((BEFORE, plan.before), (AFTER, plan.after))
    ]
    wide = sum(one.width for one in graphs) > _WIDEST
    both = above(graphs, gap=28, align=0) if wide else beside(graphs, gap=44, align=0)
    notes = [
        above([words(heading, bold=True, size=12), *_paragraphs(told)], gap=3, align=0) for heading, told in plan.notes
    ]
    title = words(shortened(plan.title, 120), bold=True, size=15)
    figure = above([title, both, *notes], gap=18, align=0)
    said = f"{BEFORE}: {_spoken(plan.before)} {AFTER}: {_spoken(plan.after)}"
    return document(figure, title=f"How to get {plan.title}", description=said, inline=inline)


def plan_html(plan: PlanPicture, arguments: Sequence[PlanArgument] = ()) -> str:
    """Return a plan for a notebook: the picture, and proofs that unfold."""
    parts = [plan_svg(plan, inline=True)]
    for one in arguments:
        if one.statements:
            lines = [element("li", line) for line in one.proof]
            summary = element("summary", f"{'; '.join(one.statements)}: {one.because}")
            parts.append(render(element("details", summary, element("ul", *lines))))
    return "<div>\n" + "\n".join(parts) + "\n</div>\n"


def _paragraphs(lines: Sequence[str]) -> list[Figure]:
    return [words(line, size=12) for one in lines for line in wrap(one, 130, subsequent_indent="   ")]


def _spoken(node: PlanNode) -> str:
    """Return a tree as sentences, for those who cannot see it."""
    own = f"{node.label}: {node.told}{f' ({node.sources})' if node.sources else ''}."
    return " ".join([own, *map(_spoken, node.inputs)])


def _figure(root: PlanNode) -> Figure:
    """Return steps as boxes, each once and below those it is made from."""
    found: dict[object, list[PlanNode]] = {}
    edges: dict[tuple[object, object], None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        found.setdefault(_identity(node), []).append(node)
        edges |= dict.fromkeys((_identity(one), _identity(node)) for one in node.inputs)
        stack.extend(reversed(node.inputs))
    place = {identity: i for i, identity in enumerate(found)}
    boxes = [_box(nodes) for nodes in found.values()]
    layout = layered([(one.width, one.height) for one in boxes], [(place[one], place[other]) for one, other in edges])
    drawn = [box.at(*corner) for box, corner in zip(boxes, layout.corners, strict=True)]
    return Figure(layout.width, layout.height, (*wires(layout.routes), *drawn))


def _identity(node: PlanNode) -> object:
    return node if node.step is None else node.step


def _box(occurrences: Sequence[PlanNode]) -> Figure:
    """Return the box of a step, which may occur several times, with more or fewer attributes."""
    node = next((one for one in occurrences if not one.again), occurrences[0])
    told = {one.what: set(re.findall(r"\w+", one.what)) for one in occurrences}
    said = [what for what, used in told.items() if not any(used < other for other in told.values())]
    skipped = node.label == "skip"
    lines = [words(node.label, size=12, bold=True)]
    lines += [words(line, size=13, faint=skipped) for what in said for line in wrap(what, _IN_SVG)]
    for remark in (node.sources, node.because):
        lines += [words(line, size=11, faint=True) for line in wrap(remark, _IN_SVG + 8)]
    content = above(lines, gap=1, align=0)
    width, height = content.width + 2 * _PADDING, content.height + 2 * _PADDING
    return Figure(width, height, (*_borders(node, width, height), content.at(_PADDING, _PADDING)))


def _borders(node: PlanNode, width: float, height: float) -> list[Element]:
    """Return the shape of a step: dashed, plain, double, or filled in part."""

    def border(inset: float = 0.0, **more: str | float) -> Element:
        size = {"x": inset, "y": inset, "width": width - 2 * inset, "height": height - 2 * inset}
        return element("rect", **size, rx=5.0, fill="none", **more)

    if node.label == "skip":
        return [border(stroke="currentColor", stroke_opacity=0.6, stroke_dasharray="5 4")]
    if node.label == "compute":
        return [border(stroke="currentColor")]
    filled = width * (1.0 if node.label == "reuse" else min(max(node.part, 0.05), 0.95))
    part = element("rect", width=filled, height=height, rx=5.0, fill=ACCENT, fill_opacity=0.16)
    inner = [border(3.0, stroke=ACCENT)] if node.label == "reuse" else []
    return [part, border(stroke=ACCENT, stroke_width=1.5), *inner]
