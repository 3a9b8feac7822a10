"""What a name may mean, asked of some sources: attributes that definitions give, and calculators that are registered.

Only what a person defined is looked at, and only what the viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from provenn.catalogs import Calculator, Catalog, PythonCalculator, SqlCalculator
from provenn.criteria import join_dotted, names_in
from provenn.errors import CalculatorError, UnknownCatalogError
from provenn.store import attributes, catalog_store, names
from provenn.store.attributes import Defined
from provenn.store.calculators import Preference, Registered, current, preferred, registered, superseded
from provenn.store.database import Reading
from provenn.targets.providers import Providers, rests_on, row_lineage

__all__ = ["Candidate", "NamedAttributes", "Registry", "inputs_of"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """An attribute that a name may mean.

    Parameters
    ----------
    identity
        The attribute.
    word
        The name of the catalog or calculator that gives it; the beginning of a digest, if it has none.
    name
        What it is called there.
    how
        How it was found, in words.
    calculator
        Whether a calculator gives it.
    own
        Whether the sources have it under this name.
    """

    identity: str
    word: str
    name: str
    how: str
    calculator: bool = False
    own: bool = False

    @property
    def origin(self) -> str:
        """Who gives it, in words."""
        return f"the calculator {self.word}" if self.calculator else self.word

    @property
    def reference(self) -> str:
        """How to ask for it and nothing else, as in ``DR1.z``."""
        return join_dotted([self.word, self.name])


class Registry:
    """The calculators that are registered, and the preferences that are recorded; read when they are first needed.

    Parameters
    ----------
    reading
        The archive.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    @cached_property
    def _registered(self) -> Sequence[Registered]:
        return registered(self._reading)

    @cached_property
    def _preferences(self) -> dict[str, Preference]:
        return preferred(self._reading)

    @cached_property
    def current(self) -> dict[str, Registered]:
        """The calculators that were registered last under their names, by name."""
        return current(self._registered)

    @cached_property
    def superseded(self) -> frozenset[str]:
        """The digests of the calculators in whose place others were registered."""
        return superseded(self._registered)

    @cached_property
    def superseded_sql(self) -> frozenset[tuple[str, str, str]]:
        """The names, SQL and stated units of those among them that no current calculator has as well."""
        old = {
            registration.calculator
            for registration in self._registered
            if registration.calculator.digest in self.superseded
        }
        now = {registration.calculator for registration in self.current.values()}
        return _expressions(old) - _expressions(now)

    @cached_property
    def _by_output(self) -> dict[str, dict[str, Calculator]]:
        """The current calculators by what they give, in lower case; each once, under the first of its names."""
        by_output: dict[str, dict[str, Calculator]] = {}
        seen: set[str] = set()
        for called, registration in sorted(self.current.items()):
            if registration.calculator.digest not in seen:
                seen.add(registration.calculator.digest)
                for name in registration.calculator.names:
                    by_output.setdefault(name.lower(), {})[called] = registration.calculator
        return by_output

    def giving(self, name: str, *, any_case: bool) -> dict[str, Calculator]:
        """Return the current calculators that give an attribute of a name, by their own names."""
        calculators = self._by_output.get(name.lower(), {})
        return {
            called: calculator for called, calculator in calculators.items() if any_case or name in calculator.names
        }

    def preferred_calculator(self, name: str) -> tuple[str, Calculator] | None:
        """Return the calculator that is recorded to give an attribute of a name, and its own name."""
        choice = self._preferences.get(name)
        called = None if choice is None else choice.calculator
        registration = None if called is None else self.current.get(called)
        given = registration is not None and name in registration.calculator.names
        return (registration.name, registration.calculator) if registration is not None and given else None

    def preferred_identity(self, name: str) -> str | None:
        """Return the identity that a name is recorded to mean."""
        choice = self._preferences.get(name)
        return None if choice is None or choice.calculator is not None else choice.identity


