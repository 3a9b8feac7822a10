"""Selection predicates and SQL expressions: read, normalised, understood as sets. Knows no catalogs and no Spark."""

from provenn.criteria.atoms import Atom, order_facts
from provenn.criteria.criterion import (
    Criterion,
    Expression,
    check_stated_unit,
    names_in,
    parse_criterion,
    parse_expression,
    render,
    usual_unit,
)
from provenn.criteria.regions import region_facts, without_cells
from provenn.criteria.schema import Attribute, AttributeLike, matching_names
from provenn.criteria.types import Type, parse_type
from provenn.criteria.units import same_unit, unit_of
from provenn.criteria.writing import backquoted, identities_in, with_names

__all__ = [
    "Atom",
    "Attribute",
    "AttributeLike",
    "Criterion",
    "Expression",
    "Type",
    "backquoted",
    "check_stated_unit",
    "identities_in",
    "matching_names",
    "names_in",
    "order_facts",
    "parse_criterion",
    "parse_expression",
    "parse_type",
    "region_facts",
    "render",
    "same_unit",
    "unit_of",
    "usual_unit",
    "with_names",
    "without_cells",
]
