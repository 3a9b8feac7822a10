"""Rule: keep the stored pairs of an earlier match, and match only what the new sources can change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from provenn.catalogs import Attribute, Catalog, Extent, Schema, cone, list_bases
from provenn.catalogs.extent import leaf, union
from provenn.catalogs.match_sets import SIDES, Side
from provenn.criteria import AttributeIdentity
from provenn.digests import CatalogDigest, is_catalog_label
from provenn.logic import Statement
from provenn.targets.bounds import bound_step_rows
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.costs import estimate_rows
from provenn.targets.earlier_matches import find_stored_match
from provenn.targets.gathering import find_places, gather_rows
from provenn.targets.match_steps import Match, StoredMatch
from provenn.targets.pruning import prune_step
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import (
    Calculate,
    Concat,
    Exclude,
    PlanStep,
    Restrict,
    Scan,
    find_key,
    is_key,
    walk_steps,
)

__all__ = ["continue_match", "explain_whole_match"]

_MOST_PIECES = 64
"""The most pieces of an attribute that are compared with those of an earlier version."""


def continue_match(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Match only new sources and, for the nearest pairs, the sources near new ones; keep all other stored pairs.

    Sound by the law of `provenn.targets.continued_match`. The rule proves what the law asks for: the sources that are
    not new are sources of the earlier match, and have the same positions and needed attributes there.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.logic import disjoint
    >>> from provenn.targets.rules.examples import show_rewrite, store, make_base
    >>> old, other = make_base("old", ["ra", "dec"]), make_base("other", ["ra", "dec"])
    >>> new = make_base("new", ["ra", "dec"]).continue_base(old.digest)
    >>> stored, pairs = (verbs.crossmatch(stars, other, 2) for stars in (old, verbs.concat(old, new)))
    >>> show_rewrite(continue_match, pairs, disjoint(old.digest, new.digest), stored=[store(stored)])
    match(concat(old, new), other)
    -> continue match(fragment #1, other, new)
    """
    if not isinstance(step, Match):
        return None
    continuations = [result for result in _try_fragments(step, needed, scene) if isinstance(result, _Continuation)]
    if not continuations:
        return None
    best = min(continuations, key=lambda result: (estimate_new_rows(scene, result.step), -result.fragment))
    return Rewrite(best.step, _explain_continuation(scene, best), best.statements)


def explain_whole_match(step: Match, needed: frozenset[AttributeIdentity], scene: Scene) -> str:
    """Return why the stored pairs of earlier matches do not serve a match; empty if none are stored."""
    reasons = [result for result in _try_fragments(step, needed, scene) if isinstance(result, str)]
    return reasons[-1] if reasons else ""


@dataclass(frozen=True, slots=True)
class _Continuation:
    """A step that continues a stored match, the number of the fragment, and the statements that justify it."""

    step: ContinuedMatch
    fragment: int
    statements: tuple[Statement, ...]


def estimate_new_rows(scene: Scene, step: ContinuedMatch) -> float:
    """Return how many rows of both sides are new."""
    return sum(estimate_rows(scene, new) for new in (step.new_left, step.new_right) if new is not None)


def _try_fragments(step: Match, needed: frozenset[AttributeIdentity], scene: Scene) -> Iterator[_Continuation | str]:
    """Yield, for each fragment with pairs of a similar match, its continuation, or why there is none."""
    pruned: list[Match] = []
    for scan in scene.fragments:
        earlier = find_stored_match(scan)
        if earlier is None or earlier.catalog == step.catalog or not step.catalog.is_like(earlier.catalog):
            continue
        if not pruned:
            reads = step.reads(needed)
            pruned.append(Match(step.catalog, prune_step(step.left, reads[0]), prune_step(step.right, reads[1])))
        yield _continue_fragment(pruned[0], needed, scene, earlier)


