"""Calculators: blueprints that derive attributes from attributes, by SQL expressions or by a Python function."""

from provenn.catalogs.calculators.calculator import Calculator
from provenn.catalogs.calculators.python import PythonCalculator
from provenn.catalogs.calculators.sql import Expressions, SqlCalculator, SqlText
from provenn.catalogs.catalog import Parameters

__all__ = ["Calculator", "Expressions", "PythonCalculator", "SqlCalculator", "SqlText", "calculator_from"]


def calculator_from(definition: Parameters) -> Calculator:
    """Return the calculator of this definition. No code is looked at."""
    return (SqlCalculator if definition["kind"] == "sql" else PythonCalculator).from_definition(definition)
