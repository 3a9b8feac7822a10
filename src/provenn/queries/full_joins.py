"""Full outer joins by the key of a shared population: matched sources, and sources of either side alone, with NULL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from provenn.catalogs import Catalog, verbs
from provenn.catalogs.calculators import SqlCalculator
from provenn.logic import Statement
from provenn.queries.joining import combine, find_key_values, is_own_key, read_equality
from provenn.queries.relation import (
    InexpressibleError,
    RowSource,
    name_attribute,
    split_conjuncts,
    write_copy,
)
from provenn.queries.translating import Translating

__all__ = ["join_fully"]


def join_fully(left: RowSource, right: RowSource, condition: exp.Expr | None, context: Translating) -> RowSource:
    """Return the full outer join of two relations.

    Raises
    ------
    InexpressibleError
        If the condition is anything but the equality of the keys of one population.
    """
    equalities = [read_equality(conjunct) for conjunct in split_conjuncts(condition)]
    compared = [equality for equality in equalities if equality is not None]
    key_match = find_key_values(left, right, compared)
    if key_match is None or len(key_match[1]) < len(equalities) or not is_own_key(left, right, key_match[0]):
        raise InexpressibleError("a full outer join is understood by the keys of one population only")
    both = combine(left, right)
    symbols = {symbol: f"column {number}" for number, symbol in enumerate(both.values, 1)}
    members = [
        _show(both.catalog, both.values, symbols),
        _show(verbs.exclude(left.catalog, right.catalog), left.values, symbols),
        _show(verbs.exclude(right.catalog, left.catalog), right.values, symbols),
    ]
    types = {name: str(members[0].schema[name].type) for name in symbols.values()}
    filled = [_fill(member, types) for member in members]

    def is_proved(statement: Statement) -> bool:
        return context.prove(statement, filled)

    united = verbs.concat_proved(filled, None, is_proved)
    return RowSource(united, {symbol: name_attribute(name) for symbol, name in symbols.items()})


def _show(catalog: Catalog, values: Mapping[str, exp.Expr], names: Mapping[str, str]) -> Catalog:
    """Return a catalog with columns under new names, and the key under the old name."""
    new = {names[symbol]: write_copy(catalog, value) for symbol, value in values.items()}
    clashing = [name for name in new if name in catalog.schema]
    if clashing:
        raise InexpressibleError(f"columns are called {', '.join(clashing)}")
    return verbs.keep(verbs.derive(catalog, SqlCalculator.of(new)), list(new))


def _fill(catalog: Catalog, types: Mapping[str, str]) -> Catalog:
    """Return a catalog with NULL for the missing columns."""
    lacking: Sequence[str] = [name for name in types if name not in catalog.schema]
    if not lacking:
        return catalog
    nulls = {name: f"CAST(NULL AS {types[name]})" for name in lacking}
    return verbs.keep(verbs.derive(catalog, SqlCalculator.of(nulls)), list(types))
