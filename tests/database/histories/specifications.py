"""What names, declarations and fragments do when one operation comes after the other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import cast

from tests.database.histories.checker import Operation, Specification, is_linearisable

__all__ = ["FIRST", "SPECIFICATIONS", "is_explained"]


def apply_to_name(state: Hashable, kind: str, argument: str) -> Sequence[tuple[object, Hashable]]:
    """A name is on one catalog, or on none."""
    match kind:
        case "find":
            return [(state, state)]
        case "assign" if state in (None, argument):
            return [("ok", argument)]
        case "assign":
            return [("CatalogNameError", state)]
        case _ if state is None:
            return [("UnknownCatalogError", state)]
    return [("ok", argument if kind == "move" else None)]


def apply_to_facts(state: Hashable, kind: str, argument: str) -> Sequence[tuple[object, Hashable]]:
    """Of a catalog it is held that it is empty, that it is not, or nothing."""
    held = cast("frozenset[str]", state)
    match kind:
        case "list":
            return [(sorted(held), held)]
        case "declare":
            return [("ContradictionError", held) if held - {argument} else ("ok", held | {argument})]
    return [("ok", held - {argument}) if argument in held else ("absent", held)]


def apply_to_fragment(state: Hashable, kind: str, argument: str) -> Sequence[tuple[object, Hashable]]:
    """What is stored is there until it is dropped; its data are whole all the time."""
    del argument
    match kind:
        case "store":
            return [("there" if state else "stored", True)]
        case "drop":  # what somebody reads just then is not dropped
            return [("nothing", state), *([("dropped", False)] if state else [])]
    return [("whole" if state else "absent", state)]


SPECIFICATIONS: dict[str, Specification] = {
    "name": apply_to_name,
    "facts": apply_to_facts,
    "fragment": apply_to_fragment,
}
FIRST: dict[str, Hashable] = {"name": None, "facts": frozenset(), "fragment": False}


def is_explained(target: str, history: Iterable[Operation]) -> bool:
    """Whether some order of the operations on a name, the facts of a catalog, or a fragment explains all answers."""
    kind = target.split(maxsplit=1)[0]
    return is_linearisable(history, SPECIFICATIONS[kind], FIRST[kind])
