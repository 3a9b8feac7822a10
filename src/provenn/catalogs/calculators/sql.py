"""Attributes defined by SQL expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self, TypeAlias

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.digest import content_digest
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.catalogs.type_names import type_named
from provenn.criteria import Expression, Type, check_stated_unit, parse_expression, unit_of, usual_unit
from provenn.errors import CalculatorError

__all__ = ["Expressions", "Output", "SqlCalculator", "SqlText"]

SqlText: TypeAlias = str | tuple[str, str]
"""An SQL expression, or one with the unit of its values."""


@dataclass(frozen=True, slots=True)
class SqlCalculator(Calculator):
    """SQL expressions, not yet read with the attributes of any catalog.

    Parameters
    ----------
    expressions
        Names of new attributes, and SQL.
    units
        The units that are stated for some of them, in their usual spelling, sorted by name.
    """

    expressions: tuple[tuple[str, str], ...]
    units: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, expressions: Mapping[str, SqlText], units: Mapping[str, str] | None = None) -> Self:
        """Take expressions, or pairs of an expression and its unit, by the names of the attributes they define.

        Raises
        ------
        CalculatorError
            If there are none, one is not text, or a unit is stated for something else or twice.
        CriterionError
            If there is no such unit.
        AttributeConflictError
            If a name cannot be one.
        """
        if not expressions:
            raise CalculatorError(
                "there is nothing to calculate",
                hint='name it: derive(dist_pc="1000 / plx"); an attribute called name: derive({"name": …})',
            )
        texts: dict[str, str] = {}
        stated: dict[str, object] = dict(units or {})
        for name, value in expressions.items():
            texts[check_name(name)], unit = _text_and_unit(name, value)
            if unit is not None and name in stated:
                raise CalculatorError(f"the unit of {name} is stated twice: {unit!r} and {stated[name]!r}")
            if unit is not None:
                stated[name] = unit
        usual = []
        for name, unit in stated.items():
            if name not in texts or not isinstance(unit, str):
                problem = f"a unit is stated for a new attribute, as text, not {unit!r} for {name!r}"
                raise CalculatorError(problem, hint=f"{', '.join(texts)} may have one")
            usual.append((name, usual_unit(unit)))
        return cls(tuple(texts.items()), tuple(sorted(usual)))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes it derives."""
        return tuple(name for name, _ in self.expressions)

    def definition(self) -> Parameters:
        """Names and SQL as written, and units where any is stated."""
        units = {"units": dict(self.units)} if self.units else {}
        return {"kind": "sql", "expressions": [list(pair) for pair in self.expressions], **units}

    @classmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator of this definition."""
        units = tuple(sorted(definition.get("units", {}).items()))
        return cls(tuple((name, text) for name, text in definition["expressions"]), units)


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
    stated
        Whether the unit is stated, and so is part of the definition: who states another unit for the same
        expression defines another attribute.
    """

    name: str
    canonical: str
    type: Type
    nullable: bool
    text: str = field(compare=False)
    unit: str = field(default="", compare=False)
    stated: bool = False

    @property
    def words(self) -> str:
        """The expression as it was written, and the unit that is stated for it."""
        return f"{self.text} (in {self.unit})" if self.stated else self.text

    def attribute(self, given: Mapping[str, Attribute]) -> Attribute:
        """Return the attribute, given those that the expression reads, by identity."""
        if self.stated:
            made = content_digest("attribute", {"expression": self.canonical, "unit": self.unit})
            return Attribute(self.name, made, self.type, self.nullable, self.unit)
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
            If one cannot be read, does not fit the attributes, is not deterministic and row-wise, or is in another
            unit than the one that is stated.
        """
        units = dict(calculator.units)
        return cls(tuple(_read(name, text, units.get(name), schema) for name, text in calculator.expressions))

    @property
    def calculator(self) -> SqlCalculator:
        """The calculator they were read from, as far as the texts and the stated units tell."""
        units = tuple(sorted((one.name, one.unit) for one in self.outputs if one.stated))
        return SqlCalculator(tuple((one.name, one.text) for one in self.outputs), units)

    def attributes(self, schema: Schema) -> list[Attribute]:
        """Return the attributes that they define, given those of the catalog they were read with."""
        given = schema.by_identity
        return [one.attribute(given) for one in self.outputs]

    def parsed(self, schema: Schema) -> dict[str, Expression]:
        """Return the expressions over identities, for `provenn.criteria.render`, by the names they define."""
        given = schema.by_identity
        return {one.name: parse_expression(one.canonical, given, canonical=True) for one in self.outputs}

    def to_json(self) -> Parameters:
        """Return all but the texts, and the units that follow from the expressions, as JSON."""
        stated = {one.name: one.unit for one in self.outputs if one.stated}
        expressions = [[one.name, one.canonical, str(one.type), one.nullable] for one in self.outputs]
        return {"expressions": expressions, **({"units": stated} if stated else {})}

    @classmethod
    def from_json(cls, content: Parameters, texts: Mapping[str, str], units: Mapping[str, str]) -> Self:
        """Read them from JSON, and from the texts and units by name."""
        stated = content.get("units", {})
        known = {**units, **stated}
        return cls(
            tuple(
                Output(name, canonical, type_named(kind), nullable, texts[name], known.get(name, ""), name in stated)
                for name, canonical, kind, nullable in content["expressions"]
            )
        )


def _text_and_unit(name: str, value: object) -> tuple[str, object]:
    text, unit = value if isinstance(value, tuple | list) and len(value) == 2 else (value, None)
    if not isinstance(text, str):
        hint = 'write it as text, or as text and unit: ("1000 / plx", "pc")'
        raise CalculatorError(f"{check_name(name)} is defined by an SQL expression, not by {value!r}", hint=hint)
    return text, unit


def _read(name: str, text: str, stated: str | None, schema: Schema) -> Output:
    found = parse_expression(text, schema)
    if stated is not None:
        check_stated_unit(found, stated)
    unit = unit_of(found.node) if stated is None else stated
    return Output(name, found.canonical, found.type, found.nullable, text, unit, stated is not None)
