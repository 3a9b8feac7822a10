"""Resolve the names in a syntax tree: attributes, and fields of attributes that are structs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sqlglot import exp

from provenn.criteria.functions import explain_refusal
from provenn.criteria.nested_types import read_nested_type
from provenn.criteria.nodes import ColumnNode, Node
from provenn.criteria.parts import find_field
from provenn.criteria.references import join_dotted
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeLike, matching_names
from provenn.criteria.slips import suggest_straight_quotes
from provenn.criteria.syntax import is_quantity
from provenn.errors import did_you_mean
from provenn.hints import Hint

__all__ = ["read_column", "write_column_name"]


def write_column_name(tree: exp.Column) -> str:
    """Return the name of an attribute, with dots between its parts, as in ``DR1.z``."""
    return _join_parts([part.name for part in tree.parts])


def _join_parts(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else join_dotted(parts)


def read_column(tree: exp.Column, schema: Mapping[str, AttributeLike], *, canonical: bool) -> Node:
    """Return the attribute with a name, or the field ``s.a`` of an attribute; refuse other names with a hint.

    An attribute with dots in the name comes before a field.
    """
    parts = [part.name for part in tree.parts]
    for number in range(len(parts), 0, -1):
        if number == 1 or matching_names(_join_parts(parts[:number]), schema):
            node: Node | None = _find_attribute(_join_parts(parts[:number]), schema, canonical=canonical)
            for part in parts[number:]:
                nested = None if node is None else read_nested_type(node.type)
                node = find_field(node, part) if node is not None and nested is not None else None
            if node is not None:
                return node
            break
    raise _explain_missing(tree, schema)


def _find_attribute(name: str, schema: Mapping[str, AttributeLike], *, canonical: bool) -> ColumnNode | None:
    """Return the attribute with a name, or None; refuse an ambiguous name."""
    matches = matching_names(name, schema)
    if len(matches) > 1:
        raise Refusal(
            f"{name} is ambiguous: {' or '.join(matches)}", "write the exact name, including upper and lower case"
        )
    if not matches:
        return None
    attribute = schema[matches[0]]
    unit = None if canonical else attribute.unit
    return ColumnNode(attribute.identity, attribute.type, attribute.nullable, name, unit)


def _explain_missing(tree: exp.Column, schema: Mapping[str, AttributeLike]) -> Refusal:
    """Return the refusal of a name without an attribute."""
    name = write_column_name(tree)
    hint = (
        _suggest_unit(tree)
        or suggest_straight_quotes(tree.name)
        or _suggest_qualifier(tree, schema)
        or did_you_mean(name, schema)
        or f"there are {', '.join(schema) or 'none'}"
    )
    return Refusal(*(explain_refusal(name) or (f"there is no attribute {name!r}", hint)))


def _suggest_qualifier(tree: exp.Column, schema: Mapping[str, AttributeLike]) -> str:
    """Return a hint for a qualified attribute where only the attributes of a single catalog are known."""
    if not tree.args.get("table"):
        return ""
    if matching_names(tree.name, schema):
        return f"write {tree.name} without a catalog: only attributes of this catalog can be used"
    return Hint(
        "for attributes of another catalog, use combine() or a target",
        command="for attributes of another catalog, use `provenn combine` or `provenn target`",
    )


def _suggest_unit(tree: exp.Column) -> str:
    """Return a hint for an unknown name, possibly meant as a unit."""
    glued = re.fullmatch(r"(\d[\d.]*)([A-Za-z]+)", tree.name)
    if glued:
        return f"if {glued[2]} is a unit, leave a space before it: {glued[1]} {glued[2]}"
    parent = tree.parent
    if isinstance(parent, exp.Mul | exp.Div) and is_quantity(parent.this):
        sign = "*" if isinstance(parent, exp.Mul) else "/"
        return f"put a unit of more than one word in backquotes: `{parent.this.alias}{sign}{tree.name}`"
    return ""
