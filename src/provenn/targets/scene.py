"""What planning knows: which sets lie in which, how attributes are defined, what is stored, how many rows there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from provenn.catalogs import Catalog, Extent, SelectSources, cone
from provenn.catalogs.extent import everything, extent_of, leaf, nothing
from provenn.logic import Statement, disjoint, empty, equal, subset
from provenn.logic.terms import Op, Term, chain
from provenn.logic.terms import nothing as no_set
from provenn.store.knowledge import Known
from provenn.targets.steps import Calculate, Derive, Step, Stored, walk

__all__ = ["Scene", "condition_of", "parts"]

_ALL = ~no_set


@dataclass(frozen=True, slots=True)
class Scene:
    """What planning knows.

    Parameters
    ----------
    known
        What follows from definitions and facts.
    catalogs
        The catalogs that it speaks of.
    fragments
        What is stored, and for which catalog.
    rows
        How many sources extents have, by digest, where that was counted.
    estimates, costs, bounds
        What `provenn.targets.costs` and `provenn.targets.bounds` have found so far, by the signatures of steps.
    views
        What `provenn.targets.supplies` has made of fragments so far.
    leaned
        The statements that were asked for, and proved, since somebody has cleared it.
    """

    known: Known
    catalogs: tuple[Catalog, ...]
    fragments: tuple[Stored, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)
    estimates: dict[int, float] = field(default_factory=dict, repr=False)
    costs: dict[tuple[int, frozenset[str]], float] = field(default_factory=dict, repr=False)
    bounds: dict[int, tuple[int, int | None]] = field(default_factory=dict, repr=False)
    views: dict[tuple[int, tuple[str, ...], int], Step | None] = field(default_factory=dict, repr=False)
    leaned: list[Statement] = field(default_factory=list, repr=False)
    _called: dict[str, str] = field(default_factory=dict, repr=False)
    _proved: dict[str, bool] = field(default_factory=dict, repr=False)
    _undeclared: list[Known] = field(default_factory=list, repr=False)
    _definitions: dict[str, Derive | Calculate] = field(default_factory=dict, repr=False)
    _selections: dict[str, tuple[Extent, SelectSources]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for one in reversed(self.catalogs):
            self._called[one.extent.digest] = one.digest

    # -- sets ----------------------------------------------------------------------------------------------------

    def term(self, extent: Extent) -> Term:
        """Return an extent as a set that statements can speak of: by catalogs where they have just these sources."""
        made: dict[str, Term] = {}
        stack = [extent]
        while stack:
            one = stack[-1]
            named = one.digest in self._called or one.label is not None
            missing = [] if named else [part for part in one.parts if part.digest not in made]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            made[one.digest] = self._term(one, made)
        return made[extent.digest]

    def _term(self, one: Extent, made: Mapping[str, Term]) -> Term:
        if one.digest in self._called:
            return Term((self._called[one.digest],))
        if one.label is not None:
            positive = Term((one.label,))
        else:
            inside = tuple(sorted((made[part.digest] for part in one.parts), key=_as_people_write))
            if one.complemented and inside and all(part.postfix[-1] is Op.NOT for part in inside):
                return chain(Op.OR, tuple(Term(part.postfix[:-1]) for part in inside))
            positive = chain(Op.AND, inside) if inside else _ALL
        return ~positive if one.complemented else positive

    def inside(self, one: Extent, other: Extent) -> Statement:
        """Return the statement that a set lies in another one."""
        return subset(self.term(one), self.term(other))

    def apart(self, one: Extent, other: Extent) -> Statement:
        """Return the statement that two sets have no source in common."""
        return disjoint(self.term(one), self.term(other))

    def same(self, one: Extent, other: Extent) -> Statement:
        """Return the statement that two sets are the same."""
        return equal(self.term(one), self.term(other))

    def vanishing(self, one: Extent) -> Statement:
        """Return the statement that a set has no source."""
        return empty(self.term(one))

    def holds(self, said: Statement) -> bool:
        """Whether a statement is proved."""
        text = str(said)
        if text not in self._proved:
            self._proved[text] = self.known.knowledge.entails(said)
        if self._proved[text]:
            self.leaned.append(said)
        return self._proved[text]

    def certain(self, said: Statement) -> bool:
        """Whether a statement is proved without any declared fact."""
        return self.holds(said) and (not self.has_declared or self.undeclared.knowledge.entails(said))

    @property
    def has_declared(self) -> bool:
        """Whether a declared fact bears on the catalogs."""
        return any(fact.origin == "declared" for fact in self.known.facts)

    @property
    def undeclared(self) -> Known:
        """What follows without any declared fact."""
        if not self._undeclared:
            self._undeclared.append(self.known.without("declared") if self.has_declared else self.known)
        return self._undeclared[0]

    def without_declared(self) -> Scene:
        """Return what planning knows without any declared fact, and without what is stored that leans on one."""
        declared = {fact.id for fact in self.known.facts if fact.origin == "declared"}
        fragments = tuple(one for one in self.fragments if declared.isdisjoint(one.fragment.facts))
        return replace(self, known=self.undeclared, fragments=fragments, leaned=[], _proved={}, _undeclared=[])

    def lies_in(self, one: Extent, other: Extent) -> bool:
        """Whether a set is proved to lie in another one."""
        return (
            other.digest == everything.digest
            or parts(other).keys() <= parts(one).keys()
            or self.holds(self.inside(one, other))
        )

    def is_empty(self, one: Extent) -> bool:
        """Whether a set is proved to have no source."""
        return one.digest == nothing.digest or self.holds(self.vanishing(one))

    # -- attributes ----------------------------------------------------------------------------------------------

    def learn(self, plan: Step) -> None:
        """Take note of how the attributes in a plan are defined."""
        for one in walk(plan):
            if isinstance(one, Derive):
                self._definitions.setdefault(one.attribute.identity, one)
            elif isinstance(one, Calculate) and not one.whole:
                for output in one.outputs:
                    self._definitions.setdefault(output.identity, one)

    def definition(self, identity: str) -> Derive | Calculate | None:
        """Return a step that derives an attribute from others, row by row; None if it is not known how to."""
        return self._definitions.get(identity)

    @property
    def selections(self) -> Iterable[tuple[Extent, SelectSources]]:
        """The sets by which catalogs select, over atoms."""
        if not self._selections:
            for one in cone(*self.catalogs):
                if isinstance(one, SelectSources):
                    made = condition_of(one)
                    self._selections.setdefault(made.digest, (made, one))
        return self._selections.values()

    # -- data ----------------------------------------------------------------------------------------------------

    def stored(self, identities: Iterable[str]) -> list[Stored]:
        """Return the fragments that hold at least one of some attributes."""
        wanted = frozenset(identities)
        return [one for one in self.fragments if wanted & one.fragment.identities]


def _as_people_write(one: Term) -> tuple[bool, bool, str]:
    """Return where a term stands in an intersection: catalogs before criteria, what is left out last."""
    return one.label is None or "`" in one.label, one.postfix[-1] is Op.NOT, str(one)


def condition_of(catalog: SelectSources) -> Extent:
    """Return the set of a selection over atoms, each of which is evaluated on a row of the parent."""
    selection = catalog.selection
    true = selection.true
    if not {one.label for one in selection.atoms}.issuperset(true.labels):
        true = catalog.criterion.true  # after a concatenation, the selection speaks of its members
    return extent_of(true, leaf)


def parts(extent: Extent) -> dict[str, Extent]:
    """Return the sets whose intersection an extent is, by digest: itself, if it is no intersection."""
    if extent.label is None and not extent.complemented:
        return {one.digest: one for one in extent.parts}
    return {extent.digest: extent}
