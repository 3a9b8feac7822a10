"""Read the labels of most atoms without a parser of SQL, whose import takes longer than a small answer.

A label is read only if writing the condition again gives the same label, so that a label is never misread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from provenn.criteria.domains import Key, encode_double, successor
from provenn.criteria.nodes import ColumnNode, Leaf
from provenn.criteria.ranges import Ranges
from provenn.criteria.schema import AttributeIdentity, AttributeLike
from provenn.criteria.types import DOUBLE, INTEGRAL, STRING, Type
from provenn.criteria.writing import CANONICAL, write

__all__ = ["read_cut"]

_LABEL = re.compile(r"`((?:[^`]|``)+)` (?:(<=?) (\S.*)|IS NOT NULL)", re.DOTALL)
_WHOLE = re.compile(r"(-?\d{1,19})[LSY]?", re.ASCII)
_DOUBLE = re.compile(r"(-?\d+\.\d+(?:e[+-]\d+)?|-?\d+e[+-]\d+)D", re.ASCII)
_STRING = re.compile(r"'([^'\\\x00-\x1f\x7f]*)'")


def read_cut(label: str, schema: Mapping[AttributeIdentity, AttributeLike]) -> Leaf | None:
    """Return the condition with the label of an atom, if it is a simple comparison or a test for NULL; or None.

    Parameters
    ----------
    label
        The label, in canonical text.
    schema
        The attributes by identity.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> cut = read_cut("`hip.vmag` < 6.0D", {"hip.vmag": Attribute("hip.vmag", parse_type("double"))})
    >>> cut.where.cuts == (encode_double(6.0),)
    True
    """
    match = _LABEL.fullmatch(label)
    if match is None:
        return None
    identity = AttributeIdentity(match[1].replace("``", "`"))
    attribute = schema.get(identity)
    if attribute is None or attribute.identity != identity:
        return None
    column = ColumnNode(identity, attribute.type, attribute.nullable, identity, None)
    if match[2] is None:
        leaf = Leaf(column, Ranges(True), at_null=False)
    else:
        key = _read_key(match[3], attribute.type)
        if key is None:
            return None
        leaf = Leaf(column, Ranges(True, (key if match[2] == "<" else successor(key),)), None)
    return leaf if write(leaf, CANONICAL) == label else None


def _read_key(text: str, kind: Type) -> Key | None:
    """Return the key of a literal of a type, or None for other literals."""
    if kind in INTEGRAL and (match := _WHOLE.fullmatch(text)):
        return int(match[1])
    if kind == DOUBLE and (match := _DOUBLE.fullmatch(text)):
        return encode_double(float(match[1]))
    if kind == STRING and (match := _STRING.fullmatch(text)):
        return match[1]
    return None
