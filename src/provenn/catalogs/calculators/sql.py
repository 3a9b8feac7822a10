"""Attributes defined by SQL expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Self, TypeAlias

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.derived_pieces import divide_attribute
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.criteria import (
    AttributeIdentity,
    DefinedAttribute,
    Expression,
    Type,
    check_stated_unit,
    identities_in,
    parse_expression,
    unit_of,
    usual_unit,
)
from provenn.digests import content_digest
from provenn.errors import CalculatorError, DefinitionError
from provenn.files.type_names import restore_type
from provenn.hints import Hint

__all__ = ["Expressions", "Output", "SqlCalculator", "SqlText", "define_attributes"]

SqlText: TypeAlias = str | tuple[str, str]
"""An SQL expression, alone or with the unit of its values."""


@dataclass(frozen=True, slots=True)
class SqlCalculator(Calculator):
    """SQL expressions, not yet parsed with the attributes of a catalog.

    Parameters
    ----------
    expressions
        Names of new attributes, and SQL.
    units
        The stated units of some attributes, in the usual spelling, sorted by name.
    """

    expressions: tuple[tuple[str, str], ...]
    units: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, expressions: Mapping[str, SqlText], units: Mapping[str, str] | None = None) -> Self:
        """Define a calculator by SQL expressions, or pairs of expression and unit, by attribute name.

        Raises
        ------
        CalculatorError
            If there are no expressions, an expression is not text, or a unit is stated twice or for no new attribute.
        CriterionError
            If a unit does not exist.
        AttributeConflictError
            If a name is not valid.
        """
        if not expressions:
            raise CalculatorError(
                "there is nothing to calculate",
                hint=Hint(
                    'name the new attribute: derive(dist_pc="1000 / plx"); '
                    'for an attribute called name: derive({"name": …})',
                    command="name the new attribute: 'dist_pc = 1000 / plx'",
                ),
            )
        texts: dict[str, str] = {}
        stated: dict[str, object] = dict(units or {})
        for name, value in expressions.items():
            texts[check_name(name)], unit = _split_text_and_unit(name, value)
            if unit is not None and name in stated:
                raise CalculatorError(f"the unit of {name} is stated twice: {unit!r} and {stated[name]!r}")
            if unit is not None:
                stated[name] = unit
        unit_pairs = []
        for name, unit in stated.items():
            if name not in texts or not isinstance(unit, str):
                problem = f"expected a unit as text for a new attribute, got {unit!r} for {name!r}"
                raise CalculatorError(problem, hint=f"the new attributes are {', '.join(texts)}")
            unit_pairs.append((name, usual_unit(unit)))
        return cls(tuple(texts.items()), tuple(sorted(unit_pairs)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the derived attributes."""
        return tuple(name for name, _ in self.expressions)

    def definition(self) -> Parameters:
        """Return names and SQL in the user's wording, and stated units."""
        units = {"units": dict(self.units)} if self.units else {}
        return {"kind": "sql", "expressions": [list(pair) for pair in self.expressions], **units}

    @classmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator with this definition."""
        units = tuple(sorted(definition.get("units", {}).items()))
        return cls(tuple((name, text) for name, text in definition["expressions"]), units)


@dataclass(frozen=True, slots=True)
class Output:
    """An attribute defined by an expression.

    Parameters
    ----------
    name
        Its name.
    canonical
        The expression in normal form, over identities.
    type, nullable
        Type and nullability of the expression, stored to avoid parsing SQL again.
    text
        The expression in the user's wording.
    unit
        The unit of its values; empty if unknown.
    has_stated_unit
        Whether the user stated the unit, which makes the unit part of the definition: a different stated unit for the
        same expression defines a different attribute.
    """

    name: str
    canonical: str
    type: Type
    nullable: bool
    text: str = field(compare=False)
    unit: str = field(default="", compare=False)
    has_stated_unit: bool = False

    @classmethod
    def of_attribute(cls, attribute: Attribute, canonical: str) -> Self:
        """Return the output that defines an attribute by an expression in normal form.

        The identity shows whether the unit was stated.
        """
        has_stated_unit = attribute.identity != content_digest("attribute", {"expression": canonical})
        unit = attribute.unit
        return cls(attribute.name, canonical, attribute.type, attribute.nullable, canonical, unit, has_stated_unit)

    @property
    def words(self) -> str:
        """The expression in the user's wording, and the stated unit."""
        return f"{self.text} (in {self.unit})" if self.has_stated_unit else self.text

    def make_attribute(self, by_name: Mapping[str, Attribute]) -> Attribute:
        """Return the attribute, from the attributes read by the expression, by their names in canonical text."""
        column = _read_column(self.canonical)
        if column in by_name and not self.has_stated_unit:
            return by_name[column].renamed(self.name)  # a new name for a column is no new attribute
        identity = _make_identity(self.canonical, self.unit if self.has_stated_unit else None)
        attribute = Attribute(self.name, identity, self.type, self.nullable, self.unit)
        inputs = [by_name[name] for name in identities_in(self.canonical) if name in by_name]
        return divide_attribute(attribute, inputs, self.derive_from)

    def derive_from(self, others: Mapping[AttributeIdentity, Attribute]) -> Attribute:
        """Return the attribute of the same expression on other attributes, by the identities of the inputs."""
        by_name = {str(identity): attribute for identity, attribute in others.items()}
        expression = parse_expression(self.canonical, by_name, canonical=True)
        output = replace(self, canonical=expression.canonical, nullable=expression.nullable)
        return output.make_attribute({attribute.identity: attribute for attribute in others.values()})


