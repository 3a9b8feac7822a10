"""A catalog whose attributes have other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Parameters
from provenn.catalogs.schema import Schema, check_name
from provenn.errors import AttributeConflictError, DefinitionError

__all__ = ["RenameAttributes"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RenameAttributes(Catalog):
    """The sources and attributes of `parent`, some under other names. An attribute stays what it is.

    Parameters
    ----------
    parent
        Where sources and attributes come from.
    names
        Old and new names, in the order of the columns.
    """

    parent: Catalog
    names: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, parent: Catalog, names: Mapping[str, str]) -> Self:
        """Rename attributes, all at once: two may exchange their names.

        Raises
        ------
        AttributeNotFoundError
            If there is no such attribute.
        AttributeConflictError
            If a name cannot be one, two attributes would have the same, or one would have two.
        DefinitionError
            If no name changes.
        """
        new: dict[str, str] = {}
        for old, name in names.items():
            found = parent.schema[old].name
            if found in new:
                raise AttributeConflictError(f"the attribute {found} would have two names, {new[found]} and {name}")
            new[found] = check_name(name)
        changed = tuple((old, new[old]) for old in parent.schema if new.get(old, old) != old)
        if not changed:
            raise DefinitionError(
                "no attribute gets another name",
                hint='write the old name first: .rename(vmag="v"); name= is the name of the new catalog',
            )
        return cls(parent, changed)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    def parameters(self) -> Parameters:
        """Old and new names."""
        return {"names": [list(pair) for pair in self.names]}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog that has these parameters and dependencies."""
        (parent,) = dependencies
        return cls(parent, tuple((old, new) for old, new in parameters["names"]))

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same names for the attributes of another parent."""
        (parent,) = dependencies
        return self.of(parent, dict(self.names))

    def _own_schema(self) -> Schema:
        new = dict(self.names)
        return Schema(
            tuple(one.renamed(new[one.name]) if one.name in new else one for one in self.parent.schema.attributes)
        )
