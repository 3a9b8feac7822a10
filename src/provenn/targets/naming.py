"""Which attribute a name means, asked of some sources.

A name means what the sources have under it. Otherwise it means what their own values determine: an attribute that was
left out on the way to them, what a registered calculator gives from their own inputs, or what a definition derives
from nothing else. If that is exactly one identity, it is meant; several are an error that lists them. What other
catalogs have under another identity is offered in the error, and taken only if it is asked for: as ``DR1.z``, or by a
recorded preference.

All of that follows from definitions and registrations. What was run, stored or counted, and when, decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from provenn.catalogs import Calculator, Catalog
from provenn.criteria import matching_names, split_alias, split_qualifier, unquote
from provenn.errors import AmbiguousAttributeError, ProvennError, TargetError, did_you_mean
from provenn.store.database import Reading
from provenn.targets.candidates import Candidate, NamedAttributes, Registry, inputs_of
from provenn.targets.naming_errors import NamingErrors
from provenn.targets.providers import Provided, Providers

__all__ = ["NameResolver"]


@dataclass(slots=True)
class NameResolver:
    """Finds out which attributes names mean.

    Parameters
    ----------
    reading
        The archive.
    sources
        The sources of which attributes are asked for.
    called
        What these are called.
    """

    reading: Reading
    sources: Catalog
    called: str
    providers: Providers = field(init=False)
    registry: Registry = field(init=False)
    definitions: NamedAttributes = field(init=False)
    _meanings: dict[str, Candidate | None] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)  # the names whose meaning is being looked for, from the first
    _failures: dict[str, ProvennError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.providers = Providers(self.reading, self.sources)
        self.registry = Registry(self.reading)
        self.definitions = NamedAttributes(self.reading, self.providers, self.registry)

    # -- references ----------------------------------------------------------------------------------------------

    def resolve_request(self, text: str) -> Provided:
        """Return the attribute that a request asks for, under the name of its column.

        Parameters
        ----------
        text
            A name; or a catalog or a calculator, a dot and a name; then perhaps AS and another name. What can be read
            as a name is one.

        Raises
        ------
        AmbiguousAttributeError
            If it may mean several attributes, and none is preferred.
        TargetError
            If it means none.
        """
        meaning = self._named(text)
        if meaning is not None:
            return self._provided(text, meaning)
        readings = [*split_alias(text)] or [(text, "")]
        for reference, column in readings:
            referred = self._referred(reference)
            if referred is not None:
                return self._provided(column or referred[0], referred[1])
        raise self._missing(readings[0][0])

    def resolve_input(self, name: str) -> Provided:
        """Return the attribute that a criterion or a calculator reads by a name, under that name.

        The exceptions are those of `resolve_request`.
        """
        referred = self._referred(name)
        if referred is None:
            raise self._missing(name)
        return self._provided(name, referred[1])

    def _provided(self, name: str, meaning: Candidate) -> Provided:
        if meaning.own:
            return Provided(name, self.sources.schema.by_identity[meaning.identity], self.sources, meaning.how)
        return self.providers.provide(name, meaning.identity, meaning.how)

    def _referred(self, text: str) -> tuple[str, Candidate] | None:
        """Return the attribute that a reference means, and its plain name; None if it means none."""
        for name in (text, unquote(text)):
            meaning = None if name is None else self._named(name)
            if name is not None and meaning is not None:
                return name, meaning
        referred = {candidate.identity: (name, candidate) for name, candidate in self._qualified(text)}
        if len(referred) > 1:
            raise self._errors().several_readings(text, [candidate for _, candidate in referred.values()])
        return next(iter(referred.values()), None)

    def _qualified(self, text: str) -> Iterator[tuple[str, Candidate]]:
        """Yield what a text may mean that has a catalog, or a calculator, and a dot before the name of an attribute."""
        for word, name in split_qualifier(text):
            catalog = self.definitions.of_catalog(word)
            if catalog is not None and catalog.population == self.sources.population:
                for attribute in catalog.schema.matching(name):
                    yield name, Candidate(attribute.identity, word, attribute.name, f"asked of {word}")
            given = self.registry.current.get(word)
            gives = given is not None and matching_names(name, given.calculator.names)
            if given is not None and gives and self._applies(given.calculator, name):
                yield name, self._applied(word, given.calculator, name)

    # -- names ---------------------------------------------------------------------------------------------------

    def _named(self, name: str) -> Candidate | None:
        """Return the attribute that a name means; None if it means none."""
        if name not in self._meanings:
            own = self.sources.schema.matching(name)
            if len(own) > 1:
                raise AmbiguousAttributeError(
                    f"the attribute {name} may be {' or '.join(attribute.name for attribute in own)}",
                    hint="write it as it is, upper and lower case",
                )
            if own:
                meaning = Candidate(own[0].identity, self.called, name, "the sources have it", own=True)
                self._meanings[name] = meaning
            else:
                self._meanings[name] = self._looked_up(name)
        return self._meanings[name]

    def _looked_up(self, name: str) -> Candidate | None:
        if name in self._open:
            raise self._errors().circle(self._open[self._open.index(name) :])
        self._open.append(name)
        try:
            return self._preferred(name) or self._only(name)
        finally:
            self._open.pop()

    def _preferred(self, name: str) -> Candidate | None:
        """Return what a name is recorded to mean, if that can be had for these sources."""
        chosen = self.registry.preferred_calculator(name)
        if chosen is not None:
            return self._applied(*chosen, name) if self._applies(chosen[1], name) else None
        identity = self.registry.preferred_identity(name)
        return None if identity is None else self.definitions.of_identity(name, identity)

    def _only(self, name: str) -> Candidate | None:
        """Return the one attribute of this name that the values of the sources determine."""
        for any_case in (False, True):
            candidates: dict[str, Candidate] = {}
            for candidate in (
                *self._calculated(name, any_case=any_case),
                *self.definitions.candidates(name, any_case=any_case).values(),
            ):
                candidates.setdefault(candidate.identity, candidate)
            if len(candidates) > 1:
                raise self._errors().ambiguous(name, self._open[:-1], candidates.values())
            if candidates:
                return next(iter(candidates.values()))
        return None

    # -- calculators ---------------------------------------------------------------------------------------------

    def _calculated(self, name: str, *, any_case: bool) -> Iterator[Candidate]:
        """Yield what registered calculators give under a name, from inputs that the sources have or give."""
        for called, calculator in self.registry.giving(name, any_case=any_case).items():
            if self._applies(calculator, name):
                try:
                    yield self._applied(called, calculator, name)
                except AmbiguousAttributeError:
                    raise
                except ProvennError as error:  # it does not fit what the sources have: another type, a name in the way
                    self._failures.setdefault(name, error)

    def _applied(self, called: str, calculator: Calculator, name: str) -> Candidate:
        inputs = {input_name: self.resolve_input(input_name).attribute.identity for input_name in inputs_of(calculator)}
        output = matching_names(name, calculator.names)[0]
        identity = self.providers.derive(calculator, inputs).schema[output].identity
        return Candidate(identity, called, output, f"the calculator {called} gives it", calculator=True)

    def _applies(self, calculator: Calculator, name: str) -> bool:
        """Whether the sources have or give all inputs of a calculator, without the attribute that it is to give."""
        return self._derivable(inputs_of(calculator), [name])

    def _derivable(self, names: Iterable[str], blocked: Iterable[str]) -> bool:
        """Whether names mean something for the sources, if some other names are not used on the way.

        Which names can be had is a least fixed point, so that it takes no longer than calculators times names, in
        whatever circles calculators read one another.
        """
        wanted = tuple(names)
        left = [name for name in self._reachable(wanted) if name not in set(blocked)]
        derivable = {name for name in left if self._grounded(name)}
        while new := {
            name
            for name in left
            if name not in derivable
            and any(derivable.issuperset(inputs_of(calculator)) for calculator in self._giving(name))
        }:
            derivable |= new
        return derivable.issuperset(wanted)

    def _reachable(self, names: Iterable[str]) -> list[str]:
        """Return names, and all that calculators which give them read, directly or not."""
        reachable = dict.fromkeys(names)
        pending = [*reachable]
        while pending:
            name = pending.pop()
            for calculator in () if self._grounded(name) else self._giving(name):
                new = [input_name for input_name in inputs_of(calculator) if input_name not in reachable]
                reachable |= dict.fromkeys(new)
                pending += new
        return [*reachable]

    def _giving(self, name: str) -> list[Calculator]:
        return [*self.registry.giving(name, any_case=True).values()]

    def _grounded(self, name: str) -> bool:
        """Whether a name means something for the sources without any calculator."""
        identity = self.registry.preferred_identity(name)
        if identity is not None and self.definitions.of_identity(name, identity) is not None:
            return True
        if self.sources.schema.matching(name) or any(
            self.definitions.candidates(name, any_case=any_case) for any_case in (False, True)
        ):
            return True
        return any(
            word in self.registry.current or self.definitions.of_catalog(word) is not None
            for word, _ in split_qualifier(name)
        )

    # -- what is wrong -------------------------------------------------------------------------------------------

    def _errors(self) -> NamingErrors:
        return NamingErrors(self.reading, self.definitions, self.called)

    def _missing(self, text: str) -> ProvennError:
        name = unquote(text) or text
        if name in self._failures:
            return self._failures[name]
        return self._dead_end_of_reference(text) or self._errors().missing(self._dead_end(name, []))

    def _dead_end_of_reference(self, text: str) -> TargetError | None:
        """Return what is wrong with a reference whose catalog or calculator there is."""
        for word, name in split_qualifier(text):
            catalog, given = self.definitions.of_catalog(word), self.registry.current.get(word)
            if catalog is not None and catalog.population != self.sources.population:
                what = f"{word} has sources of the population {catalog.population.name}"
                return TargetError(f"{what}, and {self.called} of {self.sources.population.name}")
            if given is not None and matching_names(name, given.calculator.names):
                lacking = (
                    input_name
                    for input_name in inputs_of(given.calculator)
                    if not self._derivable([input_name], [name])
                )
                return self._errors().missing(self._dead_end(next(lacking), [name]))
            known = catalog.schema.names if catalog is not None else () if given is None else given.calculator.names
            if known:
                return TargetError(f"{word} has no attribute {name!r}", hint=did_you_mean(name, known))
        return None

    def _dead_end(self, name: str, chain: list[str]) -> list[str]:
        """Return names, each needed for the one before; the last is not to be had, or is among those before it."""
        path = [*chain, name]
        if name in chain:
            return path
        for calculator in self._giving(name):
            for input_name in inputs_of(calculator):
                if not self._derivable([input_name], path):
                    return self._dead_end(input_name, path)
        return path