@dataclass(slots=True)
class NamedAttributes:
    """Finds attributes of a name in the definitions of an archive.

    Parameters
    ----------
    reading
        The archive.
    providers
        What the values of the sources determine.
    registry
        The calculators.
    """

    reading: Reading
    providers: Providers
    registry: Registry
    _found: dict[tuple[str, bool], dict[str, Candidate]] = field(default_factory=dict)

    def candidates(self, name: str, *, any_case: bool) -> dict[str, Candidate]:
        """Return the attributes of a name that the values of the sources determine, by identity.

        What rests on a calculator in whose place another one was registered is none, unless there is nothing else.
        """
        place = (name, any_case)
        if place not in self._found:
            lineage = self._in_lineage(name, any_case=any_case)
            defined = [
                definition
                for definition in self._named(name, any_case=any_case)
                if self.providers.determines(definition.identity)
            ]
            valid = [definition for definition in defined if not self._outdated(definition)]
            if not valid and not lineage and not self.registry.giving(name, any_case=any_case):
                valid = defined
            self._found[place] = self._candidates(valid) | lineage
        return self._found[place]

    def _in_lineage(self, name: str, *, any_case: bool) -> dict[str, Candidate]:
        """Return the attributes that catalogs have through which the rows of the sources come.

        What a calculator gave before it was registered anew is among them: these very sources had it.
        """
        candidates: dict[str, Candidate] = {}
        for catalog in row_lineage(self.providers.sources):
            for attribute in catalog.schema.matching(name):
                if (any_case or attribute.name == name) and attribute.identity not in candidates:
                    candidates[attribute.identity] = self._candidate(catalog.digest, attribute.name, attribute.identity)
        return candidates

    def elsewhere(self, name: str) -> list[Candidate]:
        """Return the attributes of a name that only other catalogs of the population have."""
        for any_case in (False, True):
            defined = self._named(name, any_case=any_case)
            candidates = self._candidates(
                definition for definition in defined if not self.providers.determines(definition.identity)
            )
            if candidates:
                return sorted(candidates.values(), key=lambda candidate: candidate.origin)
        return []

    def _named(self, name: str, *, any_case: bool) -> list[Defined]:
        """Return where people defined attributes of a name: first in catalogs that have a name themselves."""
        population = self.providers.sources.population.name
        defined = attributes.named(self.reading, population, name, any_case=any_case)
        if not defined:
            return []
        digests = {definition.catalog for definition in defined}
        called = names.names_of(self.reading, digests)
        self.providers.note(*catalog_store.get_all(self.reading, digests).values())
        return sorted(defined, key=lambda definition: (definition.catalog not in called, definition.catalog))

    def _candidates(self, defined: Iterable[Defined]) -> dict[str, Candidate]:
        candidates: dict[str, Candidate] = {}
        for definition in defined:
            if definition.identity not in candidates:
                candidates[definition.identity] = self._candidate(
                    definition.catalog, definition.name, definition.identity
                )
        return candidates

    def _outdated(self, definition: Defined) -> bool:
        """Whether a definition rests on what a calculator gave before another one was registered in its place."""
        old, sql = self.registry.superseded, self.registry.superseded_sql
        if not old and not sql:
            return False
        return rests_on(catalog_store.get(self.reading, definition.catalog), definition.identity, old, sql)

    def of_catalog(self, word: str) -> Catalog | None:
        """Return the catalog that has a name, or whose digest begins so; None if there is none."""
        try:
            digest = catalog_store.resolve(self.reading, word)
        except UnknownCatalogError:
            return None
        return catalog_store.get(self.reading, digest)

    def of_identity(self, name: str, identity: str) -> Candidate | None:
        """Return an attribute by identity; None if the viewer sees no definition of it in this population."""
        sources = self.providers.sources
        definers = [
            catalog for catalog in self.providers.definers(identity) if catalog.population == sources.population
        ]
        return self._candidate(definers[0].digest, name, identity) if definers else None

    def _candidate(self, digest: str, name: str, identity: str) -> Candidate:
        word = names.names_of(self.reading, [digest]).get(digest, (digest[:12],))[0]
        return Candidate(identity, word, name, f"defined by {word}")


def _expressions(calculators: Iterable[Calculator]) -> frozenset[tuple[str, str, str]]:
    return frozenset(
        (name, text, dict(calculator.units).get(name, ""))
        for calculator in calculators
        if isinstance(calculator, SqlCalculator)
        for name, text in calculator.expressions
    )


@lru_cache(maxsize=4096)
def inputs_of(calculator: Calculator) -> tuple[str, ...]:
    """Return the names of what a calculator reads.

    Raises
    ------
    CalculatorError
        If it does not say so.
    """
    if isinstance(calculator, PythonCalculator):
        return calculator.inputs
    if isinstance(calculator, SqlCalculator):
        return tuple(dict.fromkeys(_names(calculator)))
    raise CalculatorError(f"{calculator!r} does not say what it reads")


def _names(calculator: SqlCalculator) -> Iterator[str]:
    for _, text in calculator.expressions:
        yield from names_in(text)
