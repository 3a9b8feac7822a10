"""A lineage as SVG: catalogs, each below its dependencies.

Colour never stands alone. The class of a catalog is a shape and a word; a stored catalog has a second border, as wide
as the stored share; catalogs with the same sources share a tint and a letter. Catalogs of different populations stand
in lanes beside each other, each under the name of its population.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
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
from provenn.display.layers import Point, arrange_boxes
from provenn.display.markup import Element, ElementReference, format_number, make_element
from provenn.display.outlines import MARGINS, SHAPES, draw_outline
from provenn.display.wires import draw_wires

__all__ = ["LineageNode", "LineagePicture", "lineage_svg"]

_TINTS = ("#d97706", "#0d9488", "#a855f7", "#dc2626", "#65a30d", "#0284c7")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WIDEST = 1500.0
_DETAILED = 40
"""Up to this number of catalogs, each box has the sentence of its catalog."""

_LONGEST_NAME, _LINE, _LINES = 26, 30, 3
_NARROWEST = 66.0
_STUB = 17.0
_LANE_GAP, _LANE_HEAD = 56.0, 30.0
_MOST_ORDERS = 6
"""Up to this number of lanes, all orders are tried for the shortest edges between lanes."""
_SPOKEN = 100


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A catalog in a picture of a lineage.

    Parameters
    ----------
    id
        The identifier that edges use.
    name
        The name for people.
    kind
        The name of its class.
    what
        The catalog in a sentence; may be empty.
    extent
        The same text for catalogs with the same sources; empty if unknown.
    stored
        The share of its attributes that is stored for its sources, from 0 to 1; None for an unknown share above 0.
    focus
        Whether the picture is about this catalog.
    link
        The address that a click opens; empty for none.
    above, below
        How many of its dependencies, and of the catalogs made from it, are not in the picture.
    word
        A short word for its class; the name of the class if empty.
    shape
        The name of the outline of its class; a rectangle if empty.
    population
        The name of its population for people, such as stars; empty if it does not matter.
    """

    id: str
    name: str
    kind: str
    what: str = ""
    extent: str = ""
    stored: float | None = 0.0
    focus: bool = False
    link: str = ""
    above: int = 0
    below: int = 0
    word: str = ""
    shape: str = ""
    population: str = ""

    @property
    def stored_words(self) -> str:
        """The stored share in words; empty if nothing is stored."""
        if self.stored is None:
            return "partly stored"
        if self.stored >= 1:
            return "stored"
        return f"{_format_percent(self.stored)} of attributes stored" if self.stored else ""


@dataclass(frozen=True, slots=True)
class LineagePicture:
    """A lineage, prepared for display.

    Parameters
    ----------
    title
        The title of the picture.
    nodes
        The catalogs.
    edges
        Pairs of `id`: a dependency, and a catalog made from it.
    """

    title: str
    nodes: tuple[LineageNode, ...]
    edges: tuple[tuple[str, str], ...]


def lineage_svg(picture: LineagePicture, *, inline: bool = False) -> str:
    """Draw a lineage: dependencies above the catalogs made from them, and a key to the shapes below.

    Parameters
    ----------
    picture
        The lineage.
    inline
        Whether the picture goes into a page and takes its colours; otherwise it brings its own.

    Raises
    ------
    PictureError
        If a catalog is made from itself.
    """
    letters = _assign_letters(picture.nodes)
    is_detailed = len(picture.nodes) <= _DETAILED
    boxes = [_Box.draw(node, letters.get(node.extent, ""), str(i), is_detailed) for i, node in enumerate(picture.nodes)]
    graph = _draw_graph(picture, boxes)
    title = draw_text(shorten_label(picture.title, 90), bold=True, size=15)
    figure = stack_vertically(
        [title, graph, *_draw_key(picture.nodes, letters, max(graph.width, 560.0))], gap=18, align=0
    )
    return render_document(
        figure,
        title=picture.title,
        description=_describe_lineage(picture, letters),
        inline=inline,
        interactive=any(node.link for node in picture.nodes),
    )


def _assign_letters(nodes: Sequence[LineageNode]) -> dict[str, str]:
    """Return a letter for each extent that several catalogs share, as far as letters go."""
    counts = Counter(node.extent for node in nodes if node.extent)
    return dict(zip((extent for extent, count in counts.items() if count > 1), _LETTERS, strict=False))


def _draw_graph(picture: LineagePicture, boxes: Sequence[_Box]) -> Figure:
    """Return the boxes and edges of a lineage as a figure."""
    place = {node.id: i for i, node in enumerate(picture.nodes)}
    edges = [(place[start], place[end]) for start, end in dict.fromkeys(picture.edges)]
    names = _order_lanes(picture)
    numbers = {name: number for number, name in enumerate(names)}
    layout = arrange_boxes(
        [(box.width, box.height) for box in boxes],
        edges,
        widest=_WIDEST,
        lanes=[numbers[node.population] for node in picture.nodes] if len(names) > 1 else (),
        lane_gap=_LANE_GAP,
    )
    routes = [
        (_move_down(route[0], -boxes[start].stub_below), *route, _move_down(route[-1], boxes[end].stub_above))
        for (start, end), route in zip(edges, layout.routes, strict=True)
    ]
    drawn = [Figure(0, 0, box.parts).place_at(*corner) for box, corner in zip(boxes, layout.corners, strict=True)]
    graph = Figure(layout.width, layout.height, (*draw_wires(routes), *drawn))
    return graph if len(names) < 2 else _draw_lanes(graph, names, layout.lanes)


