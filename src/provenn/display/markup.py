"""A tiny builder of SVG and HTML elements.

Only this module escapes text, so a label may hold any characters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

__all__ = ["Element", "ElementReference", "format_number", "make_element", "make_printable", "render"]

# Characters that XML forbids, that move a terminal's cursor, or that turn the direction of the text around them:
# the control characters become their pictures, the others the sign for "no such character".
_PICTURES = (
    {code: 0x2400 + code for code in range(32)}
    | {0x7F: 0x2421}
    | dict.fromkeys(
        [
            *range(0x80, 0xA0),
            *range(0x202A, 0x202F),
            *range(0x2066, 0x206A),
            *range(0xD800, 0xE000),
            0x2028,
            0x2029,
            0xFFFE,
            0xFFFF,
        ],
        0xFFFD,
    )
)


@dataclass(frozen=True, slots=True)
class ElementReference:
    """The value of an attribute with a reference to the id of an element in the same picture."""

    id: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element: tag, attributes, and child elements and texts."""

    tag: str
    attributes: tuple[tuple[str, str | float | ElementReference], ...]
    children: tuple["Element | str", ...]


def make_element(tag: str, *children: Element | str, **attributes: str | float | ElementReference) -> Element:
    """Return an element.

    Underscores in the names of attributes stand for hyphens; an underscore at the end is dropped (``class_``).

    >>> render(make_element("text", "A < B", class_="label", font_size=12.0))
    '<text class="label" font-size="12">A &lt; B</text>'
    """
    pairs = tuple((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    return Element(tag, pairs, children)


def render(root: Element, prefix: str = "") -> str:
    """Return the text of an element, with `prefix` before every id and every reference to an id."""
    return "\n".join(_render_lines(root, prefix))


def make_printable(text: str) -> str:
    r"""Return `text` on one line, with control characters as pictures and other unsafe characters replaced.

    >>> make_printable("two\nlines")
    'two␊lines'
    """
    return text.translate(_PICTURES)


def _render_lines(node: Element, prefix: str) -> Iterator[str]:
    """Yield the lines of an element and its children."""
    start = node.tag + "".join(f' {name}="{_render_value(name, value, prefix)}"' for name, value in node.attributes)
    if not node.children:
        yield f"<{start}/>"
    elif all(isinstance(child, str) for child in node.children):
        yield f"<{start}>{''.join(escape(make_printable(str(child))) for child in node.children)}</{node.tag}>"
    else:
        yield f"<{start}>"
        for child in node.children:
            if isinstance(child, str):
                yield escape(make_printable(child))
            else:
                yield from _render_lines(child, prefix)
        yield f"</{node.tag}>"


def _render_value(name: str, value: str | float | ElementReference, prefix: str) -> str:
    """Return the value of an attribute, escaped."""
    if isinstance(value, ElementReference):
        return f"url(#{prefix}{value.id})"
    if isinstance(value, str):
        return escape(make_printable(prefix + value if name == "id" else value))
    return format_number(value)


def format_number(value: float) -> str:
    """Return a number with at most two digits after the point.

    >>> format_number(12.0), format_number(-0.001), format_number(1 / 3)
    ('12', '0', '0.33')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
