"""Creating calculators, and finding calculators by name or by a provided attribute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from provenn.catalogs import Calculator, Catalog, PythonCalculator, SqlCalculator
from provenn.catalogs.calculators.allowed import allow_handed_over
from provenn.criteria import names_in
from provenn.database.transactions import Reading, Writing
from provenn.definitions import attributes, catalog_names, catalog_store, registered_calculators
from provenn.definitions.registered_calculators import (
    Preference,
    describe_known_calculators,
    find_latest_calculators,
    find_providing_calculator,
    register_calculator,
)
from provenn.errors import CalculatorError, did_you_mean
from provenn.hints import Hint

__all__ = [
    "find_calculator",
    "find_latest_calculators",
    "list_attribute_names",
    "make_calculator",
    "prefer",
    "register_calculator",
]


def make_calculator(
    name: str,
    function: Callable[..., object] | str | None,
    sql: Mapping[str, str] | None,
    *,
    inputs: Sequence[str],
    outputs: Mapping[str, str],
    **options: Any,  # noqa: ANN401 - those of PythonCalculator.of
) -> Calculator:
    """Return the calculator for `provenn.Archive.calculator` to register, and allow the code from now on.

    Raises
    ------
    CalculatorError
        If neither or both of a function and SQL are passed; or if SQL is passed with options that only a function has.
    CriterionError
        If the SQL cannot be read.
    """
    if (function is None) == (sql is None):
        hint = Hint(
            "pass either a function or sql={…}; for both, register two calculators",
            command="give either MODULE:FUNCTION or --sql; for both, register two calculators",
        )
        raise CalculatorError(f"the calculator {name} needs either a function or SQL", hint=hint)
    if function is None:
        _refuse_options(name, {"inputs": tuple(inputs), "outputs": dict(outputs), **options})
        for text in (sql or {}).values():
            names_in(text)  # an unreadable text is refused now, and not when it is used or listed
        return SqlCalculator.of(sql or {}, options.get("units"))
    calculator = PythonCalculator.of(function, inputs=inputs, outputs=outputs, **options)
    allow_handed_over(calculator)
    return calculator


def _refuse_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse options meant for functions: SQL defines inputs and outputs, and the text of SQL is the version."""
    usual = {"kind": "pandas", "scope": "row"}
    for option, value in options.items():
        if option != "units" and value and value != usual.get(option):
            raise CalculatorError(
                f"the calculator {name} is SQL, and SQL takes no {option}",
                hint=Hint(
                    f"omit {option}=: the SQL text alone defines the calculator",
                    command=f"omit --{option.removesuffix('s')}: the SQL text alone defines the calculator",
                ),
            )


def list_attribute_names(reading: Reading, population: str) -> list[str]:
    """Return the names of the attributes of a population and of the outputs of calculators, sorted."""
    provided_names = {
        name for registered in find_latest_calculators(reading).values() for name in registered.calculator.names
    }
    return sorted(provided_names.union(attributes.list_attribute_names(reading, population)))


def find_calculator(reading: Reading, name: str) -> Calculator:
    """Return the calculator registered last under a name, or else the calculator that provides such an attribute."""
    known = find_latest_calculators(reading)
    return known[name].calculator if name in known else find_providing_calculator(reading, name)


def prefer(writing: Writing, attribute: str, which: Calculator | Catalog | str) -> Preference | None:
    """Record the meaning of an attribute name: the output of a calculator, or the attribute of a catalog.

    The previous meaning is returned, if the meaning has changed.

    Raises
    ------
    CalculatorError
        If the calculator or catalog does not exist, or the calculator does not provide the attribute.
    AttributeNotFoundError
        If the catalog does not have the attribute.
    """
    chosen = _find_by_name(writing, which) if isinstance(which, str) else which
    if isinstance(chosen, Catalog):
        return registered_calculators.prefer_identity(writing, attribute, chosen.schema[attribute].identity)
    if attribute not in chosen.names:
        hint = f"it provides {', '.join(chosen.names)}"
        raise CalculatorError(f"this calculator does not provide {attribute!r}", hint=hint)
    known = find_latest_calculators(writing)
    calculator_names = [name for name, registered in known.items() if registered.calculator.digest == chosen.digest]
    if not calculator_names:
        raise CalculatorError("this calculator is not registered", hint=describe_known_calculators(known))
    return registered_calculators.prefer_calculator(
        writing, attribute, which if isinstance(which, str) else min(calculator_names)
    )


def _find_by_name(reading: Reading, name: str) -> Calculator | Catalog:
    """Return the calculator, or else the catalog, of a name."""
    known = find_latest_calculators(reading)
    if name in known:
        return known[name].calculator
    digest = catalog_names.find_named_digest(reading, name)
    if digest is None:
        hint = did_you_mean(name, known) or describe_known_calculators(known)
        raise CalculatorError(f"no calculator and no catalog is named {name!r}", hint=hint)
    return catalog_store.get_catalog(reading, digest)