@dataclass(frozen=True, slots=True)
class Expressions:
    """SQL expressions, parsed with the attributes of a catalog.

    Parameters
    ----------
    outputs
        The attributes defined by the expressions.
    """

    outputs: tuple[Output, ...]

    @classmethod
    def of(cls, calculator: SqlCalculator, schema: Schema) -> Self:
        """Parse the expressions of a calculator.

        Raises
        ------
        CriterionError
            If an expression cannot be parsed, does not fit the attributes, is not deterministic and row-wise, or has
            a unit unlike the stated unit.
        """
        units = dict(calculator.units)
        return cls(tuple(_parse_output(name, text, units.get(name), schema) for name, text in calculator.expressions))

    @property
    def calculator(self) -> SqlCalculator:
        """The original calculator, as far as the texts and the stated units show."""
        units = tuple(sorted((output.name, output.unit) for output in self.outputs if output.has_stated_unit))
        return SqlCalculator(tuple((output.name, output.text) for output in self.outputs), units)

    def attributes(self, schema: Schema) -> list[Attribute]:
        """Return the attributes defined by the expressions, from the schema of their catalog."""
        by_name = schema.by_canonical_name
        return [output.make_attribute(by_name) for output in self.outputs]

    def parse_expressions(self, schema: Schema) -> dict[str, Expression]:
        """Return the expressions over identities, for `provenn.criteria.render`, by output name.

        Raises
        ------
        DefinitionError
            If the definition gives an expression another type: the values would be others under the same identity.
        """
        by_name = schema.by_canonical_name
        expressions = {}
        for output in self.outputs:
            mentioned = identities_in(output.canonical)
            read = tuple(by_name[identity] for identity in mentioned if identity in by_name)
            expression = _parse_canonical(output.canonical, read)
            if expression.type != output.type:
                raise DefinitionError(f"{output.name} is a {expression.type}, though it is called a {output.type}")
            expressions[output.name] = expression
        return expressions

    def to_json(self) -> Parameters:
        """Return everything except the texts, and except units that follow from the expressions, as JSON."""
        stated = {output.name: output.unit for output in self.outputs if output.has_stated_unit}
        expressions = [[output.name, output.canonical, str(output.type), output.nullable] for output in self.outputs]
        return {"expressions": expressions, **({"units": stated} if stated else {})}

    @classmethod
    def from_json(cls, content: Parameters, texts: Mapping[str, str], units: Mapping[str, str]) -> Self:
        """Restore expressions from JSON, and from texts and units by name."""
        stated = content.get("units", {})
        known = {**units, **stated}
        return cls(
            tuple(
                Output(name, canonical, restore_type(kind), nullable, texts[name], known.get(name, ""), name in stated)
                for name, canonical, kind, nullable in content["expressions"]
            )
        )


def define_attributes(content: Parameters) -> tuple[DefinedAttribute, ...]:
    """Return the attributes that expressions define, from their JSON; a new name for a column is no new attribute."""
    units = content.get("units", {})
    return tuple(
        DefinedAttribute(
            _make_identity(canonical, units.get(name)), restore_type(kind), nullable, units.get(name, ""), canonical
        )
        for name, canonical, kind, nullable in content["expressions"]
        if name in units or not _read_column(canonical)
    )


def _make_identity(canonical: str, unit: str | None) -> AttributeIdentity:
    """Return the identity of the attribute that an expression defines, with a stated unit or None."""
    definition = {"expression": canonical} if unit is None else {"expression": canonical, "unit": unit}
    return AttributeIdentity(content_digest("attribute", definition))


def _read_column(canonical: str) -> str:
    """Return the identity of the column that an expression is; empty for any other expression."""
    column = canonical[1:-1].replace("``", "`")
    return column if canonical == "`" + column.replace("`", "``") + "`" else ""


def _split_text_and_unit(name: str, value: object) -> tuple[str, object]:
    """Return the SQL text and the unit of a definition; None for the unit of a text alone."""
    text, unit = value if isinstance(value, tuple | list) and len(value) == 2 else (value, None)
    if not isinstance(text, str):
        hint = 'write it as text, or as text and unit: ("1000 / plx", "pc")'
        raise CalculatorError(f"expected an SQL expression for {check_name(name)}, got {value!r}", hint=hint)
    return text, unit


def _parse_output(name: str, text: str, stated: str | None, schema: Schema) -> Output:
    """Parse an expression with the attributes of a schema, and check or find its unit."""
    expression = parse_expression(text, schema)
    if stated is not None:
        check_stated_unit(expression, stated)
    unit = unit_of(expression.node) if stated is None else stated
    return Output(name, expression.canonical, expression.type, expression.nullable, text, unit, stated is not None)


@lru_cache(maxsize=4_000)
def _parse_canonical(canonical: str, attributes: tuple[Attribute, ...]) -> Expression:
    """Return an expression, remembered: its text and the attributes that it mentions decide what it means."""
    return parse_expression(canonical, {attribute.identity: attribute for attribute in attributes}, canonical=True)
