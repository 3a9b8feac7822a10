"""The platform of stored values, recorded for platform-dependent values.

A row of the archive without a platform is valid everywhere. A row with a platform is valid only there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from provenn.criteria.traits import Trait

__all__ = ["UNKNOWN", "FindPlatform", "Platform", "get_unknown_platform"]


@dataclass(frozen=True, slots=True)
class Platform:
    """A platform on which data are computed.

    Parameters
    ----------
    java
        The major version of Java, such as ``17``; empty if it is unknown, or differs between workers.
    machine
        The system and the processor, such as ``Linux amd64``; empty if they are unknown, or differ between workers.
    """

    java: str = ""
    machine: str = ""

    def describe(self, traits: Collection[Trait] = frozenset(Trait)) -> str | None:
        """Return the recorded text for some traits of the platform; None without traits.

        >>> Platform("17", "Linux amd64").describe([Trait.JAVA]), Platform("17").describe()
        ('Java 17', 'unknown')
        """
        parts = {Trait.JAVA: self.java and f"Java {self.java}", Trait.MACHINE: self.machine}
        texts = [text for trait, text in parts.items() if trait in traits]
        if not texts:
            return None
        return ", ".join(texts) if all(texts) else "unknown"

    def serves(self, recorded: str | None) -> bool:
        """Tell whether a value recorded with a platform is valid on this platform."""
        combinations = ([Trait.JAVA], [Trait.MACHINE], [Trait.JAVA, Trait.MACHINE])
        descriptions = {self.describe(traits) for traits in combinations} - {"unknown"}
        return recorded is None or recorded in descriptions


UNKNOWN = Platform()
"""The platform of an archive that is opened without Spark: no platform-dependent value is valid there."""

FindPlatform = Callable[[], Platform]
"""Finds the platform when it is first needed: most archives hold no platform-dependent values."""


def get_unknown_platform() -> Platform:
    """Return the unknown platform."""
    return UNKNOWN
