"""Figures: pieces of a picture with a known size, to be put beside and above each other.

A figure uses the current colour, and so is as readable inside a page as the text around the figure. A picture in a
separate file has ink and paper of its own, for light and for dark screens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from unicodedata import category, east_asian_width

from provenn.display.markup import Element, format_number, make_element, make_printable, render

__all__ = [
    "ACCENT",
    "Figure",
    "choose_signs",
    "draw_text",
    "estimate_text_width",
    "frame_figure",
    "render_document",
    "shorten_label",
    "stack_horizontally",
    "stack_vertically",
]

ACCENT = "#3b7dd8"
"""The only colour; its contrast suffices on white and on black."""

_INK, _PAPER = "#1f2328", "#ffffff"
_DARK_INK, _DARK_PAPER = "#e6edf3", "#0d1117"
_MARGIN = 12.0


@dataclass(frozen=True, slots=True)
class Figure:
    """Elements of a picture, within a rectangle whose top left corner is (0, 0)."""

    width: float
    height: float
    parts: tuple[Element, ...] = ()

    def place_at(self, x: float, y: float) -> Element:
        """Return the figure as one element, with its top left corner at a point."""
        return make_element("g", *self.parts, transform=f"translate({format_number(x)} {format_number(y)})")


def stack_horizontally(figures: Sequence[Figure], gap: float = 12.0, align: float = 0.5) -> Figure:
    """Return figures from left to right; with `align` 0 their tops are level, with 1 their bottoms."""
    height = max((figure.height for figure in figures), default=0.0)
    x, parts = 0.0, []
    for figure in figures:
        parts.append(figure.place_at(x, (height - figure.height) * align))
        x += figure.width + gap
    return Figure(max(x - gap, 0.0), height, tuple(parts))


def stack_vertically(figures: Sequence[Figure], gap: float = 12.0, align: float = 0.5) -> Figure:
    """Return figures from top to bottom; with `align` 0 their left sides are level, with 1 their right sides."""
    width = max((figure.width for figure in figures), default=0.0)
    y, parts = 0.0, []
    for figure in figures:
        parts.append(figure.place_at((width - figure.width) * align, y))
        y += figure.height + gap
    return Figure(width, max(y - gap, 0.0), tuple(parts))


def frame_figure(figure: Figure, padding: float = 16.0) -> Figure:
    """Return a figure in a coloured box."""
    width, height = figure.width + 2 * padding, figure.height + 2 * padding
    box = make_element("rect", width=width, height=height, rx=8.0, fill=ACCENT, fill_opacity=0.1, stroke=ACCENT)
    return Figure(width, height, (box, figure.place_at(padding, padding)))


def draw_text(
    text: str,
    *,
    size: float = 13.0,
    bold: bool = False,
    faint: bool = False,
    mono: bool = False,
    centred: bool = False,
) -> Figure:
    """Return a line of text as a figure; its width is an estimate, because no font is available to measure it."""
    width = 0.6 * size * len(text) if mono else estimate_text_width(text, size) * (1.08 if bold else 1.0)
    line = make_element(
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


def estimate_text_width(text: str, size: float) -> float:
    """Return the approximate width of a line of text."""
    return sum(size * _estimate_advance(character) for character in make_printable(text))


def _estimate_advance(character: str) -> float:
    """Return the approximate width of a character, as a multiple of the font size."""
    if category(character) in {"Mn", "Me", "Cf"}:
        return 0.0
    if east_asian_width(character) in {"W", "F"}:
        return 1.2
    if character in "il.,:;|'!()[] ":
        return 0.34
    return 0.82 if character in "mwMW@%—" else 0.62


def shorten_label(label: str, longest: int) -> str:
    """Return a label, shortened to a length.

    >>> shorten_label("a very long name of a catalog", 18)
    'a very long name …'
    """
    return label if len(label) <= longest else label[: longest - 1] + "…"


def choose_signs(labels: Sequence[str]) -> tuple[Sequence[str], Sequence[Figure]]:
    """Return the sign of each set in a drawing, and the key to the signs.

    Short labels are their own signs, without a key; long labels would hide the drawing, so numbers stand for them.
    """
    if all(len(label) <= 2 for label in labels):
        return labels, ()
    lines = [draw_text(f"{i} {shorten_label(label, 30)}", size=12) for i, label in enumerate(labels, start=1)]
    return [str(i) for i, _ in enumerate(labels, start=1)], (stack_vertically(lines, gap=2, align=0),)


def render_document(
    figure: Figure, *, title: str, description: str, inline: bool = False, interactive: bool = False
) -> str:
    """Return a figure as an SVG document, with a title and a description for screen readers.

    An `inline` document takes the colours of the page; other documents bring their own. An `interactive` document has
    links, hidden from screen readers inside an image, and so has the role of a group.
    """
    width, height = figure.width + 2 * _MARGIN, figure.height + 2 * _MARGIN
    content = figure.place_at(_MARGIN, _MARGIN)
    digest = blake2b(f"{title}\0{description}\0{render(content)}".encode("utf-8", "replace"), digest_size=6)
    name = f"p{digest.hexdigest()}"
    paper = make_element("rect", class_="paper", width=width, height=height, rx=6.0, fill=_PAPER)
    svg = make_element(
        "svg",
        make_element("title", title, id="-title"),
        make_element("desc", description, id="-desc"),
        *(() if inline else (make_element("style", _write_style(name)), paper)),
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
        viewBox=f"0 0 {format_number(width)} {format_number(height)}",
        font_family="system-ui, sans-serif",
        fill="currentColor",
        **({} if inline else {"color": _INK}),
    )
    return render(svg, name) + "\n"


def _write_style(name: str) -> str:
    """Return the style sheet of a document, for light and for dark screens."""
    return (
        f".{name} {{ color: {_INK} }} .{name} .paper {{ fill: {_PAPER} }} "
        f"@media (prefers-color-scheme: dark) "
        f"{{ .{name} {{ color: {_DARK_INK} }} .{name} .paper {{ fill: {_DARK_PAPER} }} }}"
    )
