"""A plan as text for a terminal, as SVG and as HTML: the steps as defined, and the steps as computed.

A plan is two trees of steps; drawn, the trees become graphs with one box for equal steps. The label and the shape of a
step show whether the step is skipped, reused or computed: skipped steps are dashed, reused steps have a double border,
partly reused steps are filled in proportion.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from provenn.display.figure import (
    ACCENT,
    Figure,
    draw_text,
    render_document,
    shorten_label,
    stack_horizontally,
    stack_vertically,
)
from provenn.display.layers import arrange_boxes
from provenn.display.markup import Element, make_element, make_printable, render
from provenn.display.row_counts import Rows
from provenn.display.text import join_blocks
from provenn.display.wires import draw_wires

__all__ = ["PlanArgument", "PlanNode", "PlanPicture", "plan_html", "plan_svg", "plan_text"]

BEFORE, AFTER = "As defined", "As computed"
_WIDTH = 56
_IN_SVG, _PADDING = 34, 8.0
_WIDEST = 1100.0
"""The width up to which both graphs stand beside each other; wider graphs stand one above the other."""


@dataclass(frozen=True, slots=True)
class PlanNode:
    """A step of a plan, and its inputs.

    Parameters
    ----------
    label
        Whether the step runs: ``"reuse"``, ``"partial reuse (…)"``, ``"compute"`` or ``"skip"``.
    what
        What the step does.
    rows
        How many rows the step gives, as far as known.
    because
        Why the step is there, or why it is skipped; empty if the step above says so.
    inputs
        The steps that it reads.
    part
        The share of the step that is reused, from 0 to 1.
    step
        The same number for the same step, wherever it occurs; None if only equal steps are the same.
    again
        Whether the step occurred before, with its inputs, which are then left out here.
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
    def tree_text(self) -> str:
        """What the step does, in a tree."""
        return f"{self.what}: see above" if self.again else self.what

    @property
    def sources(self) -> str:
        """The number of rows in words: the count, or what is proved and then the estimate; empty if unknown."""
        return self.rows.describe("source")


@dataclass(frozen=True, slots=True)
class PlanArgument:
    """Why a step may replace another: in words, as statements, and with the facts of the proof, one per line."""

    because: str
    statements: tuple[str, ...]
    proof: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlanPicture:
    """A plan, prepared for display.

    Parameters
    ----------
    title
        What the plan makes.
    before, after
        The steps as everything is defined, and the steps that run.
    notes
        Headings, each with the lines below it.
    """

    title: str
    before: PlanNode
    after: PlanNode
    notes: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())


def plan_text(plan: PlanPicture, width: int = 120) -> str:
    """Return a plan for a terminal: both trees, beside each other if the width allows it, and the notes.

    >>> print(plan_text(PlanPicture("B", PlanNode("skip", "read A"), PlanNode("reuse", "fragment #1", Rows(3, 3, 3)))))
    B
    <BLANKLINE>
    As defined            As computed
    skip: read A          reuse: fragment #1
                                 3 sources
    """
    trees = [f"{BEFORE}\n{_write_tree(plan.before)}", f"{AFTER}\n{_write_tree(plan.after)}"]
    lines = [make_printable(plan.title), "", *join_blocks(trees, width=width, gap=4)]
    for heading, paragraphs in plan.notes:
        lines += ["", heading]
        for paragraph in paragraphs:
            lines += wrap(make_printable(paragraph), max(40, width - 4), initial_indent="  ", subsequent_indent="    ")
    return "\n".join(lines)


def _write_tree(root: PlanNode) -> str:
    """Return a tree as text."""
    return "\n".join(_tree_lines(root, "", ""))