def _continue_fragment(
    match: Match, needed: frozenset[AttributeIdentity], scene: Scene, earlier: StoredMatch
) -> _Continuation | str:
    """Return the continuation of a fragment, or why there is none."""
    scan = earlier.scan
    whole = f"matched as a whole, although fragment #{scan.fragment.id} holds pairs of an earlier version:"
    if match.catalog.rule.is_mutual:
        return f"{whole} a new source of either side may end or make mutual pairs of old ones"
    if any(isinstance(ancestor, Calculate) for ancestor in walk_steps(match)):
        # A side that is read in two ways would call its calculators twice.
        return f"{whole} the attributes of its sources are calculated first"
    columns = {match.catalog.separation.identity: earlier.catalog.separation.identity}
    changes: list[_SideChange] = []
    for side in SIDES:
        change = _SideComparison(scene, match, earlier, needed, side).compare()
        if isinstance(change, str):
            return f"{whole} {change}"
        changes.append(change)
        columns |= change.columns
    missing = [name for name in columns if columns[name] not in scan.attributes]
    if missing:
        names = ", ".join(match.attributes[name].name for name in missing)
        return f"{whole} the fragment does not hold {names}"
    left, right = changes
    step = ContinuedMatch.of(match, scan, columns, (left.new, right.new), (left.kept, right.kept))
    rows = sum(estimate_rows(scene, side) for side in match.inputs)
    if 2 * estimate_new_rows(scene, step) > rows:
        return f"{whole} most of its sources are new"
    return _Continuation(step, scan.fragment.id, (*left.statements, *right.statements))


@dataclass(frozen=True, slots=True)
class _SideChange:
    """How a side of a match differs from that of an earlier one.

    Parameters
    ----------
    new
        The rows of the new sources; None if there are none.
    kept
        The other rows, if the earlier side may have sources that are not among them; otherwise None.
    columns
        The identity of each needed attribute of the side in the earlier pairs, by its identity in the pairs.
    statements
        What is proved about the sets.
    """

    new: PlanStep | None
    kept: PlanStep | None
    columns: dict[AttributeIdentity, AttributeIdentity]
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class _SideComparison:
    """A side of a match, and the same side of an earlier match.

    Parameters
    ----------
    scene
        The knowledge that planning uses.
    match, earlier
        The match, and the earlier match.
    needed
        The identities of the needed attributes of pairs.
    side
        The side.
    """

    scene: Scene
    match: Match
    earlier: StoredMatch
    needed: frozenset[AttributeIdentity]
    side: Side

    def compare(self) -> _SideChange | str:
        """Return how the side differs from the earlier one, or why this is not known.

        New are the sources of base catalogs that do not occur in the earlier side. Which sources these are is a choice:
        the proofs decide whether the others are as they were.
        """
        scene, step = self.scene, self.match.inputs[self._position]
        catalog, old = (match.catalog.get_side(self.side) for match in (self.match, self.earlier))
        labels = sorted(set(filter(is_catalog_label, catalog.extent.labels)) - set(old.extent.labels))
        added = union(map(leaf, labels))
        rest, arrived = catalog.extent - added, catalog.extent & added
        if scene.is_empty(rest) or not scene.lies_in(rest, old.extent):
            return f"it is not proved which sources of the {self.side} side were there before"
        columns = self._find_columns(rest)
        if isinstance(columns, str):
            return f"{columns} of the {self.side} side may have other values now"
        new = None
        if not scene.is_empty(arrived):
            reads = self.match.reads(self.needed)[self._position]
            new = _gather_new_rows(scene, step, arrived, reads) or _restrict_to_bases(step, catalog, labels)
            if new is None:
                return f"the new sources of the {self.side} side are not read from files of their own"
        kept, statements = None, [scene.state_inside(rest, old.extent)]
        if scene.lies_in(old.extent, rest):
            statements.append(scene.state_inside(old.extent, rest))
        else:
            kept = prune_step(step if new is None else Exclude(step, new), frozenset())
        return _SideChange(new, kept, columns, tuple(statements))

    @property
    def _position(self) -> int:
        return SIDES.index(self.side)

    def _find_columns(self, rest: Extent) -> dict[AttributeIdentity, AttributeIdentity] | str:
        """Return the identities of the needed attributes in the earlier pairs, or the name of one that has none.

        Positions and needed attributes must have the same values for all sources that are not new.
        """
        scene, match, earlier = self.scene, self.match.catalog, self.earlier.catalog
        schema, old_schema = match.get_side(self.side).schema, earlier.get_side(self.side).schema
        inputs = zip(match.inputs_of(self.side), earlier.inputs_of(self.side), strict=True)
        for (identity, unit), (old_identity, old_unit) in inputs:
            attribute, old_attribute = schema.by_identity[identity], old_schema.by_identity[old_identity]
            if unit != old_unit or not _have_same_values(scene, attribute, old_attribute, rest):
                return attribute.name
        lifted = {own.identity: pair.identity for pair, own in earlier.attributes_of(self.side)}
        columns: dict[AttributeIdentity, AttributeIdentity] = {}
        for pair, own in match.attributes_of(self.side):
            if pair.identity not in self.needed or is_key(pair.identity):
                continue
            namesakes = _find_namesakes(own, old_schema)
            old_own = next((other for other in namesakes if _have_same_values(scene, own, other, rest)), None)
            if old_own is None:
                return own.name
            columns[pair.identity] = lifted[old_own.identity]
        return columns


