"""Attributes defined by window functions: the value of a source depends on all sources of its catalog.

The identity of such an attribute has the extent of the catalog in it. Sound: the function, over identities of
attributes, and the set of sources determine every value, because the key decides where the order does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.extent import Extent
from provenn.catalogs.schema import Attribute, Schema, check_name
from provenn.criteria import AttributeIdentity, Type, identities_in
from provenn.criteria.schema import AttributeLike
from provenn.criteria.windows import WindowFunction, parse_window
from provenn.digests import content_digest
from provenn.errors import CalculatorError, DefinitionError
from provenn.files.type_names import restore_type

__all__ = ["WindowCalculator", "WindowFunctions", "WindowOutput"]


@dataclass(frozen=True, slots=True)
class WindowCalculator(Calculator):
    """Window functions, not yet parsed with the attributes of a catalog.

    Parameters
    ----------
    expressions
        Names of new attributes, and SQL.
    """

    expressions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, expressions: Mapping[str, str]) -> Self:
        """Define a calculator by window functions in SQL, by attribute name.

        Raises
        ------
        CalculatorError
            If there are no functions, or a function is not text.
        AttributeConflictError
            If a name is not valid.
        """
        hint = 'for example {"place": "rank() OVER (ORDER BY vmag)"}'
        if not expressions:
            raise CalculatorError("there is nothing to calculate", hint=hint)
        for name, text in expressions.items():
            if not isinstance(text, str):
                raise CalculatorError(f"expected a window function for {check_name(name)}, got {text!r}", hint=hint)
        return cls(tuple((check_name(name), text) for name, text in expressions.items()))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the derived attributes."""
        return tuple(name for name, _ in self.expressions)

    def definition(self) -> Parameters:
        """Return names and SQL in the user's wording."""
        return {"kind": "window", "expressions": [list(pair) for pair in self.expressions]}

    @classmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator with this definition."""
        return cls.of(dict(definition["expressions"]))


@dataclass(frozen=True, slots=True)
class WindowOutput:
    """An attribute defined by a window function.

    Parameters
    ----------
    name
        Its name.
    canonical
        The function in normal form, over identities.
    type, nullable
        Type and nullability of the value, stored to avoid parsing SQL again.
    text
        The function in the user's wording.
    unit
        The unit of its values; empty if unknown.
    """

    name: str
    canonical: str
    type: Type
    nullable: bool
    text: str = field(compare=False)
    unit: str = field(default="", compare=False)

    @property
    def reads(self) -> tuple[AttributeIdentity, ...]:
        """The attributes that the function reads, sorted."""
        return tuple(sorted({AttributeIdentity(name) for name in identities_in(self.canonical)}))

    def make_attribute(self, extent: Extent) -> Attribute:
        """Return the attribute of the sources of an extent."""
        identity = content_digest("attribute", {"window": self.canonical, "extent": extent.digest})
        return Attribute(self.name, AttributeIdentity(identity), self.type, self.nullable, self.unit)

    def parse(self, attributes: Mapping[str, AttributeLike]) -> WindowFunction:
        """Return the function, from the attributes that it reads, by their names in canonical text.

        Raises
        ------
        DefinitionError
            If the definition gives the function another type: the values would be others under the same identity.
        """
        function = parse_window(self.canonical, attributes, canonical=True)
        if (function.canonical, function.type, function.nullable) != (self.canonical, self.type, self.nullable):
            raise DefinitionError(f"{self.name} is a {function.type}, though it is called a {self.type}")
        return function


@dataclass(frozen=True, slots=True)
class WindowFunctions:
    """Window functions, parsed with the attributes of a catalog.

    Parameters
    ----------
    outputs
        The attributes defined by the functions.
    """

    outputs: tuple[WindowOutput, ...]

    @classmethod
    def of(cls, calculator: WindowCalculator, schema: Schema) -> Self:
        """Parse the functions of a calculator.

        Raises
        ------
        CriterionError
            If a function cannot be parsed, does not fit the attributes, or depends on the order of rows.
        """
        outputs = []
        for name, text in calculator.expressions:
            function = parse_window(text, schema)
            outputs.append(
                WindowOutput(name, function.canonical, function.type, function.nullable, text, function.unit)
            )
        return cls(tuple(outputs))

    @property
    def calculator(self) -> WindowCalculator:
        """The original calculator."""
        return WindowCalculator(tuple((output.name, output.text) for output in self.outputs))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the derived attributes."""
        return tuple(output.name for output in self.outputs)

    @property
    def scope(self) -> Literal["catalog"]:
        """Always "catalog": a value depends on all sources."""
        return "catalog"

    @property
    def function(self) -> str:
        """The functions in the user's wording."""
        return ", ".join(output.text for output in self.outputs)

    @property
    def digest(self) -> str:
        """The hash of the functions in normal form."""
        return content_digest("calculator", {"windows": [output.canonical for output in self.outputs]})

    def attributes(self, extent: Extent) -> list[Attribute]:
        """Return the attributes defined by the functions for the sources of an extent."""
        return [output.make_attribute(extent) for output in self.outputs]

    def to_json(self) -> Parameters:
        """Return everything except texts and units as JSON."""
        return {
            "windows": [[output.name, output.canonical, str(output.type), output.nullable] for output in self.outputs]
        }

    @classmethod
    def from_json(cls, content: Parameters, texts: Mapping[str, str], units: Mapping[str, str]) -> Self:
        """Restore functions from JSON, and from texts and units by name."""
        return cls(
            tuple(
                WindowOutput(
                    check_name(name), canonical, restore_type(kind), nullable, texts[name], units.get(name, "")
                )
                for name, canonical, kind, nullable in content["windows"]
            )
        )
