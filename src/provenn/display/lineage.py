"""A lineage: catalogs, each below those it is made from, as SVG.

Nothing is told by colour alone. The class of a catalog is a shape and a word; what is stored has a second border, as
far as it is stored; catalogs that have the same sources share a tint and a letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from provenn.display.figure import ACCENT, Figure, above, beside, document, shortened, words
from provenn.display.layers import Point, layered
from provenn.display.markup import Element, Reference, element, number
from provenn.display.outlines import MARGINS, WORDS, outline
from provenn.display.wires import wires

__all__ = ["LineageNode", "LineagePicture", "lineage_svg"]

_TINTS = ("#d97706", "#0d9488", "#a855f7", "#dc2626", "#65a30d", "#0284c7")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WIDEST = 1500.0
_DETAILED = 40
"""Up to how many catalogs say in their box what they are."""

_LONGEST_NAME, _LINE, _LINES = 26, 30, 3
_NARROWEST = 66.0
_STUB = 17.0
_SPOKEN = 100


@dataclass(frozen=True, slots=True)
class LineageNode:
    """A catalog in a picture of a lineage.

    Parameters
    ----------
    id
        What edges call it.
    name
        What people call it.
    kind
        The name of its class.
    what
        What it is, in a sentence; may be empty.
    extent
        The same for catalogs that have the same sources; empty if nobody can tell.
    stored
        Which share of its attributes is stored for its sources, from 0 to 1; None for some that nobody has counted.
    focus
        Whether the picture is about this catalog.
    link
        Where to go from here; empty if nowhere.
    above, below
        How many catalogs that it is made from, and that are made from it, are not in the picture.
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

    @property
    def stored_words(self) -> str:
        """How much of it is stored, in words; empty if nothing is."""
        if self.stored is None:
            return "partly stored"
        return "stored" if self.stored >= 1 else f"{_percent(self.stored)} of attributes stored" if self.stored else ""


@dataclass(frozen=True, slots=True)
class LineagePicture:
    """A lineage, to be shown.

    Parameters
    ----------
    title
        What it shows.
    nodes
        The catalogs.
    edges
        What is made from what, by `id`: first the dependency, then what is made from it.
    """

    title: str
    nodes: tuple[LineageNode, ...]
    edges: tuple[tuple[str, str], ...]


def lineage_svg(picture: LineagePicture, *, inline: bool = False) -> str:
    """Draw a lineage: dependencies above what is made from them, and a key to the shapes below.

    Parameters
    ----------
    picture
        What to draw.
    inline
        Whether it is put in a page, whose colours it takes; otherwise it brings its own.

    Raises
    ------
    PictureError
        If a catalog is made from itself.
    """
    letters = _letters(picture.nodes)
    detailed = len(picture.nodes) <= _DETAILED
    boxes = [_Box.of(one, letters.get(one.extent, ""), str(i), detailed) for i, one in enumerate(picture.nodes)]
    graph = _graph(picture, boxes)
    title = words(shortened(picture.title, 90), bold=True, size=15)
    figure = above([title, graph, *_key(picture.nodes, letters, max(graph.width, 560.0))], gap=18, align=0)
    return document(
        figure,
        title=picture.title,
        description=_spoken(picture, letters),
        inline=inline,
        interactive=any(one.link for one in picture.nodes),
    )


def _letters(nodes: Sequence[LineageNode]) -> dict[str, str]:
    """Return a letter for each extent that several catalogs have, as far as letters go."""
    counts = Counter(one.extent for one in nodes if one.extent)
    return dict(zip((one for one, count in counts.items() if count > 1), _LETTERS, strict=False))


def _graph(picture: LineagePicture, boxes: Sequence[_Box]) -> Figure:
    place = {one.id: i for i, one in enumerate(picture.nodes)}
    edges = [(place[one], place[other]) for one, other in dict.fromkeys(picture.edges)]
    layout = layered([(box.width, box.height) for box in boxes], edges, widest=_WIDEST)
    routes = [
        (_moved(route[0], -boxes[one].stub_below), *route, _moved(route[-1], boxes[other].stub_above))
        for (one, other), route in zip(edges, layout.routes, strict=True)
    ]
    drawn = [Figure(0, 0, box.parts).at(*corner) for box, corner in zip(boxes, layout.corners, strict=True)]
    return Figure(layout.width, layout.height, (*wires(routes), *drawn))


def _moved(point: Point, by: float) -> Point:
    return point[0], point[1] + by


@dataclass(frozen=True, slots=True)
class _Box:
    """A catalog, drawn; with stubs where something that it is tied to is not in the picture."""

    width: float
    height: float
    parts: tuple[Element, ...]
    stub_above: float
    stub_below: float

    @classmethod
    def of(cls, node: LineageNode, letter: str, number: str, detailed: bool) -> _Box:
        content = _content(node, letter, detailed)
        top, bottom = MARGINS.get(node.kind, (0.0, 0.0))
        width, height = max(content.width, _NARROWEST) + 44, content.height + 20 + top + bottom
        stub_above, stub_below = _STUB * bool(node.above), _STUB * bool(node.below)
        shape = Figure(width, height, (*_shape(node, letter, width, height, number), content.at(22, 11 + top)))
        stubs = [
            *(_stub(node.above, width, 0.0, upper=True) if node.above else ()),
            *(_stub(node.below, width, stub_above + height, upper=False) if node.below else ()),
        ]
        told = _told(node, letter)
        drawn = element("g", element("title", told), shape.at(0, stub_above), *stubs)
        if node.link:
            drawn = element("a", drawn, href=node.link, aria_label=told)
        return cls(width, stub_above + height + stub_below, (drawn,), stub_above, stub_below)


