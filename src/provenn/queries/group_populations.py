"""Names for populations of groups, independent of the names of columns in a query.

A group is known by the common values of the members, and the population is named after these values: by the names of
the columns in their tables, so two queries with different names for a column have comparable groups.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from provenn.catalogs import Base, Catalog, cone
from provenn.catalogs.population import Population
from provenn.criteria import Type
from provenn.queries.relation import write_expression
from provenn.queries.translating import Translating

__all__ = ["UNITED", "KeyPart", "choose_population", "describe_value"]

_VIA = "via:"
UNITED = "_united"
"""The end of the names of attributes that unions with a tag give to their columns."""


@dataclass(frozen=True, slots=True)
class KeyPart:
    """A part of the key of groups.

    Parameters
    ----------
    name
        The name of the attribute.
    label
        The name in the population.
    value
        An expression over attributes of the members.
    """

    name: str
    label: str
    value: exp.Expr


def describe_value(catalog: Catalog, value: exp.Expr) -> str:
    """Return an expression over attributes of a catalog with the names of columns in their tables."""

    def name_column(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in catalog.schema:
            return exp.column(_find_first_name(catalog, node.name))
        return node

    changed = value.copy().transform(name_column)
    while isinstance(changed, exp.Paren):
        changed = changed.this
    return changed.name if isinstance(changed, exp.Column) else write_expression(changed).replace("`", "")


def _find_first_name(catalog: Catalog, name: str) -> str:
    """Return the name of an attribute in the table of origin; without a table, its own name in lower case."""
    attribute = catalog.schema[name]
    identity = str(attribute.identity)
    if identity.startswith(_VIA):
        identity = str(json.loads(identity.removeprefix(_VIA))[-1])
    bases = [base for base in cone(catalog) if isinstance(base, Base)]
    names = [column.name for base in bases for column in base.schema.attributes if column.identity == identity]
    return min(names, default=attribute.name.lower().removesuffix(UNITED))


def choose_population(parts: Sequence[KeyPart], types: Sequence[Type], context: Translating) -> Population:
    """Return the population of groups: named by the key, with types if the archive has another of this name."""
    labels: list[str] = []
    for part in parts:
        labels.append(part.label if part.label not in labels else f"{part.label} {len(labels) + 1}")
    name = ", ".join(labels)
    known = context.find_population(name)
    if known is not None and list(known) != [str(kind) for kind in types]:
        name = ", ".join(f"{part} {kind}" for part, kind in zip(labels, types, strict=True))
    return Population(name, tuple(types))
