"""What people do with an archive, in any order; and what names mean then, by a model that shares no code with provenn.

In the model an attribute is an expression: a column of a base, or an operation on another expression. A catalog is the
bases whose rows it has, the expressions that it calls by names, and those that were left out on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import provenn
from provenn.data import fragments
from provenn.definitions import catalog_store
from provenn.errors import ProvennError
from provenn.targets.keeping import find_parts_to_keep
from tests.spark import functions

Expression = tuple[object, ...]
"""``("column", base, name)``; or ``("python", factor, of)`` or ``("sql", operation, of)``, with another expression."""

Use = tuple[str, object]
"""A calculator in Python, by its factor; or an SQL expression, by the name that it defines and its text."""


def column(base: str) -> Expression:
    """The g of a release."""
    return ("column", base, "g")


def python(factor: float, of: Expression) -> Expression:
    return ("python", factor, of)


def sql(operation: str, of: Expression) -> Expression:
    return ("sql", operation, of)


def value(one: Expression, columns: Mapping[str, float]) -> float:
    """The value of an expression for a source, given its g in each release."""
    kind, what, of = one
    if kind == "column":
        return columns[what]
    inner = value(of, columns)
    if kind == "python":
        return inner * what
    operator, number = what.split()
    return inner * float(number) if operator == "*" else inner + float(number)


# --- what names mean, in the model ---


@dataclass(frozen=True)
class Model:
    """A catalog."""

    own: Mapping[str, Expression]
    left_out: Mapping[str, frozenset[Expression]] = field(default_factory=dict)

    @property
    def had(self) -> set[Expression]:
        return {*self.own.values(), *(one for several in self.left_out.values() for one in several)}


@dataclass(frozen=True)
class Definition:
    """That a catalog defines an attribute under a name, by some calculators or expressions.

    What is private to a person is seen by nobody else, unless they see everything.
    """

    catalog: str
    name: str
    expression: Expression
    uses: frozenset[Use]
    private_to: str | None = None


@dataclass(frozen=True)
class Registered:
    """A calculator of one output and one input."""

    name: str
    output: str
    input: str
    use: Use
    apply: Callable[[Expression], Expression]


@dataclass
class World:
    """All that is defined, registered and preferred; registrations in their order."""

    definitions: list[Definition] = field(default_factory=list)
    registered: list[Registered] = field(default_factory=list)
    preferences: dict[str, str] = field(default_factory=dict)

    def seen_by(self, who: str | None) -> World:
        """What a person sees; nobody in particular sees everything."""
        seen = [definition for definition in self.definitions if who is None or definition.private_to in (None, who)]
        return World(seen, self.registered, self.preferences)

    @property
    def current(self) -> dict[str, Registered]:
        return {one.name: one for one in self.registered}

    @property
    def superseded(self) -> set[Use]:
        return {one.use for one in self.registered} - {one.use for one in self.current.values()}


class Ambiguous(Exception):  # noqa: N818 - an answer, rather than an error
    """A name means several attributes."""


class Missing(Exception):  # noqa: N818 - as above
    """A name means no attribute."""


class Meaning:
    """What names mean, asked of a catalog."""

    def __init__(self, world: World, sources: Model) -> None:
        self.world, self.sources = world, sources
        self.open: list[str] = []

    def determined(self, one: Expression) -> bool:
        return one in self.sources.had or (one[0] != "column" and self.determined(one[2]))

    def defined(self, name: str) -> set[Expression]:
        """What was left out under a name, or is defined under it and determined by the values of the sources."""
        left_out = set(self.sources.left_out.get(name, ()))
        found = [
            definition
            for definition in self.world.definitions
            if definition.name == name and self.determined(definition.expression)
        ]
        valid = {one.expression for one in found if not one.uses & self.world.superseded}
        gives = any(one.output == name for one in self.world.current.values())
        return left_out | (valid or (set() if left_out or gives else {one.expression for one in found}))

    def derivable(self, name: str, without: frozenset[str]) -> bool:
        if name in without:
            return False
        if name in self.sources.own or self.defined(name) or self.explicit(name):
            return True
        calculators = [one for one in self.world.current.values() if one.output == name]
        return any(self.derivable(calculator.input, without | {name}) for calculator in calculators)

    def explicit(self, name: str) -> Expression | None:
        """What a preference for a catalog says."""
        chosen = self.world.preferences.get(name)
        found = [
            definition.expression
            for definition in self.world.definitions
            if (definition.catalog, definition.name) == (chosen, name)
        ]
        return found[0] if found else None

    def of(self, name: str) -> Expression:
        if name in self.sources.own:
            return self.sources.own[name]
        if name in self.open:
            raise Ambiguous
        self.open.append(name)
        try:
            return self.looked_up(name)
        finally:
            self.open.pop()

    def looked_up(self, name: str) -> Expression:
        explicit = self.explicit(name)
        if explicit is not None:
            return explicit
        calculators = [
            one
            for one in self.world.current.values()
            if one.output == name and self.derivable(one.input, frozenset([name]))
        ]
        preferred = [calculator for calculator in calculators if calculator.name == self.world.preferences.get(name)]
        if preferred:
            return preferred[0].apply(self.of(preferred[0].input))
        found = {calculator.apply(self.of(calculator.input)) for calculator in calculators} | self.defined(name)
        if not found:
            raise Missing
        if len(found) > 1:
            raise Ambiguous
        return found.pop()


# --- what people do ---


@dataclass(frozen=True)
class Event:
    """Something that a person does.

    Parameters
    ----------
    what
        What is done, in words; no two have the same.
    do
        Does it with an archive.
    after
        What must have been done before, in words; if it never is, this is not done either.
    queue
        Events of one queue keep their order: the last registration under a name is the one that counts.
    model
        Does it in the model, as a person; None if it must not change what any name means.
    """

    what: str
    do: Callable[[provenn.Archive], object]
    after: tuple[str, ...] = ()
    queue: str = ""
    model: Callable[[World, str], object] | None = None


def pretend_run(archive: provenn.Archive, sources: str, name: str) -> None:
    """Do what a run does with definitions and fragments, without computing anything; nothing if it would fail."""
    try:
        plan = archive.target(sources, [name]).plan()
    except ProvennError:
        return
    for part in find_parts_to_keep(plan, "always"):
        catalog = part.catalog
        columns = [(attribute.identity, attribute.name) for attribute in catalog.schema.attributes]
        with archive.context.database.writing() as writing:
            catalog_store.add_catalogs(writing, catalog, for_run=True)
            fragments.register(writing, catalog, columns, location=catalog.digest, rows=3, files=(), seconds=1.0)


def real_run(archive: provenn.Archive, sources: str, name: str) -> None:
    """Compute it, and keep it; nothing if that fails."""
    try:
        archive.target(sources, [name], keep="always").to_arrow()
    except ProvennError:
        return


def register_python(archive: provenn.Archive, name: str, factor: float, of: str, output: str) -> None:
    parameters = {"output": output, "factor": factor}
    archive.calculator(name, functions.scaled, inputs=[of], outputs={output: "double"}, parameters=parameters)


def in_order(events: Sequence[Event], priorities: Sequence[float]) -> list[Event]:
    """Return events in an order in which each comes after what it needs, and queues keep theirs."""
    there = {event.what for event in events}
    waiting = [event for event in events if there.issuperset(event.after)]
    priority = {one.what: number for one, number in zip(events, priorities, strict=True)}
    done: list[Event] = []
    while waiting:
        ready = [one for one in waiting if _is_ready(one, waiting)]
        done.append(min(ready, key=lambda one: priority[one.what]))
        waiting.remove(done[-1])
    return done


def _is_ready(one: Event, waiting: Sequence[Event]) -> bool:
    before = waiting[: waiting.index(one)]
    in_queue = any(other.queue == one.queue for other in before) if one.queue else False
    return not in_queue and not any(other.what in one.after for other in waiting)
