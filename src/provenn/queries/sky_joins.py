"""Joins by distance on the sky: ``in_cone(b.ra, b.dec, a.ra, a.dec, 2 / 3600)`` pairs sources, like a cross-match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from provenn.catalogs import verbs
from provenn.catalogs.match_options import require_number
from provenn.queries.relation import RowSource, name_attribute, symbols_in

__all__ = ["match_positions"]

_ARCSECONDS = 3600


@dataclass(frozen=True, slots=True)
class _SkyCondition:
    """A condition that a position lies within a radius, in degrees, of another; which is which makes no difference."""

    position: tuple[exp.Expr, exp.Expr]
    centre: tuple[exp.Expr, exp.Expr]
    radius: float


def match_positions(
    parts: Sequence[RowSource], conditions: Sequence[exp.Expr]
) -> tuple[list[RowSource], list[exp.Expr]]:
    """Return the parts of a join, where conditions on the sky have paired two parts, and the remaining conditions."""
    relations, left = list(parts), []
    for condition in conditions:
        sky_condition = _read_sky_condition(condition)
        owners = None if sky_condition is None else _find_owners(relations, sky_condition)
        if sky_condition is None or owners is None:
            left.append(condition)
            continue
        first, second = owners
        if first > second:  # the pairs of two tables are the same, whichever the condition names first
            first, second = second, first
            sky_condition = _SkyCondition(sky_condition.centre, sky_condition.position, sky_condition.radius)
        paired = _pair(relations[first], relations[second], sky_condition)
        relations = [part for position, part in enumerate(relations) if position not in owners] + [paired]
    return relations, left


def _read_sky_condition(condition: exp.Expr) -> _SkyCondition | None:
    """Return a condition on the sky around a position of a source; None for a condition of another kind."""
    if not isinstance(condition, exp.Anonymous) or str(condition.this).lower() != "in_cone":
        return None
    if len(condition.expressions) != 5:
        return None
    ra, dec, centre_ra, centre_dec, radius = condition.expressions
    number = _read_number(radius)
    if number is None or not (symbols_in(centre_ra) and symbols_in(centre_dec)):
        return None
    return _SkyCondition((ra, dec), (centre_ra, centre_dec), number)


def _read_number(expression: exp.Expr) -> float | None:
    """Return the value of a number, or of a quotient of two; None for anything else."""
    match expression:
        case exp.Paren():
            return _read_number(expression.this)
        case exp.Literal() if not expression.is_string:
            return float(expression.name)
        case exp.Div():
            numerator, denominator = _read_number(expression.this), _read_number(expression.expression)
            return None if numerator is None or not denominator else numerator / denominator
    return None


def _find_owners(relations: Sequence[RowSource], condition: _SkyCondition) -> tuple[int, int] | None:
    """Return the positions of the relations of the centre and of the second position; None if they are not two."""
    owners = []
    for place in (condition.centre, condition.position):
        symbols = symbols_in(place[0]) | symbols_in(place[1])
        owner = [number for number, part in enumerate(relations) if symbols <= part.values.keys()]
        if len(owner) != 1:
            return None
        owners += owner
    return None if owners[0] == owners[1] else (owners[0], owners[1])


def _pair(left: RowSource, right: RowSource, condition: _SkyCondition) -> RowSource:
    """Return all pairs of rows within the radius, with the columns of both."""
    left, centre = left.expose([left.resolve(value) for value in condition.centre], "position")
    right, position = right.expose([right.resolve(value) for value in condition.position], "position")
    for attribute in (*centre, *position):
        require_number(attribute, "a coordinate")  # a match would read text as sexagesimal, a condition does not
    on = [[attribute.name for attribute in centre], [attribute.name for attribute in position]]
    names = (tuple(on[0]), tuple(on[1]))
    radius = condition.radius * _ARCSECONDS
    # The condition takes its arguments as they are, whatever frame their UCDs say.
    pairs = verbs.crossmatch(left.catalog, right.catalog, radius, matches="all", on=names, frame="icrs")
    values: dict[str, exp.Expr] = {}
    for relation, attributes in ((left, pairs.attributes_of("left")), (right, pairs.attributes_of("right"))):
        new_names = {own.name: attribute.name for attribute, own in attributes}
        values |= {symbol: _rename(value, new_names) for symbol, value in relation.values.items()}
    return RowSource(pairs, values)


def _rename(value: exp.Expr, names: dict[str, str]) -> exp.Expr:
    """Return an expression over attributes of a side as an expression over attributes of pairs."""

    def rename(node: exp.Expr) -> exp.Expr:
        return name_attribute(names[node.name]) if isinstance(node, exp.Column) else node

    return value.copy().transform(rename)
