"""Compute functions of a known ASCII text, on which Java and Python agree.

Beyond ASCII, upper and lower case depend on the version of Unicode, and damaged texts have another length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from provenn.criteria.nodes import Call, Constant, Node
from provenn.criteria.reductions.texts import split_pattern

__all__ = ["compute_text_function", "find_text_argument"]

_Value = str | int | bool

_OF_TEXTS: dict[str, Callable[..., _Value]] = {
    "upper": str.upper,
    "lower": str.lower,
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
    "reverse": lambda text: text[::-1],
    "length": len,
    "octet_length": len,
    "startswith": str.startswith,
    "endswith": str.endswith,
    "contains": lambda text, part: part in text,
    "instr": lambda text, part: text.find(part) + 1,
    "locate": lambda part, text: text.find(part) + 1,
    "left": lambda text, count: text[: max(0, count)],
    "right": lambda text, count: text[len(text) - min(count, len(text)) :] if count > 0 else "",
    "concat": lambda *texts: "".join(texts),
    "like": lambda text, pattern, escape="\\": _matches(text, pattern, escape),
    "ilike": lambda text, pattern, escape="\\": _matches(text.lower(), pattern.lower(), escape),
}


def find_text_argument(node: Node) -> Node | None:
    """Return the only text of a source that a function depends on, or None for other nodes.

    All calls around the text are functions that `compute_text_function` computes.
    """
    if not isinstance(node, Call) or node.operator not in _OF_TEXTS:
        return None
    arguments = {argument for argument in node.arguments if not isinstance(argument, Constant)}
    if len(arguments) != 1:
        return None
    (argument,) = arguments
    inner = find_text_argument(argument)
    return argument if inner is None else inner


def compute_text_function(node: Node, argument: Node, text: str) -> _Value | None:
    """Return the value of a function of a text, or None unless the text and all constants are ASCII."""
    if node == argument:
        return text if text.isascii() else None
    if isinstance(node, Constant):
        return node.key if not isinstance(node.key, str) or node.key.isascii() else None
    if not isinstance(node, Call) or node.operator not in _OF_TEXTS:
        return None
    values = [compute_text_function(part, argument, text) for part in node.arguments]
    return None if any(value is None for value in values) else _OF_TEXTS[node.operator](*values)


def _matches(text: str, pattern: str, escape: str) -> bool:
    """Tell whether a text matches a pattern of LIKE."""
    wildcards = {"%": ".*", "_": "."}
    parts = (wildcards.get(part) or re.escape(part[1:]) for part in split_pattern(pattern, escape))
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None