def _content(node: LineageNode, letter: str, detailed: bool) -> Figure:
    remarks = [one for one in (WORDS.get(node.kind, node.kind), node.stored_words) if one]
    head = [words(" · ".join(remarks), size=11, faint=True), *([_badge(letter)] if letter else [])]
    lines = [beside(head, gap=7), words(shortened(node.name, _LONGEST_NAME), bold=True, size=14)]
    if detailed and node.what:
        told = wrap(node.what, _LINE)
        told = told if len(told) <= _LINES else [*told[: _LINES - 1], shortened(told[_LINES - 1], _LINE - 2) + " …"]
        lines += [words(shortened(line, _LINE + 6), size=11.5, faint=True) for line in told]
    return above(lines, gap=1, align=0)


def _percent(part: float) -> str:
    return f"{min(max(round(part * 100), 1), 99)} %"


def _badge(letter: str) -> Figure:
    circle = element("circle", cx=7.0, cy=7.5, r=7.0, fill="none", stroke="currentColor", stroke_opacity=0.7)
    text = element("text", letter, x=7.0, y=11.0, font_size=10.5, font_weight="600", text_anchor="middle")
    return Figure(14, 15, (circle, text))


def _shape(node: LineageNode, letter: str, width: float, height: float, name: str) -> Iterator[Element]:
    """Yield the outline of a catalog: tinted, and with a second border as far as it is stored."""
    border, lines = outline(node.kind, width, height)
    if letter:
        tint = _TINTS[_LETTERS.index(letter) % len(_TINTS)]
        yield element("path", d=border, fill=tint, fill_opacity=0.2)
    yield element("path", d=border, fill="none", stroke="currentColor", stroke_width=3.0 if node.focus else 1.2)
    if lines:
        yield element("path", d=lines, fill="none", stroke="currentColor", stroke_width=1.2)
    if node.stored_words:
        inner, _ = outline(node.kind, width, height, 4.0)
        part = 0.5 if node.stored is None else node.stored
        reach = width * (1.0 if part >= 1 else min(max(part, 0.05), 0.95))
        clip = f"-stored-{name}"
        yield element("clipPath", element("rect", width=reach, height=height), id=clip)
        filled = 0.0 if letter else 0.14  # over a tint it would be a third colour
        stored = element("path", d=inner, fill=ACCENT, fill_opacity=filled, stroke=ACCENT, stroke_width=2.0)
        yield element("g", stored, clip_path=Reference(clip))


def _stub(count: int, width: float, y: float, *, upper: bool) -> list[Element]:
    x = width * 0.75
    line = f"M{number(x)} {number(y + 2)}v{number(_STUB - 2 - 2 * (not upper))}"
    return [
        element("path", d=line, fill="none", stroke="currentColor", stroke_opacity=0.6, stroke_dasharray="3 3"),
        element("text", f"+{count:,}", x=x + 6, y=y + 12.5, font_size=11.0, fill_opacity=0.8),
    ]


# -- the key -------------------------------------------------------------------------------------------------------


def _key(nodes: Sequence[LineageNode], letters: Mapping[str, str], width: float) -> list[Figure]:
    """Return the key to what occurs, in lines that are not too wide."""
    kinds = [kind for kind in WORDS if any(one.kind == kind for one in nodes)]
    entries = [_entry(LineageNode("", "", kind), f"{kind}") for kind in kinds]
    if any(one.stored_words for one in nodes):
        entries.append(_entry(LineageNode("", "", "", stored=1.0), "stored"))
    if any(one.focus for one in nodes):
        entries.append(_entry(LineageNode("", "", "", focus=True), "what this is about"))
    if letters:
        entries.append(
            beside([_badge(next(iter(letters.values()))), words("same letter: same sources", size=11)], gap=6)
        )
    if any(one.above or one.below for one in nodes):
        entries.append(words("+1 not shown", size=11))
    lines: list[list[Figure]] = [[]]
    for one in entries:
        if lines[-1] and sum(each.width + 20 for each in lines[-1]) + one.width > width:
            lines.append([])
        lines[-1].append(one)
    return [above([beside(line, gap=20) for line in lines], gap=8, align=0)] if entries else []


def _entry(node: LineageNode, text: str) -> Figure:
    shape = Figure(32, 18, tuple(_shape(node, "", 32, 18, f"key-{text.replace(' ', '-')}")))
    return beside([shape, words(text, size=11)], gap=6)


# -- in words ------------------------------------------------------------------------------------------------------


def _told(node: LineageNode, letter: str) -> str:
    """Return all that is drawn of a catalog, in words."""
    remarks = [node.what or node.kind]
    if node.stored_words:
        remarks.append(node.stored_words)
    if letter:
        remarks.append(f"same sources as all marked {letter}")
    if node.above:
        remarks.append(f"{node.above:,} more that it is made from")
    if node.below:
        remarks.append(f"{node.below:,} more that are made from it")
    return f"{node.name}: {'; '.join(remarks)}"


def _spoken(picture: LineagePicture, letters: Mapping[str, str]) -> str:
    """Return a lineage as sentences, for those who cannot see it."""
    said = [f"{_told(one, letters.get(one.extent, ''))}." for one in picture.nodes[:_SPOKEN]]
    more = len(picture.nodes) - len(said)
    return " ".join([*said, *([f"And {more:,} more."] if more else [])])
