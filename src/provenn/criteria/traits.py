"""The traits of a platform that may affect values; `provenn.criteria.platforms` finds them in expressions."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Trait"]


class Trait(StrEnum):
    """A platform trait that may affect values."""

    JAVA = "java"
    MACHINE = "machine"
