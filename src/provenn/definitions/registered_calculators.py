"""Registered calculators, serving targets by name; and preferences among attributes with the same name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select, update

from provenn.catalogs.calculators import Calculator, calculator_from
from provenn.criteria import AttributeIdentity
from provenn.database.tables import calculators, preferences
from provenn.database.transactions import Reading, Writing
from provenn.definitions import moc_files
from provenn.digests import canonical_json
from provenn.errors import CalculatorError, CorruptArchiveError, did_you_mean
from provenn.hints import Hint
from provenn.people import audit_log

__all__ = [
    "Preference",
    "RegisteredCalculator",
    "describe_known_calculators",
    "find_current_calculators",
    "find_damaged_calculators",
    "find_latest_calculators",
    "find_providing_calculator",
    "find_superseded_calculators",
    "forget_preference",
    "list_registered_calculators",
    "prefer_calculator",
    "prefer_identity",
    "read_preferences",
    "register_calculator",
]


_BY_NAME = "calculator:"  # no identity of an attribute begins with this text


@dataclass(frozen=True, slots=True)
class RegisteredCalculator:
    """A registered calculator, serving targets, with a name, the registrant, and the time of registration."""

    name: str
    calculator: Calculator
    registered_at: datetime
    registered_by: str


@dataclass(frozen=True, slots=True)
class Preference:
    """The preferred meaning of an attribute's name.

    Parameters
    ----------
    attribute
        The name of the attribute.
    identity
        The identity of the preferred attribute; or, for the output of a calculator, ``calculator:`` and its name.
    by, at
        The person that recorded the preference, and the time.
    """

    attribute: str
    identity: str
    at: datetime
    by: str

    @property
    def calculator(self) -> str | None:
        """The name of the preferred calculator, or None if the preference is for an attribute's identity."""
        return self.identity.removeprefix(_BY_NAME) if self.identity.startswith(_BY_NAME) else None

    @property
    def attribute_identity(self) -> AttributeIdentity | None:
        """The identity of the preferred attribute, or None if the preference is for a calculator."""
        return None if self.calculator is not None else AttributeIdentity(self.identity)


def register_calculator(writing: Writing, name: str, calculator: Calculator) -> None:
    """Register a calculator under a name, as the latest of the name. A calculator may have several names.

    A repeated registration keeps the first registrant; the audit log keeps every registration.
    """
    is_same = (calculators.c.name == name, calculators.c.digest == calculator.digest)
    audit_log.record_action(writing, "register calculator", name, calculator.digest)
    renewal = update(calculators).where(*is_same).values(registered_at=writing.when)
    if writing.connection.execute(renewal).rowcount:
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


def list_registered_calculators(reading: Reading) -> Sequence[RegisteredCalculator]:
    """Return the registered calculators without importing their code, sorted by name, the newest first.

    Raises
    ------
    CorruptArchiveError
        If a definition was changed after it was written.
    """
    query = select(calculators).order_by(calculators.c.name, calculators.c.registered_at.desc(), calculators.c.digest)
    return [_restore_calculator(row) for row in reading.connection.execute(query)]


def find_damaged_calculators(reading: Reading) -> dict[str, str]:
    """Return descriptions of damaged calculators, changed since registration, by name."""
    damage = {}
    for row in reading.connection.execute(select(calculators)):
        try:
            _restore_calculator(row)
        except CorruptArchiveError as error:
            damage[row.name] = error.message
    return damage


def _restore_calculator(row: Any) -> RegisteredCalculator:  # noqa: ANN401 - a row
    changed_error = CorruptArchiveError(f"the definition of the calculator {row.name} was changed after it was written")
    try:
        calculator = calculator_from(json.loads(row.definition))
    except CalculatorError as error:
        raise CorruptArchiveError(f"the calculator {row.name} cannot be restored: {error.message}") from error
    except (ValueError, LookupError, TypeError) as error:
        raise changed_error from error
    if calculator.digest != row.digest:
        raise changed_error
    return RegisteredCalculator(row.name, calculator, row.registered_at, row.registered_by)


