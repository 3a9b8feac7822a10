"""How the positions of one side of a match become positions in ICRS at the epoch of the match."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.match_rule import Coordinate
from provenn.criteria import AttributeIdentity, backquoted
from provenn.errors import DefinitionError
from provenn.files.stated_frames import StatedFrame
from provenn.sky.frames import read_frame
from provenn.sky.motions import MOTION_UNITS

__all__ = ["IN_PLACE", "QUANTITIES", "Motion", "Placement", "restore_placements"]

QUANTITIES = ("proper motion", "proper motion", "parallax", "radial velocity")
"""The quantities of a motion, in order: in right ascension and in declination, then along the line of sight."""


@dataclass(frozen=True, slots=True)
class Motion:
    """The motion of the sources of a side from the epoch of their positions to that of the match.

    Parameters
    ----------
    columns
        The attributes with the proper motions in right ascension, multiplied by the cosine of the declination, and in
        declination; then, if both are known, parallax and radial velocity. Units are keys of
        `provenn.sky.motions.MOTION_UNITS`.
    start
        The epoch of the positions in Julian years: a number, or an attribute.
    end
        The epoch of the match in Julian years.
    """

    columns: tuple[Coordinate, ...]
    start: float | Coordinate
    end: float

    @property
    def inputs(self) -> tuple[Coordinate, ...]:
        """The attributes that are read."""
        return self.columns if isinstance(self.start, float) else (*self.columns, self.start)

    def outline(self) -> tuple[object, ...]:
        """Return the motion without its attributes."""
        return self.start if isinstance(self.start, float) else "attribute", self.end, len(self.columns)


@dataclass(frozen=True, slots=True)
class Placement:
    """How the positions of a side are placed.

    Parameters
    ----------
    frame
        The frame of the positions, a key of `provenn.sky.frames.FRAMES`.
    motion
        How sources move to the epoch of the match; None if they stay where they are.
    """

    frame: str = "icrs"
    motion: Motion | None = None

    @property
    def inputs(self) -> tuple[Coordinate, ...]:
        """The attributes that are read besides the coordinates."""
        return () if self.motion is None else self.motion.inputs

    def outline(self) -> tuple[object, ...]:
        """Return the placement without its attributes."""
        return self.frame, self.motion and self.motion.outline()

    def list_texts(self) -> list[str]:
        """Return what differs from positions in ICRS that stay where they are, as parts of the terms of sets."""
        texts = [] if self.frame == "icrs" else [f"frame {self.frame}"]
        if self.motion is not None:
            start = self.motion.start
            epoch = repr(start) if isinstance(start, float) else _format_column(start)
            columns = ", ".join(map(_format_column, self.motion.columns))
            texts.append(f"moved by {columns} from {epoch} to {self.motion.end!r}")
        return texts

    def describe(self, side: str, names: Mapping[AttributeIdentity, str], stated: StatedFrame) -> list[str]:
        """Return how the positions of a side are placed, and why, in words.

        Parameters
        ----------
        side
            The side in words.
        names
            The names of attributes by identity.
        stated
            What the files of the side state.
        """
        words = []
        if self.motion is not None:
            columns = ", ".join(names[identity] for identity, _ in self.motion.columns)
            start = self.motion.start
            epoch = f"{start:g}" if isinstance(start, float) else names[start[0]]
            why = ", the epoch that their files state," if isinstance(start, float) and start == stated.epoch else ""
            words.append(
                f"{side} positions move by {columns} from {epoch}{why} to {self.motion.end:g}, the common epoch"
            )
        if self.frame != "icrs":
            why = f" (their files state {stated.words})" if self.frame == stated.frame else ""
            words.append(f"{side} positions turn from {self.frame} to icrs{why}, because separations need one frame")
        return words

    def parameters(self) -> dict[str, Any]:
        """Return the placement as JSON, without usual values."""
        parameters: dict[str, Any] = {} if self.frame == "icrs" else {"frame": self.frame}
        if self.motion is not None:
            start = self.motion.start
            parameters["motion"] = [list(column) for column in self.motion.columns]
            parameters["epochs"] = [start if isinstance(start, float) else list(start), self.motion.end]
        return parameters


IN_PLACE = Placement()
"""The placement of positions in ICRS that are taken as they are."""


def _format_column(column: Coordinate) -> str:
    identity, unit = column
    return f"{backquoted(identity)} {unit}"


def restore_placements(
    parameters: Mapping[str, Any],
    identities: tuple[Collection[AttributeIdentity] | None, Collection[AttributeIdentity] | None] = (None, None),
) -> tuple[Placement, Placement]:
    """Return the placements of both sides from the parameters of a match.

    Parameters
    ----------
    parameters
        The parameters of the match.
    identities
        The attributes of both sides; None to leave out the check whether they exist.

    Raises
    ------
    DefinitionError
        If the parameters do not place positions.
    """
    if "placements" not in parameters:
        return IN_PLACE, IN_PLACE
    left, right = (
        _restore_placement(placement, known)
        for placement, known in zip(parameters["placements"], identities, strict=True)
    )
    return left, right


def _restore_placement(parameters: Mapping[str, Any], known: Collection[AttributeIdentity] | None) -> Placement:
    frame = read_frame(parameters.get("frame", "icrs"))
    if "motion" not in parameters:
        return Placement(frame)
    columns = tuple((identity, unit) for identity, unit in parameters["motion"])
    start, end = parameters["epochs"]
    epoch: float | Coordinate = float(start) if isinstance(start, int | float) else (start[0], start[1])
    motion = Motion(columns, epoch, float(end))
    quantities = QUANTITIES[: len(columns)] + (() if isinstance(epoch, float) else ("epoch",))
    for (identity, unit), quantity in zip(motion.inputs, quantities, strict=True):
        if (known is not None and identity not in known) or unit not in MOTION_UNITS[quantity]:
            raise DefinitionError(f"{identity} in {unit} is no {quantity}")
    if len(columns) not in (2, 4):
        raise DefinitionError(f"expected a motion of 2 or 4 attributes to an epoch, got {len(columns)} to {end!r}")
    return Placement(frame, motion)
