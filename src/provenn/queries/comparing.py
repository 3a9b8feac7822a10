"""Compare two queries: whether both give the same rows, fewer or more rows, or no rows in common.

Two queries are equal if both have the same sources, and the same attribute in each position of their columns. Sound:
each source of a translation is exactly one row of the query, and an attribute has a single value for a source, so both
queries give the same rows equally often. The order of rows counts only where a limit depends on the order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.schema import Attribute
from provenn.criteria import backquoted
from provenn.errors import ProvennError
from provenn.logic import Statement, disjoint, empty, subset
from provenn.queries.relation import choose_free_name
from provenn.queries.translation import Translation

__all__ = ["QueryComparison", "QueryRelation", "compare_queries"]

QueryRelation = Literal[
    "equal", "other columns", "narrowed", "widened", "disjoint", "different populations", "other limits", "unknown"
]
"""What is proved of a second query, compared with a first one.

"equal": the same rows, equally often, with the same columns in the same positions. "other columns": the same sources,
but columns that are not proved the same. "narrowed": only sources of the first, "widened": all sources of the first,
"disjoint": none of them. "different populations": a row is something else, so that the sources are never compared.
"other limits": at least one query takes the first rows only, and not those that the other takes.
"""


@dataclass(frozen=True, slots=True)
class QueryComparison:
    """The proved relation of two queries.

    Parameters
    ----------
    relation
        The relation of the second query to the first; the first of `QueryRelation` that is proved.
    has_same_columns
        Whether the columns are as many, and have the same values for every source that both queries have.
    reason
        Why no more is proved; empty if the queries are equal.
    """

    relation: QueryRelation
    has_same_columns: bool
    reason: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether both queries are proved to give the same rows, equally often."""
        return self.relation == "equal"


def compare_queries(
    first: Translation, second: Translation, prove: Callable[[Statement, Sequence[Catalog]], bool]
) -> QueryComparison:
    """Compare two queries by their meaning.

    Parameters
    ----------
    first, second
        The translations of the queries.
    prove
        Whether a statement about some catalogs, which need not be stored, is proved.
    """
    own, other = first.catalog, second.catalog
    if own.population != other.population:
        reason = f"a row of one is a {own.population.name}, a row of the other a {other.population.name}"
        return QueryComparison("different populations", has_same_columns=False, reason=reason)
    columns = _find_other_columns(first, second, prove)
    if _read_limits(first) != _read_limits(second):
        return QueryComparison("other limits", not columns, "they take different first rows of their results")
    both = (own, other)
    is_inside = own.extent.digest == other.extent.digest or prove(subset(other.digest, own.digest), both)
    covers = own.extent.digest == other.extent.digest or prove(subset(own.digest, other.digest), both)
    if is_inside and covers:
        if not columns:
            return QueryComparison("equal", has_same_columns=True)
        return QueryComparison("other columns", has_same_columns=False, reason=columns)
    if first.limit is not None or first.offset:
        return QueryComparison("unknown", not columns, "the first rows of different results may be any")
    if prove(disjoint(own.digest, other.digest), both):
        return QueryComparison("disjoint", not columns, "no row of one is a row of the other")
    if is_inside:
        return QueryComparison("narrowed", not columns, "the second may lack rows of the first")
    if covers:
        return QueryComparison("widened", not columns, "the second may have more rows than the first")
    return QueryComparison("unknown", not columns, "neither is proved to have the rows of the other")


def _read_limits(translation: Translation) -> tuple[object, ...]:
    """Return the order, limit and offset of a query; nothing if the query takes all rows of the result."""
    if translation.limit is None and not translation.offset:
        return ()
    positions = {name: position for position, name in enumerate(translation.columns)}
    order = tuple((positions[name], *direction) for name, *direction in translation.order)
    is_whole = not any(remark.part == "ORDER BY" for remark in translation.remarks)
    return (translation.limit, translation.offset, order, is_whole or translation)


def _find_other_columns(
    first: Translation, second: Translation, prove: Callable[[Statement, Sequence[Catalog]], bool]
) -> str:
    """Return the columns not proved the same; empty if all are."""
    if len(first.columns) != len(second.columns):
        return f"one has {len(first.columns)} columns, the other {len(second.columns)}"
    pairs = [
        (first.catalog.schema[name], second.catalog.schema[other_name])
        for name, other_name in zip(first.columns, second.columns, strict=True)
    ]
    differing = [pair for pair in pairs if pair[0].identity != pair[1].identity]
    if not differing or _agree(first.catalog, second.catalog, differing, prove):
        return ""
    names = ", ".join(attribute.name for attribute, _ in differing)
    return f"columns that are not proved to have the same values: {names}"


def _agree(
    own: Catalog,
    other: Catalog,
    pairs: Sequence[tuple[Attribute, Attribute]],
    prove: Callable[[Statement, Sequence[Catalog]], bool],
) -> bool:
    """Whether attributes have equal values, or are both NULL, for every common source of both catalogs.

    Sound: ``<=>`` is TRUE for the values of every source of the combination; types are compared first, as equal numbers
    of different types are different columns, and fractions are left out, as 0.0 and -0.0 are equal.
    """
    if any(left.type != right.type or left.type.name in ("float", "double") for left, right in pairs):
        return False
    renamed: dict[str, str] = {}
    for attribute in other.schema.attributes:
        mine = own.schema.get(attribute.name)
        if mine is not None and mine.identity != attribute.identity:
            taken = (*own.schema.names, *other.schema.names, *renamed.values())
            renamed[attribute.name] = choose_free_name(attribute.name, taken)
    try:
        combined = verbs.combine(own, verbs.rename(other, renamed) if renamed else other)
        same = [
            f"{backquoted(left.name)} <=> {backquoted(renamed.get(right.name, right.name))}" for left, right in pairs
        ]
        differing = verbs.select(combined, f"NOT ({' AND '.join(same)})")
        return prove(empty(differing.digest), (differing,))
    except ProvennError:
        return False
