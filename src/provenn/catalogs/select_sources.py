"""The sources of a catalog for which a criterion is TRUE."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters, make_inconsistency_error
from provenn.catalogs.column_origins import ColumnOrigin, Comparison, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent, build_extent, leaf
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.selection import Condition, Selection
from provenn.criteria import Criterion, abridged, parse_criterion
from provenn.criteria.cut_labels import read_cut
from provenn.criteria.platforms import Trait, find_platform_traits
from provenn.digests import CatalogDigest
from provenn.errors import CriterionError
from provenn.logic import Statement, intersection, subset

__all__ = ["SelectSources"]

_COMPARISON = re.compile(r"([A-Za-z_]\w*) (<=|>=|<|>|=) (-?\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectSources(Catalog):
    """The sources of `parent` for which a criterion is TRUE, not FALSE or NULL.

    Parameters
    ----------
    parent
        The catalog of the sources.
    selection
        The criterion, as a set.
    text
        The criterion in the user's wording.
    """

    profile = ClassProfile(word="select", shape="funnel", narrows=True)
    parent: Catalog
    selection: Selection
    text: str

    @classmethod
    def of(cls, parent: Catalog, text: str) -> Self:
        """Select sources by a criterion in SQL.

        Raises
        ------
        CriterionError
            If the criterion cannot be parsed, does not fit the attributes, or is not deterministic and row-wise.
        """
        return cls(parent, Selection.of(text, parent.schema), text)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """The parent."""
        return (self.parent,)

    @property
    def criterion(self) -> Criterion:
        """The criterion over identities, for `provenn.criteria.render`."""
        return parse_criterion(self.selection.criterion, self.parent.schema.by_canonical_name, canonical=True)

    def parameters(self) -> Parameters:
        """Return the canonical criterion, the set and the atoms."""
        return self.selection.to_json()

    def check_consistency(self) -> None:
        """Make sure that the set is that of the criterion."""
        if Selection.parse_canonical(self.selection.criterion, self.parent.schema) != self.selection:
            raise make_inconsistency_error("its set is not that of its criterion")

    def notes(self) -> Parameters:
        """Return the criterion in the user's wording."""
        return {"text": self.text}

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the selection by the same text on a different parent."""
        (parent,) = dependencies
        return self.of(parent, self.text)

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies."""
        (parent,) = dependencies
        return cls(parent, Selection.from_json(parameters), notes["text"])

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the parent and the set of the criterion."""
        (parent,) = dependencies
        selection = Selection.from_json(parameters)
        return (intersection(digest, parent, selection.true),), selection.atoms

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset, not a strict subset: a criterion may be true of every source."""
        (parent,) = dependencies
        return subset(digest, parent)

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the parent and the criterion in words."""
        return f"the sources of {parts[0]} where {abridged(' '.join(notes['text'].split()))}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the parent and the criterion."""
        return f"{parts[0]} where {' '.join(self.text.split())}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the criterion."""
        return (("criterion", self.text),)

    def exchange_form(self) -> ExchangeForm:
        """Return the verb and the criterion in the user's wording."""
        return self.profile.word, {"criterion": self.text}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the selection by a criterion."""
        return cls.of(parts[0], require_text(options["criterion"]))

    def find_condition(self) -> Condition:
        """Return the condition of the selection."""
        true = self.selection.true
        if not {atom.label for atom in self.selection.atoms}.issuperset(true.labels):
            true = self.criterion.true  # after a concatenation, the selection names the members' attributes
        return Condition(build_extent(true, leaf), self.selection.criterion, self.text, self.selection.atoms)

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the attributes that the criterion reads."""
        attributes = self.parent.schema.by_identity
        reads = (attributes[identity] for identity in self.criterion.reads)
        return build_origins(self.parent.digest, reads, "INDIRECT", "FILTER", self.text)

    def list_comparisons(self) -> tuple[Comparison, ...]:
        """Return the criterion as a conjunction of comparisons with numbers; empty if it has another form."""
        schema = self.parent.schema
        try:
            text = parse_criterion(self.text, schema).text
        except CriterionError:  # an older version of the program accepted the criterion
            return ()
        matches = [_COMPARISON.fullmatch(part) for part in text.split(" AND ")]
        if None in matches:
            return ()
        return tuple((schema[match[1]].name, match[2], match[3]) for match in matches if match is not None)

    def find_own_traits(self) -> frozenset[Trait]:
        """Return the platform traits of the criterion.

        The criterion is made from its atoms. If all of them compare a column with a constant, nothing is computed that
        could differ, and the criterion need not be parsed.
        """
        attributes = self.parent.schema.by_identity
        if all(read_cut(atom.label, attributes) is not None for atom in self.selection.atoms):
            return frozenset()
        return find_platform_traits(self.criterion.condition)

    def _build_extent(self) -> Extent:
        return self.parent.extent & self.selection.extent(self.parent.schema)
