"""Figures: pieces of a picture that know their size, and so can be put beside and above each other.

Everything is drawn in the current colour, so that a figure inside a page is as readable as the text around it. A
picture on its own (a file) brings its own ink and paper, for light and for dark screens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from unicodedata import category, east_asian_width

from provenn.display.markup import Element, element, number, render, visible

__all__ = [
    "ACCENT",
    "Figure",
    "above",
    "beside",
    "document",
    "framed",
    "shortened",
    "signs_and_key",
    "text_width",
    "words",
]

ACCENT = "#3b7dd8"
"""The one colour, with enough contrast on white and on black."""

_INK, _PAPER = "#1f2328", "#ffffff"
_DARK_INK, _DARK_PAPER = "#e6edf3", "#0d1117"
_MARGIN = 12.0


@dataclass(frozen=True, slots=True)
class Figure:
    """Drawn elements, within a rectangle whose top left corner is (0, 0)."""

    width: float
    height: float
    parts: tuple[Element, ...] = ()

    def at(self, x: float, y: float) -> Element:
        """Return the figure as one element, moved."""
        return element("g", *self.parts, transform=f"translate({number(x)} {number(y)})")


def beside(figures: Sequence[Figure], gap: float = 12.0, align: float = 0.5) -> Figure:
    """Return figures from left to right; `align` 0 has their tops level, 1 their bottoms."""
    height = max((figure.height for figure in figures), default=0.0)
    x, parts = 0.0, []
    for figure in figures:
        parts.append(figure.at(x, (height - figure.height) * align))
        x += figure.width + gap
    return Figure(max(x - gap, 0.0), height, tuple(parts))


def above(figures: Sequence[Figure], gap: float = 12.0, align: float = 0.5) -> Figure:
    """Return figures from top to bottom; `align` 0 has their left sides level, 1 their right sides."""
    width = max((figure.width for figure in figures), default=0.0)
    y, parts = 0.0, []
    for figure in figures:
        parts.append(figure.at((width - figure.width) * align, y))
        y += figure.height + gap
    return Figure(width, max(y - gap, 0.0), tuple(parts))


def framed(figure: Figure, padding: float = 16.0) -> Figure:
    """Return a figure in a coloured box."""
    width, height = figure.width + 2 * padding, figure.height + 2 * padding
    box = element("rect", width=width, height=height, rx=8.0, fill=ACCENT, fill_opacity=0.1, stroke=ACCENT)
    return Figure(width, height, (box, figure.at(padding, padding)))


def words(
    text: str,
    *,
    size: float = 13.0,
    bold: bool = False,
    faint: bool = False,
    mono: bool = False,
    centred: bool = False,
) -> Figure:
    """Return a line of text. Its width is an estimate: no font is at hand to measure it."""
    width = 0.6 * size * len(text) if mono else text_width(text, size) * (1.08 if bold else 1.0)
    line = element(
        "text",
        text,
        x=width / 2 if centred else 0.0,
        y=size,
        font_size=size,
        **({"text_anchor": "middle"} if centred else {}),
        **({"font_weight": "600"} if bold else {}),
        **({"fill_opacity": 0.7} if faint else {}),
        **({"font_family": "ui-monospace, monospace"} if mono else {}),
    )
    return Figure(width, size * 1.35, (line,))


def text_width(text: str, size: float) -> float:
    """Return about how wide a line of text will be."""
    return sum(size * _advance(character) for character in visible(text))


def _advance(character: str) -> float:
    if category(character) in {"Mn", "Me", "Cf"}:
        return 0.0
    if east_asian_width(character) in {"W", "F"}:
        return 1.2
    if character in "il.,:;|'!()[] ":
        return 0.34
    return 0.82 if character in "mwMW@%—" else 0.62


def shortened(label: str, longest: int) -> str:
    """Return a label that fits in a picture.

    >>> shortened("a very long name of a catalog", 18)
    'a very long name …'
    """
    return label if len(label) <= longest else label[: longest - 1] + "…"


def signs_and_key(labels: Sequence[str]) -> tuple[Sequence[str], Sequence[Figure]]:
    """Return what to write in a drawing for each set, and the key to it: long names would hide the drawing."""
    if all(len(label) <= 2 for label in labels):
        return labels, ()
    lines = [words(f"{i} {shortened(label, 30)}", size=12) for i, label in enumerate(labels, start=1)]
    return [str(i) for i, _ in enumerate(labels, start=1)], (above(lines, gap=2, align=0),)


def document(figure: Figure, *, title: str, description: str, inline: bool = False, interactive: bool = False) -> str:
    """Return the SVG of a figure, titled and described for those who cannot see it.

    With `inline` it takes the colours of the page it is put in; otherwise it brings its own. One that is `interactive`
    has links in it, which an image would hide from those who cannot see it.
    """
    width, height = figure.width + 2 * _MARGIN, figure.height + 2 * _MARGIN
    content = figure.at(_MARGIN, _MARGIN)
    digest = blake2b(f"{title}\0{description}\0{render(content)}".encode("utf-8", "replace"), digest_size=6)
    name = f"p{digest.hexdigest()}"
    paper = element("rect", class_="paper", width=width, height=height, rx=6.0, fill=_PAPER)
    svg = element(
        "svg",
        element("title", title, id="-title"),
        element("desc", description, id="-desc"),
        *(() if inline else (element("style", _style(name)), paper)),
        content,
        xmlns="http://www.w3.org/2000/svg",
        class_=name,
        **(
            {"role": "group", "aria_labelledby": f"{name}-title", "aria_describedby": f"{name}-desc"}
            if interactive
            else {"role": "img", "aria_labelledby": f"{name}-title {name}-desc"}
        ),
        width=width,
        height=height,
        viewBox=f"0 0 {number(width)} {number(height)}",
        font_family="system-ui, sans-serif",
        fill="currentColor",
        **({} if inline else {"color": _INK}),
    )
    return render(svg, name) + "\n"


def _style(name: str) -> str:
    return (
        f".{name} {{ color: {_INK} }} .{name} .paper {{ fill: {_PAPER} }} "
        f"@media (prefers-color-scheme: dark) "
        f"{{ .{name} {{ color: {_DARK_INK} }} .{name} .paper {{ fill: {_DARK_PAPER} }} }}"
    )
