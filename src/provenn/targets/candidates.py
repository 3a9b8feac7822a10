"""The possible meanings of a name for some sources: defined attributes and registered calculators.

The search covers only definitions made by people, and only definitions that the viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from provenn.catalogs import Calculator, Catalog, PythonCalculator, SqlCalculator
from provenn.criteria import AttributeIdentity, join_dotted, names_in
from provenn.database.transactions import Reading
from provenn.definitions import attributes, catalog_names, catalog_store
from provenn.definitions.attributes import AttributeDefinition
from provenn.definitions.registered_calculators import (
    Preference,
    RegisteredCalculator,
    find_current_calculators,
    find_superseded_calculators,
    list_registered_calculators,
    read_preferences,
)
from provenn.digests import CatalogDigest
from provenn.errors import CalculatorError, UnknownCatalogError
from provenn.targets.providers import Providers, rests_on_calculators, walk_row_lineage

__all__ = ["Candidate", "NamedAttributes", "Registry", "list_inputs"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An attribute as a possible meaning of a name.

    Parameters
    ----------
    identity
        The identity of the attribute.
    word
        The name of the catalog or calculator with the attribute; the beginning of the digest if the catalog has no
        name.
    name
        The name of the attribute in that catalog or calculator.
    how
        How the attribute was found, in words.
    calculator
        Whether a calculator gives the attribute.
    own
        Whether the sources have the attribute under this name.
    """

    identity: AttributeIdentity
    word: str
    name: str
    how: str
    calculator: bool = False
    own: bool = False

    @property
    def origin(self) -> str:
        """The catalog or calculator that gives the attribute, in words."""
        return f"the calculator {self.word}" if self.calculator else self.word

    @property
    def reference(self) -> str:
        """The reference that selects exactly this attribute, as in ``DR1.z``."""
        return join_dotted([self.word, self.name])


