"""Gathering: all that is asked of some sources, taken from the rows of one place.

Whether a source is among those that are asked for is decided on its row alone, and what the row does not hold is
derived from what it holds. So no join is needed, whatever the lineage looks like.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from provenn.catalogs import Extent
from provenn.catalogs.cross_match import match_words
from provenn.catalogs.extent import everything, intersection, leaf, nothing, union
from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import (
    Attributes,
    Calculate,
    Derive,
    Select,
    Step,
    Stored,
    condition_reads,
    walk,
)

__all__ = ["calls_more", "derivable", "derived", "evaluable", "gathered", "places", "residual", "reused"]

_SET = re.compile(r"[0-9a-f]{64}")


def places(step: Step) -> list[Step]:
    """Return the steps below which nothing is looked for: files, fragments, matches, results for whole catalogs."""
    found: dict[int, Step] = {}
    for one in walk(step, within=_same_population):
        if not one.inputs or isinstance(one, Match) or (isinstance(one, Calculate) and one.whole):
            found.setdefault(one.signature, one)
    return list(found.values())


def _same_population(step: Step) -> tuple[Step, ...]:
    """Return the inputs of a step that give rows of what it gives rows of."""
    return () if isinstance(step, Match) else step.inputs[:1] if isinstance(step, Matched) else step.inputs


def reused(step: Step) -> set[int]:
    """Return the numbers of the fragments that are read for a step."""
    return {one.fragment.id for one in walk(step) if isinstance(one, Stored)}


def calls_more(scene: Scene, made: Step, step: Step) -> bool:
    """Whether a step may call a calculator for a source for which another step does not call it.

    A rule that keeps to this never undoes what reading from fragments has spared, whatever that seems to cost.
    """
    called: dict[tuple[str, tuple[str, ...]], list[Extent]] = {}
    for one in walk(step):
        if isinstance(one, Calculate):
            called.setdefault((one.calculator.digest, one.arguments), []).append(one.extent)
    return any(
        not scene.lies_in(one.extent, union(called.get((one.calculator.digest, one.arguments), ())))
        for one in walk(made)
        if isinstance(one, Calculate)
    )


def residual(scene: Scene, extent: Extent, given: Extent) -> list[Extent]:
    """Return the sets that together cut an extent out of a larger one."""
    known = parts(given)
    left = [one for digest, one in parts(extent).items() if digest not in known]
    return [one for one in (_among(scene, one, given) for one in left) if not scene.lies_in(given, one)]


def _among(scene: Scene, one: Extent, given: Extent) -> Extent:
    """Return what a set is among the sources of a given one: base sets that hold all or none of these say nothing."""

    def value(label: str) -> Extent:
        if _is_set(label):
            if scene.lies_in(given, leaf(label)):
                return everything
            if scene.holds(scene.apart(given, leaf(label))):
                return nothing
        return leaf(label)

    return one if evaluable(one) else one.evaluate(value, everything)


def evaluable(condition: Extent) -> bool:
    """Whether a row tells if its source is in a set: if it is made of criteria and samples alone."""
    return not any(map(_is_set, condition.labels))


def _is_set(label: str) -> bool:
    """Whether a label is that of a set which no row tells: of a base, or of a match."""
    return _SET.fullmatch(label) is not None or match_words(label) is not None


def derivable(scene: Scene, identity: str, attributes: Collection[str]) -> bool:
    """Whether an attribute is among some attributes, or can be derived from them row by row."""
    pending, seen = [identity], set()
    while pending:
        one = pending.pop()
        if one in attributes or one in seen:
            continue
        seen.add(one)
        definition = scene.definition(one)
        if definition is None:
            return False
        pending.extend(_arguments(definition))
    return True


def gathered(scene: Scene, place: Step, extent: Extent, needed: frozenset[str]) -> Step | None:
    """Return the sources of an extent with the attributes that are needed, from the rows of one place, or None.

    Selections come first, those that need no derived attribute before all others. What is costly is calculated last,
    for the sources that remain.
    """
    if not scene.lies_in(extent, place.extent):
        return None
    conditions = residual(scene, extent, place.extent)
    if not all(map(evaluable, conditions)):
        return None
    reads = {one.digest: condition_reads(one) for one in conditions}
    wanted = needed.union(*reads.values())
    if not all(derivable(scene, identity, place.attributes) for identity in wanted):
        return None
    step, left = place, conditions
    while left:
        ready = [one for one in left if reads[one.digest] <= step.attributes.keys()]
        left = [one for one in left if one not in ready]
        if ready:
            sources = extent if not left else intersection([step.extent, *ready])
            step = Select(step, intersection(ready), sources)
        if left:
            step = _next_derived(scene, step, [reads[one.digest] for one in left])
    return derived(scene, step, needed)


def _next_derived(scene: Scene, step: Step, reads: Iterable[frozenset[str]]) -> Step:
    """Derive what the next condition reads: the one that costs least."""

    def costs(identities: frozenset[str]) -> tuple[int, int]:
        found = list(_missing(scene, identities, step.attributes))
        return sum(isinstance(one, Calculate) for one in found), len(found)

    return derived(scene, step, min(reads, key=costs))


def derived(scene: Scene, step: Step, needed: frozenset[str]) -> Step:
    """Return a step with attributes derived that it does not have: SQL first, then calculators."""
    for one in _missing(scene, needed, step.attributes):
        step = one.on([step])
    return step


def _missing(scene: Scene, needed: Iterable[str], attributes: Attributes) -> list[Derive | Calculate]:
    """Return the definitions of what is missing, each after those it reads, calculators as late as that allows."""
    cheap: list[Derive | Calculate] = []
    dear: list[Derive | Calculate] = []
    have: dict[str, bool] = {}  # whether it leans on a calculator

    def visit(identity: str) -> bool:
        if identity in attributes:
            return False
        if identity not in have:
            definition = scene.definition(identity)
            assert definition is not None, "it was seen to be derivable"  # noqa: S101 - for the type checker
            leaning = [visit(one) for one in _arguments(definition)]  # all of them, before asking for any
            late = isinstance(definition, Calculate) or any(leaning)
            (dear if late else cheap).append(definition)
            for one in _outputs(definition):
                have[one] = late
        return have[identity]

    for one in sorted(needed):
        visit(one)
    return cheap + dear


def _arguments(definition: Derive | Calculate) -> tuple[str, ...]:
    return definition.arguments if isinstance(definition, Calculate) else definition.expression.reads


def _outputs(definition: Derive | Calculate) -> Iterator[str]:
    if isinstance(definition, Calculate):
        yield from (one.identity for one in definition.outputs)
    else:
        yield definition.attribute.identity
