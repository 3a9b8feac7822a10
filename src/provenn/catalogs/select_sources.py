"""The sources of a catalog for which a criterion is TRUE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters
from provenn.catalogs.extent import Extent
from provenn.catalogs.selection import Selection
from provenn.criteria import Criterion, parse_criterion
from provenn.logic import Statement, intersection, subset

__all__ = ["SelectSources"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectSources(Catalog):
    """The sources of `parent` for which a criterion is TRUE: not those for which it is FALSE or NULL.

    Parameters
    ----------
    parent
        Where the sources come from.
    selection
        The criterion, as a set.
    text
        The criterion, as it was written.
    """

    parent: Catalog
    selection: Selection
    text: str

    @classmethod
    def of(cls, parent: Catalog, text: str) -> Self:
        """Select by a criterion in SQL.

        Raises
        ------
        CriterionError
            If it cannot be read, does not fit the attributes, or is not deterministic and row-wise.
        """
        return cls(parent, Selection.of(text, parent.schema), text)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    @property
    def criterion(self) -> Criterion:
        """The criterion over identities, for `provenn.criteria.render`."""
        return parse_criterion(self.selection.criterion, self.parent.schema.by_identity, canonical=True)

    def parameters(self) -> Parameters:
        """The canonical criterion, its set and its atoms."""
        return self.selection.to_json()

    def notes(self) -> Parameters:
        """The criterion as it was written."""
        return {"text": self.text}

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the selection by the same text on another parent."""
        (parent,) = dependencies
        return self.of(parent, self.text)

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog that has these parameters, notes and dependencies."""
        (parent,) = dependencies
        return cls(parent, Selection.from_json(parameters), notes["text"])

    @classmethod
    def facts_of(cls, digest: str, dependencies: Sequence[str], parameters: Parameters) -> Facts:
        """The parent, intersected with the set of the criterion."""
        (parent,) = dependencies
        selection = Selection.from_json(parameters)
        return (intersection(digest, parent, selection.true),), selection.atoms

    @classmethod
    def local_statement(cls, digest: str, dependencies: Sequence[str]) -> Statement:
        """A subset; not a strict one: a criterion may be true of every source."""
        (parent,) = dependencies
        return subset(digest, parent)

    def _own_extent(self) -> Extent:
        return self.parent.extent & self.selection.extent(self.parent.schema)
