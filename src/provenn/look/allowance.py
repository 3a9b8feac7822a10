"""The most data that a look reads: beyond it, Spark is faster, or this process needs too much memory."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.look.refusal import NeedsSpark
from provenn.sizes import format_size

__all__ = ["LARGEST", "MOST_FILES", "Allowance"]

LARGEST = 512 * 2**20
"""The most bytes that a look reads: the values of the needed columns, unpacked."""

MOST_FILES = 500
"""The most files that a look opens."""


@dataclass(slots=True)
class Allowance:
    """The bytes and files that a look may still read."""

    left: float = LARGEST
    files: int = MOST_FILES

    def require_bytes(self, number: float) -> None:
        """Make sure that bytes may be read.

        Raises
        ------
        NeedsSpark
            If the look would then have read too much.
        """
        if self.left < number:
            raise NeedsSpark(f"a look reads at most {format_size(LARGEST)}")

    def spend_bytes(self, number: float) -> None:
        """Count bytes that were read.

        Raises
        ------
        NeedsSpark
            If the look has read too much.
        """
        self.require_bytes(number)
        self.left -= number

    def spend_file(self) -> None:
        """Count a file that is about to be opened.

        Raises
        ------
        NeedsSpark
            If the look has opened too many files.
        """
        self.files -= 1
        if self.files < 0:
            raise NeedsSpark(f"a look opens at most {MOST_FILES} files")
