"""What is stored, as steps that rules put in the place of computing it.

A fragment gives what it holds. A fragment of a concatenation also gives what each member defines: an attribute that
members define differently has, for a source of the first member that holds it, just that member's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from provenn.catalogs import Attribute, Catalog, Extent, cone
from provenn.catalogs.extent import union
from provenn.targets.literal import literal
from provenn.targets.pruning import pruned
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Concat, Exclude, Restrict, Step, Stored, is_key, key_of, walk

__all__ = ["joint_supply", "keys_of", "size_of", "supplies"]


def supplies(scene: Scene, identities: Iterable[str], like: Step) -> list[Step]:
    """Return steps that read at least one of some attributes from fragments, for sources of the population of a step.

    The steps that give most sources come first.
    """
    wanted = frozenset(identities)
    key = key_of(like.attributes)
    found = [supply for stored in scene.fragments for supply in _supplies_of(scene, stored, stored, wanted)]
    return sorted((supply for supply in found if key_of(supply.attributes) == key), key=lambda supply: -size_of(supply))


def size_of(supply: Step) -> int:
    """Return how many sources the fragment of a supply holds."""
    return supply.fragment.rows if isinstance(supply, Stored) else sum(map(size_of, supply.inputs[:1]))


def joint_supply(scene: Scene, extent: Extent, identity: str, like: Step) -> Step | None:
    """Return a step that gives an attribute for as many sources of an extent as fragments together hold it for.

    All fragments hold the same value of one identity for a source, so that it does not matter which of them gives it.
    """
    chosen: list[Step] = []
    for supply in supplies(scene, [identity], like):
        held = union(one.extent for one in chosen)
        if not (scene.is_empty(extent & supply.extent) or scene.lies_in(extent & supply.extent, held)):
            chosen.append(supply)
    if len(chosen) < 2:
        return chosen[0] if chosen else None
    attributes = [one for one in chosen[0].attributes.values() if is_key(one.identity) or one.identity == identity]
    columns = tuple((one, (one.identity,) * len(chosen)) for one in attributes)
    return Concat(tuple(chosen), columns, False, union(one.extent for one in chosen))


def _supplies_of(scene: Scene, stored: Stored, step: Step, wanted: frozenset[str]) -> Iterator[Step]:
    """Yield a step that reads a fragment, and what the step gives of members of concatenations, if it is wanted."""
    if wanted & step.attributes.keys():
        yield step
    joined = [one for one in step.attributes.values() if wanted & _pieces_of(one)]
    for members in dict.fromkeys(map(_members, joined)):
        own = [one for one in joined if _members(one) == members]
        for place in range(len(members)):
            if any(wanted & _given(one, place) for one in own):
                view = _view(scene, stored, step, members, place)
                yield from () if view is None else _supplies_of(scene, stored, view, wanted)


def _view(scene: Scene, stored: Stored, step: Step, members: tuple[str, ...], place: int) -> Step | None:
    """Return the rows of a step that a member of a concatenation gave, with the attributes as the member defines them.

    That is sound because the first member that holds a source gives its values: the sources of the member, without
    those of earlier members. None if it cannot be told which sources these are.
    """
    at = (step.signature, members, place)
    if at not in scene.views:
        scene.views[at] = _made_view(step, cone(stored.catalog), members, place)
    return scene.views[at]


def _made_view(step: Step, catalogs: Iterable[Catalog], members: tuple[str, ...], place: int) -> Step | None:
    known = {one.digest: one for one in catalogs}
    keys = [keys_of(known[digest]) for digest in members[: place + 1]]
    own, rows = keys[-1], step
    if own is None:
        return None
    for earlier in keys[:-1]:
        if earlier is None:
            return None
        rows = Exclude(rows, earlier)
    rows = Restrict(rows, own)
    columns = tuple(
        (one.pieces[place].attribute if _members(one) == members else one, (one.identity,))
        for one in step.attributes.values()
    )
    return Concat((rows,), columns, True, rows.extent)


def keys_of(catalog: Catalog) -> Step | None:
    """Return a step that gives the keys of a catalog; None if a calculator would have to be called for them."""
    step = pruned(literal(catalog), frozenset())
    return None if any(isinstance(one, Calculate) for one in walk(step)) else step


def _members(attribute: Attribute) -> tuple[str, ...]:
    return tuple(piece.member for piece in attribute.pieces)


def _given(attribute: Attribute, place: int) -> frozenset[str]:
    piece = attribute.pieces[place].attribute
    return _pieces_of(piece) | {piece.identity}


def _pieces_of(attribute: Attribute) -> frozenset[str]:
    """Return the identities of all attributes that an attribute is put together from, at any depth."""
    found: set[str] = set()
    pending = [piece.attribute for piece in attribute.pieces]
    while pending:
        one = pending.pop()
        if one.identity not in found:
            found.add(one.identity)
            pending.extend(piece.attribute for piece in one.pieces)
    return frozenset(found)
