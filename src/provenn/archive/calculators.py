"""Which registered calculator is meant, by its name or by an attribute that it provides."""

from __future__ import annotations

from collections.abc import Iterable

from provenn.catalogs import Calculator
from provenn.errors import CalculatorError, did_you_mean
from provenn.store.calculators import Registered, preferred, registered
from provenn.store.database import Reading

__all__ = ["latest", "named", "providing"]


def latest(reading: Reading) -> dict[str, Registered]:
    """Return the calculators by name; of several that have one name, the one registered last."""
    return {one.name: one for one in reversed(registered(reading))}


def named(reading: Reading, name: str) -> Calculator:
    """Return the calculator that was registered last under a name.

    Raises
    ------
    CalculatorError
        If there is none.
    """
    known = latest(reading)
    if name not in known:
        raise CalculatorError(f"no calculator is called {name!r}", hint=did_you_mean(name, known) or _there_are(known))
    return known[name].calculator


def providing(reading: Reading, attribute: str) -> Calculator:
    """Return the calculator that provides an attribute: the only one, or the one that is preferred.

    Raises
    ------
    CalculatorError
        If there is none, or several of which none is preferred.
    """
    known = latest(reading)
    candidates = {name: one.calculator for name, one in known.items() if attribute in one.calculator.names}
    if not candidates:
        provided = {one for each in known.values() for one in each.calculator.names}
        hint = did_you_mean(attribute, provided) or _there_are(known)
        raise CalculatorError(f"no calculator provides {attribute!r}", hint=hint)
    choice = preferred(reading).get(attribute)
    for one in candidates.values():
        if len(candidates) == 1 or (choice is not None and choice.identity == one.digest):
            return one
    raise CalculatorError(
        f"several calculators provide {attribute}: {', '.join(sorted(candidates))}",
        hint=f'name one, or record which is meant: archive.prefer("{attribute}", "{min(candidates)}")',
    )


def _there_are(known: Iterable[str]) -> str:
    names = sorted(known)
    return f"there are {', '.join(names[:20])}" if names else "register it: archive.calculator(…)"
