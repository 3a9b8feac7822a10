"""A catalog with attributes of partners in another catalog, found by a reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Self, get_args

from provenn.catalogs.catalog import Catalog, Facts, Parameters, PartnerLookup
from provenn.catalogs.column_origins import ColumnOrigin, build_key_origins, build_origins
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions, require_text
from provenn.catalogs.extent import Extent
from provenn.catalogs.population import Population
from provenn.catalogs.preimages import lift_extent
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.reference_columns import find_reference, read_names, read_reference, restore_reference
from provenn.catalogs.references import Reference, lift_identity, lift_label
from provenn.catalogs.restrict_sources import RestrictSources
from provenn.catalogs.schema import Attribute, Schema, check_name, merge_attributes
from provenn.criteria import AttributeIdentity
from provenn.digests import CatalogDigest, content_digest
from provenn.display.text import join_words
from provenn.errors import DefinitionError
from provenn.hints import Hint
from provenn.logic import Statement, equal, intersection, subset

__all__ = ["LookupAttributes", "MissingPartner"]

MissingPartner = Literal["error", "null", "drop"]
"""How to treat sources without a partner: raise an error when data are computed, give NULL, or leave them out."""

_MISSING: Final = {
    "error": "",
    "null": "; NULL without a partner",
    "drop": "; sources without a partner are left out",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LookupAttributes(PartnerLookup):
    """The sources of `parent` that have a partner in `other`, with attributes of the partner.

    With ``missing="null"`` the sources are all those of `parent`. The value of an attribute then depends on which
    sources `other` has, so it is another attribute than the one that other lookups read through the same reference.

    Parameters
    ----------
    parent
        The catalog of the sources.
    other
        The catalog of the partners, of any population.
    reference
        The attributes of `parent` that hold the key of the partner.
    names
        The attributes of the partner that are looked up, each with its name in the result.
    missing
        How to treat sources without a partner.
    on_names
        The names of the referring attributes, in the user's words.
    """

    profile = ClassProfile(
        word="lookup", shape="hook", part_counts=range(2, 3), crosses_populations=True, follows_reference=True
    )
    parent: Catalog
    other: Catalog
    reference: Reference
    names: tuple[tuple[str, str], ...]
    missing: MissingPartner
    on_names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        parent: Catalog,
        other: Catalog,
        *,
        on: object,
        attributes: object = None,
        missing: str = "error",
        prefix: str = "",
    ) -> Self:
        """Look up attributes of partners.

        Parameters
        ----------
        parent
            The catalog of the sources.
        other
            The catalog of the partners.
        on
            The attributes of `parent` that hold the key of the partner: a name, or a list in the order of that key.
        attributes
            The names of the attributes to look up; None for all attributes but the key.
        missing
            "error", "null" or "drop".
        prefix
            What the names of the attributes begin with in the result.

        Raises
        ------
        DefinitionError
            If an argument is not valid.
        PopulationError
            If the referring attributes do not fit the key of `other`.
        AttributeNotFoundError
            If an attribute does not exist.
        AttributeConflictError
            If `parent` has another attribute of the same name.
        """
        reference, on_names = find_reference(parent, on, other.population)
        if attributes is None:
            key = {attribute.name for attribute in other.schema.key}
            wanted = [name for name in other.schema.names if name not in key]
        else:
            wanted = [other.schema[name].name for name in read_names(attributes, "attributes")]
        if not isinstance(prefix, str):
            raise DefinitionError(f"expected text as prefix, got {prefix!r}")
        names = tuple((name, check_name(prefix + name)) for name in dict.fromkeys(wanted))
        return cls(parent, other, reference, names, _check_missing(missing), on_names)

    def _define_anew(self) -> Catalog:
        anew = type(self).of(self.parent, self.other, on=self.find_names(), attributes=[], missing=self.missing)
        return replace(anew, names=tuple((self.other.schema[name].name, check_name(new)) for name, new in self.names))

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """`parent` and `other`."""
        return self.parent, self.other

    def find_names(self) -> list[str]:
        """Return the names of the referring attributes in the parent."""
        attributes = self.parent.schema.by_identity
        return [attributes[identity].name for identity in self.reference.identities]

    def find_lookup(self) -> Self:
        """Return this catalog."""
        return self

    @property
    def requires_partners(self) -> bool:
        """Whether a source without a partner is an error."""
        return self.missing == "error"

    def require_partners(self, sources: Catalog) -> Self:
        """Return the same lookup for the parent's sources in another catalog, each of which must have a partner."""
        return replace(self, parent=RestrictSources.of(self.parent, sources), missing="error")

    @property
    def columns(self) -> tuple[tuple[Attribute, Attribute], ...]:
        """The looked-up attributes, each as an attribute of this catalog and as an attribute of the partner."""
        columns = []
        for name, new in self.names:
            own = self.other.schema[name]
            identity = self._lift(own.identity)
            attribute = replace(own, name=new, identity=identity, pieces=(), derived_pieces=None)
            if identity in self.reference.identities:  # the referring attribute itself, under another name
                referring = self.parent.schema.by_identity[identity]
                attribute = replace(referring, name=new, unit=own.unit, description=own.description, ucd=own.ucd)
            elif self.missing == "null":
                attribute = replace(attribute, nullable=True)
            columns.append((attribute, own))
        return tuple(columns)

    def _lift(self, identity: AttributeIdentity) -> AttributeIdentity:
        """Return the identity of an attribute of the partner in this catalog."""
        lifted = lift_identity(self.reference, identity)
        if self.missing != "null":
            return lifted
        # The key of the partner, lifted, is a referring attribute, which alone does not tell the reference.
        content = {"partner in": self.other.extent.digest, "by": self.reference.to_json(), "lifted": lifted}
        return AttributeIdentity(content_digest("attribute", content))

    def parameters(self) -> Parameters:
        """Return the reference, the looked-up attributes, and how sources without a partner are treated."""
        return {
            "reference": self.reference.to_json(),
            "attributes": [list(pair) for pair in self.names],
            "missing": self.missing,
        }

    def notes(self) -> Parameters:
        """Return the names of the referring attributes."""
        return {"on": list(self.on_names)}

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:
        """Return the catalog with these parameters, notes and dependencies."""
        parent, other = dependencies
        reference = restore_reference(parameters["reference"], parent, other.population)
        names = tuple((other.schema[name].name, check_name(new)) for name, new in parameters["attributes"])
        return cls(parent, other, reference, names, _check_missing(parameters["missing"]), tuple(notes["on"]))

    def on(self, dependencies: Sequence[Catalog]) -> Catalog:
        """Return the same lookup with different catalogs."""
        parent, other = dependencies
        anew = type(self).of(parent, other, on=list(self.on_names), attributes=[], missing=self.missing)
        names = tuple((other.schema[name].name, new) for name, new in self.names)
        return replace(anew, names=names)

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement:
        """Return a subset of the parent: the partners are of another population."""
        parent, _ = dependencies
        return subset(digest, parent)

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:
        """Return the intersection of the parent and the preimage of the partners; with NULL, the parent."""
        parent, other = dependencies
        if parameters["missing"] == "null":
            return (equal(digest, parent),), ()
        return (intersection(digest, parent, lift_label(read_reference(parameters["reference"]), other)),), ()

    @classmethod
    def find_lift(
        cls, dependencies: Sequence[CatalogDigest], parameters: Parameters
    ) -> tuple[Reference, CatalogDigest] | None:
        """Return the reference, and the partners; None with NULL, where partners do not decide about the sources."""
        return None if parameters["missing"] == "null" else cls.find_reference(dependencies, parameters)

    @classmethod
    def find_reference(
        cls, dependencies: Sequence[CatalogDigest], parameters: Parameters
    ) -> tuple[Reference, CatalogDigest]:
        """Return the reference, and the partners."""
        return read_reference(parameters["reference"]), dependencies[1]

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> None:
        """Return None: the attributes of the partners decide."""

    # --- the definition in words and in exchanged files ---

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:
        """Return the parent, the partners and the reference in words."""
        looked_up = [new for _, new in parameters["attributes"]]
        by = f"the partner in {parts[1]} that {join_words(notes['on'])} names"
        attributes = f"with {join_words(looked_up)} of " if looked_up else "with "
        return f"the sources of {parts[0]}, {attributes}{by}{_MISSING[parameters['missing']]}"

    def describe_briefly(self, parts: Sequence[str]) -> str:
        """Return both catalogs."""
        return f"{parts[0]} looked up in {parts[1]}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return the reference, the attributes, and how missing partners are treated."""
        attributes = ", ".join(name if name == new else f"{name} as {new}" for name, new in self.names)
        return (("on", ", ".join(self.on_names)), ("attributes", attributes), ("missing", self.missing))

    def exchange_form(self) -> ExchangeForm:
        """Return the reference, the attributes, and how missing partners are treated."""
        return self.profile.word, {
            "on": list(self.on_names),
            "attributes": [list(pair) for pair in self.names],
            "missing": self.missing,
        }

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Return the lookup of attributes in the second part."""
        parent, other = parts
        anew = cls.of(parent, other, on=options["on"], attributes=[], missing=require_text(options["missing"]))
        names = tuple((other.schema[name].name, check_name(new)) for name, new in options["attributes"])
        return replace(anew, names=names)

    # --- the lineage of rows and values ---

    def trace_attributes(self) -> dict[str, tuple[ColumnOrigin, ...]]:
        """Return the attributes of the parent and of the partner as origins."""
        origins = Catalog.trace_attributes(self)
        looked_up = {new.name: (ColumnOrigin(self.other.digest, own.name),) for new, own in self.columns}
        return {name: own or looked_up.get(name, ()) for name, own in origins.items()}

    def trace_selection(self) -> tuple[ColumnOrigin, ...]:
        """Return the referring attributes and the key of the partners: a join."""
        attributes = self.parent.schema.by_identity
        referring = (attributes[identity] for identity in self.reference.identities)
        text = f"{'left' if self.missing == 'null' else 'inner'} join on the reference"
        own = build_origins(self.parent.digest, referring, "INDIRECT", "JOIN", text)
        return (*own, *build_key_origins({self.other.digest: self.other.schema}, "JOIN", text))

    def _build_population(self) -> Population:
        return self.parent.population

    def _build_schema(self) -> Schema:
        return merge_attributes([*self.parent.schema.attributes, *(attribute for attribute, _ in self.columns)])

    def _build_extent(self) -> Extent:
        if self.missing == "null":
            return self.parent.extent
        return self.parent.extent & lift_extent(self.reference, self.other.extent)


def _check_missing(missing: object) -> MissingPartner:
    """Return how to treat missing partners, if valid."""
    for choice in get_args(MissingPartner):
        if missing == choice:
            result: MissingPartner = choice
            return result
    raise DefinitionError(
        f"unknown treatment of missing partners: {missing!r}",
        hint=Hint('missing="error", "null" or "drop"', command="--missing error, null or drop"),
    )
