"""The most data that a look reads: beyond it, Spark is faster, or this process needs too much memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from provenn.look.refusal import NeedsSpark
from provenn.sizes import format_size

__all__ = ["LARGEST", "LARGEST_MATCH", "MOST_FILES", "MOST_MATCHED_FILES", "Allowance"]

LARGEST = 512 * 2**20
"""The most bytes that a look reads: the values of the needed columns, unpacked."""

MOST_FILES = 500
"""The most files that a look opens."""

LARGEST_MATCH = 4 * 2**30
"""The most bytes that a match reads without Spark: they are not in memory at once."""

MOST_MATCHED_FILES = 20_000
"""The most files that a match opens without Spark; a file that is read again counts again."""


@dataclass(slots=True)
class Allowance:
    """The bytes and files that a look may still read; several threads may spend them."""

    left: float = LARGEST
    files: int = MOST_FILES
    whole: str = field(init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.whole = f"a look reads at most {format_size(int(self.left))} here, in at most {self.files:,} files"

    def require_bytes(self, number: float) -> None:
        """Make sure that bytes may be read.

        Raises
        ------
        NeedsSpark
            If the look would then have read too much.
        """
        if self.left < number:
            raise NeedsSpark(self.whole)

    def spend_bytes(self, number: float) -> None:
        """Count bytes that were read.

        Raises
        ------
        NeedsSpark
            If the look has read too much.
        """
        self.require_bytes(number)
        with self._lock:
            self.left -= number

    def spend_file(self) -> None:
        """Count a file that is about to be opened.

        Raises
        ------
        NeedsSpark
            If the look has opened too many files.
        """
        with self._lock:
            self.files -= 1
        if self.files < 0:
            raise NeedsSpark(self.whole)
