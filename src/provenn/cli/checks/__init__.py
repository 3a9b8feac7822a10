"""What `provenn doctor` looks at: small functions that look at one thing each, and tell what they found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from provenn.errors import ProvennError

__all__ = ["Check", "Finding", "Look", "State", "findings"]

State = Literal["ok", "warning", "wrong"]
"""A warning is something to know about, with which provenn works."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look at something has found.

    Parameters
    ----------
    state
        Whether it is as it should be.
    told
        What was found.
    hint
        What to do about it.
    """

    state: State
    told: str
    hint: str = ""


Look = Callable[[], Finding]


@dataclass(frozen=True, slots=True)
class Check:
    """A finding, and what was looked at."""

    what: str
    finding: Finding


def findings(looks: Iterable[tuple[str, Look]]) -> Iterator[Check]:
    """Look at one thing after the other. What cannot be looked at is a finding, too, and stops nobody."""
    for what, look in looks:
        yield Check(what, _found(look))


def _found(look: Look) -> Finding:
    try:
        return look()
    except ProvennError as error:
        return Finding("wrong", error.message, error.hint)
    except Exception as error:  # noqa: BLE001 - whatever it is, people want to know of the rest
        return Finding("wrong", f"cannot be checked: {type(error).__name__}: {error}".rstrip(": "))
