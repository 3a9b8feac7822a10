"""The entrances: every function that reads foreign data, with its checks.

A function that reads foreign data is marked where it is defined::

    @entrance("portable file", "expansion", "length")
    def read_lines(file, name): ...

`tests/gate` searches the code for functions of this kind, and fails if a function is not marked, or if a mark has no
attack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeVar

__all__ = ["ENTRANCES", "Check", "DataEntrance", "entrance"]

Check = Literal["code", "criteria", "digest", "expansion", "formats", "length", "types"]
"""The checks of foreign data.

============  ======================================================================================
code          only plain functions of modules, or captured source, that the owner has allowed are run
criteria      criteria and expressions are parsed, and written again from the parsed form
digest        the digest of the bytes is known
expansion     the unpacked or claimed size is in proportion to the size of the data
formats       formats and options are on the list, or allowed by the owner
length        the length has a limit
types         every part has the required type
============  ======================================================================================
"""

Function = TypeVar("Function", bound=Callable[..., object])


@dataclass(frozen=True, slots=True)
class DataEntrance:
    """A function reading foreign data, with its checks.

    Parameters
    ----------
    name
        The kind of data, in words.
    place
        The function: module and name.
    checks
        The checks of the data.
    """

    name: str
    place: str
    checks: tuple[Check, ...]


_ENTRANCES: dict[str, DataEntrance] = {}

ENTRANCES = MappingProxyType(_ENTRANCES)
"""The entrances in all imported modules, by name."""


def entrance(name: str, *checks: Check) -> Callable[[Function], Function]:
    """Return a decorator that marks a function as an entrance.

    Parameters
    ----------
    name
        The kind of data; unique among entrances.
    checks
        The checks of the data; at least one.
    """
    if not checks:
        raise ValueError(f"the way in {name!r} makes no check")

    def register_entrance(function: Function) -> Function:
        place = f"{function.__module__}:{function.__qualname__}"
        registered = _ENTRANCES.get(name)
        if registered is not None and registered.place != place:
            raise ValueError(f"{registered.place} and {place} are both called {name!r}")
        _ENTRANCES[name] = DataEntrance(name, place, checks)
        return function

    return register_entrance
