"""Who provides an attribute: its most general definition, found in the archive or made.

A value is a function of the source, so that an attribute which somebody derived for a few sources is known for all
sources that have what it is derived from. The provider of an attribute is the definition on that largest set; what
is computed of it is for the plan to decide. Attributes are known by identity here; `provenn.targets.naming` says which
identity a name means.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from provenn.catalogs import (
    Attribute,
    Base,
    Calculator,
    Catalog,
    CombineAttributes,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.calculators.sql import Output
from provenn.errors import AttributeConflictError, ProvennError
from provenn.store import attributes, catalog_store
from provenn.store.database import Reading
from provenn.targets.steps import is_key

__all__ = ["Provided", "Providers", "brought_together", "rests_on", "row_lineage"]

_SAME_ROWS = (
    SelectSources,
    RestrictSources,
    ExcludeSources,
    SampleSources,
    MatchedSources,
    KeepAttributes,
    RenameAttributes,
    DeriveAttributes,
)
"""The classes whose rows are rows of their first dependency. Of other dependencies they only use which sources these
have, so that what these say of a source is not what the catalog says of it."""


@dataclass(frozen=True, slots=True)
class Provided:
    """An attribute that was asked for by name, and who provides it.

    Parameters
    ----------
    name
        The name of the column, or the name by which a criterion reads it.
    attribute
        The attribute, as the provider has it.
    provider
        A catalog that has it.
    how
        Where it was found, in words.
    """

    name: str
    attribute: Attribute
    provider: Catalog
    how: str


def row_lineage(catalog: Catalog) -> Iterator[Catalog]:
    """Yield a catalog and all catalogs through which its rows come, each once.

    A concatenation and a cross-match end it: their rows have a schema of their own.
    """
    seen: set[str] = set()
    stack = [catalog]
    while stack:
        current = stack.pop()
        if current.digest not in seen:
            seen.add(current.digest)
            yield current
            if isinstance(current, CombineAttributes):
                stack.extend(current.dependencies)
            elif isinstance(current, _SAME_ROWS):
                stack.append(current.dependencies[0])


@dataclass(slots=True)
class Providers:
    """Finds out who provides attributes, and which attributes the values of some sources determine.

    Parameters
    ----------
    reading
        The archive.
    sources
        The sources that are asked for.
    """

    reading: Reading
    sources: Catalog
    _made: dict[str, Catalog] = field(default_factory=dict)
    _largest: dict[str, Catalog] = field(default_factory=dict)
    _definers: dict[str, list[Catalog]] = field(default_factory=dict)
    _noted: set[str] = field(default_factory=set)
    _own: frozenset[str] | None = None
    _determined: dict[str, bool] = field(default_factory=dict)

    # -- what is known of definitions ----------------------------------------------------------------------------

    def note(self, *catalogs: Catalog) -> None:
        """Take note of which catalog of some lineages defines which attribute."""
        for catalog in cone(*(catalog for catalog in catalogs if catalog.digest not in self._noted)):
            if catalog.digest not in self._noted:
                self._noted.add(catalog.digest)
                for _, identity in attributes.new_attributes(catalog):
                    self._definers.setdefault(identity, []).append(catalog)

    def definers(self, identity: str) -> list[Catalog]:
        """Return catalogs that define an attribute, by digest; none if the viewer sees none."""
        if identity not in self._definers:
            self.note(self.sources)
        if identity not in self._definers:
            digests = [definition.catalog for definition in attributes.defining(self.reading, identity)]
            self.note(*catalog_store.get_all(self.reading, digests).values() if digests else ())
        return sorted(self._definers.get(identity, ()), key=lambda catalog: catalog.digest)

    def derivation(self, identity: str) -> DeriveAttributes | None:
        """Return a catalog that derives an attribute from others; None if it is not derived from any."""
        return next(
            (
                catalog
                for catalog in self.definers(identity)
                # a derivation may also only give another name to what its parent has
                if isinstance(catalog, DeriveAttributes) and identity not in catalog.parent.schema.by_identity
            ),
            None,
        )

    # -- what the sources determine ------------------------------------------------------------------------------

    def determines(self, identity: str) -> bool:
        """Whether the own values of the sources determine an attribute.

        They do if their rows have it, or come through a catalog that has it, or if it is derived from nothing else
        than such attributes. That follows from definitions alone, which never change.
        """
        if self._own is None:
            lineage = row_lineage(self.sources)
            self._own = frozenset(identity for catalog in lineage for identity in catalog.schema.by_identity)
        if is_key(identity) or identity in self._own:
            return True
        if identity not in self._determined:
            derivation = self.derivation(identity)
            self._determined[identity] = derivation is not None and all(
                map(self.determines, _reads(derivation, identity).values())
            )
        return self._determined[identity]

    # -- providers -----------------------------------------------------------------------------------------------

    def provider(self, identity: str) -> Catalog:
        """Return the most general definition of an attribute; of the key, the sources themselves."""
        if is_key(identity):
            return self.sources
        if identity not in self._largest:
            self._largest[identity] = self._most_general(identity)
        return self._largest[identity]

    def provide(self, name: str, identity: str, how: str) -> Provided:
        """Return an attribute under a name, with its provider."""
        provider = self.provider(identity)
        attribute = provider.schema.by_identity[identity]
        if is_key(identity) and attribute.name != name:  # whoever calls it so, the sources have it
            provider = RenameAttributes.of(self.sources, {attribute.name: name})
            attribute = provider.schema.by_identity[identity]
        return Provided(name, attribute, provider, how)

    def created(self, provided: Iterable[Provided]) -> tuple[Catalog, ...]:
        """Return the catalogs that had to be made for some attributes: nobody had defined them."""
        needed = cone(*(attribute.provider for attribute in provided))
        return tuple(catalog for catalog in needed if catalog.digest in self._made)

    def derive(self, calculator: Calculator, inputs: Mapping[str, str]) -> Catalog:
        """Return what a calculator gives for the largest set of sources that have its inputs, as it would be defined.

        Parameters
        ----------
        calculator
            The calculator.
        inputs
            The identity of each input, by the name that the calculator has for it.

        Raises
        ------
        ProvennError
            If the calculator does not fit these inputs.
        """
        parent = self._parent(inputs)
        try:
            made = DeriveAttributes.of(parent, calculator)
        except AttributeConflictError:  # another attribute of the parent has the name of an output
            made = DeriveAttributes.of(KeepAttributes.of(parent, inputs), calculator)
        for name in calculator.names:
            identity = made.schema[name].identity
            if identity not in self._largest:
                self._largest[identity] = self._known_or_made(made, identity)
        return made

    def _parent(self, inputs: Mapping[str, str]) -> Catalog:
        parts = ((self.provider(identity), identity, name) for name, identity in inputs.items())
        return brought_together(parts) or self.sources

    def _most_general(self, identity: str) -> Catalog:
        definers = self.definers(identity)
        bases = [catalog for catalog in definers if isinstance(catalog, Base)]
        if bases:
            return bases[0]
        derivation = self.derivation(identity)
        if derivation is None:
            named = [catalog for catalog in definers if not isinstance(catalog, RenameAttributes | DeriveAttributes)]
            return (named or definers)[0]
        calculation = derivation.calculation
        if isinstance(calculation, PythonCalculator) and calculation.scope == "catalog":
            return derivation
        parent = self._parent(_reads(derivation, identity))
        if parent.extent == derivation.parent.extent:
            return derivation
        for make in (_whole, _alone):
            try:
                made = make(derivation, identity, parent)
            except ProvennError:  # names in the way
                continue
            if identity in made.schema.by_identity:
                return self._known_or_made(made, identity)
        return derivation

    def _known_or_made(self, made: Catalog, identity: str) -> Catalog:
        """Return a catalog that was made; or one of the archive that has the attribute for the same sources."""
        digests = [definition.catalog for definition in attributes.defining(self.reading, identity)]
        there = catalog_store.get_all(self.reading, digests) if digests else {}
        for digest in digests:
            if there[digest].extent == made.extent:
                return there[digest]
        self.note(made)
        self._made.setdefault(made.digest, made)
        return made


def rests_on(
    catalog: Catalog, identity: str, calculators: Collection[str], expressions: Collection[tuple[str, str, str]]
) -> bool:
    """Whether a catalog has an attribute only by way of some calculators or SQL expressions.

    Parameters
    ----------
    catalog
        The catalog; only its own lineage is looked at.
    identity
        The attribute.
    calculators
        Digests of calculators in Python.
    expressions
        Names, SQL as it was written, and units that were stated; nothing where none was.
    """
    resting: dict[str, bool] = {}  # of each attribute, whether all definitions seen so far rest on them
    for ancestor in cone(catalog):
        for _, attribute in attributes.new_attributes(ancestor):
            if isinstance(ancestor, DeriveAttributes) and attribute not in ancestor.parent.schema.by_identity:
                by_these = _derived_by(ancestor, attribute, calculators, expressions)
                rests = by_these or any(resting.get(read, False) for read in _reads(ancestor, attribute).values())
                resting[attribute] = resting.get(attribute, True) and rests
    return resting.get(identity, False)


def _derived_by(
    catalog: DeriveAttributes,
    identity: str,
    calculators: Collection[str],
    expressions: Collection[tuple[str, str, str]],
) -> bool:
    if isinstance(catalog.calculation, PythonCalculator):
        return catalog.calculation.digest in calculators
    return any(
        (output.name, output.text, output.unit if output.stated else "") in expressions
        for output in _outputs(catalog, identity)
    )


def brought_together(wanted: Iterable[tuple[Catalog, str, str]]) -> Catalog | None:
    """Return a catalog that has attributes under given names, each from its own provider; None if none is wanted.

    Parameters
    ----------
    wanted
        The provider, the identity and the name of each attribute.
    """
    by_provider: dict[Catalog, dict[str, str]] = {}
    for provider, identity, name in wanted:
        by_provider.setdefault(provider, {})[name] = identity
    if len(by_provider) == 1:
        ((provider, names),) = by_provider.items()
        matches = {name: provider.schema.matching(name) for name in names}
        if all(matches[name] and matches[name][0].identity == identity for name, identity in names.items()):
            return provider
    parts = [part for provider, names in by_provider.items() for part in _with_names(provider, names)]
    return CombineAttributes.of(*parts) if len(parts) > 1 else parts[0] if parts else None


def _with_names(provider: Catalog, names: Mapping[str, str]) -> Iterator[Catalog]:
    """Yield catalogs with attributes under given names, and no others: one for each further name of an attribute."""
    rest = dict(names)
    while rest:
        first = {identity: name for name, identity in reversed(rest.items())}
        held = {identity: provider.schema.by_identity[identity].name for identity in first}
        kept = KeepAttributes.of(provider, held.values())
        changed = {held[identity]: name for identity, name in first.items() if held[identity] != name}
        yield RenameAttributes.of(kept, changed) if changed else kept
        rest = {name: identity for name, identity in rest.items() if first[identity] != name}


def _whole(derivation: DeriveAttributes, identity: str, parent: Catalog) -> Catalog:  # noqa: ARG001 - as _alone
    return derivation.on([parent])


def _alone(derivation: DeriveAttributes, identity: str, parent: Catalog) -> Catalog:
    """Return a derivation of one attribute, without the others that are derived beside it."""
    needed = KeepAttributes.of(parent, _reads(derivation, identity))
    if isinstance(derivation.calculation, PythonCalculator):
        return derivation.on([needed])
    return DeriveAttributes(needed, Expressions(tuple(_outputs(derivation, identity))))


def _reads(catalog: DeriveAttributes, identity: str) -> dict[str, str]:
    """Return what an attribute is derived from: what the parent calls it, and its identity."""
    calculation, schema = catalog.calculation, catalog.parent.schema
    if isinstance(calculation, PythonCalculator):
        return {name: schema[name].identity for name in calculation.inputs}
    given = schema.by_identity
    (output, *_) = _outputs(catalog, identity)
    return {given[read].name: read for read in calculation.parsed(schema)[output.name].reads}


def _outputs(catalog: DeriveAttributes, identity: str) -> list[Output]:
    """Return the SQL expressions of a derivation that give an attribute."""
    assert isinstance(catalog.calculation, Expressions), "it is SQL"  # noqa: S101 - for the type checker
    return [output for output in catalog.calculation.outputs if catalog.schema[output.name].identity == identity]
