"""The sources of a catalog that fulfil a condition in SQL that provenn does not understand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters, make_inconsistency_error
from provenn.catalogs.column_origins import ColumnOrigin, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent, leaf
from provenn.catalogs.opaque_inputs import MOST_INPUTS, check_reason, choose_inputs, list_read_attributes
from provenn.catalogs.population import Population
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.set_labels import make_opaque_label
from provenn.criteria import AttributeIdentity
from provenn.criteria.platforms import Trait
from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.logic import Statement, intersection, subset

if TYPE_CHECKING:
    from provenn.catalogs.opaque_text import OpaqueText

__all__ = ["OpaqueSelection"]

_WORD: Final = "opaque selection"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpaqueSelection(Catalog):
    """The sources of `parent` for which a condition in SQL is TRUE; provenn knows nothing else about the condition.

    The condition reads one row of the parent, and whole other catalogs in subqueries. So a condition is a set: the same
    condition on a narrower parent gives the sources of the narrower parent that are in the same set.

    Parameters
    ----------
    parent
        The catalog of the sources and attributes.
    condition
        The condition in canonical form: columns of the parent are written as identities of attributes.
    others
        The catalogs in subqueries: the tables ``input_1``, ``input_2`` … of the condition.
    text
        The condition with names of attributes.
    reason
        Why provenn does not understand the condition, in words.
    """

    profile = ClassProfile(
        word=_WORD,
        shape="smoked funnel",
        part_counts=range(1, MOST_INPUTS + 2),
        narrows=True,
        crosses_populations=True,
    )
    parent: Catalog
    condition: str
    others: tuple[Catalog, ...]
    text: str
    reason: str

    @classmethod
    def of(cls, parent: Catalog, condition: object, others: Sequence[Catalog] = (), reason: str = "") -> Self:
        """Keep the sources for which a condition is TRUE.

        Parameters
        ----------
        parent
            The catalog of the sources.
        condition
            A condition in Spark's SQL. Columns of the parent are written ``parent.`name` ``; subqueries read the tables
            ``input_1``, ``input_2`` ….
        others
            The catalogs of these tables, in order. Catalogs that the condition does not read are left out.
        reason
            Why provenn does not understand the condition, in words.

        Raises
        ------
        DefinitionError
            If the condition holds anything that is not allowed.
        AttributeNotFoundError
            If the parent has no such attribute.
        """
        text, used = choose_inputs(_read_text(condition, others), others)
        identities = {name: str(parent.schema[name].identity) for name in text.parent_columns}
        names = {name: parent.schema[name].name for name in text.parent_columns}
        return cls(parent, text.rename_parent(identities), used, text.rename_parent(names), check_reason(reason))

    def _define_anew(self) -> Catalog:
        self._check_condition()
        return self.on(self.dependencies)

    def _check_condition(self) -> None:
        """Make sure that the condition is one, on attributes of the parent."""
        attributes = self.parent.schema.by_canonical_name
        for identity in self.read_condition().parent_columns:
            if identity not in attributes:
                raise make_inconsistency_error(f"its condition reads {identity!r}, which is no attribute of the parent")

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """`parent`, and the catalogs in subqueries."""
        return self.parent, *self.others

    def read_condition(self) -> OpaqueText:
        """Return the condition, whose columns of the parent are identities."""
        return _read_text(self.condition, self.others)

    @property
    def reads(self) -> tuple[AttributeIdentity, ...]:
        """The attributes of the parent that the condition reads."""
        return tuple(map(AttributeIdentity, self.read_condition().parent_columns))

    @property
    def label(self) -> str:
        """The label of the set of all sources that fulfil the condition."""
        return make_opaque_label(self.condition, [other.digest for other in self.others])

    def parameters(self) -> Parameters:
        """Return the condition, and the label of its set."""
        return {"condition": self.condition, "set": self.label}

    def notes(self) -> Parameters:
        """Return why provenn does not understand the condition, and the condition with names."""
        return {"reason": self.reason, "text": self.text}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies, after reading the condition again."""
        parent, *others = dependencies
        text, reason = require_text(notes["text"]), check_reason(notes["reason"])
        catalog = cls(parent, parameters["condition"], tuple(others), text, reason)
        catalog._check_condition()
        return catalog

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same condition, on attributes of the same names, on different catalogs."""
        parent, *others = dependencies
        return self.of(parent, self.text, others, self.reason)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset of the parent."""
        return subset(digest, dependencies[0])

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the parent and the set of the condition."""
        label = make_opaque_label(parameters["condition"], dependencies[1:])
        return (intersection(digest, dependencies[0], label),), ()

    # --- the definition in words and in exchanged files ---

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003 - the text has names
        """Return the parent and the condition."""
        tables = [f"input_{number} is {part}" for number, part in enumerate(parts[1:], 1)]
        where = f", where {join_words(tables)}" if tables else ""
        return f"the sources of {parts[0]} that fulfil a condition that is not understood: {notes['text']}{where}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return the catalogs."""
        others = f" by SQL on {join_words(parts[1:])}" if parts[1:] else ""
        return f"some of {parts[0]}{others}"

    def explain_opacity(self) -> str:
        """Return the reason."""
        return self.reason or "no reason is recorded"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the condition, and why it is not understood."""
        return (("condition", self.text), ("not understood", self.explain_opacity()))

    def exchange_form(self) -> ExchangeForm:
        """Return the condition with names, and the reason."""
        return self.profile.word, {"condition": self.text, "reason": self.reason}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the sources of the first part that fulfil the condition."""
        return cls.of(parts[0], options["condition"], parts[1:], options["reason"])

    # --- the lineage of rows and values ---

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the attributes that the condition reads."""
        text, condition, attributes = self.read_condition(), self.text, self.parent.schema.by_identity
        own = (attributes[identity] for identity in self.reads)
        origins = build_origins(self.parent.digest, own, "INDIRECT", "FILTER", condition)
        for other in self.others:
            origins += build_origins(other.digest, list_read_attributes(text, other), "INDIRECT", "FILTER", condition)
        return origins

    def find_own_traits(self) -> frozenset[Trait]:
        """Return all traits: nobody knows what the condition calculates."""
        return frozenset(Trait)

    def _build_population(self) -> Population:
        return self.parent.population

    def _build_extent(self) -> Extent:
        return self.parent.extent & leaf(self.label)


def _read_text(condition: object, others: Sequence[Catalog]) -> OpaqueText:
    """Return the text of a condition that reads some other catalogs, if it holds nothing that is not allowed."""
    from provenn.catalogs.opaque_text import read_condition  # noqa: PLC0415 - sqlglot takes long to import

    return read_condition(condition, len(others))
