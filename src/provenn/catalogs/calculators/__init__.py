"""Calculators: blueprints that derive attributes from attributes, by SQL expressions or by a Python function."""

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.calculators.python import PythonCalculator
from provenn.catalogs.calculators.sql import Expressions, SqlCalculator, SqlText
from provenn.catalogs.calculators.window_functions import WindowCalculator, WindowFunctions
from provenn.catalogs.catalog import Parameters
from provenn.gate.entrances import entrance

__all__ = [
    "Calculator",
    "Expressions",
    "PythonCalculator",
    "SqlCalculator",
    "SqlText",
    "WindowCalculator",
    "WindowFunctions",
    "calculator_from",
]


@entrance("definition of a calculator", "types", "code", "criteria")
def calculator_from(definition: Parameters) -> Calculator:
    """Return the calculator with this definition. No code is imported or run."""
    return (SqlCalculator if definition["kind"] == "sql" else PythonCalculator).from_definition(definition)
