"""Limits of the size of foreign data when they are unpacked, or when a header claims a size.

A file of a few megabytes can unpack to gigabytes, and a header of a few bytes can claim a billion rows. The unpacked
size is limited by the size of the file: `USUAL_FACTOR` times that, or `ALWAYS_ALLOWED` bytes, whichever is more. Real
tables stay far below. The owner allows more by ``provenn allow expansion:5000``.
"""

from __future__ import annotations

import io
from typing import IO, Any

from provenn.errors import ExpansionError
from provenn.gate.permits import find_largest_expansion
from provenn.sizes import format_size

__all__ = [
    "ALWAYS_ALLOWED",
    "LONGEST_HEADER",
    "MOST_AXES",
    "USUAL_FACTOR",
    "BoundedStream",
    "check_claim",
    "limit_unpacked_size",
    "read_header_bytes",
]

USUAL_FACTOR = 200
"""The largest ratio of unpacked to packed size. Tables of text compress to a quarter, seldom to a fiftieth."""

ALWAYS_ALLOWED = 256 * 2**20
"""The bytes that any file may unpack to, even a tiny file."""

LONGEST_HEADER = 16 * 2**20
"""The most bytes of the description of a table, in any format."""

MOST_AXES = 32
"""The most axes of the arrays in a column, as in NumPy."""


def limit_unpacked_size(size: int) -> int:
    """Return the most bytes that a file of `size` bytes may unpack to.

    >>> limit_unpacked_size(10), limit_unpacked_size(10 * 2**20) // 2**20
    (268435456, 2000)
    """
    return max(ALWAYS_ALLOWED, find_largest_expansion(USUAL_FACTOR) * size)


def check_claim(claimed: int, size: int, what: str) -> None:
    """Check that the size claimed by a file is in proportion to the size of the file.

    Parameters
    ----------
    claimed
        The bytes that the claimed data would take.
    size
        The size of the file in bytes.
    what
        The source of the claim, for error messages.

    Raises
    ------
    ExpansionError
        If the claim exceeds `limit_unpacked_size`.
    """
    if claimed > limit_unpacked_size(size):
        raise _expansion_error(f"{what} would take {format_size(claimed)} in memory", size, claimed)


def read_header_bytes(stream: IO[bytes] | Any, name: str) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Read a whole stream that describes data, and is therefore short.

    Raises
    ------
    ExpansionError
        If the stream is longer than `LONGEST_HEADER`.
    """
    content = bytes(stream.read(LONGEST_HEADER + 1))
    if len(content) > LONGEST_HEADER:
        raise ExpansionError(f"{name} has more than {format_size(LONGEST_HEADER)}, although it only describes a table")
    return content


class BoundedStream(io.RawIOBase):
    """A stream that is unpacked while reading, up to the limit for its file.

    Parameters
    ----------
    stream
        The unpacked bytes.
    size
        The size of the packed file in bytes.
    name
        The name of the stream in error messages.
    """

    def __init__(self, stream: IO[bytes] | Any, size: int, name: str) -> None:  # noqa: ANN401 - pyarrow has no types
        self._stream, self._size, self._name = stream, size, name
        self._remaining = limit_unpacked_size(size)

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes, or all remaining bytes.

        Raises
        ------
        ExpansionError
            If the file unpacks to more than the limit.
        """
        wanted = self._remaining + 1 if size is None or size < 0 else min(size, self._remaining + 1)
        data = bytes(self._stream.read(wanted))
        self._remaining -= len(data)
        if self._remaining < 0:
            most = limit_unpacked_size(self._size)
            raise _expansion_error(f"{self._name} unpacks to more than {format_size(most)}", self._size, most + 1)
        return data

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - a buffer of bytes
        """Read into a buffer, with the errors of `read`."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _expansion_error(problem: str, size: int, needed: int) -> ExpansionError:
    factor = -(-needed // max(1, size))
    return ExpansionError(
        f"{problem}, though the file has {format_size(size)}",
        hint="is this the file you expect? If you trust it, allow a larger ratio: "
        f"provenn allow expansion:{_round_up(factor)}",
    )


def _round_up(factor: int) -> int:
    """Return the next number with a single significant digit.

    >>> _round_up(1033), _round_up(7)
    (2000, 7)
    """
    step: int = 10 ** (len(str(factor)) - 1)
    return -(-factor // step) * step