def _order_lanes(picture: LineagePicture) -> list[str]:
    """Return the populations of a lineage in the order in which edges between lanes are shortest, and lead right."""
    population = {node.id: node.population for node in picture.nodes}
    names = list(dict.fromkeys(population.values()))
    crossing = Counter(
        (population[start], population[end]) for start, end in picture.edges if population[start] != population[end]
    )
    if len(names) > _MOST_ORDERS:
        return names

    def measure(order: Sequence[str]) -> tuple[int, int]:
        steps = [(order.index(end) - order.index(start), count) for (start, end), count in crossing.items()]
        return sum(abs(step) * count for step, count in steps), sum(count for step, count in steps if step < 0)

    orders = [list(order) for order in permutations(names)]
    return min(orders, key=measure)


def _draw_lanes(graph: Figure, names: Sequence[str], lanes: Sequence[tuple[float, float]]) -> Figure:
    """Return a figure with the name of each lane above it, and a dashed line between lanes."""
    height = graph.height + _LANE_HEAD
    parts: list[Element] = []
    for name, (left, right) in zip(names, lanes, strict=True):
        head = draw_text(shorten_label(name, _LONGEST_NAME), size=13)
        parts.append(head.place_at((left + right - head.width) / 2, 0))
    for (_, right), (left, _) in pairwise(lanes):
        middle = format_number((left + right) / 2)
        line = f"M{middle} 0V{format_number(height)}"
        parts.append(
            make_element(
                "path", d=line, fill="none", stroke="currentColor", stroke_opacity=0.35, stroke_dasharray="2 5"
            )
        )
    return Figure(graph.width, height, (*parts, graph.place_at(0, _LANE_HEAD)))


def _move_down(point: Point, by: float) -> Point:
    """Return a point further down."""
    return point[0], point[1] + by


@dataclass(frozen=True, slots=True)
class _Box:
    """The box of a catalog, with a stub towards neighbours that are not in the picture."""

    width: float
    height: float
    parts: tuple[Element, ...]
    stub_above: float
    stub_below: float

    @classmethod
    def draw(cls, node: LineageNode, letter: str, number: str, is_detailed: bool) -> _Box:
        """Return the box of a catalog; `number` makes its ids unique, `is_detailed` adds its sentence."""
        content = _draw_content(node, letter, is_detailed)
        top, bottom = MARGINS.get(node.shape, (0.0, 0.0))
        width, height = max(content.width, _NARROWEST) + 44, content.height + 20 + top + bottom
        stub_above, stub_below = _STUB * bool(node.above), _STUB * bool(node.below)
        shape = Figure(
            width, height, (*_draw_shape(node, letter, width, height, number), content.place_at(22, 11 + top))
        )
        stubs = [
            *(_draw_stub(node.above, width, 0.0, upper=True) if node.above else ()),
            *(_draw_stub(node.below, width, stub_above + height, upper=False) if node.below else ()),
        ]
        description = _describe_node(node, letter)
        box = make_element("g", make_element("title", description), shape.place_at(0, stub_above), *stubs)
        if node.link:
            box = make_element("a", box, href=node.link, aria_label=description)
        return cls(width, stub_above + height + stub_below, (box,), stub_above, stub_below)


def _draw_content(node: LineageNode, letter: str, is_detailed: bool) -> Figure:
    """Return the words in a box as a figure: class, stored share, letter, name and sentence."""
    remarks = [remark for remark in (node.word or node.kind, node.stored_words) if remark]
    head = [draw_text(" · ".join(remarks), size=11, faint=True), *([_draw_badge(letter)] if letter else [])]
    lines = [stack_horizontally(head, gap=7), draw_text(shorten_label(node.name, _LONGEST_NAME), bold=True, size=14)]
    if is_detailed and node.what:
        sentence_lines = wrap(node.what, _LINE)
        if len(sentence_lines) > _LINES:
            sentence_lines = [
                *sentence_lines[: _LINES - 1],
                shorten_label(sentence_lines[_LINES - 1], _LINE - 2) + " …",
            ]
        lines += [draw_text(shorten_label(line, _LINE + 6), size=11.5, faint=True) for line in sentence_lines]
    return stack_vertically(lines, gap=1, align=0)


def _format_percent(part: float) -> str:
    """Return a share in percent: never 0 %, never 100 %."""
    return f"{min(max(round(part * 100), 1), 99)} %"


def _draw_badge(letter: str) -> Figure:
    """Return a letter in a circle as a figure."""
    circle = make_element("circle", cx=7.0, cy=7.5, r=7.0, fill="none", stroke="currentColor", stroke_opacity=0.7)
    text = make_element("text", letter, x=7.0, y=11.0, font_size=10.5, font_weight="600", text_anchor="middle")
    return Figure(14, 15, (circle, text))


