"""Frames and epochs of a match that the files of both sides state, where the user leaves them out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.match_options import find_position, read_position_names
from provenn.catalogs.match_rule import Coordinate
from provenn.catalogs.match_sets import SIDES, Side
from provenn.catalogs.placement_options import read_epoch, read_frames, split_sides
from provenn.catalogs.placements import Placement
from provenn.errors import DefinitionError
from provenn.files.stated_frames import StatedFrame, read_stated_frame
from provenn.hints import Hint
from provenn.sky.motion_attributes import find_epoch_attribute, find_motion_attributes

__all__ = ["StatedPlacements", "describe_placement", "find_stated_frame", "state_placements"]

_NOTHING = StatedFrame("", "", None)


@dataclass(frozen=True, slots=True)
class StatedPlacements:
    """The frames and epochs of a match, after the metadata of files were read.

    Parameters
    ----------
    frame, epochs
        The arguments of these names for `CrossMatch.of`.
    remarks
        Where metadata contradict the user, or say more than the match uses.
    """

    frame: tuple[str | None, str | None]
    epochs: object
    remarks: tuple[str, ...]


def state_placements(
    sides: Sequence[Catalog], *, on: object, frame: object, epoch: object, epochs: object
) -> StatedPlacements:
    """Return the frames and epochs of a match: what the user gives counts, then what the files of a side state.

    An attribute with epochs says more than a keyword about the whole table, and is left to `CrossMatch.of`.

    Parameters
    ----------
    sides
        The left and the right catalog.
    on, frame, epoch, epochs
        As for `CrossMatch.of`.

    Raises
    ------
    DefinitionError
        If files state a frame from which positions are not converted, and the user gives none.
    """
    requested_frames, requested_epochs = read_frames(frame), split_sides(epochs, "epochs")
    frames: list[str | None] = []
    starts: list[Any] = []
    stated_epochs: list[float | None] = []
    remarks: list[str] = []
    for side, catalog, names, requested, start in zip(
        SIDES, sides, read_position_names(on), requested_frames, requested_epochs, strict=True
    ):
        position, usual = find_position(catalog, names, requested)
        stated = _NOTHING if requested is None and usual == "galactic" else find_stated_frame(catalog, position)
        frames.append(_choose_frame(side, requested, stated))
        if requested is not None and stated.words and stated.frame != requested:
            remarks.append(f"the {side} positions are taken as {requested}, but their files state {stated.words}")
        has_attribute = find_epoch_attribute(catalog.schema) is not None
        starts.append(stated.epoch if start is None and not has_attribute else start)
        stated_epochs.append(stated.epoch)
        is_attribute = isinstance(start, str) and catalog.schema.matching(start)
        year = None if start is None or is_attribute else read_epoch(start)
        if None not in (year, stated.epoch) and year != stated.epoch:
            remarks.append(
                f"the {side} positions are taken as of the epoch {year:g}, but their files state {stated.epoch:g}"
            )
    left, right = stated_epochs
    if epoch is None:
        if left is not None and right is not None and left != right and _can_move(sides):
            remarks.append(
                f"the files of the left side state the epoch {left:g}, those of the right side {right:g}, and "
                "positions are compared as they are; give an epoch to move them by their proper motions"
            )
        return StatedPlacements((frames[0], frames[1]), epochs, tuple(remarks))
    return StatedPlacements((frames[0], frames[1]), tuple(starts), tuple(remarks))


def describe_placement(catalog: Catalog, side: Side, position: Sequence[Coordinate], placement: Placement) -> list[str]:
    """Return how the positions of a side of a match are placed, and why, in words."""
    names = {identity: attribute.name for identity, attribute in catalog.schema.by_identity.items()}
    return list(placement.describe(side, names, find_stated_frame(catalog, position)))


def find_stated_frame(catalog: Catalog, position: Sequence[Coordinate]) -> StatedFrame:
    """Return what files state about the frame and epoch of attributes, if a base catalog has the attributes itself."""
    identities = {identity for identity, _ in position}
    seen = {catalog.digest: catalog}
    waiting = [catalog]
    while waiting:
        member = waiting.pop()
        if isinstance(member, Base) and identities <= member.schema.by_identity.keys():
            return read_stated_frame(member.files.table_metadata)
        new = {parent.digest: parent for parent in member.dependencies if parent.digest not in seen}
        seen |= new
        waiting += new.values()
    return _NOTHING


def _choose_frame(side: str, requested: str | None, stated: StatedFrame) -> str | None:
    """Return the frame of a side; None if it is neither requested nor stated."""
    if requested is None and stated.words and not stated.frame:
        raise DefinitionError(
            f"the files of the {side} side state the frame {stated.words}, which is not converted",
            hint=Hint(
                'convert the positions before you ingest them, or say how to take them: frame=("fk5", "icrs")',
                command="convert the positions before you ingest them, or say how to take them: --frame fk5 icrs",
            ),
        )
    return requested or stated.frame or None


def _can_move(sides: Sequence[Catalog]) -> bool:
    return any(find_motion_attributes(catalog.schema) for catalog in sides)
