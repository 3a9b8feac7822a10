"""Some attributes of a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.schema import Schema
from provenn.errors import AttributeConflictError

__all__ = ["KeepAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class KeepAttributes(Catalog):
    """The sources of `parent`, with some of its attributes.

    Parameters
    ----------
    parent
        Where sources and attributes come from.
    names
        The attributes, in the order of the columns; the key among them.
    """

    parent: Catalog
    names: tuple[str, ...]

    @classmethod
    def of(cls, parent: Catalog, names: Iterable[str]) -> Self:
        """Keep attributes, in this order. The key is kept always: what of it is not named comes first.

        Raises
        ------
        AttributeNotFoundError
            If there is no such attribute.
        AttributeConflictError
            If one is named twice.
        """
        kept = [parent.schema[name] for name in names]
        seen: set[str] = set()
        for one in kept:
            if one.name in seen:
                raise AttributeConflictError(f"the attribute {one.name} is named twice")
            seen.add(one.name)
        identities = {one.identity for one in kept}
        key = (one for one in parent.schema.key if one.identity not in identities)
        return cls(parent, tuple(one.name for one in (*key, *kept)))

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parameters(self) -> Parameters:
        """The names that are kept."""
        return {"names": list(self.names)}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog that has these parameters and dependencies."""
        (parent,) = dependencies
        return cls(parent, tuple(parameters["names"]))

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same attributes of another parent."""
        (parent,) = dependencies
        return self.of(parent, self.names)

    def _own_schema(self) -> Schema:
        return Schema(tuple(self.parent.schema[name] for name in self.names))
