"""What every calculator is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from provenn.catalogs.catalog import Parameters
from provenn.catalogs.digest import content_digest

__all__ = ["Calculator"]


class Calculator(ABC):
    """A blueprint that derives attributes from attributes."""

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The attributes it derives."""

    @abstractmethod
    def definition(self) -> Parameters:
        """All that it is: JSON, from which `calculator_from` makes it again."""

    @classmethod
    @abstractmethod
    def from_definition(cls, definition: Parameters) -> Self:
        """Return the calculator of this definition."""

    @property
    def digest(self) -> str:
        """The hash of its definition."""
        return content_digest("calculator", self.definition())
