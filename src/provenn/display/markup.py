"""A tiny builder of SVG and HTML elements.

Text is escaped here and nowhere else, so a label may hold any characters.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

__all__ = ["Element", "Reference", "element", "number", "render", "visible"]

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
class Reference:
    """The value of an attribute that points to the element with this id, in the same picture."""

    id: str


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its tag, its attributes, and the elements and texts in it."""

    tag: str
    attributes: tuple[tuple[str, str | float | Reference], ...]
    children: tuple["Element | str", ...]


def element(tag: str, *children: Element | str, **attributes: str | float | Reference) -> Element:
    """Return an element.

    Underscores in the names of attributes stand for hyphens; one at the end is dropped (``class_``).

    >>> render(element("text", "A < B", class_="label", font_size=12.0))
    '<text class="label" font-size="12">A &lt; B</text>'
    """
    named = tuple((name.rstrip("_").replace("_", "-"), value) for name, value in attributes.items())
    return Element(tag, named, children)


def render(root: Element, prefix: str = "") -> str:
    """Return the text of an element; `prefix` is put before every id, and every reference to one."""
    return "\n".join(_lines(root, prefix))


def visible(text: str) -> str:
    r"""Return `text` on one line, without characters that cannot be shown or that could do harm.

    >>> visible("two\nlines")
    'two␊lines'
    """
    return text.translate(_PICTURES)


def _lines(one: Element, prefix: str) -> Iterator[str]:
    start = one.tag + "".join(f' {name}="{_value(name, value, prefix)}"' for name, value in one.attributes)
    if not one.children:
        yield f"<{start}/>"
    elif all(isinstance(child, str) for child in one.children):
        yield f"<{start}>{''.join(escape(visible(str(child))) for child in one.children)}</{one.tag}>"
    else:
        yield f"<{start}>"
        for child in one.children:
            if isinstance(child, str):
                yield escape(visible(child))
            else:
                yield from _lines(child, prefix)
        yield f"</{one.tag}>"


def _value(name: str, value: str | float | Reference, prefix: str) -> str:
    if isinstance(value, Reference):
        return f"url(#{prefix}{value.id})"
    if isinstance(value, str):
        return escape(visible(prefix + value if name == "id" else value))
    return number(value)


def number(value: float) -> str:
    """Return a number as short as a picture needs it.

    >>> number(12.0), number(-0.001), number(1 / 3)
    ('12', '0', '0.33')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
