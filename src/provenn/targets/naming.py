"""The resolution of attribute names for some sources.

If the sources have an attribute under the name, the name means this attribute. Otherwise the name means an attribute
determined by the sources' own values: an attribute dropped in the lineage, an output of a registered calculator on the
sources' own inputs, or a derivation from these alone; or else an attribute of the partners to which the sources refer,
or of the groups that refer to the sources. A single identity is the meaning; several identities raise an
error with a list. Attributes of further catalogs under another identity are offered in the error, and taken only on
request: as ``DR1.z``, or by a recorded preference.

The meaning follows from definitions and registrations alone. Runs, fragments, counts and times decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from provenn.catalogs import Calculator, Catalog
from provenn.catalogs.references import Reference, lift_identity, split_identity
from provenn.criteria import AttributeIdentity, matching_names, split_alias, split_qualifier, unquote
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.definitions.catalog_names import find_names_by_digest
from provenn.definitions.known_references import list_references
from provenn.digests import CatalogDigest
from provenn.errors import AmbiguousAttributeError, ProvennError, TargetError, did_you_mean
from provenn.targets.candidates import Candidate, NamedAttributes, Registry, list_inputs
from provenn.targets.naming_errors import NamingErrors
from provenn.targets.providers import ProvidedAttribute, Providers

__all__ = ["NameResolver"]


@dataclass(slots=True)
class NameResolver:
    """Resolves names to attributes.

    Parameters
    ----------
    reading
        The archive.
    sources
        The sources of the requested attributes.
    sources_name
        The name of the sources in messages.
    followed
        The references that led to these sources: none is followed twice.
    """

    reading: Reading
    sources: Catalog
    sources_name: str
    followed: frozenset[Reference] = frozenset()
    providers: Providers = field(init=False)
    registry: Registry = field(init=False)
    definitions: NamedAttributes = field(init=False)
    _meanings: dict[str, Candidate | None] = field(default_factory=dict)
    _known_references: Mapping[Reference, Sequence[CatalogDigest]] | None = None
    _open_names: list[str] = field(default_factory=list)  # the names being resolved, outermost first
    _reads_partners: bool = False  # whether inputs of calculators may be attributes of partners
    _given_by_partners: dict[str, bool] = field(default_factory=dict)
    _failures: dict[str, ProvennError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.providers = Providers(self.reading, self.sources)
        self.registry = Registry(self.reading)
        self.definitions = NamedAttributes(self.reading, self.providers, self.registry)

    # -- references ----------------------------------------------------------------------------------------------

    def resolve_request(self, text: str) -> ProvidedAttribute:
        """Return the requested attribute, under the name of its column.

        Parameters
        ----------
        text
            A name, or a catalog or calculator followed by a dot and a name; optionally AS and another name. A text that
            can be read as a plain name is one.

        Raises
        ------
        AmbiguousAttributeError
            If the text may mean several attributes, and no preference is recorded.
        TargetError
            If the text means no attribute.
        """
        meaning = self._resolve_name(text)
        if meaning is not None:
            return self._provide_attribute(text, meaning)
        readings = [*split_alias(text)] or [(text, "")]
        for reference, column in readings:
            referred = self._resolve_reference(reference)
            if referred is not None:
                return self._provide_attribute(column or referred[0], referred[1])
        raise self._make_missing_error(readings[0][0])

    def resolve_input(self, name: str) -> ProvidedAttribute:
        """Return the attribute that a criterion or a calculator reads by a name, under this name.

        The exceptions are the same as for `resolve_request`.
        """
        referred = self._resolve_reference(name)
        if referred is None:
            raise self._make_missing_error(name)
        return self._provide_attribute(name, referred[1])

    def _provide_attribute(self, name: str, meaning: Candidate) -> ProvidedAttribute:
        """Return the meaning under a name, with its provider."""
        if meaning.own:
            return ProvidedAttribute(name, self.sources.schema.by_identity[meaning.identity], self.sources, meaning.how)
        return self.providers.provide_attribute(name, meaning.identity, meaning.how)

    def _resolve_reference(self, text: str) -> tuple[str, Candidate] | None:
        """Return the plain name and the attribute of a reference; None if it means no attribute."""
        for name in (text, unquote(text)):
            meaning = None if name is None else self._resolve_name(name)
            if name is not None and meaning is not None:
                return name, meaning
        referred = {candidate.identity: (name, candidate) for name, candidate in self._resolve_qualified(text)}
        if len(referred) > 1:
            raise self._make_errors().make_readings_error(text, [candidate for _, candidate in referred.values()])
        return next(iter(referred.values()), None)

    def _resolve_qualified(self, text: str) -> Iterator[tuple[str, Candidate]]:
        """Yield the possible meanings of a text with a catalog or calculator and a dot before the attribute name."""
        for word, name in split_qualifier(text):
            catalog = self.definitions.find_catalog(word)
            if catalog is not None and catalog.population == self.sources.population:
                for attribute in catalog.schema.matching(name):
                    self.providers.note_asked(catalog)
                    yield name, Candidate(attribute.identity, word, attribute.name, f"asked of {word}")
            own = self.sources.schema.matching(word)
            through = {
                reference: partners
                for reference, partners in (self._references.items() if len(own) == 1 else ())
                if own[0].identity in reference.identities
            }
            partner = self._find_of_partners(name, through)
            if partner is not None:
                yield name, partner
            registration = self.registry.current_registrations.get(word)
            has_output = registration is not None and matching_names(name, registration.calculator.names)
            if registration is not None and has_output and self._is_applicable(registration.calculator, name):
                yield name, self._apply_calculator(word, registration.calculator, name)

    # -- names ---------------------------------------------------------------------------------------------------

    def _resolve_name(self, name: str) -> Candidate | None:
        """Return the attribute for a name; None if the name means no attribute."""
        if name not in self._meanings:
            own = self.sources.schema.matching(name)
            if len(own) > 1:
                raise AmbiguousAttributeError(
                    f"the attribute {name} is ambiguous: {' or '.join(attribute.name for attribute in own)}",
                    hint="write the exact name, including upper and lower case",
                )
            if own:
                meaning = Candidate(own[0].identity, self.sources_name, name, "the sources have it", own=True)
                self._meanings[name] = meaning
            else:
                self._meanings[name] = self._look_up_name(name)
        return self._meanings[name]

    def _look_up_name(self, name: str) -> Candidate | None:
        """Return the meaning of a name that the sources do not have; raise an error for circular names."""
        if name in self._open_names:
            raise self._make_errors().make_circle_error(self._open_names[self._open_names.index(name) :])
        self._open_names.append(name)
        try:
            return self._find_preferred(name) or self._find_single(name)
        finally:
            self._open_names.pop()

    def _find_preferred(self, name: str) -> Candidate | None:
        """Return the recorded preference for a name, if it is available for these sources."""
        preference = self.registry.find_preferred_calculator(name)
        if preference is not None:
            return self._apply_calculator(*preference, name) if self._is_applicable(preference[1], name) else None
        identity = self.registry.find_preferred_identity(name)
        return None if identity is None else self.definitions.find_by_identity(name, identity)

    def _find_single(self, name: str) -> Candidate | None:
        """Return the single attribute of this name determined by the sources' values.

        Attributes and calculator outputs of partners come before calculations of the sources from values of partners: a
        partner's value is calculated once for the partner, and not once for each referring source.
        """
        meaning = self._find_determined(name) or self._find_of_partners(name, self._references)
        if meaning is None and self._references and not self._reads_partners:
            self._reads_partners = True
            try:
                meaning = self._find_determined(name)
            finally:
                self._reads_partners = False
        return meaning

    def _find_determined(self, name: str) -> Candidate | None:
        """Return the single attribute of this name that sources have, or that derivations and calculators give."""
        for any_case in (False, True):
            candidates: dict[AttributeIdentity, Candidate] = {}
            for candidate in (
                *self._find_calculated(name, any_case=any_case),
                *self.definitions.find_candidates(name, any_case=any_case).values(),
            ):
                candidates.setdefault(candidate.identity, candidate)
            if len(candidates) > 1:
                raise self._make_errors().make_ambiguity_error(name, self._open_names[:-1], candidates.values())
            if candidates:
                return next(iter(candidates.values()))
        return None

    # -- references to other populations ---------------------------------------------------------------------------

    @property
    def _references(self) -> Mapping[Reference, Sequence[CatalogDigest]]:
        """The references of the sources, with the referenced catalogs."""
        if self._known_references is None:
            self._known_references = {
                reference: partners
                for reference, partners in list_references(self.reading).items()
                if reference not in self.followed and all(map(self.providers.determines, reference.identities))
            }
        return self._known_references

    def _find_of_partners(self, name: str, references: Mapping[Reference, Sequence[CatalogDigest]]) -> Candidate | None:
        """Return the single attribute of a name that partners of the sources have or give; None if there is none."""
        candidates: dict[AttributeIdentity, Candidate] = {}
        for reference, partners in references.items():
            for catalog in catalog_store.get_catalogs(self.reading, partners).values():
                names = find_names_by_digest(self.reading, [catalog.digest])
                word = names.get(catalog.digest, (catalog.digest[:12],))[0]
                resolver = NameResolver(self.reading, catalog, word, self.followed | {reference})
                referred = resolver.find_meaning(name)
                if referred is not None:
                    identity = lift_identity(reference, referred.identity)
                    self.providers.note_partners(referred.identity, resolver.providers)
                    how = f"the partner in {word} has it"
                    candidates.setdefault(identity, Candidate(identity, word, referred.name, how))
        if len(candidates) > 1:
            raise self._make_errors().make_ambiguity_error(name, self._open_names[:-1], candidates.values())
        return next(iter(candidates.values()), None)

    def find_meaning(self, text: str) -> Candidate | None:
        """Return the attribute meant by a text for the sources; None without a meaning.

        Raises
        ------
        AmbiguousAttributeError
            If the text may mean several attributes.
        """
        referred = self._resolve_reference(text)
        return None if referred is None else referred[1]

    # -- calculators ---------------------------------------------------------------------------------------------

    def _find_calculated(self, name: str, *, any_case: bool) -> Iterator[Candidate]:
        """Yield the outputs of a name of registered calculators whose inputs the sources have or give."""
        for calculator_name, calculator in self.registry.find_calculators(name, any_case=any_case).items():
            if self._is_applicable(calculator, name):
                try:
                    if not self._reads_one_partner(calculator):
                        yield self._apply_calculator(calculator_name, calculator, name)
                except AmbiguousAttributeError:
                    raise
                except ProvennError as error:  # the inputs do not fit: another type, a name conflict
                    self._failures.setdefault(name, error)

    def _reads_one_partner(self, calculator: Calculator) -> bool:
        """Return whether all inputs of a calculator are read through one reference, so that the partner gives them."""
        identities = [self.resolve_input(input_name).attribute.identity for input_name in list_inputs(calculator)]
        hops = {None if (split := split_identity(identity)) is None else split[0] for identity in identities}
        return len(hops) == 1 and not hops.isdisjoint(self._references)

    def _apply_calculator(self, calculator_name: str, calculator: Calculator, name: str) -> Candidate:
        """Return the candidate for the output of a calculator on the sources' own inputs."""
        inputs = {
            input_name: self.resolve_input(input_name).attribute.identity for input_name in list_inputs(calculator)
        }
        output = matching_names(name, calculator.names)[0]
        identity = self.providers.derive_outputs(calculator, inputs).schema[output].identity
        return Candidate(
            identity, calculator_name, output, f"the calculator {calculator_name} provides it", calculator=True
        )

    def _is_applicable(self, calculator: Calculator, name: str) -> bool:
        """Return whether the sources have or give all inputs of a calculator without using its output `name`."""
        return self._are_derivable(list_inputs(calculator), [name])

    def _are_derivable(self, names: Iterable[str], blocked: Iterable[str]) -> bool:
        """Return whether all names have a meaning for the sources without using the blocked names.

        The derivable names are a least fixed point. So the search takes at most calculators times names steps, even if
        calculators read one another in circles.
        """
        wanted = tuple(names)
        left = [name for name in self._find_reachable_names(wanted) if name not in set(blocked)]
        derivable = {name for name in left if self._is_grounded(name)}
        while new := {
            name
            for name in left
            if name not in derivable
            and any(derivable.issuperset(list_inputs(calculator)) for calculator in self._find_calculators(name))
        }:
            derivable |= new
        return derivable.issuperset(wanted)

    def _find_reachable_names(self, names: Iterable[str]) -> list[str]:
        """Return the names, and the direct and indirect inputs of all calculators for these names."""
        reachable = dict.fromkeys(names)
        pending = [*reachable]
        while pending:
            name = pending.pop()
            for calculator in () if self._is_grounded(name) else self._find_calculators(name):
                new = [input_name for input_name in list_inputs(calculator) if input_name not in reachable]
                reachable |= dict.fromkeys(new)
                pending += new
        return [*reachable]

    def _find_calculators(self, name: str) -> list[Calculator]:
        return [*self.registry.find_calculators(name, any_case=True).values()]

    def _is_grounded(self, name: str) -> bool:
        """Return whether a name has a meaning for the sources without any calculator."""
        identity = self.registry.find_preferred_identity(name)
        if identity is not None and self.definitions.find_by_identity(name, identity) is not None:
            return True
        if self.sources.schema.matching(name) or any(
            self.definitions.find_candidates(name, any_case=any_case) for any_case in (False, True)
        ):
            return True
        return any(
            word in self.registry.current_registrations or self.definitions.find_catalog(word) is not None
            for word, _ in split_qualifier(name)
        ) or (self._reads_partners and self._is_of_partners(name))

    def _is_of_partners(self, name: str) -> bool:
        """Return whether partners of the sources have or give an attribute of a name; remembered."""
        if name not in self._given_by_partners:
            try:
                self._given_by_partners[name] = self._find_of_partners(name, self._references) is not None
            except AmbiguousAttributeError:
                self._given_by_partners[name] = True  # whoever resolves the name gets the error
        return self._given_by_partners[name]

    # -- errors ---------------------------------------------------------------------------------------------------

    def _make_errors(self) -> NamingErrors:
        return NamingErrors(self.reading, self.definitions, self.sources_name)

    def _make_missing_error(self, text: str) -> ProvennError:
        """Return the error for a text without a meaning."""
        name = unquote(text) or text
        if name in self._failures:
            return self._failures[name]
        return self._explain_reference(text) or self._make_errors().make_missing_error(self._find_dead_end(name, []))

    def _explain_reference(self, text: str) -> TargetError | None:
        """Return the error for a reference whose catalog or calculator exists."""
        for word, name in split_qualifier(text):
            catalog, registration = self.definitions.find_catalog(word), self.registry.current_registrations.get(word)
            if catalog is not None and catalog.population != self.sources.population:
                what = f"{word} has the population {catalog.population.name}"
                return TargetError(f"{what}, but {self.sources_name} has {self.sources.population.name}")
            if registration is not None and matching_names(name, registration.calculator.names):
                lacking = (
                    input_name
                    for input_name in list_inputs(registration.calculator)
                    if not self._are_derivable([input_name], [name])
                )
                return self._make_errors().make_missing_error(self._find_dead_end(next(lacking), [name]))
            available = (
                catalog.schema.names
                if catalog is not None
                else ()
                if registration is None
                else registration.calculator.names
            )
            if available:
                return TargetError(f"{word} has no attribute {name!r}", hint=did_you_mean(name, available))
        return None

    def _find_dead_end(self, name: str, chain: list[str]) -> list[str]:
        """Return a chain of names, each an input of the one before; the last is unavailable or repeats."""
        path = [*chain, name]
        if name in chain:
            return path
        for calculator in self._find_calculators(name):
            for input_name in list_inputs(calculator):
                if not self._are_derivable([input_name], path):
                    return self._find_dead_end(input_name, path)
        return path
