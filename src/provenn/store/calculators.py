"""Calculators that serve targets, by name, and which attribute is meant where several have one name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from provenn.catalogs.calculators import Calculator, calculator_from
from provenn.catalogs.digest import canonical_json
from provenn.errors import CalculatorError, CorruptArchiveError, did_you_mean
from provenn.store import moc_files
from provenn.store.database import Reading, Writing
from provenn.store.tables import calculators, preferences

__all__ = [
    "Preference",
    "Registered",
    "current",
    "damaged",
    "forget_preference",
    "latest",
    "prefer",
    "prefer_calculator",
    "preferred",
    "providing",
    "register",
    "registered",
    "superseded",
    "there_are",
]


_BY_NAME = "calculator:"  # no identity of an attribute begins so


@dataclass(frozen=True, slots=True)
class Registered:
    """A calculator that serves targets: its name, who registered it, when."""

    name: str
    calculator: Calculator
    registered_at: datetime
    registered_by: str


@dataclass(frozen=True, slots=True)
class Preference:
    """What the name of an attribute means, who said so, and when.

    Parameters
    ----------
    attribute
        The name.
    identity
        The identity of an attribute; or, for what a calculator gives, ``calculator:`` and the name of the calculator.
    by, at
        Who said so, and when.
    """

    attribute: str
    identity: str
    at: datetime
    by: str

    @property
    def calculator(self) -> str | None:
        """The name of the calculator that is meant, if one is."""
        return self.identity.removeprefix(_BY_NAME) if self.identity.startswith(_BY_NAME) else None


def register(writing: Writing, name: str, calculator: Calculator) -> None:
    """Register a calculator under a name, from now on as the latest of that name. It may have several names."""
    found = (calculators.c.name == name, calculators.c.digest == calculator.digest)
    again = update(calculators).where(*found).values(registered_at=writing.when)
    if writing.connection.execute(again).rowcount:
        return
    definition = canonical_json(calculator.definition())
    moc_files.keep_named(writing, [definition])
    row = {
        "digest": calculator.digest,
        "name": name,
        "definition": definition,
        "registered_at": writing.when,
        "registered_by": writing.who,
    }
    writing.connection.execute(insert(calculators), row)


def registered(reading: Reading) -> Sequence[Registered]:
    """Return the calculators, sorted by name, the newest first. None of their code is imported.

    Raises
    ------
    CorruptArchiveError
        If a definition is not what was written.
    """
    query = select(calculators).order_by(calculators.c.name, calculators.c.registered_at.desc(), calculators.c.digest)
    return [_registered(row) for row in reading.connection.execute(query)]


def damaged(reading: Reading) -> dict[str, str]:
    """Return what is wrong with calculators that are not what was written, by name."""
    found = {}
    for row in reading.connection.execute(select(calculators)):
        try:
            _registered(row)
        except CorruptArchiveError as error:
            found[row.name] = error.message
    return found


def _registered(row: Any) -> Registered:  # noqa: ANN401 - a row
    changed = CorruptArchiveError(f"the definition of the calculator {row.name} was changed after it was written")
    try:
        calculator = calculator_from(json.loads(row.definition))
    except (ValueError, LookupError, TypeError) as error:
        raise changed from error
    if calculator.digest != row.digest:
        raise changed
    return Registered(row.name, calculator, row.registered_at, row.registered_by)


def prefer_calculator(writing: Writing, attribute: str, name: str) -> None:
    """Record that the name of an attribute means what the calculator of a name gives from now on.

    If another calculator is registered under that name, it is the one that is meant. So it does not matter whether the
    preference or the registration came first.
    """
    prefer(writing, attribute, _BY_NAME + name)


def prefer(writing: Writing, attribute: str, identity: str) -> None:
    """Record that the name of an attribute means this identity from now on."""
    forget_preference(writing, attribute)
    row = {"attribute": attribute, "identity": identity, "at": writing.when, "by": writing.who}
    writing.connection.execute(insert(preferences), row)


def forget_preference(writing: Writing, attribute: str) -> bool:
    """Forget what the name of an attribute means; return whether there was anything to forget."""
    gone = writing.connection.execute(delete(preferences).where(preferences.c.attribute == attribute))
    return gone.rowcount > 0


def preferred(reading: Reading) -> dict[str, Preference]:
    """Return what names of attributes mean, by name."""
    query = select(preferences).order_by(preferences.c.attribute)
    return {row.attribute: Preference(*row) for row in reading.connection.execute(query)}


def latest(reading: Reading) -> dict[str, Registered]:
    """Return the calculators by name; of several that have one name, the one registered last."""
    return current(registered(reading))


def current(known: Iterable[Registered]) -> dict[str, Registered]:
    """Return those of some registrations that are the last of their names, by name."""
    found: dict[str, Registered] = {}
    for one in sorted(known, key=lambda each: (each.registered_at, each.calculator.digest)):
        found[one.name] = one
    return found


def superseded(known: Iterable[Registered]) -> frozenset[str]:
    """Return the digests of the calculators in whose place others were registered, under all of their names."""
    every = tuple(known)
    meant = {one.calculator.digest for one in current(every).values()}
    return frozenset(one.calculator.digest for one in every) - meant


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
        hint = did_you_mean(attribute, provided) or there_are(known)
        raise CalculatorError(f"no calculator provides {attribute!r}", hint=hint)
    if len({one.digest for one in candidates.values()}) == 1:
        return next(iter(candidates.values()))
    choice = preferred(reading).get(attribute)
    if choice is not None and choice.calculator in candidates:
        return candidates[choice.calculator]
    raise CalculatorError(
        f"several calculators provide {attribute}: {', '.join(sorted(candidates))}",
        hint=f'name one, or record which is meant: archive.prefer("{attribute}", "{min(candidates)}")',
    )


def there_are(known: Iterable[str]) -> str:
    """Return a hint that names the calculators there are."""
    names = sorted(known)
    return f"there are {', '.join(names[:20])}" if names else "register it: archive.calculator(…)"
