"""A catalog with more attributes, calculated from those it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.calculators import Calculator, Expressions, PythonCalculator, SqlCalculator
from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.schema import Schema, merged
from provenn.errors import CalculatorError

__all__ = ["DeriveAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DeriveAttributes(Catalog):
    """The sources and attributes of `parent`, and new attributes that are calculated from these.

    Parameters
    ----------
    parent
        Where sources and attributes come from.
    calculation
        What is calculated.
    """

    parent: Catalog
    calculation: Expressions | PythonCalculator

    @classmethod
    def of(cls, parent: Catalog, calculator: Calculator) -> Self:
        """Derive attributes.

        Raises
        ------
        CriterionError
            If an SQL expression cannot be read or does not fit the attributes.
        AttributeNotFoundError
            If the parent has not all inputs of a Python calculator.
        CalculatorError
            If that is not a calculator.
        AttributeConflictError
            If the parent has a different attribute of the same name.
        """
        if isinstance(calculator, SqlCalculator):
            return cls(parent, Expressions.of(calculator, parent.schema))
        if isinstance(calculator, PythonCalculator):
            return cls(parent, calculator)
        raise CalculatorError(f"attributes are derived by a calculator, not by {calculator!r}")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parameters(self) -> Parameters:
        """Canonical SQL, or the definition of the calculator."""
        if isinstance(self.calculation, Expressions):
            return self.calculation.to_json()
        return {"calculator": self.calculation.definition()}

    def notes(self) -> Parameters:
        """SQL as it was written, and the units of what it gives, so that nobody has to compute them again."""
        units = self._units()
        return {"texts": self._texts(), **({"units": units} if units else {})}

    def _texts(self) -> dict[str, str]:
        if isinstance(self.calculation, Expressions):
            return {one.name: one.text for one in self.calculation.outputs}
        return {}

    def _units(self) -> dict[str, str]:
        if isinstance(self.calculation, Expressions):
            return {one.name: one.unit for one in self.calculation.outputs if one.unit}
        return {}

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same calculation on another parent."""
        (parent,) = dependencies
        if isinstance(self.calculation, Expressions):
            return self.of(parent, self.calculation.calculator)
        return self.of(parent, self.calculation)

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog that has these parameters, notes and dependencies."""
        (parent,) = dependencies
        if "calculator" in parameters:
            return cls(parent, PythonCalculator.from_definition(parameters["calculator"]))
        return cls(parent, Expressions.from_json(parameters, notes["texts"], notes.get("units", {})))

    def _own_schema(self) -> Schema:
        schema = self.parent.schema
        if isinstance(self.calculation, Expressions):
            new = self.calculation.attributes(schema)
        else:
            new = self.calculation.attributes(schema, self.parent.extent)
        return merged([*schema.attributes, *new])
