"""What a name may mean, asked of some sources: attributes that definitions give, and calculators that are registered.

Only what a person defined is looked at, and only what the viewer sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from provenn.catalogs import Calculator, Catalog, PythonCalculator, SqlCalculator
from provenn.criteria import dotted, names_in
from provenn.errors import CalculatorError, UnknownCatalogError
from provenn.store import attributes, catalog_store, names
from provenn.store.attributes import Defined
from provenn.store.calculators import Preference, Registered, current, preferred, registered, superseded
from provenn.store.database import Reading
from provenn.targets.providers import Providers, rests_on, row_lineage

__all__ = ["Candidate", "Definitions", "Registry", "inputs_of"]


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
        return dotted([self.word, self.name])


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
    def superseded_sql(self) -> frozenset[tuple[str, str]]:
        """The names and SQL of those among them, without what a current calculator gives in the same words."""
        old = {one.calculator for one in self._registered if one.calculator.digest in self.superseded}
        now = {one.calculator for one in self.current.values()}
        return _expressions(old) - _expressions(now)

    @cached_property
    def _by_output(self) -> dict[str, dict[str, Calculator]]:
        """The current calculators by what they give, in lower case; each once, under the first of its names."""
        found: dict[str, dict[str, Calculator]] = {}
        seen: set[str] = set()
        for called, one in sorted(self.current.items()):
            if one.calculator.digest not in seen:
                seen.add(one.calculator.digest)
                for name in one.calculator.names:
                    found.setdefault(name.lower(), {})[called] = one.calculator
        return found

    def giving(self, name: str, *, any_case: bool) -> dict[str, Calculator]:
        """Return the current calculators that give an attribute of a name, by their own names."""
        found = self._by_output.get(name.lower(), {})
        return {called: one for called, one in found.items() if any_case or name in one.names}

    def preferred_calculator(self, name: str) -> tuple[str, Calculator] | None:
        """Return the calculator that is recorded to give an attribute of a name, and its own name."""
        choice = self._preferences.get(name)
        called = None if choice is None else choice.calculator
        one = None if called is None else self.current.get(called)
        given = one is not None and name in one.calculator.names
        return (one.name, one.calculator) if one is not None and given else None

    def preferred_identity(self, name: str) -> str | None:
        """Return the identity that a name is recorded to mean."""
        choice = self._preferences.get(name)
        return None if choice is None or choice.calculator is not None else choice.identity


@dataclass(slots=True)
class Definitions:
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
            defined = [one for one in self._named(name, any_case=any_case) if self.providers.determined(one.identity)]
            valid = [one for one in defined if not self._outdated(one)]
            if not valid and not lineage and not self.registry.giving(name, any_case=any_case):
                valid = defined
            self._found[place] = self._candidates(valid) | lineage
        return self._found[place]

    def _in_lineage(self, name: str, *, any_case: bool) -> dict[str, Candidate]:
        """Return the attributes that catalogs have through which the rows of the sources come.

        What a calculator gave before it was registered anew is among them: these very sources had it.
        """
        found: dict[str, Candidate] = {}
        for catalog in row_lineage(self.providers.sources):
            for one in catalog.schema.matching(name):
                if (any_case or one.name == name) and one.identity not in found:
                    found[one.identity] = self._candidate(catalog.digest, one.name, one.identity)
        return found

    def elsewhere(self, name: str) -> list[Candidate]:
        """Return the attributes of a name that only other catalogs of the population have."""
        for any_case in (False, True):
            defined = self._named(name, any_case=any_case)
            found = self._candidates(one for one in defined if not self.providers.determined(one.identity))
            if found:
                return sorted(found.values(), key=lambda one: one.origin)
        return []

    def _named(self, name: str, *, any_case: bool) -> list[Defined]:
        """Return where people defined attributes of a name: first in catalogs that have a name themselves."""
        population = self.providers.sources.population.name
        defined = attributes.named(self.reading, population, name, any_case=any_case)
        if not defined:
            return []
        digests = {one.catalog for one in defined}
        called = names.names_of(self.reading, digests)
        self.providers.note(*catalog_store.get_all(self.reading, digests).values())
        return sorted(defined, key=lambda one: (one.catalog not in called, one.catalog))

    def _candidates(self, defined: Iterable[Defined]) -> dict[str, Candidate]:
        found: dict[str, Candidate] = {}
        for one in defined:
            if one.identity not in found:
                found[one.identity] = self._candidate(one.catalog, one.name, one.identity)
        return found

    def _outdated(self, one: Defined) -> bool:
        """Whether a definition rests on what a calculator gave before another one was registered in its place."""
        old, sql = self.registry.superseded, self.registry.superseded_sql
        if not old and not sql:
            return False
        return rests_on(catalog_store.get(self.reading, one.catalog), one.identity, old, sql)

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
        definers = [one for one in self.providers.definers(identity) if one.population == sources.population]
        return self._candidate(definers[0].digest, name, identity) if definers else None

    def _candidate(self, digest: str, name: str, identity: str) -> Candidate:
        word = names.names_of(self.reading, [digest]).get(digest, (digest[:12],))[0]
        return Candidate(identity, word, name, f"defined by {word}")


def _expressions(calculators: Iterable[Calculator]) -> frozenset[tuple[str, str]]:
    return frozenset(pair for one in calculators if isinstance(one, SqlCalculator) for pair in one.expressions)


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
