"""Read what a user says about the frames of positions, and about epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.match_rule import Coordinate
from provenn.catalogs.match_sets import SIDES
from provenn.catalogs.placements import QUANTITIES, Motion, Placement
from provenn.catalogs.schema import Attribute
from provenn.errors import DefinitionError
from provenn.hints import Hint
from provenn.sky.frames import read_frame
from provenn.sky.motion_attributes import find_epoch_attribute, find_motion_attributes
from provenn.sky.motions import MOTION_UNITS, find_motion_unit

__all__ = ["PlacementOptions", "list_placement_options", "read_epoch", "read_frames", "split_sides"]

_EARLIEST, _LATEST = 1000.0, 3000.0
"""The epochs that a match accepts, in Julian years: other numbers are days or mistakes."""


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    """What a user says about epochs.

    Parameters
    ----------
    epoch
        The common epoch in Julian years; None to leave positions as they are.
    epochs
        The epochs of the positions of both sides: a number, the name of an attribute, or None to find the attribute.
    motions
        The names of the attributes with the motion of each side; empty for none, None to find them.
    """

    epoch: object = None
    epochs: object = None
    motions: object = None

    def place_sides(self, sides: Sequence[Catalog], frames: Sequence[str]) -> tuple[Placement, Placement]:
        """Return the placements of both sides.

        Raises
        ------
        DefinitionError
            If an epoch or an attribute is not valid, or nothing moves.
        AttributeNotFoundError
            If an attribute does not exist.
        """
        if self.epoch is None:
            if self.epochs is not None or self.motions is not None:
                raise DefinitionError(
                    "epochs or motions of positions are given, but not the epoch of the match", hint=_GIVE_EPOCH
                )
            return Placement(frames[0]), Placement(frames[1])
        end = read_epoch(self.epoch)
        starts, motions = split_sides(self.epochs, "epochs"), split_sides(self.motions, "motions")
        left, right = (
            Placement(frame, _read_motion(catalog, frame, (side, start), names, end))
            for side, catalog, frame, start, names in zip(SIDES, sides, frames, starts, motions, strict=True)
        )
        if left.motion is None and right.motion is None:
            raise DefinitionError(f"neither side has proper motions that lead to the epoch {end:g}", hint=_NAME_MOTIONS)
        return left, right


_GIVE_EPOCH = Hint("give it: epoch=2016.0", command="give it: --epoch 2016")
_NAME_MOTIONS = Hint(
    'name the attributes: motions=(("pmra", "pmdec"), None)', command="name the attributes: --left-motion 'pmra pmdec'"
)
_GIVE_EPOCHS = Hint("give it: epochs=(2000.0, 2016.0)", command="give it: --left-epoch 2000, or --right-epoch 2016")


def read_epoch(epoch: object) -> float:
    """Return an epoch in Julian years from a number, or from text such as "J2016.0".

    Raises
    ------
    DefinitionError
        If it is not an epoch.

    >>> read_epoch("J2000"), read_epoch(2016)
    (2000.0, 2016.0)
    """
    try:
        text = epoch.strip().removeprefix("J") if isinstance(epoch, str) else epoch
        years = float("nan") if isinstance(epoch, bool) else float(text)  # type: ignore[arg-type] # the except below
    except (TypeError, ValueError):
        years = float("nan")
    if not _EARLIEST <= years <= _LATEST:
        raise DefinitionError(
            f"expected an epoch in Julian years from {_EARLIEST:g} to {_LATEST:g}, got {epoch!r}",
            hint="for example 2016.0",
        )
    return years


def read_frames(frame: object) -> tuple[str | None, str | None]:
    """Return the frames of both sides from a name for both, or a name or None for each; None if not given."""
    left, right = (frame, frame) if frame is None or isinstance(frame, str) else split_sides(frame, "frames")
    return None if left is None else read_frame(left), None if right is None else read_frame(right)


def split_sides(sides: object, what: str) -> tuple[Any, Any]:
    """Return what the user says about the left and about the right side."""
    if sides is None:
        return None, None
    if not isinstance(sides, list | tuple) or len(sides) != 2:
        raise DefinitionError(f"expected the {what} of both sides, got {sides!r}", hint="pass a pair: (LEFT, RIGHT)")
    return sides[0], sides[1]


def _read_motion(catalog: Catalog, frame: str, start: tuple[str, object], names: object, end: float) -> Motion | None:
    """Return the motion of a side, given with the epoch of its positions; None if it has no proper motions."""
    if names is None:
        # Proper motions that are found are those in right ascension and declination.
        attributes = find_motion_attributes(catalog.schema) if frame != "galactic" else ()
    elif isinstance(names, list | tuple) and len(names) in (0, 2, 4):
        attributes = tuple(catalog.schema[name] for name in names)
    else:
        raise DefinitionError(
            f"expected 2 or 4 attributes of the motion of the {start[0]} side, got {names!r}",
            hint="name both proper motions, or also parallax and radial velocity",
        )
    if not attributes:
        return None
    columns = tuple(
        _read_column(attribute, quantity) for attribute, quantity in zip(attributes, QUANTITIES, strict=False)
    )
    return Motion(columns, _read_start(catalog, *start), end)


def _read_start(catalog: Catalog, side: str, start: object) -> float | Coordinate:
    """Return the epoch of the positions of a side: a number, or an attribute."""
    if isinstance(start, str) and catalog.schema.matching(start):
        return _read_column(catalog.schema[start], "epoch")
    if start is not None:
        return read_epoch(start)
    attribute = find_epoch_attribute(catalog.schema)
    if attribute is None:
        raise DefinitionError(f"the epoch of the positions of the {side} side is not known", hint=_GIVE_EPOCHS)
    return _read_column(attribute, "epoch")


def _read_column(attribute: Attribute, quantity: str) -> Coordinate:
    """Return an attribute that holds a quantity, and its unit."""
    unit = find_motion_unit(quantity, attribute.unit)
    if not attribute.type.numeric or unit is None:
        article = "an" if quantity == "epoch" else "a"
        what = f"the type {attribute.type}" if not attribute.type.numeric else f"the unit {attribute.unit!r}"
        raise DefinitionError(
            f"{attribute.name} has {what} and cannot be {article} {quantity}",
            hint=f"{article} {quantity} is a number in {' or '.join(MOTION_UNITS[quantity])}",
        )
    return attribute.identity, unit


def list_placement_options(sides: Sequence[Catalog], placements: Sequence[Placement]) -> dict[str, Any]:
    """Return the options that define placements, as `CrossMatch.of` takes them; empty for usual ones."""
    options: dict[str, Any] = {}
    if any(placement.frame != "icrs" for placement in placements):
        options["frame"] = [placement.frame for placement in placements]
    ends = [placement.motion.end for placement in placements if placement.motion is not None]
    if ends:
        epochs: list[float | str | None] = []
        motions: list[list[str]] = []
        for catalog, placement in zip(sides, placements, strict=True):
            names = {identity: attribute.name for identity, attribute in catalog.schema.by_identity.items()}
            motion = placement.motion
            start = None if motion is None else motion.start
            epochs.append(start if start is None or isinstance(start, float) else names[start[0]])
            motions.append([] if motion is None else [names[identity] for identity, _ in motion.columns])
        options |= {"epoch": ends[0], "epochs": epochs, "motions": motions}
    return options
