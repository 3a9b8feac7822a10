"""How many rows a step gives: counted where it was, and otherwise between bounds that hold whatever the data are.

Bounds follow from counts and from what the steps do. Nothing is guessed in them, and they lean on no declared fact but
those on which the steps themselves lean. A guess is added, to be shown beside them. Whoever finds better bounds adds
them to `_ways`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from provenn.catalogs import Extent
from provenn.display.rows import Rows
from provenn.targets.costs import estimate, is_grounded
from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import Combine, Concat, Exclude, Nothing, Restrict, Scan, Select, Step, Stored

__all__ = ["bounded_rows", "known_rows"]

Bounds = tuple[int, int | None]
"""At least, and at most; None where there is no bound."""

_MOST_COMPARED = 64
"""How many sets that were counted are compared with what is asked for, by proof."""


_MOST_MEMBERS = 8
"""How many members of a union are compared with one another."""


def bounded_rows(scene: Scene, step: Step) -> Rows:
    """Return how many rows a step gives, as far as that is known."""
    low, high = _bounds(scene, step)
    return Rows.between(low, high, estimate(scene, step) if is_grounded(scene, step) else None)


def known_rows(scene: Scene, steps: Iterable[Step]) -> Rows:
    """Return how many sources are asked for, given several ways to obtain them; the first is by definition alone.

    Sound: each way gives the same sources, so that the bounds of all of them hold; and a set that is proved to lie in
    another one has at most as many sources. Proofs that lean on declared facts are not used.
    """
    ways = tuple(steps)
    extent = ways[0].extent
    bounds = [_bounds(scene, one) for one in ways]
    for other, number in list(_counted(scene))[:_MOST_COMPARED]:
        if scene.certain(scene.inside(extent, other)):
            bounds.append((0, number))
        if scene.certain(scene.inside(other, extent)):
            bounds.append((number, None))
    low, high = _all_of(bounds)
    if high is not None and low > high:  # a declared fact, on which a later way leans, cannot be true
        low, high = _all_of([bounds[0], *bounds[len(ways) :]])
    grounded = [estimate(scene, one) for one in ways[::-1] if is_grounded(scene, one)]
    return Rows.between(low, high, grounded[0] if grounded else None)


def _counted(scene: Scene) -> Iterable[tuple[Extent, int]]:
    """Yield the sets that were counted, and how many sources each has; every set once."""
    extents = {one.extent.digest: one.extent for one in scene.catalogs}
    return ((extent, scene.rows[digest]) for digest, extent in extents.items() if digest in scene.rows)


def _bounds(scene: Scene, step: Step) -> Bounds:
    found = scene.bounds.get(step.signature)
    if found is None:
        counted = scene.rows.get(step.extent.digest)
        found = (counted, counted) if counted is not None else _all_of(_ways(scene, step))
        scene.bounds[step.signature] = found
    return found


def _ways(scene: Scene, step: Step) -> Iterable[Bounds]:
    """Yield bounds that hold for a step: by what it does, and by sets around it whose names say that they are."""
    yield _own(scene, step)
    own = parts(step.extent).keys()
    for one in step.inputs:
        if one.extent.digest == step.extent.digest:
            yield _bounds(scene, one)
    for extent, number in _counted(scene):
        if parts(extent).keys() <= own:
            yield 0, number


def _own(scene: Scene, step: Step) -> Bounds:
    each = [_bounds(scene, one) for one in step.inputs]
    match step:
        case Nothing():
            return 0, 0
        case Scan(base=base):
            known = base.files.row_count
            return (0, None) if known is None else (known, known)
        case Stored(fragment=fragment):
            return fragment.rows, fragment.rows
        case Select():
            return 0, each[0][1]
        case Exclude():
            return _less(each[0], each[1]), each[0][1]
        case Restrict() | Combine() | Matched():
            # A source that occurs in pairs occurs in one at least, so that there are no more such sources than pairs.
            return 0, _least(high for _, high in each)
        case Match(catalog=catalog) if catalog.matches == "best":
            return 0, each[0][1]
        case Match():
            left, right = (high for _, high in each)
            return 0, None if left is None or right is None else left * right
        case Concat():
            lows, highs = zip(*each, strict=True)
            together = None if None in highs else sum(highs)
            return (sum(lows) if _are_apart(scene, step) else max(lows)), together
        case _:
            return each[0]


def _are_apart(scene: Scene, step: Concat) -> bool:
    """Whether no two members share a source: the step says so, or it is seen without a declared fact."""
    if step.disjoint or len(step.members) > _MOST_MEMBERS:
        return step.disjoint
    pairs = combinations((one.extent for one in step.members), 2)
    return all(scene.certain(scene.apart(one, other)) for one, other in pairs)


def _less(whole: Bounds, taken: Bounds) -> int:
    """Return how many remain at least where no more can be taken than there are."""
    return 0 if taken[1] is None else max(0, whole[0] - taken[1])


def _least(numbers: Iterable[int | None]) -> int | None:
    return min((one for one in numbers if one is not None), default=None)


def _all_of(bounds: Iterable[Bounds]) -> Bounds:
    lows, highs = zip(*bounds, strict=True)
    return max(lows), _least(highs)
