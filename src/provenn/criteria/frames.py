"""Frames: the part of a partition that a window function sees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from provenn.criteria.refusal import Refusal

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["UP_TO_EQUALS", "WHOLE", "Frame", "find_whole_number", "read_frame"]

_LARGEST: Final = 2**31 - 1

Unit = Literal["ROWS", "RANGE"]


@dataclass(frozen=True, slots=True)
class Frame:
    """The part of a partition that a function sees.

    Parameters
    ----------
    unit
        "ROWS" counts sources; "RANGE" ends with all sources equal in the order.
    start, end
        The distances of the first and the last source from the current one; negative before it, None if unbounded.
    """

    unit: Unit
    start: int | None
    end: int | None

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole partition."""
        return self.start is None and self.end is None

    @property
    def has_current(self) -> bool:
        """Whether the current source is always inside, so that the frame is never empty."""
        return (self.start is None or self.start <= 0) and (self.end is None or self.end >= 0)

    @property
    def canonical(self) -> str:
        """The frame in SQL."""
        return f"{self.unit} BETWEEN {_write_bound(self.start, 'PRECEDING')} AND {_write_bound(self.end, 'FOLLOWING')}"


WHOLE: Final = Frame("ROWS", None, None)
UP_TO_EQUALS: Final = Frame("RANGE", None, 0)
"""The frame of an ordered window that states none."""


def read_frame(tree: exp.Expr | None) -> Frame | None:
    """Return the frame in a syntax tree."""
    if tree is None:
        return None
    unit = str(tree.args.get("kind") or "").upper()
    if tree.args.get("exclude"):
        raise Refusal("EXCLUDE is not supported")
    start = _read_bound(tree.args.get("start"), tree.args.get("start_side"))
    # A frame with a single bound ends with the current source.
    end = 0 if tree.args.get("end") is None else _read_bound(tree.args["end"], tree.args.get("end_side"))
    sides = str(tree.args.get("start_side")).upper(), str(tree.args.get("end_side")).upper()
    if (start is None and sides[0] != "PRECEDING") or (end is None and sides[1] != "FOLLOWING"):
        raise Refusal("the frame ends before it begins")
    if unit not in ("ROWS", "RANGE"):
        raise Refusal(f"a frame of {unit} is not supported", "use ROWS or RANGE")
    if unit == "RANGE" and not {start, end} <= {None, 0}:
        raise Refusal("a RANGE of values is not supported", "use ROWS, or RANGE with UNBOUNDED and CURRENT ROW")
    if start is not None and end is not None and start > end:
        raise Refusal("the frame ends before it begins")
    return Frame("ROWS" if unit == "ROWS" else "RANGE", start, end)


def _read_bound(bound: object, side: object) -> int | None:
    """Return the distance of a bound from the current source; None if unbounded."""
    from sqlglot import exp  # noqa: PLC0415 - sqlglot takes long to import

    from provenn.criteria.syntax import is_quantity  # noqa: PLC0415

    if isinstance(bound, str):
        return 0 if bound.upper() == "CURRENT ROW" else None
    if isinstance(bound, exp.Expr) and is_quantity(bound):  # PRECEDING looks like the unit of the number
        number, side = find_whole_number(bound.this), bound.alias
    else:
        number = find_whole_number(bound)
    sign = {"PRECEDING": -1, "FOLLOWING": 1}.get(str(side).upper())
    if number is None or sign is None:
        raise Refusal("a bound of a frame is a whole number", "for example ROWS 2 PRECEDING")
    return sign * number


def _write_bound(distance: int | None, unbounded: str) -> str:
    if distance is None:
        return f"UNBOUNDED {unbounded}"
    if distance == 0:
        return "CURRENT ROW"
    return f"{abs(distance)} {'PRECEDING' if distance < 0 else 'FOLLOWING'}"


def find_whole_number(tree: object) -> int | None:
    """Return a whole number that is not too large for Spark; None for anything else."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    if not isinstance(tree, exp.Literal) or tree.is_string or not re.fullmatch("[0-9]{1,10}", tree.name):
        return None
    number = int(tree.name)
    return number if number <= _LARGEST else None
