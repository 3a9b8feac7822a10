"""Spark's plans and expressions as trees: their JSON, and the Java objects behind it where JSON says too little.

Spark writes a tree as the list of its nodes in preorder. JSON leaves out what it has no form for: how a failing
evaluation ends, the escape character of LIKE, moments outside of the time zone of Java, the files of a relation. A node
therefore also finds its Java object, only when somebody asks for it: each question is a call to Java.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NoReturn

from provenn.errors import QueryError

__all__ = ["JsonNode", "read_json_plan", "read_stated_plan", "read_type"]

_RENAMED = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
"""The types whose names in JSON are not those in SQL."""
_SIMPLE = re.compile(r"[a-z_]+( [a-z]+)*|(decimal|varchar|char|time)\(\d+(,\s*-?\d+)?\)", re.ASCII)


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A node of a plan or an expression.

    Parameters
    ----------
    kind
        The name of its class, without the package.
    fields
        The arguments of its class. A number may stand for the child at this position.
    children
        The nodes below it.
    java
        Returns its Java object.
    is_stated
        Whether there is nothing but JSON, so that `java` raises `QueryError`.
    """

    kind: str
    fields: Mapping[str, Any]
    children: tuple[JsonNode, ...]
    java: Callable[[], Any]
    is_stated: bool = False

    @property
    def id(self) -> int:
        """The number that Spark gives to the column of a named expression."""
        return int(self.fields["exprId"]["id"])

    @property
    def name(self) -> str:
        """The name of a named expression."""
        return str(self.fields["name"])

    def get_tree(self, field: str, *, is_optional: bool = False) -> JsonNode:
        """Return the expression or plan that a field holds; `is_optional` if it is an Option in Scala."""
        if self.is_stated:
            return read_stated_plan(self.fields[field])
        if is_optional:
            return _build_tree(self.fields[field], lambda: self._get_field(field).get())
        return _build_tree(self.fields[field], partial(self._get_field, field))

    def _get_field(self, field: str) -> Any:  # noqa: ANN401 - a Java object
        return getattr(self.java(), field)()

    def list_trees(self, field: str) -> list[JsonNode]:
        """Return the expressions of a field that holds a sequence of expressions."""
        if self.is_stated:
            return list(map(read_stated_plan, self.fields[field]))
        return [
            _build_tree(items, lambda position=position: self._get_field(field).apply(position))  # type: ignore[misc]
            for position, items in enumerate(self.fields[field])
        ]

    def get_object(self, field: str) -> str:
        """Return the name of the Scala object in a field: ``Inner`` for an inner join."""
        value = self.fields[field]
        if isinstance(value, Mapping):
            text = str(value.get("object", value.get("product-class", "")))
            return text.rpartition(".")[2].removesuffix("$")
        return str(value)

    def walk(self) -> Iterator[JsonNode]:
        """Return this node and all nodes below it, in preorder."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))


def read_json_plan(java_plan: Any) -> JsonNode:  # noqa: ANN401 - a Java object
    """Return an analyzed plan."""
    return _build_tree(json.loads(java_plan.toJSON()), lambda: java_plan)


def read_stated_plan(items: Sequence[Mapping[str, Any]]) -> JsonNode:
    """Return a plan or an expression of which there is nothing but JSON, such as one in an event."""
    return _state_nodes(_build_tree(items, lambda: None))


def _state_nodes(root: JsonNode) -> JsonNode:
    """Return a tree whose nodes refuse to find their Java objects, by name."""
    stated: list[JsonNode] = []
    for node in reversed(list(root.walk())):
        children = tuple(stated.pop() for _ in node.children)
        stated.append(replace(node, children=children, java=partial(_refuse_java, node.kind), is_stated=True))
    return stated.pop()


def _refuse_java(kind: str) -> NoReturn:
    raise QueryError(f"the event does not state how Spark evaluates {kind}, such as its ANSI mode or its time zone")


def _build_tree(items: Sequence[Mapping[str, Any]], get_java: Callable[[], Any]) -> JsonNode:
    """Return the tree of nodes in preorder; it is built from the bottom, because chains of AND are long."""
    finders: list[Callable[[], Any]] = []
    waiting: list[tuple[int, int]] = []  # the nodes above that lack children: position, and how many children came
    for position, item in enumerate(items):
        if not waiting:
            finders.append(cache(get_java))
        else:
            parent, number = waiting.pop()
            finders.append(_make_child_finder(finders[parent], number))
            if number + 1 < items[parent]["num-children"]:
                waiting.append((parent, number + 1))
        if item["num-children"]:
            waiting.append((position, 0))
    built: list[JsonNode] = []
    for item, finder in zip(reversed(items), reversed(finders), strict=True):
        children = tuple(built.pop() for _ in range(item["num-children"]))
        fields = {name: value for name, value in item.items() if name not in ("class", "num-children")}
        kind = item["class"].rpartition(".")[2].removesuffix("$")
        built.append(JsonNode(kind, fields, children, finder))
    (root,) = built
    return root


def _make_child_finder(find_parent: Callable[[], Any], number: int) -> Callable[[], Any]:
    return cache(lambda: find_parent().children().apply(number))


def read_type(value: Any) -> str:  # noqa: ANN401 - a text or a struct
    """Return a type in Spark's SQL from its JSON.

    Raises
    ------
    QueryError
        If texts are compared by a collation: provenn compares them by their bytes.

    Examples
    --------
    >>> read_type("long"), read_type("decimal(15,2)"), read_type({"type": "array", "elementType": "integer",
    ...     "containsNull": True})
    ('bigint', 'decimal(15,2)', 'array<int>')
    """
    if "collat" in json.dumps(value).lower():
        raise QueryError(
            f"texts that are compared by a collation are not supported: {value}",
            hint="compare upper() or lower() of the texts",
        )
    match value:
        case str() if _SIMPLE.fullmatch(value):
            return _RENAMED.get(value, value.replace(" ", "") if "(" in value else value)
        case {"type": "array", "elementType": element}:
            return f"array<{read_type(element)}>"
        case {"type": "map", "keyType": key, "valueType": element}:
            return f"map<{read_type(key)},{read_type(element)}>"
        case {"type": "struct", "fields": [*fields]}:
            members = (f"{field['name']}:{read_type(field['type'])}" for field in fields)
            return f"struct<{','.join(members)}>"
    raise QueryError(f"the type {value} is not supported")
