"""The providers of attributes: the most general definition of each attribute, found in the archive or created.

A value is a function of the source. So an attribute that a catalog derives for a few sources is known for all sources
that have the inputs of the derivation. The provider of an attribute is the definition on that largest set; the plan
decides how much of it to compute. This module identifies attributes by identity; `provenn.targets.naming` finds the
identity for a name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from provenn.catalogs import (
    Attribute,
    Calculator,
    Catalog,
    cone,
    list_bases,
    list_joined_bases,
    verbs,
)
from provenn.catalogs.catalog import Derivation
from provenn.catalogs.references import Reference, split_identity
from provenn.criteria import AttributeIdentity
from provenn.database.transactions import Reading
from provenn.definitions import attributes, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import AttributeConflictError, ProvennError
from provenn.targets.steps import is_key

__all__ = ["ProvidedAttribute", "Providers", "combine_providers", "rests_on_calculators", "walk_row_lineage"]


@dataclass(frozen=True, slots=True)
class ProvidedAttribute:
    """A requested attribute with its provider.

    Parameters
    ----------
    name
        The name of the column, or the input name in a criterion.
    attribute
        The attribute in the provider's schema.
    provider
        A catalog with the attribute.
    how
        How the attribute was found, in words.
    """

    name: str
    attribute: Attribute
    provider: Catalog
    how: str


def walk_row_lineage(catalog: Catalog) -> Iterator[Catalog]:
    """Yield a catalog and all catalogs in the lineage of the rows, each once.

    A concatenation or a cross-match ends the walk, because the rows get a new schema there.
    """
    seen: set[CatalogDigest] = set()
    stack = [catalog]
    while stack:
        current = stack.pop()
        if current.digest not in seen:
            seen.add(current.digest)
            yield current
            stack.extend(current.row_parents)


@dataclass(slots=True)
class Providers:
    """Finds providers of attributes, and the attributes that the sources' own values determine.

    Parameters
    ----------
    reading
        The archive.
    sources
        The requested sources.
    """

    reading: Reading
    sources: Catalog
    _created: dict[CatalogDigest, Catalog] = field(default_factory=dict)
    _largest: dict[AttributeIdentity, Catalog] = field(default_factory=dict)
    _definers: dict[AttributeIdentity, list[Catalog]] = field(default_factory=dict)
    _noted: set[CatalogDigest] = field(default_factory=set)
    _asked: list[Catalog] = field(default_factory=list)
    _own: frozenset[AttributeIdentity] | None = None
    _determined: dict[AttributeIdentity, bool] = field(default_factory=dict)
    _partners: dict[AttributeIdentity, Providers] = field(default_factory=dict)

    # -- what is known of definitions ----------------------------------------------------------------------------

    def note_definitions(self, *catalogs: Catalog) -> None:
        """Note the catalogs in the lineages as definers of their new attributes."""
        for catalog in cone(*(catalog for catalog in catalogs if catalog.digest not in self._noted)):
            if catalog.digest not in self._noted:
                self._noted.add(catalog.digest)
                for _, identity in attributes.list_new_attributes(catalog):
                    self._definers.setdefault(identity, []).append(catalog)

    def note_partners(self, identity: AttributeIdentity, partners: Providers) -> None:
        """Note the providers of an attribute that partners of the sources have or give."""
        self._partners.setdefault(identity, partners)

    def note_asked(self, catalog: Catalog) -> None:
        """Note a catalog that the request names as the one to take an attribute from."""
        self._asked.append(catalog)

    def find_definers(self, identity: AttributeIdentity) -> list[Catalog]:
        """Return the visible catalogs that define an attribute, sorted by digest."""
        if identity not in self._definers:
            self.note_definitions(self.sources)
        if identity not in self._definers:
            digests = [
                definition.catalog for definition in attributes.find_definitions_by_identity(self.reading, identity)
            ]
            self.note_definitions(*catalog_store.get_catalogs(self.reading, digests).values() if digests else ())
        return sorted(self._definers.get(identity, ()), key=lambda catalog: catalog.digest)

    def find_derivation(self, identity: AttributeIdentity) -> Derivation | None:
        """Return a catalog with a derivation of an attribute; None if the attribute is not derived."""
        derivations = (catalog.find_derivation(identity) for catalog in self.find_definers(identity))
        return next((derivation for derivation in derivations if derivation is not None), None)

    # -- what the sources determine ------------------------------------------------------------------------------

    def determines(self, identity: AttributeIdentity) -> bool:
        """Return whether the sources' own values determine an attribute.

        The values do so if the rows have the attribute, if the rows come through a catalog with the attribute, if the
        attribute is derived only from such attributes, if such attributes refer to the source with the attribute, or if
        the attribute describes the groups that refer to the sources. The answer follows from definitions alone, and
        definitions never change.
        """
        if is_key(identity) or self._is_in_rows(identity):
            return True
        split = split_identity(identity)
        if split is not None:
            return all(map(self.determines, split[0].identities))
        if identity not in self._determined and any(
            catalog.profile.describes_groups and catalog.population == self.sources.population
            for catalog in self.find_definers(identity)
        ):
            self._determined[identity] = True
        if identity not in self._determined:
            derivation = self.find_derivation(identity)
            self._determined[identity] = derivation is not None and all(
                map(self.determines, derivation.find_inputs(identity).values())
            )
        return self._determined[identity]

    def _is_in_rows(self, identity: AttributeIdentity) -> bool:
        """Return whether the rows have an attribute, or come through a catalog with the attribute."""
        if self._own is None:
            lineage = walk_row_lineage(self.sources)
            self._own = frozenset(identity for catalog in lineage for identity in catalog.schema.by_identity)
        return identity in self._own

    # -- providers -----------------------------------------------------------------------------------------------

    def find_provider(self, identity: AttributeIdentity) -> Catalog:
        """Return the most general definition of an attribute; for the key, the sources themselves."""
        if is_key(identity):
            return self.sources
        if identity not in self._largest:
            self._largest[identity] = self._find_most_general(identity)
        return self._largest[identity]

    def provide_attribute(self, name: str, identity: AttributeIdentity, how: str) -> ProvidedAttribute:
        """Return an attribute under a name, with its provider."""
        provider = self.find_provider(identity)
        attribute = provider.schema.by_identity[identity]
        if is_key(identity) and attribute.name != name:  # the sources have the key under another name
            provider = verbs.rename(self.sources, {attribute.name: name})
            attribute = provider.schema.by_identity[identity]
        return ProvidedAttribute(name, attribute, provider, how)

    def find_created(self, provided: Iterable[ProvidedAttribute]) -> tuple[Catalog, ...]:
        """Return the catalogs that were created for some attributes because the archive had none."""
        needed, created = cone(*(attribute.provider for attribute in provided)), self.collect_created()
        return tuple(catalog for catalog in needed if catalog.digest in created)

    def collect_created(self) -> set[CatalogDigest]:
        """Return the digests of the catalogs that were created, also for partners."""
        return set(self._created).union(*(partners.collect_created() for partners in self._partners.values()))

    def derive_outputs(self, calculator: Calculator, inputs: Mapping[str, AttributeIdentity]) -> Catalog:
        """Return the derivation of a calculator for the largest set of sources that have its inputs.

        Parameters
        ----------
        calculator
            The calculator.
        inputs
            The identity of each input, by the calculator's name for the input.

        Raises
        ------
        ProvennError
            If the calculator does not fit these inputs.
        """
        parent = self._build_parent(inputs)
        try:
            derivation = verbs.derive(parent, calculator)
        except AttributeConflictError:  # another attribute of the parent has the name of an output
            derivation = verbs.derive(verbs.keep(parent, inputs), calculator)
        for name in calculator.names:
            identity = derivation.schema[name].identity
            if identity not in self._largest:
                self._largest[identity] = self._find_or_note(derivation, identity)
        return derivation

    def _build_parent(self, inputs: Mapping[str, AttributeIdentity]) -> Catalog:
        """Return a catalog with all inputs under the names of the calculator."""
        parts = ((self.find_provider(identity), identity, name) for name, identity in inputs.items())
        return combine_providers(parts) or self.sources

    def _find_most_general(self, identity: AttributeIdentity) -> Catalog:
        """Return the definition of an attribute for the largest set of sources; create the catalog if needed."""
        split = split_identity(identity)
        if split is not None:
            return self._look_up(identity, *split)
        definers = self.find_definers(identity)
        if list_bases(definers):
            return self._find_largest_version(identity)
        derivation = self.find_derivation(identity)
        if derivation is None:
            # A catalog that only renames the attribute has it from a dependency.
            original = [
                catalog
                for catalog in definers
                if not any(identity in dependency.schema.by_identity for dependency in catalog.dependencies)
            ]
            return min(original or definers, key=lambda catalog: (len(catalog.extent.labels), catalog.digest))
        if derivation.is_catalog_wide:
            return derivation
        parent = self._build_parent(derivation.find_inputs(identity))
        if parent.extent == derivation.parent.extent:
            return derivation
        for derive in (partial(derivation.on, [parent]), partial(derivation.derive_single, identity, parent)):
            try:
                created = derive()
            except ProvennError:  # another attribute has one of the names
                continue
            if identity in created.schema.by_identity:
                return self._find_or_note(created, identity)
        return derivation

    def _look_up(self, identity: AttributeIdentity, reference: Reference, inner: AttributeIdentity) -> Catalog:
        """Return the lookup of an attribute of partners, for the largest sets of sources and of partners."""
        if inner not in self._partners:
            anchor = inner
            while (split := split_identity(anchor)) is not None:
                anchor = split[0].identities[0]
            self._partners[inner] = Providers(self.reading, self.find_definers(anchor)[0])
        other = self._partners[inner].find_provider(inner)
        providers = {own: self.find_provider(own) for own in reference.identities}
        names = [provider.schema.by_identity[own].name for own, provider in providers.items()]
        parent = verbs.keep(self._build_parent(dict(zip(names, reference.identities, strict=True))), names)
        looked_up, prefix = other.schema.by_identity[inner].name, ""
        while prefix + looked_up in parent.schema.names:
            prefix += "partner_"
        created = verbs.lookup(parent, other, on=names, attributes=[looked_up], missing="drop", prefix=prefix)
        return self._find_or_note(created, identity)

    def _find_largest_version(self, identity: AttributeIdentity) -> Catalog:
        """Return the version with an attribute and the most files; a union, if several versions have different files.

        Appended files have the attributes of earlier files, so several versions have the attribute. An attribute of the
        rows is taken from the versions behind the sources, any other attribute from the catalogs named by the request,
        or else from all base catalogs with the attribute.
        """
        made_from = cone(*([self.sources] if self._is_in_rows(identity) else self._asked))
        files_by_version = _list_files_by_version(made_from, identity)
        if not files_by_version:
            defined = attributes.find_definitions_by_identity(self.reading, identity)
            stored = catalog_store.get_catalogs(self.reading, [definition.catalog for definition in defined])
            files_by_version = _list_files_by_version(stored.values(), identity)
        largest: dict[frozenset[str], Catalog] = {}
        for catalog, files in sorted(files_by_version.items(), key=lambda item: (-len(item[1]), item[0].digest)):
            if not any(files <= others for others in largest):
                largest[files] = catalog
        if len(largest) == 1:
            return next(iter(largest.values()))
        kept = [verbs.keep(catalog, [catalog.schema.by_identity[identity].name]) for catalog in largest.values()]
        name = kept[0].schema.by_identity[identity].name
        parts = (
            part if name in part.schema.names else verbs.rename(part, {part.schema.by_identity[identity].name: name})
            for part in kept
        )
        return self._find_or_note(verbs.concat(*parts), identity)

    def _find_or_note(self, created: Catalog, identity: AttributeIdentity) -> Catalog:
        """Return a stored catalog with the attribute for the same sources, or else note the created catalog."""
        digests = attributes.find_definers_of_extent(self.reading, identity, created.extent.digest)
        if digests:
            return catalog_store.get_catalog(self.reading, digests[0])
        self.note_definitions(created)
        self._created.setdefault(created.digest, created)
        return created


def _list_files_by_version(catalogs: Iterable[Catalog], identity: AttributeIdentity) -> dict[Catalog, frozenset[str]]:
    """Return the fingerprints of the files of each catalog that is a version of files and has an attribute."""
    return {
        catalog: frozenset(text for base in bases for _, text in base.files.fingerprints)
        for catalog in catalogs
        if identity in catalog.schema.by_identity and (bases := list_joined_bases(catalog)) is not None
    }


def rests_on_calculators(
    catalog: Catalog,
    identity: AttributeIdentity,
    calculators: Collection[str],
    expressions: Collection[tuple[str, str, str]],
) -> bool:
    """Return whether a catalog has an attribute only through some calculators or SQL expressions.

    Parameters
    ----------
    catalog
        The catalog; only its own lineage is searched.
    identity
        The attribute.
    calculators
        Digests of Python calculators.
    expressions
        Names, SQL as written, and stated units; an empty unit if none was stated.
    """
    resting: dict[AttributeIdentity, bool] = {}  # by attribute: whether all definitions so far rest on the calculators
    for ancestor in cone(catalog):
        for _, attribute in attributes.list_new_attributes(ancestor):
            derivation = ancestor.find_derivation(attribute)
            if derivation is not None:
                by_these = derivation.is_derived_by(attribute, calculators, expressions)
                rests = by_these or any(resting.get(read, False) for read in derivation.find_inputs(attribute).values())
                resting[attribute] = resting.get(attribute, True) and rests
    return resting.get(identity, False)


def combine_providers(wanted: Iterable[tuple[Catalog, AttributeIdentity, str]]) -> Catalog | None:
    """Return a catalog that has attributes under chosen names; None if no attribute is wanted.

    Parameters
    ----------
    wanted
        The provider, the identity and the name of each attribute.
    """
    by_provider: dict[Catalog, dict[str, AttributeIdentity]] = {}
    for provider, identity, name in wanted:
        by_provider.setdefault(provider, {})[name] = identity
    if len(by_provider) == 1:
        ((provider, names),) = by_provider.items()
        matches = {name: provider.schema.matching(name) for name in names}
        if all(matches[name] and matches[name][0].identity == identity for name, identity in names.items()):
            return provider
    parts = [part for provider, names in by_provider.items() for part in _rename_attributes(provider, names)]
    return verbs.combine(*parts) if len(parts) > 1 else parts[0] if parts else None


def _rename_attributes(provider: Catalog, names: Mapping[str, AttributeIdentity]) -> Iterator[Catalog]:
    """Yield catalogs with exactly the attributes under chosen names.

    Each further name of the same attribute needs its own catalog.
    """
    rest = dict(names)
    while rest:
        first = {identity: name for name, identity in reversed(rest.items())}
        held = {identity: provider.schema.by_identity[identity].name for identity in first}
        kept = verbs.keep(provider, held.values())
        changed = {held[identity]: name for identity, name in first.items() if held[identity] != name}
        yield verbs.rename(kept, changed) if changed else kept
        rest = {name: identity for name, identity in rest.items() if first[identity] != name}
