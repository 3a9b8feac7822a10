"""Who provides an attribute: found in the archive, or created by a calculator, always in its most general form.

A value is a function of the source, so that an attribute which somebody derived for a few sources is known for all
sources that have what it is derived from. The provider of an attribute is the definition on that largest set; what
is computed of it is for the plan to decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from provenn.catalogs import (
    Attribute,
    Base,
    Calculator,
    Catalog,
    CombineAttributes,
    DeriveAttributes,
    KeepAttributes,
    PythonCalculator,
    RenameAttributes,
    SqlCalculator,
)
from provenn.criteria import names_in
from provenn.errors import AmbiguousAttributeError, CalculatorError, ProvennError, TargetError, did_you_mean
from provenn.store import attributes, catalog_store
from provenn.store.calculators import latest, preferred, providing, registered
from provenn.store.database import Reading
from provenn.targets.known import known_of
from provenn.targets.scene import Scene
from provenn.targets.steps import is_key

__all__ = ["Provided", "Providers", "brought_together"]


@dataclass(frozen=True, slots=True)
class Provided:
    """An attribute that was asked for by name, and who provides it.

    Parameters
    ----------
    name
        What it was asked for as.
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


@dataclass(slots=True)
class Providers:
    """Finds out who provides attributes of some sources.

    Parameters
    ----------
    reading
        The archive.
    sources
        The sources that are asked for.
    created
        The catalogs that nobody had defined.
    """

    reading: Reading
    sources: Catalog
    created: dict[str, Catalog] = field(default_factory=dict)
    _largest: dict[str, Catalog] = field(default_factory=dict)

    def named(self, name: str, chain: tuple[str, ...] = ()) -> Provided:
        """Return who provides an attribute of this name.

        What the sources have themselves is meant first; then what other catalogs have; then what a registered
        calculator gives.

        Raises
        ------
        AmbiguousAttributeError
            If several attributes have this name, and none is preferred.
        TargetError
            If there is none, and no calculator gives it.
        """
        own = self.sources.schema.matching(name)
        if len(own) == 1:
            return Provided(name, own[0], self.sources, "the sources have it")
        if own:
            raise AmbiguousAttributeError(
                f"the attribute {name} may be {' or '.join(one.name for one in own)}",
                hint="write it as it is, upper and lower case",
            )
        found = self._defined(name, chain)
        return self._calculated(name, chain) if found is None else found

    # -- what catalogs define ------------------------------------------------------------------------------------

    def _defined(self, name: str, chain: tuple[str, ...]) -> Provided | None:
        """Return the one attribute of this name that catalogs of the population define, if any does."""
        defined = attributes.named(self.reading, self.sources.population.name, name)
        by_identity = self._current(name, {one.identity: one for one in reversed(defined)})
        if not by_identity:
            return None
        choice = preferred(self.reading).get(name)
        if choice is not None:
            chosen = {
                identity: one
                for identity, one in by_identity.items()
                if choice.identity in (identity, self._calculator_of(identity))
            }
            if not chosen:
                with suppress(TargetError):  # a calculator that is preferred, was not used yet, and can be
                    return self._calculated(name, chain)
            by_identity = chosen or by_identity
        if len(by_identity) > 1:
            by_identity = self._covering(by_identity) or by_identity
        if len(by_identity) > 1:
            raise self._ambiguous(name, by_identity)
        ((identity, one),) = by_identity.items()
        provider = self._with_key(identity, name) if is_key(identity) else self._of_identity(identity)
        held = next(each for each in provider.schema.attributes if each.identity == identity)
        return Provided(name, held, provider, f"defined by {self._called(one.catalog)}")

    def _current(self, name: str, by_identity: dict[str, attributes.Defined]) -> dict[str, attributes.Defined]:
        """Leave out what calculators gave before they were changed, if they give it now."""
        known = latest(self.reading)
        outdated = {one.calculator.digest for one in registered(self.reading)}
        outdated -= {one.calculator.digest for one in known.values()}
        if not outdated:
            return by_identity
        found = {identity: one for identity, one in by_identity.items() if not self._leans_on(identity, outdated)}
        given = any(name in one.calculator.names for one in known.values())
        return found if found or given else by_identity

    def _leans_on(self, identity: str, calculators: Collection[str]) -> bool:
        """Whether one of some calculators has its part in an attribute."""
        provider = None if is_key(identity) else self._of_identity(identity)
        if not isinstance(provider, DeriveAttributes):
            return False
        if self._calculator_of(identity) in calculators:
            return True
        return any(self._leans_on(one, calculators) for one in _reads(provider, identity).values())

    def _covering(self, by_identity: Mapping[str, attributes.Defined]) -> dict[str, attributes.Defined]:
        """Return those that all sources are proved to have."""
        providers = {identity: self._of_identity(identity) for identity in by_identity}
        scene = Scene(known_of(self.reading, self.sources, *providers.values()), (self.sources, *providers.values()))
        return {
            identity: by_identity[identity]
            for identity, one in providers.items()
            if scene.lies_in(self.sources.extent, one.extent)
        }

    def _calculator_of(self, identity: str) -> str | None:
        provider = self._of_identity(identity)
        if not isinstance(provider, DeriveAttributes):
            return None
        calculation = provider.calculation
        return (calculation if isinstance(calculation, PythonCalculator) else calculation.calculator).digest

    def _ambiguous(self, name: str, by_identity: Mapping[str, attributes.Defined]) -> AmbiguousAttributeError:
        where = sorted({self._called(one.catalog) for one in by_identity.values()})
        return AmbiguousAttributeError(
            f"several attributes are called {name}: those of {', '.join(where)}",
            hint=f"ask for it by another name (rename it in a catalog), or record which is meant: "
            f'archive.prefer("{name}", …)',
        )

    def _of_identity(self, identity: str) -> Catalog:
        """Return the most general definition of an attribute."""
        if identity not in self._largest:
            digests = [one.catalog for one in attributes.defining(self.reading, identity)]
            catalogs = catalog_store.get_all(self.reading, digests)
            definers = [catalogs[digest] for digest in digests]
            self._largest[identity] = self._most_general(identity, definers)
        return self._largest[identity]

    def _most_general(self, identity: str, definers: Iterable[Catalog]) -> Catalog:
        definers = sorted(definers, key=lambda one: (not isinstance(one, Base | DeriveAttributes), one.digest))
        first = definers[0]
        if not isinstance(first, DeriveAttributes):
            return first
        if isinstance(first.calculation, PythonCalculator) and first.calculation.scope == "catalog":
            return first
        wanted = _reads(first, identity)
        parent = brought_together((self._provider(each), each, name) for name, each in wanted.items())
        if parent is None or parent.extent == first.parent.extent:
            return first
        try:
            made = first.on([parent])
        except ProvennError:  # names in the way: what is there will do
            return first
        if identity not in made.schema.by_identity:  # an older version of the program read the same words otherwise
            return first
        return self._known_or_new(made, definers)

    def _provider(self, identity: str) -> Catalog:
        return self.sources if is_key(identity) else self._of_identity(identity)

    def _with_key(self, identity: str, name: str) -> Catalog:
        """Return the sources, with a part of their key under another name: they have it, whoever calls it so."""
        return RenameAttributes.of(self.sources, {self.sources.schema.by_identity[identity].name: name})

    def _known_or_new(self, made: Catalog, definers: Iterable[Catalog]) -> Catalog:
        for one in definers:
            if one.extent == made.extent:
                return one
        self.created.setdefault(made.digest, made)
        return made

    # -- what calculators give -----------------------------------------------------------------------------------

    def _calculated(self, name: str, chain: tuple[str, ...]) -> Provided:
        if name in chain:
            raise TargetError(
                f"{chain[0]} cannot be calculated: it needs itself, by {' from '.join((*chain, name))}",
                hint="one of these attributes must be in a catalog",
            )
        try:
            calculator = providing(self.reading, name)
        except CalculatorError as error:
            raise self._missing(name, chain, error) from error
        found = {each: self.named(each, (*chain, name)).attribute.identity for each in _inputs(calculator)}
        parent = brought_together((self._provider(each), each, as_name) for as_name, each in found.items())
        if parent is None:
            parent = self.sources
        made = DeriveAttributes.of(parent, calculator)
        attribute = made.schema[name]
        digests = [one.catalog for one in attributes.defining(self.reading, attribute.identity)]
        there = catalog_store.get_all(self.reading, digests) if digests else {}
        provider = self._known_or_new(made, [there[digest] for digest in digests])
        self._largest.setdefault(attribute.identity, provider)
        return Provided(name, attribute, provider, "a calculator gives it")

    def _missing(self, name: str, chain: tuple[str, ...], error: CalculatorError) -> TargetError:
        if error.message.startswith("several"):
            return AmbiguousAttributeError(error.message, hint=error.hint)
        own = self.sources.population.name
        others = attributes.populations(self.reading, name)
        if others:
            hint = "what one row is differs: ask for the sources of that population"
            return TargetError(f"{name} is an attribute of {', '.join(others)}, not of {own}", hint=hint)
        known = attributes.names(self.reading, own)
        needed = f", which is needed for {' for '.join(reversed(chain))}" if chain else ""
        hint = did_you_mean(name, known) or f"there are {', '.join(known[:20])}{' …' * (len(known) > 20)}"
        return TargetError(f"no catalog has an attribute {name!r}, and no calculator gives it{needed}", hint=hint)

    def _called(self, digest: str) -> str:
        called = catalog_store.entries(self.reading, [digest])[digest].names
        return called[0] if called else digest[:12]


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
        found = {name: provider.schema.matching(name) for name in names}
        if all(found[name] and found[name][0].identity == identity for name, identity in names.items()):
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


def _inputs(calculator: Calculator) -> tuple[str, ...]:
    if isinstance(calculator, PythonCalculator):
        return calculator.inputs
    if isinstance(calculator, SqlCalculator):
        return tuple(dict.fromkeys(name for _, text in calculator.expressions for name in names_in(text)))
    raise CalculatorError(f"{calculator!r} does not say what it reads")


def _reads(catalog: DeriveAttributes, identity: str) -> dict[str, str]:
    """Return what an attribute is derived from: what the parent calls it, and its identity."""
    calculation, schema = catalog.calculation, catalog.parent.schema
    if isinstance(calculation, PythonCalculator):
        return {name: schema[name].identity for name in calculation.inputs}
    names = _names(catalog)
    name = next(one.name for one in catalog.schema.attributes if one.identity == identity and one.name in names)
    return {schema.by_identity[each].name: each for each in calculation.parsed(schema)[name].reads}


def _names(catalog: DeriveAttributes) -> tuple[str, ...]:
    calculation = catalog.calculation
    if isinstance(calculation, PythonCalculator):
        return calculation.names
    return tuple(one.name for one in calculation.outputs)