def _tree_lines(node: PlanNode, branch: str, indent: str) -> Iterator[str]:
    """Yield the lines of a tree; `branch` leads to the node, `indent` stands before all lines below it."""
    margin = " " * (len(node.label) + 2)
    below = indent + ("│" if node.inputs else " ") + margin[1:]
    first, *more = wrap(make_printable(node.tree_text), max(24, _WIDTH - len(below))) or [""]
    yield f"{branch}{node.label}: {first}".rstrip()
    remarks = "; ".join(remark for remark in (node.sources, node.because) if remark)
    for line in (*more, *wrap(make_printable(remarks), max(24, _WIDTH - len(below)))):
        yield below + line
    for input_node in node.inputs:
        last = input_node is node.inputs[-1]
        yield from _tree_lines(input_node, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "))


def plan_svg(plan: PlanPicture, *, inline: bool = False) -> str:
    """Draw a plan: the defined steps, beside or above the computed steps, and the notes; a step is below its inputs."""
    graphs = [
        stack_vertically([draw_text(heading, bold=True), _draw_graph(root)], gap=10, align=0)
        for heading, root in ((BEFORE, plan.before), (AFTER, plan.after))
    ]
    is_wide = sum(graph.width for graph in graphs) > _WIDEST
    both = stack_vertically(graphs, gap=28, align=0) if is_wide else stack_horizontally(graphs, gap=44, align=0)
    notes = [
        stack_vertically([draw_text(heading, bold=True, size=12), *_draw_paragraphs(paragraphs)], gap=3, align=0)
        for heading, paragraphs in plan.notes
    ]
    title = draw_text(shorten_label(plan.title, 120), bold=True, size=15)
    figure = stack_vertically([title, both, *notes], gap=18, align=0)
    spoken = f"{BEFORE}: {_describe_tree(plan.before)} {AFTER}: {_describe_tree(plan.after)}"
    return render_document(figure, title=f"How to get {plan.title}", description=spoken, inline=inline)


def plan_html(plan: PlanPicture, arguments: Sequence[PlanArgument] = ()) -> str:
    """Return a plan for a notebook: the picture, and proofs that unfold."""
    parts = [plan_svg(plan, inline=True)]
    for argument in arguments:
        if argument.statements:
            lines = [make_element("li", line) for line in argument.proof]
            summary = make_element("summary", f"{'; '.join(argument.statements)}: {argument.because}")
            parts.append(render(make_element("details", summary, make_element("ul", *lines))))
    return "<div>\n" + "\n".join(parts) + "\n</div>\n"


def _draw_paragraphs(paragraphs: Sequence[str]) -> list[Figure]:
    """Return paragraphs as figures, one per wrapped line."""
    return [
        draw_text(line, size=12) for paragraph in paragraphs for line in wrap(paragraph, 130, subsequent_indent="   ")
    ]


def _describe_tree(node: PlanNode) -> str:
    """Return a tree as sentences, for screen readers."""
    own = f"{node.label}: {node.tree_text}{f' ({node.sources})' if node.sources else ''}."
    return " ".join([own, *map(_describe_tree, node.inputs)])


def _draw_graph(root: PlanNode) -> Figure:
    """Return the steps as a figure: each step is one box, below its inputs."""
    occurrences: dict[object, list[PlanNode]] = {}
    edges: dict[tuple[object, object], None] = {}
    stack = [root]
    while stack:
        node = stack.pop()
        occurrences.setdefault(_identify_step(node), []).append(node)
        edges |= dict.fromkeys((_identify_step(input_node), _identify_step(node)) for input_node in node.inputs)
        stack.extend(reversed(node.inputs))
    number = {identity: i for i, identity in enumerate(occurrences)}
    boxes = [_draw_box(nodes) for nodes in occurrences.values()]
    layout = arrange_boxes(
        [(box.width, box.height) for box in boxes], [(number[start], number[end]) for start, end in edges]
    )
    drawn = [box.place_at(*corner) for box, corner in zip(boxes, layout.corners, strict=True)]
    return Figure(layout.width, layout.height, (*draw_wires(layout.routes), *drawn))


def _identify_step(node: PlanNode) -> object:
    """Return the identity of a step: the step number or, without a number, the node itself."""
    return node if node.step is None else node.step


def _draw_box(occurrences: Sequence[PlanNode]) -> Figure:
    """Return the box of a step; the step may occur several times, with more or fewer attributes."""
    node = next((occurrence for occurrence in occurrences if not occurrence.again), occurrences[0])
    words_by_text = {occurrence.what: set(re.findall(r"\w+", occurrence.what)) for occurrence in occurrences}
    texts = [
        text
        for text, words in words_by_text.items()
        if not any(words < other_words for other_words in words_by_text.values())
    ]
    is_skipped = node.label == "skip"
    lines = [draw_text(node.label, size=12, bold=True)]
    lines += [draw_text(line, size=13, faint=is_skipped) for text in texts for line in wrap(text, _IN_SVG)]
    for remark in (node.sources, node.because):
        lines += [draw_text(line, size=11, faint=True) for line in wrap(remark, _IN_SVG + 8)]
    content = stack_vertically(lines, gap=1, align=0)
    width, height = content.width + 2 * _PADDING, content.height + 2 * _PADDING
    return Figure(width, height, (*_draw_borders(node, width, height), content.place_at(_PADDING, _PADDING)))


def _draw_borders(node: PlanNode, width: float, height: float) -> list[Element]:
    """Return the borders of a step: dashed, plain, double, or filled in part."""

    def draw_border(inset: float = 0.0, **more: str | float) -> Element:
        size = {"x": inset, "y": inset, "width": width - 2 * inset, "height": height - 2 * inset}
        return make_element("rect", **size, rx=5.0, fill="none", **more)

    if node.label == "skip":
        return [draw_border(stroke="currentColor", stroke_opacity=0.6, stroke_dasharray="5 4")]
    if node.label == "compute":
        return [draw_border(stroke="currentColor")]
    filled_width = width * (1.0 if node.label == "reuse" else min(max(node.part, 0.05), 0.95))
    part = make_element("rect", width=filled_width, height=height, rx=5.0, fill=ACCENT, fill_opacity=0.16)
    inner = [draw_border(3.0, stroke=ACCENT)] if node.label == "reuse" else []
    return [part, draw_border(stroke=ACCENT, stroke_width=1.5), *inner]
