"""Calculators: made, and found again by name or by an attribute that they provide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from provenn.catalogs import Calculator, Catalog, PythonCalculator, SqlCalculator
from provenn.catalogs.calculators.allowed import allow
from provenn.criteria import names_in
from provenn.errors import CalculatorError, did_you_mean
from provenn.store import attributes, calculators, catalog_store, names
from provenn.store.calculators import latest, providing, register, there_are
from provenn.store.database import Reading, Writing

__all__ = ["attribute_names", "find", "latest", "made", "prefer", "providing", "register"]


def made(
    name: str,
    function: Callable[..., object] | None,
    sql: Mapping[str, str] | None,
    *,
    inputs: Sequence[str],
    outputs: Mapping[str, str],
    **options: Any,  # noqa: ANN401 - those of PythonCalculator.of
) -> Calculator:
    """Return the calculator that `provenn.Archive.calculator` is to register; its code is allowed from now on.

    Raises
    ------
    CalculatorError
        If it is neither a function nor SQL, or both.
    CriterionError
        If the SQL cannot be read.
    """
    if (function is None) == (sql is None):
        hint = "pass a function, or sql={…}; for both, register two calculators"
        raise CalculatorError(f"the calculator {name} is either a function or SQL", hint=hint)
    if function is None:
        for text in (sql or {}).values():
            names_in(text)  # what cannot be read is refused here, and not where it is used or listed
        return SqlCalculator.of(sql or {}, options.get("units"))
    made = PythonCalculator.of(function, inputs=inputs, outputs=outputs, **options)
    allow(made.permit)
    return made


def attribute_names(reading: Reading, population: str) -> list[str]:
    """Return the names of the attributes of a population, and of what calculators provide, sorted."""
    given = {name for one in latest(reading).values() for name in one.calculator.names}
    return sorted(given.union(attributes.names(reading, population)))


def find(reading: Reading, name: str) -> Calculator:
    """Return the calculator that was registered last under a name, or else the one that provides such an attribute."""
    known = latest(reading)
    return known[name].calculator if name in known else providing(reading, name)


def prefer(writing: Writing, attribute: str, which: Calculator | Catalog | str) -> None:
    """Record what the name of an attribute means: what a calculator gives, or what a catalog has.

    Raises
    ------
    CalculatorError
        If there is no such calculator or catalog, or the calculator does not provide the attribute.
    AttributeNotFoundError
        If the catalog does not have it.
    """
    chosen = _named(writing, which) if isinstance(which, str) else which
    if isinstance(chosen, Catalog):
        calculators.prefer(writing, attribute, chosen.schema[attribute].identity)
        return
    if attribute not in chosen.names:
        hint = f"it provides {', '.join(chosen.names)}"
        raise CalculatorError(f"this calculator does not provide {attribute!r}", hint=hint)
    known = latest(writing)
    called = [name for name, one in known.items() if one.calculator.digest == chosen.digest]
    if not called:
        raise CalculatorError("this calculator is not registered, or not any more", hint=there_are(known))
    calculators.prefer_calculator(writing, attribute, which if isinstance(which, str) else min(called))


def _named(reading: Reading, name: str) -> Calculator | Catalog:
    known = latest(reading)
    if name in known:
        return known[name].calculator
    digest = names.find(reading, name)
    if digest is None:
        hint = did_you_mean(name, known) or there_are(known)
        raise CalculatorError(f"no calculator and no catalog is called {name!r}", hint=hint)
    return catalog_store.get(reading, digest)