def _find_namesakes(attribute: Attribute, schema: Schema) -> list[Attribute]:
    """Return the attribute of the same identity, or else those of the same name."""
    same = schema.by_identity.get(attribute.identity)
    return [same] if same is not None else list(schema.matching(attribute.name))


def _have_same_values(scene: Scene, attribute: Attribute, other: Attribute, extent: Extent) -> bool:
    """Return whether two attributes are proved to have the same value for each source of an extent.

    Sound: a source has one value of an identity, and the first piece that holds a source gives the value.
    """
    if attribute.identity == other.identity:
        return True
    if attribute.type != other.type:
        return False
    for divided, whole in ((attribute, other), (other, attribute)):
        pieces = divided.all_pieces
        if not 0 < len(pieces) <= _MOST_PIECES:
            continue
        rest = extent
        for piece in pieces:
            part = rest & piece.extent
            if not scene.is_empty(part) and not _have_same_values(scene, piece.attribute, whole, part):
                return False
            rest = rest - piece.extent
        return scene.is_empty(rest)
    return False


def _gather_new_rows(
    scene: Scene, step: PlanStep, arrived: Extent, reads: frozenset[AttributeIdentity]
) -> PlanStep | None:
    """Return the rows of new sources, decided on rows alone without a calculator; None if that is impossible."""
    for place in find_places(step):
        rows = gather_rows(scene, place, arrived, reads)
        if rows is not None and not any(isinstance(ancestor, Calculate) for ancestor in walk_steps(rows)):
            return rows
    return None


def _restrict_to_bases(step: PlanStep, catalog: Catalog, labels: Sequence[CatalogDigest]) -> PlanStep | None:
    """Return the rows of a step that are sources of some base catalogs, by key; None if these cannot be read."""
    bases = {
        part.digest: part for base in list_bases(cone(catalog)) for part in base.list_parts() if part.part_of is None
    }
    scans = [Scan(bases[label]) for label in labels if label in bases]
    if len(scans) < len(labels) or any(find_key(scan.attributes) != find_key(step.attributes) for scan in scans):
        return None
    keys = [attribute for attribute in scans[0].attributes.values() if is_key(attribute.identity)]
    if len(scans) == 1:
        return Restrict(step, scans[0])
    columns = tuple((attribute, (attribute.identity,) * len(scans)) for attribute in keys)
    return Restrict(step, Concat(tuple(scans), columns, False, union(scan.extent for scan in scans)))


def _explain_continuation(scene: Scene, continuation: _Continuation) -> str:
    """Return what is matched again and what is kept, in words."""
    step = continuation.step
    most = step.catalog.rule.most
    again = []
    if step.new_left is not None:
        again.append(f"{_count_new(scene, step.new_left)} of the left side")
    if step.new_right is not None:
        near = f"the sources within {step.catalog.radius:g} arcsec of {_count_new(scene, step.new_right)} of the right"
        again.append(near + (", with these" if most is None else ""))
    if step.may_lose_partner:
        again.append("the sources whose stored partner is gone")
    kind = "" if most is None else "best " if most == 1 else f"{most} best "
    stored = f"fragment #{continuation.fragment} holds the {kind}pairs of an earlier version"
    if not again:
        return f"{stored}, and no source is new"
    return f"{stored}; matched are {', and '.join(again)}; all others keep their stored pairs"


def _count_new(scene: Scene, step: PlanStep) -> str:
    rows = bound_step_rows(scene, step)
    if not rows.is_exact:
        return "the new sources"
    return f"{rows} new source{'s' * (rows.high != 1)}"
