"""Supplies: steps for reading fragments in place of computation.

A fragment supplies all stored attributes. If members of a concatenation define an attribute differently, the value for
a source comes from the first member with the source. So a fragment of the concatenation also supplies the attributes of
each member, and a fragment of a member supplies the attributes of the concatenation: for the sources whose values come
from this member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from provenn.catalogs import Attribute, Catalog, Extent
from provenn.catalogs.extent import union
from provenn.catalogs.schema import AttributePiece
from provenn.criteria import AttributeIdentity
from provenn.logic import disjoint
from provenn.targets.gathering import gather_rows
from provenn.targets.literal import build_step
from provenn.targets.pruning import prune_step
from provenn.targets.scene import Scene, find_joined_labels
from provenn.targets.steps import (
    Calculate,
    Concat,
    Exclude,
    FragmentScan,
    PlanStep,
    Restrict,
    find_key,
    walk_steps,
)

__all__ = ["build_key_step", "count_stored_rows", "find_supplies", "join_supplies"]


def find_supplies(scene: Scene, identities: Iterable[AttributeIdentity], like: PlanStep) -> list[PlanStep]:
    """Return steps for reading some of the attributes from fragments, for the population of a step.

    The steps with the most sources come first.
    """
    wanted = frozenset(identities)
    key = find_key(like.attributes)
    if not wanted <= scene.attributes.keys():
        for step in walk_steps(like):
            scene.attributes.update(step.attributes)
    candidates = _recall_views(scene, wanted)
    return sorted(
        (supply for supply in candidates if find_key(supply.attributes) == key),
        key=lambda supply: -count_stored_rows(supply),
    )


def _recall_views(scene: Scene, wanted: frozenset[AttributeIdentity]) -> list[PlanStep]:
    """Return what `_find_views` returned before for the same attributes; the proofs behind it are used once more."""
    if wanted not in scene.supplies:
        before = len(scene.used_statements)
        scene.supplies[wanted] = _find_views(scene, wanted, dict(scene.attributes))
        scene.supply_statements[wanted] = tuple(dict.fromkeys(scene.used_statements[before:]))
    else:
        scene.used_statements.extend(scene.supply_statements[wanted])
    return scene.supplies[wanted]


_Limit = tuple[tuple[AttributePiece, ...], int]
"""The pieces of an attribute, and the position of the member from which the values of the wanted rows come."""


def _find_views(
    scene: Scene,
    wanted: frozenset[AttributeIdentity],
    attributes: Mapping[AttributeIdentity, Attribute],
    limits: tuple[_Limit, ...] = (),
) -> list[PlanStep]:
    """Return steps on fragments with a wanted attribute: under its own identity, or under those of its pieces.

    Parameters
    ----------
    scene
        The knowledge that planning uses.
    wanted
        The identities of the wanted attributes.
    attributes
        The wanted attributes, and those that a step may give as well, by identity.
    limits
        The members to which the rows of fragments are limited first. A version shares only some files of a member of
        another version; so its own member is the one whose files are there to be read.
    """
    views = [
        supply
        for stored in scene.fragments
        if wanted & _list_identities(scene, stored)
        for step in _limit_rows(scene, stored, limits)
        for supply in _iterate_supplies(scene, step, wanted)
    ]
    divided = [attributes[identity] for identity in sorted(wanted) if identity in attributes]
    by_members = {attribute.members: attribute.all_pieces for attribute in divided if attribute.members}
    for members, pieces in by_members.items():
        for position in range(len(pieces)):
            inner = {
                identity: attribute.all_pieces[position].attribute if attribute.members == members else attribute
                for identity, attribute in attributes.items()
            }
            identities = frozenset(
                inner[attribute.identity].identity for attribute in divided if attribute.members == members
            )
            by_identity = {attribute.identity: attribute for attribute in inner.values()}
            for supply in _find_views(scene, identities, by_identity, (*limits, (pieces, position))):
                columns = tuple(
                    (attributes[identity], (attribute.identity,))
                    for identity, attribute in inner.items()
                    if attribute.identity in supply.attributes
                )
                views.append(Concat((supply,), columns, True, supply.extent))
    return views


def _list_identities(scene: Scene, stored: FragmentScan) -> frozenset[AttributeIdentity]:
    """Return the identities of the attributes that a fragment holds, and of their pieces."""
    if stored.signature not in scene.held_identities:
        pieces = (attribute.piece_identities for attribute in stored.attributes.values())
        scene.held_identities[stored.signature] = frozenset(stored.attributes).union(*pieces)
    return scene.held_identities[stored.signature]


def _limit_rows(scene: Scene, stored: PlanStep, limits: Iterable[_Limit]) -> Iterator[PlanStep]:
    """Yield the rows of a fragment within all members to which they are limited, if there may be any."""
    step: PlanStep | None = stored
    for pieces, position in limits:
        step = None if step is None else _limit_to_member(scene, step, pieces, position)
        if step is None or scene.is_empty(step.extent):
            return
    if step is not None:
        yield step


def count_stored_rows(supply: PlanStep) -> int:
    """Return how many sources the fragment of a supply holds."""
    return supply.fragment.rows if isinstance(supply, FragmentScan) else sum(map(count_stored_rows, supply.inputs[:1]))


def join_supplies(scene: Scene, extent: Extent, identity: AttributeIdentity, like: PlanStep) -> PlanStep | None:
    """Return a step with an attribute for all stored sources of an extent, from all fragments that add sources.

    All fragments hold the same value of an identity for a source, so any fragment may give the value. The step also has
    the further attributes that all these fragments hold: then no join is needed to select by them.
    """
    chosen: list[PlanStep] = []
    wanted = frozenset() if extent.label is not None else find_joined_labels(extent)
    covered: set[str] = set()
    for supply in find_supplies(scene, [identity], like):
        # Files of a version are one fragment each: no proof is needed to read what no other fragment holds.
        labels = find_joined_labels(supply.extent)
        if labels and labels <= wanted:
            chosen += [] if labels <= covered else [supply]
            covered |= labels
            continue
        held = union(member.extent for member in chosen)
        if not (scene.is_empty(extent & supply.extent) or scene.lies_in(extent & supply.extent, held)):
            chosen.append(supply)
    if len(chosen) < 2:
        return chosen[0] if chosen else None
    attributes = [
        attribute
        for attribute in chosen[0].attributes.values()
        if all(attribute.identity in member.attributes for member in chosen)
    ]
    columns = tuple((attribute, (attribute.identity,) * len(chosen)) for attribute in attributes)
    return Concat(tuple(chosen), columns, False, union(member.extent for member in chosen))


def _iterate_supplies(scene: Scene, step: PlanStep, wanted: frozenset[AttributeIdentity]) -> Iterator[PlanStep]:
    """Yield a step on a fragment, and views of the step as members of concatenations, if an attribute is wanted."""
    if wanted & step.attributes.keys():
        yield step
    joined = [attribute for attribute in step.attributes.values() if wanted & attribute.piece_identities]
    by_members = {attribute.members: attribute.all_pieces for attribute in joined}
    for members, pieces in by_members.items():
        own = [attribute for attribute in joined if attribute.members == members]
        for position in range(len(members)):
            if any(wanted & _find_supplied_identities(attribute, position) for attribute in own):
                view = _find_view(scene, step, pieces, position)
                yield from () if view is None else _iterate_supplies(scene, view, wanted)


def _find_view(scene: Scene, step: PlanStep, pieces: tuple[AttributePiece, ...], position: int) -> PlanStep | None:
    """Return the rows from one member of a concatenation, with the attributes of the member.

    None if a calculator would have to be called to find these sources.
    """
    members = tuple(piece.member for piece in pieces)
    view_key = (step.signature, members, position)
    if view_key not in scene.views:
        rows = _limit_to_member(scene, step, pieces, position)
        columns = tuple(
            (
                attribute.all_pieces[position].attribute if attribute.members == members else attribute,
                (attribute.identity,),
            )
            for attribute in step.attributes.values()
        )
        scene.views[view_key] = None if rows is None else Concat((rows,), columns, True, rows.extent)
    return scene.views[view_key]


def _limit_to_member(
    scene: Scene, step: PlanStep, pieces: tuple[AttributePiece, ...], position: int
) -> PlanStep | None:
    """Return the rows of a step whose values in a concatenation come from the member at a position.

    Sound: the first member with a source gives the values, so these are the sources of the member outside all earlier
    members. For them, an attribute of the concatenation has the value of the member's attribute, and the reverse. None
    if a calculator would have to be called to find these sources.
    """
    own, rows = pieces[position], step
    for piece in () if _are_apart(scene, pieces) else pieces[:position]:
        if not scene.is_proved(scene.state_disjoint(piece.extent, own.extent)):
            earlier = _find_key_step(scene, scene.find_catalog(piece.member))
            if earlier is None:
                return None
            rows = Exclude(rows, earlier)
    if scene.lies_in(rows.extent, own.extent):
        return rows
    key_step = _find_key_step(scene, scene.find_catalog(own.member))
    return None if key_step is None else Restrict(rows, key_step)


def _are_apart(scene: Scene, pieces: tuple[AttributePiece, ...]) -> bool:
    """Return whether the members of a version are proved to share no source; the proof serves all attributes."""
    return pieces[0].is_apart and scene.is_proved(disjoint(*(scene.build_term(piece.extent) for piece in pieces)))


def _find_key_step(scene: Scene, catalog: Catalog) -> PlanStep | None:
    """Return a step with the keys of a catalog that calls no calculator; None if there is none.

    If sources are selected by a calculated value, a fragment with this value may tell them. Sound: a source has one
    value of an identity, and `gather_rows` returns exactly the sources of the extent.
    """
    step = build_key_step(catalog)
    if step is not None:
        return step
    key = {attribute.identity for attribute in catalog.schema.key}
    for stored in scene.fragments:
        if set(find_key(stored.attributes)) == key:
            gathered = gather_rows(scene, stored, catalog.extent, frozenset())
            if gathered is not None and not _calls_calculator(gathered):
                return prune_step(gathered, frozenset())
    return None


def build_key_step(catalog: Catalog) -> PlanStep | None:
    """Return a step with the keys of a catalog; None if a calculator would have to be called for them."""
    step = prune_step(build_step(catalog), frozenset())
    return None if _calls_calculator(step) else step


def _calls_calculator(step: PlanStep) -> bool:
    return any(isinstance(ancestor, Calculate) for ancestor in walk_steps(step))


def _find_supplied_identities(attribute: Attribute, position: int) -> frozenset[AttributeIdentity]:
    """Return the identities that the piece at a position supplies, at any depth."""
    piece = attribute.all_pieces[position].attribute
    return piece.piece_identities | {piece.identity}
