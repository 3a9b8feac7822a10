"""Selection predicates and SQL expressions: parsed, normalised and interpreted as sets, without catalogs or Spark."""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
    from provenn.criteria.abridging import abridged
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
    from provenn.criteria.differences import describe_difference
    from provenn.criteria.plain import plain_text
    from provenn.criteria.references import join_dotted, split_alias, split_commas, split_qualifier, unquote
    from provenn.criteria.regions import region_facts, without_cells
    from provenn.criteria.schema import Attribute, AttributeIdentity, AttributeLike, DefinedAttribute, matching_names
    from provenn.criteria.term_facts import TermFact, TermFacts, derive_term_facts
    from provenn.criteria.theory import build_theory
    from provenn.criteria.types import Type, parse_type
    from provenn.criteria.units import same_unit, unit_of
    from provenn.criteria.writing import backquoted, identities_in, with_names

__all__ = [
    "Atom",
    "Attribute",
    "AttributeIdentity",
    "AttributeLike",
    "Criterion",
    "DefinedAttribute",
    "Expression",
    "TermFact",
    "TermFacts",
    "Type",
    "abridged",
    "backquoted",
    "build_theory",
    "check_stated_unit",
    "derive_term_facts",
    "describe_difference",
    "identities_in",
    "join_dotted",
    "matching_names",
    "names_in",
    "order_facts",
    "parse_criterion",
    "parse_expression",
    "parse_type",
    "plain_text",
    "region_facts",
    "render",
    "same_unit",
    "split_alias",
    "split_commas",
    "split_qualifier",
    "unit_of",
    "unquote",
    "usual_unit",
    "with_names",
    "without_cells",
]

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.criteria.abridging": "abridged",
        "provenn.criteria.atoms": "Atom order_facts",
        "provenn.criteria.criterion": "Criterion Expression check_stated_unit names_in "
        "parse_criterion parse_expression render usual_unit",
        "provenn.criteria.differences": "describe_difference",
        "provenn.criteria.plain": "plain_text",
        "provenn.criteria.references": "join_dotted split_alias split_commas split_qualifier unquote",
        "provenn.criteria.regions": "region_facts without_cells",
        "provenn.criteria.schema": "Attribute AttributeIdentity AttributeLike DefinedAttribute matching_names",
        "provenn.criteria.term_facts": "TermFact TermFacts derive_term_facts",
        "provenn.criteria.theory": "build_theory",
        "provenn.criteria.types": "Type parse_type",
        "provenn.criteria.units": "same_unit unit_of",
        "provenn.criteria.writing": "backquoted identities_in with_names",
    },
)
