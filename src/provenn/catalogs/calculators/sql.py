"""Attributes defined by SQL expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.digest import content_digest
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.catalogs.type_names import type_named
from provenn.criteria import Expression, Type, parse_expression, unit_of
from provenn.errors import CalculatorError

__all__ = ["Expressions", "Output", "SqlCalculator"]


@dataclass(frozen=True, slots=True)
class SqlCalculator(Calculator):
    """SQL expressions, not yet read with the attributes of any catalog.

    Parameters
    ----------
    expressions
        Names of new attributes, and SQL.
    """

    expressions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, expressions: Mapping[str, str]) -> Self:
        """Take expressions by the names of the attributes they define.

        Raises
        ------
        CalculatorError
            If there are none, or one is not text.
        AttributeConflictError
            If a name cannot be one.
        """
        if not expressions:
            raise CalculatorError("there is nothing to calculate", hint='name it: derive(dist_pc="1000 / plx")')
        for name, text in expressions.items():
            if not isinstance(text, str):
                raise CalculatorError(f"{check_name(name)} is defined by an SQL expression, not by {text!r}")
        return cls(tuple((check_name(name), text) for name, text in expressions.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it derives."""
        return tuple(name for name, _ in self.expressions)

    def definition(self) -> Parameters:
        """Names and SQL as written."""
        return {"kind": "sql", "expressions": [list(pair) for pair in self.expressions]}

    @classmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator of this definition."""
        return cls(tuple((name, text) for name, text in definition["expressions"]))


@dataclass(frozen=True, slots=True)
class Output:
    """An attribute that an expression defines.

    Parameters
    ----------
    name
        Its name.
    canonical
        The expression in normal form, over identities.
    type, nullable
        What follows from it, so that SQL need not be read again to know.
    text
        The expression as it was written.
    unit
        What its values are in; empty if that is not known.
    """

    name: str
    canonical: str
    type: Type
    nullable: bool
    text: str = field(compare=False)
    unit: str = field(default="", compare=False)

    def attribute(self, given: Mapping[str, Attribute]) -> Attribute:
        """Return the attribute, given those that the expression reads, by identity."""
        identity = self.canonical[1:-1].replace("``", "`")
        if identity in given and self.canonical == "`" + identity.replace("`", "``") + "`":
            return given[identity].renamed(self.name)  # another name for a column is no other attribute
        made = content_digest("attribute", {"expression": self.canonical})
        return Attribute(self.name, made, self.type, self.nullable, self.unit)


@dataclass(frozen=True, slots=True)
class Expressions:
    """SQL expressions, read with the attributes of a catalog.

    Parameters
    ----------
    outputs
        The attributes they define.
    """

    outputs: tuple[Output, ...]

    @classmethod
    def of(cls, calculator: SqlCalculator, schema: Schema) -> Self:
        """Read the expressions of a calculator.

        Raises
        ------
        CriterionError
            If one cannot be read, does not fit the attributes, or is not deterministic and row-wise.
        """
        read = [(name, text, parse_expression(text, schema)) for name, text in calculator.expressions]
        return cls(
            tuple(
                Output(name, one.canonical, one.type, one.nullable, text, unit_of(one.node)) for name, text, one in read
            )
        )

    def attributes(self, schema: Schema) -> list[Attribute]:
        """Return the attributes that they define, given those of the catalog they were read with."""
        given = schema.by_identity
        return [one.attribute(given) for one in self.outputs]

    def parsed(self, schema: Schema) -> dict[str, Expression]:
        """Return the expressions over identities, for `provenn.criteria.render`, by the names they define."""
        given = schema.by_identity
        return {one.name: parse_expression(one.canonical, given, canonical=True) for one in self.outputs}

    def to_json(self) -> Parameters:
        """Return all but the texts and units as JSON."""
        return {"expressions": [[one.name, one.canonical, str(one.type), one.nullable] for one in self.outputs]}

    @classmethod
    def from_json(cls, content: Parameters, texts: Mapping[str, str], units: Mapping[str, str]) -> Self:
        """Read them from JSON, and from the texts and units by name."""
        return cls(
            tuple(
                Output(name, canonical, type_named(kind), nullable, texts[name], units.get(name, ""))
                for name, canonical, kind, nullable in content["expressions"]
            )
        )