def prefer_calculator(writing: Writing, attribute: str, name: str) -> Preference | None:
    """Record that the name of an attribute means the output of the calculator with a name from now on.

    If another calculator is registered under that name later, the preference is for that one. So the order of the
    preference and the registration does not matter. Returns the same as `prefer_identity`.
    """
    return prefer_identity(writing, attribute, _BY_NAME + name)


def prefer_identity(writing: Writing, attribute: str, identity: str) -> Preference | None:
    """Record that the name of an attribute means this identity from now on.

    The audit log keeps the earlier preference and person. Returns an earlier, different preference, else None.
    """
    before = read_preferences(writing).get(attribute)
    if before is not None and before.identity == identity:
        before = None
    history = "" if before is None else f", before by {before.by}: {before.identity}"
    audit_log.record_action(writing, "prefer", attribute, f"{identity}{history}")
    forget_preference(writing, attribute)
    row = {"attribute": attribute, "identity": identity, "at": writing.when, "by": writing.who}
    writing.connection.execute(insert(preferences), row)
    return before


def forget_preference(writing: Writing, attribute: str) -> bool:
    """Forget the preference for an attribute's name; return whether a preference existed."""
    result = writing.connection.execute(delete(preferences).where(preferences.c.attribute == attribute))
    return result.rowcount > 0


def read_preferences(reading: Reading) -> dict[str, Preference]:
    """Return all preferences, by the name of the attribute."""
    query = select(preferences).order_by(preferences.c.attribute)
    return {row.attribute: Preference(*row) for row in reading.connection.execute(query)}


def find_latest_calculators(reading: Reading) -> dict[str, RegisteredCalculator]:
    """Return the registered calculators by name; of several with the same name, the last registered."""
    return find_current_calculators(list_registered_calculators(reading))


def find_current_calculators(known: Iterable[RegisteredCalculator]) -> dict[str, RegisteredCalculator]:
    """Return the last registration of each name, by name."""
    ordered = sorted(known, key=lambda registration: (registration.registered_at, registration.calculator.digest))
    return {registration.name: registration for registration in ordered}


def find_superseded_calculators(known: Iterable[RegisteredCalculator]) -> frozenset[str]:
    """Return the digests of the calculators replaced under all of their names."""
    registrations = tuple(known)
    current = {registration.calculator.digest for registration in find_current_calculators(registrations).values()}
    return frozenset(registration.calculator.digest for registration in registrations) - current


def find_providing_calculator(reading: Reading, attribute: str) -> Calculator:
    """Return the only, or the preferred, calculator of an attribute.

    Raises
    ------
    CalculatorError
        If no calculator provides the attribute, or several do and none is preferred.
    """
    known = find_latest_calculators(reading)
    candidates = {
        name: registration.calculator
        for name, registration in known.items()
        if attribute in registration.calculator.names
    }
    if not candidates:
        provided = {output for registration in known.values() for output in registration.calculator.names}
        hint = did_you_mean(attribute, provided) or describe_known_calculators(known)
        raise CalculatorError(f"no calculator provides {attribute!r}", hint=hint)
    if len({calculator.digest for calculator in candidates.values()}) == 1:
        return next(iter(candidates.values()))
    choice = read_preferences(reading).get(attribute)
    if choice is not None and choice.calculator in candidates:
        return candidates[choice.calculator]
    raise CalculatorError(
        f"several calculators provide {attribute}: {', '.join(sorted(candidates))}",
        hint=Hint(
            f'name one, or record your choice: archive.prefer("{attribute}", "{min(candidates)}")',
            command=f"name one, or record your choice: provenn prefer {attribute} {min(candidates)}",
        ),
    )


def describe_known_calculators(known: Iterable[str]) -> str:
    """Return a hint with the names of known calculators."""
    names = sorted(known)
    if names:
        return f"there are {', '.join(names[:20])}"
    return Hint("register one: archive.calculator(…)", command="register one: provenn calculator")
