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
    steps = list(_costly(plan.after, plan.needed))
    parts = _parts(plan, steps)
    if parts or plan.catalog is None or _is_stored(plan.after) or (keep == "worthwhile" and not steps):
        return parts
    return [Part(plan.after, plan.catalog, plan.needed)]


def parts_stored(plan: Plan, catalog: Catalog) -> list[Part]:
    """Return the parts of a plan that are kept when its whole result is stored for a catalog, the result last."""
    given = with_attributes(catalog, sorted(_outputs(plan.after)), _known(plan, plan.after))
    held = given.schema.by_identity.keys() & (plan.needed | _outputs(plan.after))
    return [*_parts(plan, list(_lost(plan.after, plan.needed))), Part(plan.after, given, frozenset(held))]


def _costly(step: Step, needed: frozenset[str]) -> Iterator[tuple[Step, frozenset[str]]]:
    """Yield the steps whose rows calculators give, and what is needed of each; those first that others are made from.

    Steps that only add attributes to rows carry along what a calculator gives; so do unions that have no source twice.
    """
    several = _several_members(step) if isinstance(step, Concat) else None
    if several is not None or isinstance(step, Derive | Calculate):
        yield from _lost(step, needed)
        if several is not None or _calculations(step):
            yield several or step, needed
    else:
        for one, read in zip(step.inputs, step.reads(needed), strict=True):
            yield from _costly(one, read)


def _lost(step: Step, needed: frozenset[str]) -> Iterator[tuple[Step, frozenset[str]]]:
    """Yield the steps inside a step whose rows calculators give, if the step itself does not carry them along."""
    if isinstance(step, Derive | Calculate):
        yield from _costly(*_below(step, needed))
        return
    for at, (one, read) in enumerate(zip(step.inputs, step.reads(needed), strict=True)):
        carried = isinstance(step, Concat) and step.disjoint and _carries(step, at)
        yield from _lost(one, read) if carried else _costly(one, read)


def _below(step: Step, needed: frozenset[str]) -> tuple[Step, frozenset[str]]:
    """Return the rows to which a step adds attributes, and what is needed of them."""
    while isinstance(step, Derive | Calculate):
        (needed,) = step.reads(needed)
        step = step.input
    return step, needed


def _calculations(step: Step) -> list[Calculate]:
    """Return the calculators whose results a step carries along for all rows that they are called for."""
    if isinstance(step, Concat) and step.disjoint:
        return [one for member in step.members for one in _calculations(member)]
    found: list[Calculate] = []
    while isinstance(step, Derive | Calculate):
        found += [step] if isinstance(step, Calculate) else []
        step = step.input
    return found


def _several_members(step: Concat) -> Concat | None:
    """Return the union of the members that calculators give, if there are several, and it has all that these give."""
    places = [at for at, member in enumerate(step.members) if _calculations(member)]
    if len(places) < 2 or not step.disjoint or not all(_carries(step, at) for at in places):
        return None
    if len(places) == len(step.members):
        return step
    columns = tuple((one, tuple(given[at] for at in places)) for one, given in step.columns)
    members = tuple(step.members[at] for at in places)
    return Concat(members, columns, True, union(one.extent for one in members))


def _carries(step: Concat, at: int) -> bool:
    """Whether a union has all that calculators give for one of its members."""
    return bool(_calculations(step.members[at])) and _outputs(step.members[at]) <= {
        given[at] for _, given in step.columns
    }


def _outputs(step: Step) -> set[str]:
    """Return the identities under which a step has what calculators give."""
    if not (isinstance(step, Concat) and step.disjoint):
        return {one.identity for calculation in _calculations(step) for one in calculation.outputs}
    each = [_outputs(member) for member in step.members]
    return {one.identity for one, given in step.columns if any(map(contains, each, given))}


def _parts(plan: Plan, steps: Iterable[tuple[Step, frozenset[str]]]) -> list[Part]:
    found = {step.signature: _part(plan, step, needed) for step, needed in steps}
    return [part for part in found.values() if part is not None]


def _part(plan: Plan, step: Step, needed: frozenset[str]) -> Part | None:
    """Return a step as a part that can be stored, or None if no catalog can be made that has its sources."""
    known = _known(plan, step)
    sources = plan.catalog if step is plan.after else with_sources(step.extent, known)
    if sources is None:
        return None
    missing = {one.identity for each in walk(step) if isinstance(each, Fill) for one in each.missing}
    wanted = sorted((needed.intersection(step.attributes) | _outputs(step)) - missing)
    catalog = with_attributes(sources, wanted, known)
    held = frozenset(catalog.schema.by_identity.keys() & set(wanted))
    return Part(step, catalog, held) if held >= _outputs(step) else None


def _known(plan: Plan, step: Step) -> list[Catalog]:
    """Return the catalogs of a plan that have sources of the population of a step."""
    key = set(key_of(step.attributes))
    return [one for one in cone(*plan.scene.catalogs) if {each.identity for each in one.schema.key} == key]


def _is_stored(step: Step) -> bool:
    """Whether a step only reads what is stored, as it is."""
    return isinstance(step, Stored) or (isinstance(step, Concat) and all(map(_is_stored, step.members)))
