"""A lineage from left to right, whose catalogs fold and unfold: every box and every handle is a link.

Catalogs with the same sources have the same colour and letter. Populations are lanes below each other. A stored catalog
has a second border, and a path is drawn with thick lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from provenn.display.figure import ACCENT, Figure, draw_text, render_document, shorten_label
from provenn.display.layers import arrange_boxes
from provenn.display.lineage_picture import LineageNode, LineagePicture
from provenn.display.markup import Element, format_number, make_element

__all__ = ["ExplorerLinks", "explorer_svg"]

_TINTS = ("#d97706", "#0d9488", "#a855f7", "#dc2626", "#65a30d", "#0284c7")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WIDTH, _HEIGHT, _HANDLE = 172.0, 42.0, 38.0
_GAP, _DROP = 14.0, 36.0
_LONGEST = 19


@dataclass(frozen=True, slots=True)
class ExplorerLinks:
    """The addresses of a catalog in the picture.

    Parameters
    ----------
    select
        The address that shows the catalog in the panel.
    up, down
        The addresses that unfold or fold what it is made from, and what is made from it; empty without a handle.
    is_up_open, is_down_open
        Whether the handle folds.
    more_up, more_down
        The addresses that unfold further ones beside those that are shown; empty if all are shown.
    """

    select: str
    up: str = ""
    down: str = ""
    is_up_open: bool = False
    is_down_open: bool = False
    more_up: str = ""
    more_down: str = ""


def explorer_svg(
    picture: LineagePicture,
    links: Mapping[str, ExplorerLinks],
    *,
    selected: str = "",
    path: Sequence[str] = (),
    equal: Sequence[Sequence[str]] = (),
) -> str:
    """Draw a lineage from left to right, for a page.

    Parameters
    ----------
    picture
        The lineage.
    links
        The addresses of each catalog, by id.
    selected
        The id of the catalog in the panel.
    path
        The ids of catalogs along a path.
    equal
        Groups of ids of catalogs with the same sources.
    """
    letters = {member: letter for letter, group in zip(_LETTERS, equal, strict=False) for member in group}
    place = {node.id: number for number, node in enumerate(picture.nodes)}
    edges = [(place[start], place[end]) for start, end in dict.fromkeys(picture.edges)]
    lanes = list(dict.fromkeys(node.population for node in picture.nodes))
    # The layout is that of boxes from top to bottom, turned.
    layout = arrange_boxes(
        [(_HEIGHT, _WIDTH + 2 * _HANDLE)] * len(picture.nodes),
        edges,
        gap=_GAP,
        drop=_DROP,
        lanes=[lanes.index(node.population) for node in picture.nodes] if len(lanes) > 1 else (),
    )
    steps = {frozenset(pair) for pair in pairwise(path)}
    wires = [
        _draw_wire([(y, x) for x, y in route], is_path=frozenset(pair) in steps)
        for route, pair in zip(layout.routes, dict.fromkeys(picture.edges), strict=True)
    ]
    boxes = [
        Figure(0, 0, tuple(_draw_box(node, links[node.id], letters.get(node.id, ""), node.id == selected))).place_at(
            y, x
        )
        for node, (x, y) in zip(picture.nodes, layout.corners, strict=True)
    ]
    heads = []
    for name, (top, _) in zip(lanes, layout.lanes, strict=False) if len(lanes) > 1 else ():
        heads.append(draw_text(shorten_label(name, 40), size=12, faint=True).place_at(0, top - 16))
    count = f"{len(picture.nodes):,} catalog{'' if len(picture.nodes) == 1 else 's'}"
    return render_document(
        Figure(
            max(layout.height, _WIDTH),
            layout.width + 18,
            (make_element("g", *wires, *boxes, *heads, transform="translate(0 18)"),),
        ),
        title=picture.title,
        description=f"{count} from left to right, each to the right of what it is made from",
        inline=True,
        interactive=True,
    )


def _draw_wire(points: Sequence[tuple[float, float]], *, is_path: bool) -> Element:
    """Return an edge from left to right, curved between columns."""
    (x, y), *rest = points
    data = f"M{format_number(x - _HANDLE)} {format_number(y)}L{format_number(x)} {format_number(y)}"
    for to_x, to_y in rest:
        middle = format_number((x + to_x) / 2)
        data += (
            f"C{middle} {format_number(y)} {middle} {format_number(to_y)} {format_number(to_x)} {format_number(to_y)}"
        )
        x, y = to_x, to_y
    data += f"L{format_number(x + _HANDLE)} {format_number(y)}"
    colour, width, opacity = (ACCENT, 3.0, 1.0) if is_path else ("currentColor", 1.0, 0.5)
    return make_element("path", d=data, fill="none", stroke=colour, stroke_width=width, stroke_opacity=opacity)


def _draw_box(node: LineageNode, links: ExplorerLinks, letter: str, is_selected: bool) -> list[Element]:
    """Return the box of a catalog between its handles."""
    tint = _TINTS[_LETTERS.index(letter) % len(_TINTS)] if letter else "currentColor"
    box = make_element(
        "rect",
        x=_HANDLE,
        width=_WIDTH,
        height=_HEIGHT,
        rx=6.0,
        fill=tint,
        fill_opacity=0.2 if letter else 0.0,
        stroke=ACCENT if is_selected else "currentColor",
        stroke_width=3.0 if is_selected or node.focus else 1.2,
    )
    parts: list[Element] = [make_element("title", f"{node.name}: {node.what or node.kind}"), box]
    if node.stored_words:
        inner: dict[str, str | float] = {"fill": "none", "stroke": ACCENT, "stroke_width": 1.6}
        share = 0.5 if node.stored is None else min(max(node.stored, 0.1), 1.0)
        size = (_WIDTH - 8) * share
        parts.append(make_element("rect", x=_HANDLE + 4, y=4.0, width=size, height=_HEIGHT - 8, rx=4.0, **inner))
    remark = " · ".join(
        filter(
            None,
            (f"= {letter}" if letter else "", node.word or node.kind, node.stored_words.replace(" of attributes", "")),
        )
    )
    name = draw_text(shorten_label(node.name, _LONGEST), bold=True, size=13)
    parts += [
        draw_text(shorten_label(remark, 30), size=10, faint=True).place_at(_HANDLE + 10, 4),
        name.place_at(_HANDLE + 10, 18),
    ]
    label = f"{node.name}: {node.what or node.kind}" + (f"; same sources as all marked {letter}" if letter else "")
    current = {"aria_current": "true"} if is_selected else {}
    drawn = [make_element("a", *parts, href=links.select, aria_label=label, data_place=node.id, **current)]
    above = _Handles(f"what {node.name} is made from", links.up, links.more_up, node.above, links.is_up_open)
    below = _Handles(f"what is made from {node.name}", links.down, links.more_down, node.below, links.is_down_open)
    return [*drawn, *above.draw(0.0, f"{node.id} up"), *below.draw(_HANDLE + _WIDTH, f"{node.id} down")]


@dataclass(frozen=True, slots=True)
class _Handles:
    """The handles at a side of a box: one folds or unfolds the neighbours there, another unfolds further ones."""

    what: str
    link: str
    more: str
    hidden: int
    is_open: bool

    def draw(self, x: float, place: str) -> list[Element]:
        """Return the handles; `place` is the name of the first for scripts."""
        if not self.link:
            return []
        middle, shift = _HEIGHT / 2, _HEIGHT / 4 if self.more else 0.0
        sign, verb = ("−", "Fold") if self.is_open else (f"+{self.hidden:,}", "Unfold")
        drawn = [_draw_handle(x, middle - shift, link=self.link, words=f"{verb} {self.what}", sign=sign, place=place)]
        if self.more:
            words = f"Unfold {self.hidden:,} more of {self.what}"
            further = {"link": self.more, "words": words, "sign": f"+{self.hidden:,}", "place": f"{place} more"}
            drawn.append(_draw_handle(x, middle + shift, **further))
        return drawn


def _draw_handle(x: float, middle: float, *, link: str, words: str, sign: str, place: str) -> Element:
    """Return a handle with its left side and its middle at a place of a box."""
    size: dict[str, float] = {"width": _HANDLE - 4, "height": 20.0, "rx": 10.0}
    area = make_element("rect", x=x + 2, y=middle - 10, class_="handle", fill=ACCENT, fill_opacity=0.16, **size)
    text = make_element(
        "text", sign, x=x + _HANDLE / 2, y=middle + 4, font_size=11.0 if len(sign) < 6 else 9.0, text_anchor="middle"
    )
    return make_element("a", area, text, href=link, aria_label=words, data_place=place)
