"""Calculators: registered, found, preferred."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from provenn.archive import calculators
from provenn.archive.handle import Catalog
from provenn.archive.verbs.held import Held
from provenn.catalogs import Calculator
from provenn.store.calculators import Registered

__all__ = ["Calculating"]


class Calculating(Held):
    """Calculators: registered, found, preferred."""

    def calculator(
        self,
        name: str,
        function: Callable[..., object] | None = None,
        *,
        sql: Mapping[str, str] | None = None,
        inputs: Sequence[str] = (),
        outputs: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
        kind: Literal["pandas", "arrow"] = "pandas",
        scope: Literal["row", "catalog"] = "row",
        version: str = "",
        units: Mapping[str, str] | None = None,
    ) -> Calculator:
        """Register a calculator: SQL expressions, or a Python function over batches.

        Parameters
        ----------
        name
            A name for it.
        function
            A function of a module that can be imported, or one that stands in a notebook or a script, of which the
            source is kept. It takes a batch with the inputs and returns one with the outputs.
        sql
            Instead of a function: an expression for each output.
        inputs
            The attributes it reads.
        outputs
            The attributes it provides, with their types.
        parameters
            Handed to the function by keyword; part of its identity.
        kind
            Whether batches are pandas DataFrames or Arrow tables.
        scope
            ``"row"`` if the result for a source depends on its inputs alone, ``"catalog"`` if on all sources.
        version
            Part of its identity, besides the code.
        units
            What the outputs are in, as in ``{"dist": "pc"}``; part of its identity. Those of SQL follow from the
            units of what it reads, where these are known; a unit that contradicts is refused where it is used.
        """
        options = {"parameters": parameters, "kind": kind, "scope": scope, "version": version, "units": units}
        made = calculators.made(name, function, sql, inputs=inputs, outputs=outputs or {}, **options)
        with self._database.writing() as writing:
            calculators.register(writing, name, made)
        return made

    def find_calculator(self, name: str) -> Calculator:
        """Return the calculator that was registered last under a name, or else one that provides such an attribute.

        Raises
        ------
        CalculatorError
            If there is none; or if several provide the attribute and none is preferred: it lists them.
        """
        with self._database.reading() as reading:
            return calculators.find(reading, name)

    def calculators(self) -> Sequence[Registered]:
        """Return the calculators, by name; of several that have one name, the one registered last."""
        with self._database.reading() as reading:
            return [one for _, one in sorted(calculators.latest(reading).items())]

    def attributes(self, population: str) -> list[str]:
        """Return the names of what a target may ask for: attributes of a population, and what calculators provide."""
        with self._database.reading() as reading:
            return calculators.attribute_names(reading, population)

    def prefer(self, attribute: str, calculator: Calculator | Catalog | str) -> None:
        """Record what the name of an attribute means: what a calculator provides, or else what a catalog has."""
        chosen = calculator.definition if isinstance(calculator, Catalog) else calculator
        with self._database.writing() as writing:
            calculators.prefer(writing, attribute, chosen)
