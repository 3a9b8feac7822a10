"""The number of rows of a step: an exact count, or bounds that hold for any data.

Bounds follow from counts and from the operations of the steps. Bounds contain no guess, and use a declared fact only if
the steps use it too. An estimate is shown beside the bounds. New sources of bounds belong in `_iterate_bounds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from provenn.catalogs import Extent
from provenn.catalogs.match_rule import MatchRule
from provenn.criteria import Atom
from provenn.display.row_counts import Rows
from provenn.errors import ContradictionError
from provenn.logic.terms import Op
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.costs import estimate_rows, is_grounded
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import (
    Combine,
    Concat,
    Exclude,
    FragmentScan,
    Nothing,
    PlanStep,
    Restrict,
    Scan,
    Select,
    is_key,
)

__all__ = ["bound_answer_rows", "bound_step_rows"]

Bounds = tuple[int, int | None]
"""The lower and the upper bound; None if there is no upper bound."""

_MOST_COMPARED = 64
"""How many counted sets are compared with the request by proof."""


_MOST_TOGETHER = 24
"""How many counts are considered together for the bounds of a plan."""

_MOST_MEMBERS = 8
"""How many members a union may have for its members to be compared with one another."""


def bound_step_rows(scene: Scene, step: PlanStep) -> Rows:
    """Return the known bounds and the estimate for the rows of a step."""
    low, high = _find_bounds(scene, step)
    return Rows.between(low, high, estimate_rows(scene, step) if is_grounded(scene, step) else None)


def bound_answer_rows(scene: Scene, steps: Iterable[PlanStep]) -> Rows:
    """Return the bounds for the requested sources from equivalent steps; the first are the literal steps.

    Sound: all these steps give the same sources, so all their bounds hold; and a proved subset has at most as many
    sources as its superset. Proofs from declared facts are not used.
    """
    alternatives = tuple(steps)
    extent = alternatives[0].extent
    bounds = [_find_bounds(scene, step) for step in alternatives]
    for counted_extent, number in list(_iterate_counted(scene))[:_MOST_COMPARED]:
        if scene.is_certain(scene.state_inside(extent, counted_extent)):
            bounds.append((0, number))
        if scene.is_certain(scene.state_inside(counted_extent, extent)):
            bounds.append((number, None))
    bounds += _bound_by_counts(scene, extent)
    low, high = _intersect_bounds(bounds)
    if high is not None and low > high:  # a later alternative depends on a false declared fact
        low, high = _intersect_bounds([bounds[0], *bounds[len(alternatives) :]])
    grounded = [estimate_rows(scene, step) for step in alternatives[::-1] if is_grounded(scene, step)]
    return Rows.between(low, high, grounded[0] if grounded else None)


def _bound_by_counts(scene: Scene, extent: Extent) -> list[Bounds]:
    """Return the bounds proved by all counts together, by `provenn.logic.counting`; none without several counts.

    Sound: the counts rest on no declared fact, and neither does the knowledge here. Only few counts are considered, so
    planning stays fast; `Archive.bounds` considers all.
    """
    counted = {
        catalog.extent.digest: catalog.digest for catalog in scene.catalogs if catalog.extent.digest in scene.rows
    }
    if extent.digest in counted or not 1 < len(counted) <= _MOST_TOGETHER:
        return []
    if extent.digest not in scene.answers:
        from provenn.logic.counting import bound_count, count  # noqa: PLC0415 - most requests need no such proof

        counts = [count(label, scene.rows[digest]) for digest, label in counted.items()]
        with suppress(ContradictionError):  # reported where facts and counts are recorded
            proved = bound_count(scene.undeclared_knowledge.knowledge, scene.build_term(extent), counts)
            scene.answers[extent.digest] = proved.low, proved.high
    return [scene.answers[extent.digest]] if extent.digest in scene.answers else []


def _iterate_counted(scene: Scene) -> Iterable[tuple[Extent, int]]:
    """Yield the counted sets with their numbers of sources, each set once."""
    extents = {catalog.extent.digest: catalog.extent for catalog in scene.catalogs}
    return ((extent, scene.rows[digest]) for digest, extent in extents.items() if digest in scene.rows)


def _find_bounds(scene: Scene, step: PlanStep) -> Bounds:
    """Return the bounds for the rows of a step, from the cache of the scene if possible."""
    bounds = scene.bounds.get(step.signature)
    if bounds is None:
        counted = scene.rows.get(step.extent.digest)
        bounds = (counted, counted) if counted is not None else _intersect_bounds(_iterate_bounds(scene, step))
        scene.bounds[step.signature] = bounds
    return bounds


def _iterate_bounds(scene: Scene, step: PlanStep) -> Iterable[Bounds]:
    """Yield bounds for a step: from the operation, from the inputs, and from counted supersets."""
    yield _bound_operation(scene, step)
    own = split_intersection(step.extent).keys()
    for input_step in step.inputs:
        if input_step.extent.digest == step.extent.digest:
            yield _find_bounds(scene, input_step)
    for extent, number in _iterate_counted(scene):
        if split_intersection(extent).keys() <= own:
            yield 0, number
    yield from _bound_by_nulls(scene, step.extent)


def _bound_by_nulls(scene: Scene, extent: Extent) -> Iterable[Bounds]:
    """Yield bounds from the NULLs of the columns that must have a value, or must have none.

    Sound: each source of the set is a row of the base's files, and a comparison is TRUE only if the column has a value.
    The rows with a value are all rows less the NULLs, stated by every row group; the content of the files is known.
    A set without further conditions is exactly these rows: as for `Scan`, the reader checks that rows are sources.
    """
    parts = split_intersection(extent).values()
    complements = {part.label: part.complemented for part in parts if part.label is not None}
    for label in complements.keys() & scene.atoms.keys():
        atom = scene.atoms[label]
        is_presence = atom.label == f"{atom.term} IS NOT NULL"
        if complements[label] and not is_presence:
            continue
        needed = () if complements[label] else _find_needed_terms(scene, atom)
        for term in (atom.term, *needed):
            column = scene.described_columns.get(term)
            if column is None or complements.get(column.base.digest) is not False:
                continue
            nulls, rows = column.statistics.nulls, column.base.files.row_count
            if nulls is not None and rows == column.statistics.rows and column.base.files.caveat is None:
                most = nulls if complements[label] else rows - nulls
                is_whole = is_presence and term == atom.term and len(parts) == 2
                yield (most if is_whole else 0), most


def _find_needed_terms(scene: Scene, atom: Atom) -> Iterable[str]:
    """Yield terms that have a value wherever an atom is TRUE."""
    for around in atom.inside:
        if all(isinstance(token, str) or token is Op.AND for token in around.postfix):
            yield from (scene.atoms[label].term for label in around.labels if label in scene.atoms)


def _bound_operation(scene: Scene, step: PlanStep) -> Bounds:
    """Return the bounds that follow from the operation of a step and the bounds of the inputs."""
    bounds = [_find_bounds(scene, input_step) for input_step in step.inputs]
    match step:
        case Nothing():
            return 0, 0
        case Scan(base=base):
            row_count = base.files.row_count
            least = row_count if step.chosen is None else 0
            return (0, None) if row_count is None else (least or 0, row_count)
        case FragmentScan(fragment=fragment):
            return fragment.rows, fragment.rows
        case Select() | FilterBySql():
            return 0, bounds[0][1]
        case QueryBySql():
            return 0, None
        case Exclude():
            return _bound_difference(bounds[0], bounds[1]), bounds[0][1]
        case Restrict() | Combine() | Matched():
            # A source that occurs in pairs occurs in one at least, so that there are no more such sources than pairs.
            return 0, _find_minimum(high for _, high in bounds)
        case Match(catalog=catalog):
            return 0, _count_most_pairs(catalog.rule, *(high for _, high in bounds))
        case ContinuedMatch(left=PlanStep() as left, catalog=catalog) if catalog.rule.most is not None:
            return 0, _count_most_pairs(catalog.rule, _find_bounds(scene, left)[1], None)
        case ContinuedMatch(new_left=new_left, catalog=catalog) if catalog.rule.most is not None:
            stored, new = bounds[0][1], 0 if new_left is None else _find_bounds(scene, new_left)[1]
            new_pairs = _count_most_pairs(catalog.rule, new, None)
            return 0, None if stored is None or new_pairs is None else stored + new_pairs
        case ContinuedMatch():
            return 0, None
        case Partnered() | Lookup() | Group() | First() | Explode():
            return _bound_partners(step, bounds)
        case Concat():
            lows, highs = zip(*bounds, strict=True)
            together = None if None in highs else sum(highs)
            return (sum(lows) if _are_apart(scene, step) else max(lows)), together
        case _:
            return bounds[0]


def _count_most_pairs(rule: MatchRule, left: int | None, right: int | None) -> int | None:
    """Return the most pairs that a rule keeps, given the most sources of each side."""
    every = None if left is None or right is None else left * right
    limited = None if left is None or rule.most is None else left * rule.most
    return _find_minimum((every, limited, right if rule.is_mutual else None))


def _bound_partners(step: Partnered | Lookup | Group | First | Explode, bounds: Sequence[Bounds]) -> Bounds:
    """Return the bounds for a step that follows references, from the bounds of its inputs.

    A source has one partner at most; a partner may have any number of sources. A source without a value of a grouping
    attribute is in no group, so all sources may be in none.
    """
    low, high = bounds[0]
    attributes = step.input.attributes
    match step:
        case Partnered(is_in=is_in, own=own) if set(own) == set(filter(is_key, attributes)):
            # Each row of the other input names one source at most.
            return (
                (0, _find_minimum((high, bounds[1][1]))) if is_in else (_bound_difference(bounds[0], bounds[1]), high)
            )
        case Partnered():
            return 0, high
        case Lookup(keeps_all=keeps_all):
            return (low if keeps_all else 0), high
        case Group(reference=reference):
            by = reference.identities
        case First(by=by):
            pass
        case Explode():
            return (0, 0) if high == 0 else (0, None)
    has_group = low > 0 and not any(attributes[identity].nullable for identity in by)
    return int(has_group), high


def _are_apart(scene: Scene, step: Concat) -> bool:
    """Return whether no two members share a source, by the step itself or by a proof without declared facts."""
    if step.is_disjoint or len(step.members) > _MOST_MEMBERS:
        return step.is_disjoint
    return all(map(scene.is_certain, scene.state_apart(member.extent for member in step.members)))


def _bound_difference(whole: Bounds, taken: Bounds) -> int:
    """Return how many rows remain at least after rows are taken away."""
    return 0 if taken[1] is None else max(0, whole[0] - taken[1])


def _find_minimum(numbers: Iterable[int | None]) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def _intersect_bounds(bounds: Iterable[Bounds]) -> Bounds:
    """Return the tightest bounds: the highest lower bound and the lowest upper bound."""
    lows, highs = zip(*bounds, strict=True)
    return max(lows), _find_minimum(highs)
