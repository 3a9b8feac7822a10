"""The abstract base class of all calculators."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from provenn.catalogs.catalog import Parameters
from provenn.digests import content_digest

__all__ = ["Calculator"]


class Calculator(ABC):
    """A blueprint that derives attributes from attributes."""

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the derived attributes."""

    @abstractmethod
    def definition(self) -> Parameters:
        """Return the complete definition as JSON, for `calculator_from`."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator with this definition."""

    @property
    def digest(self) -> str:
        """The hash of the definition."""
        return content_digest("calculator", self.definition())
