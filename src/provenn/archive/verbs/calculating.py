"""Methods of an archive that register, find and prefer calculators."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.archive.handle import Catalog
    from provenn.catalogs import Calculator
    from provenn.definitions.registered_calculators import Preference, RegisteredCalculator

__all__ = ["Calculating"]


class Calculating(ArchivePart):
    """Methods of an archive that register, find and prefer calculators."""

    def calculator(
        self,
        name: str,
        function: Callable[..., object] | str | None = None,
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
            The name of the calculator.
        function
            A function of a module that can be imported, or a function from a notebook or a script, whose source is
            kept. The function takes a batch with the inputs and returns a batch with the outputs. The text
            ``"module:name"`` stands for a function of a module; the module is read, and not imported.
        sql
            Instead of a function: an expression for each output.
        inputs
            The attributes that the calculator reads.
        outputs
            The attributes that the calculator provides, with their types.
        parameters
            Keyword arguments for the function; part of the calculator's identity.
        kind
            Whether batches are pandas DataFrames or Arrow tables.
        scope
            ``"row"`` if the result for a source depends on its inputs alone, ``"catalog"`` if on all sources.
        version
            Part of the calculator's identity, besides the code.
        units
            The units of the outputs, as in ``{"dist": "pc"}``; part of the calculator's identity. The units of SQL
            outputs follow from the units of the inputs, where known; a contradicting unit is refused at use.
        """
        from provenn.archive import calculator_choice  # noqa: PLC0415 - a command starts without it

        options = {"parameters": parameters, "kind": kind, "scope": scope, "version": version, "units": units}
        new_calculator = calculator_choice.make_calculator(
            name, function, sql, inputs=inputs, outputs=outputs or {}, **options
        )
        self.context.write(calculator_choice.register_calculator, name, new_calculator)
        return new_calculator

    def find_calculator(self, name: str) -> Calculator:
        """Return the calculator registered last under a name, or else the calculator that provides such an attribute.

        Raises
        ------
        CalculatorError
            If no calculator is found; or if several calculators provide the attribute and none is preferred: the
            error lists them.
        """
        from provenn.archive import calculator_choice  # noqa: PLC0415 - a command starts without it

        return self.context.read(calculator_choice.find_calculator, name)

    def calculators(self) -> Sequence[RegisteredCalculator]:
        """Return the calculators sorted by name; for a name registered several times, the latest calculator."""
        from provenn.archive import calculator_choice  # noqa: PLC0415 - a command starts without it

        known = self.context.read(calculator_choice.find_latest_calculators)
        return [known[name] for name in sorted(known)]

    def attributes(self, population: str) -> list[str]:
        """Return the names that a target may request: attributes of a population, and outputs of calculators."""
        from provenn.archive import calculator_choice  # noqa: PLC0415 - a command starts without it

        return self.context.read(calculator_choice.list_attribute_names, population)

    def prefer(self, attribute: str, calculator: Calculator | Catalog | str) -> Preference | None:
        """Record the meaning of an attribute name: the output of a calculator, or else the attribute of a catalog.

        Returns
        -------
        Preference or None
            The previous meaning and its author, if the meaning has changed. The audit log keeps it.
        """
        from provenn.archive import calculator_choice  # noqa: PLC0415 - a command starts without it
        from provenn.archive.handle import Catalog  # noqa: PLC0415

        chosen = calculator.definition if isinstance(calculator, Catalog) else calculator
        return self.context.write(calculator_choice.prefer, attribute, chosen)
