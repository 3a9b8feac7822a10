"""Batches: many definitions that are added to an archive in one transaction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provenn.errors import CatalogNameError

if TYPE_CHECKING:
    from provenn.catalogs import Catalog as Definition
    from provenn.database.transactions import Writing
    from provenn.digests import CatalogDigest

__all__ = ["DefinitionBatch"]


@dataclass(slots=True)
class DefinitionBatch:
    """Definitions that wait until the batch is written.

    Attributes
    ----------
    definitions
        The definitions, by digest, each after its dependencies.
    names
        The catalogs of new names.
    is_open
        Whether definitions still wait; afterwards they are written at once.
    """

    definitions: dict[CatalogDigest, Definition] = field(default_factory=dict)
    names: dict[str, CatalogDigest] = field(default_factory=dict)
    is_open: bool = True

    def add(self, definition: Definition, name: str | None) -> None:
        """Let a definition wait.

        Raises
        ------
        CatalogNameError
            If the batch already has another catalog with the name.
        """
        if name is not None and self.names.setdefault(name, definition.digest) != definition.digest:
            raise CatalogNameError(f"{name} already names another catalog of the batch", hint="choose another name")
        self.definitions.setdefault(definition.digest, definition)

    def write(self, writing: Writing) -> None:
        """Add all definitions and names."""
        from provenn.definitions import catalog_names, catalog_store  # noqa: PLC0415 - a command starts without it

        catalog_store.add_catalogs(writing, *self.definitions.values())
        catalog_names.assign_names(writing, self.names)
