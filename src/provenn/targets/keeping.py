"""What is kept of a plan: all that its calculators give, for all sources that they are called for.

The rows of a calculation are kept as a fragment of their own, with what else is needed of them there: whatever follows
it in the plan, be it a selection by the result or a match, has no part in what it gives. So no later request calls a
calculator again for a source that it was called for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import contains
from typing import Literal

from provenn.catalogs import Attribute, Catalog, cone
from provenn.catalogs.extent import union
from provenn.targets.defining import with_attributes, with_sources
from provenn.targets.plan import Plan
from provenn.targets.steps import Calculate, Concat, Derive, Fill, Step, Stored, key_of, walk
from provenn.targets.supplies import keys_of

__all__ = ["Keep", "Part", "parts_kept", "parts_stored"]

Keep = Literal["always", "worthwhile", "never"]
"""Which results are kept: all; those for which a calculator in Python was called; none."""


@dataclass(frozen=True, slots=True)
class Part:
    """A step whose rows are kept.

    Parameters
    ----------
    step
        The step.
    catalog
        A catalog that has its sources.
    identities
        The attributes that are kept, without the key; the catalog has all of them.
    """

    step: Step
    catalog: Catalog
    identities: frozenset[str]

    @property
    def computed(self) -> dict[str, Attribute]:
        """What calculators give for it, by identity, or else all that is kept: others who want that wait for it."""
        outputs = {one.identity: one for step in _calculations(self.step) for one in step.outputs}
        given = self.catalog.schema.by_identity
        return outputs or {identity: given[identity] for identity in self.identities}


def parts_kept(plan: Plan, keep: Keep) -> list[Part]:
    """Return the parts of a plan that are to be kept, each after those that it is made from.

    What is stored already is not among them. A value that is missing is no value of an attribute, and is not kept.
    """
    if keep == "never" or plan.empty:
        return []
    keeping = _Keeping(plan)
    steps = list(keeping.costly(plan.after, plan.needed))
    parts = keeping.parts(steps)
    if parts or plan.catalog is None or _is_stored(plan.after) or (keep == "worthwhile" and not steps):
        return parts
    return [Part(plan.after, plan.catalog, plan.needed)]


def parts_stored(plan: Plan, catalog: Catalog) -> list[Part]:
    """Return the parts of a plan that are kept when its whole result is stored for a catalog, the result last."""
    keeping, outputs = _Keeping(plan), _outputs(plan.after)
    given = with_attributes(catalog, sorted(outputs), keeping.known(plan.after))
    held = frozenset(given.schema.by_identity.keys() & (plan.needed | outputs))
    return [*keeping.parts(keeping.lost(plan.after, plan.needed)), Part(plan.after, given, held)]


Needed = tuple[Step, frozenset[str]]
"""A step, and the identities of the attributes that are needed of it."""


class _Keeping:
    """Finds the parts of a plan that are kept."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.catalogs = {one.digest: one for one in cone(*plan.scene.catalogs)}

    def costly(self, step: Step, needed: frozenset[str]) -> Iterator[Needed]:
        """Yield the steps whose rows calculators give; those first that others are made from.

        A step that only adds attributes carries along what a calculator gives; so does a union without doubles.
        """
        several = self._several_members(step) if isinstance(step, Concat) else None
        if several is not None or isinstance(step, Derive | Calculate):
            yield from self.lost(step, needed)
            if several is not None or _calculations(step):
                yield several or step, needed
        else:
            for one, read in zip(step.inputs, step.reads(needed), strict=True):
                yield from self.costly(one, read)

    def lost(self, step: Step, needed: frozenset[str]) -> Iterator[Needed]:
        """Yield the steps inside a step whose rows calculators give, if the step itself does not carry them along."""
        while isinstance(step, Derive | Calculate):
            (needed,) = step.reads(needed)
            step = step.input
            if not isinstance(step, Derive | Calculate):
                yield from self.costly(step, needed)
                return
        for at, (one, read) in enumerate(zip(step.inputs, step.reads(needed), strict=True)):
            carried = isinstance(step, Concat) and self._carries(step, at)
            yield from self.lost(one, read) if carried else self.costly(one, read)

    def _several_members(self, step: Concat) -> Concat | None:
        """Return the union of the members that calculators give, if there are several, and it carries all of that."""
        places = [at for at, member in enumerate(step.members) if _calculations(member)]
        if len(places) < 2 or not all(self._carries(step, at) for at in places):
            return None
        if len(places) == len(step.members):
            return step
        columns = tuple((one, tuple(given[at] for at in places)) for one, given in step.columns)
        members = tuple(step.members[at] for at in places)
        return Concat(members, columns, True, union(one.extent for one in members))

    def _carries(self, step: Concat, at: int) -> bool:
        """Whether a union has all that calculators give for one of its members, so that it serves for that member."""
        outputs = _outputs(step.members[at])
        serving = {given[at] for one, given in step.columns if one.identity == given[at] or self._serves(one)}
        return step.disjoint and bool(outputs) and outputs <= serving

    def _serves(self, attribute: Attribute) -> bool:
        """Whether what is stored of an attribute in pieces serves for each member: `provenn.targets.supplies`."""
        return all(
            keys_of(self.catalogs[piece.member]) is not None and self._serves(piece.attribute)
            for piece in attribute.pieces
        )

    def parts(self, steps: Iterable[Needed]) -> list[Part]:
        """Return those of some steps that can be stored, each once."""
        found = {step.signature: self._part(step, needed) for step, needed in steps}
        return [part for part in found.values() if part is not None]

    def _part(self, step: Step, needed: frozenset[str]) -> Part | None:
        """Return a step as a part that can be stored, or None if no catalog can be made that has its sources."""
        known = self.known(step)
        sources = self.plan.catalog if step is self.plan.after else with_sources(step.extent, known)
        if sources is None:
            return None
        missing = {one.identity for each in walk(step) if isinstance(each, Fill) for one in each.missing}
        wanted = sorted((needed.intersection(step.attributes) | _outputs(step)) - missing)
        catalog = with_attributes(sources, wanted, known)
        held = frozenset(catalog.schema.by_identity.keys() & set(wanted))
        return Part(step, catalog, held) if held >= _outputs(step) else None

    def known(self, step: Step) -> list[Catalog]:
        """Return the catalogs of the plan that have sources of the population of a step."""
        key = set(key_of(step.attributes))
        return [one for one in self.catalogs.values() if {each.identity for each in one.schema.key} == key]


def _calculations(step: Step) -> list[Calculate]:
    """Return the calculators whose results a step carries along for all rows that they are called for."""
    if isinstance(step, Concat) and step.disjoint:
        return [one for member in step.members for one in _calculations(member)]
    found: list[Calculate] = []
    while isinstance(step, Derive | Calculate):
        found += [step] if isinstance(step, Calculate) else []
        step = step.input
    return found


def _outputs(step: Step) -> set[str]:
    """Return the identities under which a step has what calculators give."""
    if not (isinstance(step, Concat) and step.disjoint):
        return {one.identity for calculation in _calculations(step) for one in calculation.outputs}
    each = [_outputs(member) for member in step.members]
    return {one.identity for one, given in step.columns if any(map(contains, each, given))}


def _is_stored(step: Step) -> bool:
    """Whether a step only reads what is stored, as it is."""
    return isinstance(step, Stored) or (isinstance(step, Concat) and all(map(_is_stored, step.members)))