class Registry:
    """The registered calculators and the recorded preferences, read from the archive on first use.

    Parameters
    ----------
    reading
        The archive.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    @cached_property
    def _registrations(self) -> Sequence[RegisteredCalculator]:
        return list_registered_calculators(self._reading)

    @cached_property
    def _preferences(self) -> dict[str, Preference]:
        return read_preferences(self._reading)

    @cached_property
    def current_registrations(self) -> dict[str, RegisteredCalculator]:
        """The latest registration under each calculator name, by name."""
        return find_current_calculators(self._registrations)

    @cached_property
    def superseded_digests(self) -> frozenset[str]:
        """The digests of calculators that a later registration replaced."""
        return find_superseded_calculators(self._registrations)

    @cached_property
    def superseded_sql(self) -> frozenset[tuple[str, str, str]]:
        """Name, SQL and stated unit of replaced expressions that no current calculator has."""
        old = {
            registration.calculator
            for registration in self._registrations
            if registration.calculator.digest in self.superseded_digests
        }
        now = {registration.calculator for registration in self.current_registrations.values()}
        return _collect_expressions(old) - _collect_expressions(now)

    @cached_property
    def _by_output(self) -> dict[str, dict[str, Calculator]]:
        """The current calculators by lower-case output name; each calculator once, under its first name."""
        by_output: dict[str, dict[str, Calculator]] = {}
        seen: set[str] = set()
        for calculator_name, registration in sorted(self.current_registrations.items()):
            if registration.calculator.digest not in seen:
                seen.add(registration.calculator.digest)
                for name in registration.calculator.names:
                    by_output.setdefault(name.lower(), {})[calculator_name] = registration.calculator
        return by_output

    def find_calculators(self, name: str, *, any_case: bool) -> dict[str, Calculator]:
        """Return the current calculators with an output of a name, by calculator name."""
        calculators = self._by_output.get(name.lower(), {})
        return {
            calculator_name: calculator
            for calculator_name, calculator in calculators.items()
            if any_case or name in calculator.names
        }

    def find_preferred_calculator(self, name: str) -> tuple[str, Calculator] | None:
        """Return the preferred calculator for an attribute name, with its own name; None if none is recorded."""
        choice = self._preferences.get(name)
        calculator_name = None if choice is None else choice.calculator
        registration = None if calculator_name is None else self.current_registrations.get(calculator_name)
        has_output = registration is not None and name in registration.calculator.names
        return (registration.name, registration.calculator) if registration is not None and has_output else None

    def find_preferred_identity(self, name: str) -> AttributeIdentity | None:
        """Return the identity of the recorded preference for a name; None without a preference."""
        choice = self._preferences.get(name)
        return None if choice is None else choice.attribute_identity


@dataclass(slots=True)
class NamedAttributes:
    """Finds attributes by name in the definitions of an archive.

    Parameters
    ----------
    reading
        The archive.
    providers
        The attributes that the sources' values determine.
    registry
        The registered calculators.
    """

    reading: Reading
    providers: Providers
    registry: Registry
    _candidates_by_name: dict[tuple[str, bool], dict[AttributeIdentity, Candidate]] = field(default_factory=dict)

    def find_candidates(self, name: str, *, any_case: bool) -> dict[AttributeIdentity, Candidate]:
        """Return the attributes of a name determined by the sources' values, by identity.

        A definition on a replaced calculator counts only if no other candidate exists.
        """
        cache_key = (name, any_case)
        if cache_key not in self._candidates_by_name:
            lineage = self._find_in_lineage(name, any_case=any_case)
            defined = [
                definition
                for definition in self._find_definitions(name, any_case=any_case)
                if self.providers.determines(definition.identity)
            ]
            valid = [definition for definition in defined if not self._is_outdated(definition)]
            if not valid and not lineage and not self.registry.find_calculators(name, any_case=any_case):
                valid = defined
            self._candidates_by_name[cache_key] = self._make_candidates(valid) | lineage
        return self._candidates_by_name[cache_key]

    def _find_in_lineage(self, name: str, *, any_case: bool) -> dict[AttributeIdentity, Candidate]:
        """Return the attributes in the row lineage of the sources.

        These attributes include outputs of replaced calculators, because the sources themselves had these attributes.
        """
        candidates: dict[AttributeIdentity, Candidate] = {}
        for catalog in walk_row_lineage(self.providers.sources):
            for attribute in catalog.schema.matching(name):
                if (any_case or attribute.name == name) and attribute.identity not in candidates:
                    candidates[attribute.identity] = self._make_candidate(
                        catalog.digest, attribute.name, attribute.identity
                    )
        return candidates

    def find_elsewhere(self, name: str) -> list[Candidate]:
        """Return the attributes of a name that only other catalogs of the population have."""
        for any_case in (False, True):
            defined = self._find_definitions(name, any_case=any_case)
            candidates = self._make_candidates(
                definition for definition in defined if not self.providers.determines(definition.identity)
            )
            if candidates:
                return sorted(candidates.values(), key=lambda candidate: candidate.origin)
        return []

    def _find_definitions(self, name: str, *, any_case: bool) -> list[AttributeDefinition]:
        """Return the definitions of attributes of a name; catalogs with a name come first."""
        population = self.providers.sources.population.name
        defined = attributes.find_definitions_by_name(self.reading, population, name, any_case=any_case)
        if not defined:
            return []
        digests = {definition.catalog for definition in defined}
        named_digests = catalog_names.find_names_by_digest(self.reading, digests)
        ordered = sorted(defined, key=lambda definition: (definition.catalog not in named_digests, definition.catalog))
        # Versions of files define the same attributes again and again: the first definition of each says what it is.
        first = {definition.identity: definition for definition in reversed(ordered)}
        chosen = [definition for definition in ordered if definition in first.values()]
        digests = {definition.catalog for definition in chosen}
        self.providers.note_definitions(*catalog_store.get_catalogs(self.reading, digests).values())
        return chosen

    def _make_candidates(self, defined: Iterable[AttributeDefinition]) -> dict[AttributeIdentity, Candidate]:
        """Return a candidate for the first definition of each identity."""
        candidates: dict[AttributeIdentity, Candidate] = {}
        for definition in defined:
            if definition.identity not in candidates:
                candidates[definition.identity] = self._make_candidate(
                    definition.catalog, definition.name, definition.identity
                )
        return candidates

    def _is_outdated(self, definition: AttributeDefinition) -> bool:
        """Return whether a definition rests on a calculator that a later registration replaced."""
        old, sql = self.registry.superseded_digests, self.registry.superseded_sql
        if not old and not sql:
            return False
        return rests_on_calculators(
            catalog_store.get_catalog(self.reading, definition.catalog), definition.identity, old, sql
        )

    def find_catalog(self, word: str) -> Catalog | None:
        """Return the catalog with a name or digest prefix; None without such a catalog."""
        try:
            digest = catalog_store.resolve_catalog(self.reading, word)
        except UnknownCatalogError:
            return None
        return catalog_store.get_catalog(self.reading, digest)

    def find_by_identity(self, name: str, identity: AttributeIdentity) -> Candidate | None:
        """Return the candidate of an identity; None if the viewer sees no definition in this population."""
        sources = self.providers.sources
        definers = [
            catalog for catalog in self.providers.find_definers(identity) if catalog.population == sources.population
        ]
        return self._make_candidate(definers[0].digest, name, identity) if definers else None

    def _make_candidate(self, digest: CatalogDigest, name: str, identity: AttributeIdentity) -> Candidate:
        """Return the candidate for an attribute of a catalog."""
        word = catalog_names.find_names_by_digest(self.reading, [digest]).get(digest, (digest[:12],))[0]
        return Candidate(identity, word, name, f"defined by {word}")


def _collect_expressions(calculators: Iterable[Calculator]) -> frozenset[tuple[str, str, str]]:
    """Return name, SQL and stated unit of each expression of the SQL calculators."""
    return frozenset(
        (name, text, dict(calculator.units).get(name, ""))
        for calculator in calculators
        if isinstance(calculator, SqlCalculator)
        for name, text in calculator.expressions
    )


@lru_cache(maxsize=4096)
def list_inputs(calculator: Calculator) -> tuple[str, ...]:
    """Return the names of the inputs of a calculator.

    Raises
    ------
    CalculatorError
        If the calculator does not declare its inputs.
    """
    if isinstance(calculator, PythonCalculator):
        return calculator.inputs
    if isinstance(calculator, SqlCalculator):
        return tuple(dict.fromkeys(_iterate_input_names(calculator)))
    raise CalculatorError(f"{calculator!r} does not list its inputs")


def _iterate_input_names(calculator: SqlCalculator) -> Iterator[str]:
    for _, text in calculator.expressions:
        yield from names_in(text)
