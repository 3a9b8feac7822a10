"""Aggregates of all rows, without GROUP BY: a single row, also of no rows.

The row is the source of a catalog of its own, with a constant as its key. It looks up the group of all rows, by the
same constant. Sound: an aggregate without GROUP BY has exactly one row, and so has the catalog. Without any rows there
is no group, and the row has what an aggregate of no rows gives: 0 for a count, else NULL. The values are those of the
group, so queries with the same members have the same values.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from provenn.catalogs import Base, Catalog, cone, verbs
from provenn.catalogs.population import Population
from provenn.criteria.types import BIGINT
from provenn.queries.grouping import GroupingColumn, group_members
from provenn.queries.relation import InexpressibleError, RowSource, name_attribute
from provenn.queries.scalar_subqueries import look_up_groups
from provenn.queries.translating import Translating
from provenn.queries.tree import AggregateNode

__all__ = ["aggregate_all"]

_KEY: Final = "everything"
_ONE_ROW: Final = "SELECT count(*) * 0 AS everything FROM input_1"
_REASON: Final = "it makes the only row of an aggregate of all rows"


def aggregate_all(node: AggregateNode, context: Translating) -> RowSource:
    """Return the single row of an aggregate without keys.

    Raises
    ------
    InexpressibleError
        If an aggregate cannot be expressed.
    """
    members = context.translate(node.input)
    rows = RowSource(_make_single_row(members.catalog, context), {})
    constant = exp.cast(exp.Literal.number(0), str(BIGINT), dialect="spark")
    members, (attribute,) = members.expose([constant], _KEY)
    grouping = GroupingColumn(_KEY, _KEY, name_attribute(attribute.name), may_be_null=False, label=_KEY)
    groups = group_members(members, [grouping], node, context)
    if not groups.calls:
        return RowSource(rows.catalog, groups.values)
    looked_up, values = look_up_groups(rows, [name_attribute(_KEY)], groups)
    return RowSource(looked_up.catalog, values)


def _make_single_row(catalog: Catalog, context: Translating) -> Catalog:
    """Return a catalog with a single source.

    It reads the base catalog with the smallest digest, so that queries of the same tables share it.
    """
    bases = sorted((base for base in cone(catalog) if isinstance(base, Base)), key=lambda base: base.digest)
    if not bases:
        raise InexpressibleError("it reads no catalog")
    known = context.find_population(_KEY)
    name = _KEY if known is None or list(known) == [str(BIGINT)] else f"{_KEY} {BIGINT}"
    columns = [(_KEY, BIGINT, False)]
    population = Population(name, (BIGINT,))
    return verbs.query_opaque(bases[:1], _ONE_ROW, columns, key=_KEY, population=population, reason=_REASON)
