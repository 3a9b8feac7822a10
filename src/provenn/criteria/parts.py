"""Build the parts of arrays, maps and structs: elements, fields, sizes, and whether an array contains a value.

A part that is not there is NULL, never a failure: an index beyond the end, a key without a value, a field of NULL.
"""

from __future__ import annotations

from provenn.criteria.folding import evaluate
from provenn.criteria.nested_types import NestedType, read_nested_type
from provenn.criteria.nodes import Call, Constant, Node, Nulls
from provenn.criteria.operations import coerce
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, INT, INTEGRAL, STRING, VOID, Type, find_common_type
from provenn.criteria.units import has_quantity
from provenn.errors import did_you_mean

__all__ = ["build_array_contains", "build_element_at", "build_get", "build_part", "build_size", "find_field"]


def build_part(whole: Node, key: Node) -> Node:
    """Return ``whole[key]``: the element at an index from 0, the value of a key, or the field with a name."""
    nested = _read_type(whole, "[ ]")
    if nested.form == "array":
        return build_get(whole, key)
    if nested.form == "map":
        return _build_value(whole, key, nested)
    if not (isinstance(key, Constant) and isinstance(key.key, str)):
        raise Refusal("a field is named by a quoted text", f"one of {', '.join(nested.names)}")
    return find_field(whole, key.key)


def find_field(whole: Node, name: str) -> Node:
    """Return the field of a struct with a name, in upper or lower case."""
    nested = _read_type(whole, f".{name}")
    if nested.form != "struct":
        hint = "write [0] for the first element" if nested.form == "array" else "write ['key'] for the value of a key"
        raise Refusal(f"the type {whole.type} has no fields", hint)
    matches = [field for field in nested.names if field.lower() == name.lower()]
    if len(matches) > 1:
        raise Refusal(f"the field {name} is ambiguous: {' or '.join(matches)}", "Spark does not tell them apart")
    if not matches:
        hint = did_you_mean(name, nested.names) or f"there are {', '.join(nested.names)}"
        raise Refusal(f"there is no field {name!r}", hint)
    kind = nested.parts[nested.names.index(matches[0])]
    return Call("field", (whole, Constant(STRING, matches[0])), kind, Nulls.ANY_OR_FAILED)


def build_get(whole: Node, index: Node) -> Node:
    """Return the element of an array at an index from 0; NULL outside the array."""
    nested = _read_type(whole, "get()")
    if nested.form != "array":
        raise Refusal(f"get() takes an array, not a {whole.type}", "use element_at for maps")
    if index.type not in (*INTEGRAL[:3], VOID):
        raise Refusal(f"an index is an int, not a {index.type}", "convert it with CAST")
    return Call("get", (whole, coerce(index, INT)), nested.parts[0], Nulls.ANY_OR_FAILED)


def build_element_at(whole: Node, key: Node) -> Node:
    """Return the element of an array at a constant position from 1, or from -1 backwards; or the value of a key."""
    nested = _read_type(whole, "element_at()")
    if nested.form == "map":
        return _build_value(whole, key, nested)
    constant = evaluate(key)
    if nested.form != "array" or constant is None or constant.type != INT or not isinstance(constant.key, int):
        raise Refusal("element_at() takes an array and a whole number, or a map and a key", "for an index, use get")
    if constant.key == 0:
        raise Refusal("positions of element_at() begin with 1", "get() and [ ] begin with 0")
    if constant.key > 0:
        return build_get(whole, Constant(INT, constant.key - 1))
    position = Constant(INT, constant.key)
    return Call("try_element_at", (whole, position), nested.parts[0], Nulls.ANY_OR_FAILED)


def _build_value(whole: Node, key: Node, nested: NestedType) -> Node:
    """Return the value of a key in a map; NULL for an absent key."""
    kind, value = nested.parts
    if not kind.scalar or kind in (FLOAT, DOUBLE):
        raise Refusal(f"keys of the type {kind} are not supported", "keys are texts, whole numbers, dates or times")
    return Call("try_element_at", (whole, _fit_value(key, kind)), value, Nulls.ANY_OR_FAILED)


def build_size(whole: Node) -> Node:
    """Return the number of elements of an array or of keys of a map; NULL for NULL, unlike Spark's -1."""
    nested = _read_type(whole, "size()")
    if nested.form == "struct":
        raise Refusal("size() takes an array or a map, not a struct")
    return Call("size", (whole,), INT, Nulls.ANY)


def build_array_contains(whole: Node, value: Node) -> Node:
    """Return whether an array contains a value; NULL if it does not but has a NULL."""
    nested = _read_type(whole, "array_contains()")
    if nested.form != "array" or not nested.parts[0].scalar:
        raise Refusal(f"array_contains() takes an array of single values, not a {whole.type}")
    return Call("array_contains", (whole, _fit_value(value, nested.parts[0])), BOOLEAN, Nulls.ANY_OR_FAILED)


def _fit_value(value: Node, kind: Type) -> Node:
    """Return a value in the type of elements or keys if Spark compares it in this type; refuse other values."""
    if has_quantity(value):
        raise Refusal("a unit is not converted here", "write the number in the unit of the attribute, without a unit")
    is_text = isinstance(value, Constant) and value.type == STRING and not kind.numeric
    is_whole = isinstance(value, Constant) and value.type in INTEGRAL and kind not in (FLOAT, DOUBLE)
    if not (is_text or is_whole) and find_common_type(value.type, kind) != kind:
        raise Refusal(f"a {kind} is needed here, not a {value.type}", "convert it with CAST")
    return coerce(value, kind)


def _read_type(whole: Node, what: str) -> NestedType:
    """Return the nested type of a node, or refuse other nodes."""
    nested = read_nested_type(whole.type)
    if nested is None:
        raise Refusal(f"{what} takes an array, a map or a struct, not a {whole.type}")
    return nested