def _draw_shape(node: LineageNode, letter: str, width: float, height: float, name: str) -> Iterator[Element]:
    """Yield the outline of a catalog: tinted, and with a second border as wide as its stored share."""
    border, inner_lines = draw_outline(node.shape, width, height)
    if letter:
        tint = _TINTS[_LETTERS.index(letter) % len(_TINTS)]
        yield make_element("path", d=border, fill=tint, fill_opacity=0.2)
    yield make_element("path", d=border, fill="none", stroke="currentColor", stroke_width=3.0 if node.focus else 1.2)
    if inner_lines:
        yield make_element("path", d=inner_lines, fill="none", stroke="currentColor", stroke_width=1.2)
    if node.stored_words:
        inner, _ = draw_outline(node.shape, width, height, 4.0)
        part = 0.5 if node.stored is None else node.stored
        stored_width = width * (1.0 if part >= 1 else min(max(part, 0.05), 0.95))
        clip = f"-stored-{name}"
        yield make_element("clipPath", make_element("rect", width=stored_width, height=height), id=clip)
        opacity = 0.0 if letter else 0.14  # over a tint, the accent would be a third colour
        stored = make_element("path", d=inner, fill=ACCENT, fill_opacity=opacity, stroke=ACCENT, stroke_width=2.0)
        yield make_element("g", stored, clip_path=ElementReference(clip))


def _draw_stub(count: int, width: float, y: float, *, upper: bool) -> list[Element]:
    """Return a dashed line with the number of neighbours that are not in the picture."""
    x = width * 0.75
    line = f"M{format_number(x)} {format_number(y + 2)}v{format_number(_STUB - 2 - 2 * (not upper))}"
    return [
        make_element("path", d=line, fill="none", stroke="currentColor", stroke_opacity=0.6, stroke_dasharray="3 3"),
        make_element("text", f"+{count:,}", x=x + 6, y=y + 12.5, font_size=11.0, fill_opacity=0.8),
    ]


# -- the key -------------------------------------------------------------------------------------------------------


def _draw_key(nodes: Sequence[LineageNode], letters: Mapping[str, str], width: float) -> list[Figure]:
    """Return the key to the shapes that occur, in lines up to the width."""
    kinds = {node.shape: node.kind for node in nodes}
    entries = [
        _draw_entry(LineageNode("", "", kinds[shape], shape=shape), kinds[shape]) for shape in SHAPES if shape in kinds
    ]
    if any(node.stored_words for node in nodes):
        entries.append(_draw_entry(LineageNode("", "", "", stored=1.0), "stored"))
    if any(node.focus for node in nodes):
        entries.append(_draw_entry(LineageNode("", "", "", focus=True), "what this is about"))
    if letters:
        entries.append(
            stack_horizontally(
                [_draw_badge(next(iter(letters.values()))), draw_text("same letter: same sources", size=11)], gap=6
            )
        )
    if any(node.above or node.below for node in nodes):
        entries.append(draw_text("+1 not shown", size=11))
    lines: list[list[Figure]] = [[]]
    for entry in entries:
        if lines[-1] and sum(figure.width + 20 for figure in lines[-1]) + entry.width > width:
            lines.append([])
        lines[-1].append(entry)
    return [stack_vertically([stack_horizontally(line, gap=20) for line in lines], gap=8, align=0)] if entries else []


def _draw_entry(node: LineageNode, text: str) -> Figure:
    """Return an entry of the key as a figure: a shape and a text."""
    shape = Figure(32, 18, tuple(_draw_shape(node, "", 32, 18, f"key-{text.replace(' ', '-')}")))
    return stack_horizontally([shape, draw_text(text, size=11)], gap=6)


# -- in words ------------------------------------------------------------------------------------------------------


def _describe_node(node: LineageNode, letter: str, lane: str = "") -> str:
    """Return a catalog as it is drawn, in words; `lane` is the name of its lane, if there are several."""
    remarks = [node.what or node.kind]
    if node.stored_words:
        remarks.append(node.stored_words)
    if letter:
        remarks.append(f"same sources as all marked {letter}")
    if lane:
        remarks.append(f"in the lane of {lane}")
    if node.above:
        remarks.append(f"{node.above:,} more that it is made from")
    if node.below:
        remarks.append(f"{node.below:,} more that are made from it")
    return f"{node.name}: {'; '.join(remarks)}"


def _describe_lineage(picture: LineagePicture, letters: Mapping[str, str]) -> str:
    """Return a lineage as sentences, for screen readers."""
    has_lanes = len({node.population for node in picture.nodes}) > 1
    sentences = [
        f"{_describe_node(node, letters.get(node.extent, ''), node.population * has_lanes)}."
        for node in picture.nodes[:_SPOKEN]
    ]
    more = len(picture.nodes) - len(sentences)
    return " ".join([*sentences, *([f"And {more:,} more."] if more else [])])
