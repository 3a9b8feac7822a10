"""Rows of files as sets of sources: the rows of a file of a base catalog, and rows that were moved to new files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from provenn.catalogs.extent import Extent, intersection, leaf, union
from provenn.catalogs.set_labels import parse_file_label
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.logic.terms import Op, Term, chain, term

__all__ = ["FormerRows"]


@dataclass(frozen=True, slots=True, order=True)
class FormerRows:
    """Rows of a base catalog that were rewritten into new files.

    Parameters
    ----------
    base
        The digest of the base catalog.
    without
        The labels of files whose rows are left out.
    within
        Groups of labels of files: the rows are in a file of each group. Without groups, these are all other rows.

    Examples
    --------
    >>> FormerRows("stars", ("file a",), (("file b", "file c"),)).term
    Term('stars - "file a" & ("file b" | "file c")')
    """

    base: CatalogDigest
    without: tuple[str, ...] = ()
    within: tuple[tuple[str, ...], ...] = ()

    @property
    def term(self) -> Term:
        """The sources of these rows."""
        rest = chain(Op.MINUS, (term(self.base), *map(term, self.without)))
        return chain(Op.AND, (rest, *(chain(Op.OR, tuple(map(term, group))) for group in self.within)))

    @property
    def extent(self) -> Extent:
        """The sources of these rows, in canonical form."""
        return intersection(
            [
                leaf(self.base),
                *(~leaf(label) for label in self.without),
                *(union(map(leaf, group)) for group in self.within),
            ]
        )

    @property
    def label_count(self) -> int:
        """How many files are named."""
        return len(self.without) + sum(map(len, self.within))

    def is_sound(self) -> bool:
        """Whether these are rows of a base catalog, limited by files and nothing else."""
        labels = [*self.without, *(label for group in self.within for label in group)]
        return is_catalog_label(self.base) and all(self.within) and None not in map(parse_file_label, labels)

    def to_json(self) -> list[Any]:
        """Return the rows as JSON."""
        return [self.base, list(self.without), [list(group) for group in self.within]]

    @classmethod
    def from_json(cls, form: Sequence[Any]) -> Self:
        """Restore rows from JSON."""
        base, without, within = form
        return cls(base, tuple(without), tuple(map(tuple, within)))
