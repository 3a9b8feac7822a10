"""The cells of large MOCs by digest, in memory and in the stores of archives; criteria name a large MOC by its digest.

A digest determines the cells, and the library hashes all cells from a store before it returns them. So the cells may
come from the store of any archive, and a single library serves the whole process.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

__all__ = ["LIBRARY", "PREFIX", "MocLibrary", "find_digests", "hash_cells", "parse_digest"]

PREFIX = "moc:"
"""The prefix of a text that names a large MOC; 64 hexadecimal digits follow."""

CellReader = Callable[[str], str | None]
"""A function that reads the text of cells from a store by their digest; it returns None if the store lacks them."""

_MOC_DIGEST = re.compile(rf"{PREFIX}([0-9a-f]{{64}})")


def hash_cells(cells: str) -> str:
    """Return the digest of the cells of a MOC in canonical text."""
    return sha256(cells.encode()).hexdigest()


def parse_digest(text: str) -> str | None:
    """Return the digest in a text that names a MOC, or None if the text does not name a MOC."""
    match = _MOC_DIGEST.fullmatch(text)
    return None if match is None else match[1]


def find_digests(text: str) -> frozenset[str]:
    """Return the digests of all MOCs that a text, for example a criterion, names."""
    return frozenset(_MOC_DIGEST.findall(text))


class MocLibrary:
    """The cells of MOCs by digest.

    Parameters
    ----------
    most_characters
        The limit of characters in memory; beyond it, the library drops the least recently used cells.
    """

    def __init__(self, most_characters: int = 200_000_000) -> None:
        self._most_characters = most_characters
        self._cells: OrderedDict[str, str] = OrderedDict()
        self._places: dict[str, CellReader] = {}
        self._lock = Lock()

    def add_place(self, name: str, reader: CellReader) -> None:
        """Look up cells with another reader, too; it replaces a reader of the same name."""
        with self._lock:
            self._places[name] = reader

    def remove_place(self, name: str) -> None:
        """Stop looking up cells with the reader of a name."""
        with self._lock:
            self._places.pop(name, None)

    def forget(self) -> None:
        """Drop all cells from memory; the readers find them again."""
        with self._lock:
            self._cells.clear()

    def remember(self, cells: str) -> str:
        """Keep cells in memory and return their digest."""
        digest = hash_cells(cells)
        with self._lock:
            self._cells[digest] = cells
            self._cells.move_to_end(digest)
            while sum(map(len, self._cells.values())) > self._most_characters and len(self._cells) > 1:
                self._cells.popitem(last=False)
        return digest

    def find(self, digest: str) -> str | None:
        """Return the cells of a digest, or None if neither memory nor any reader has them."""
        with self._lock:
            if digest in self._cells:
                self._cells.move_to_end(digest)
                return self._cells[digest]
            readers = list(self._places.values())
        for reader in reversed(readers):
            cells = reader(digest)
            if cells is not None and hash_cells(cells) == digest:
                self.remember(cells)
                return cells
        return None


LIBRARY = MocLibrary()
"""The library of this process."""
