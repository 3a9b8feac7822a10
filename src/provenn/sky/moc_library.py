"""The cells of large MOCs, which criteria name by a digest: kept in memory, and found in the stores of archives.

A digest determines the cells, and whatever is found under it is hashed before it is used. So it does not matter which
archive's store the cells come from, and one library serves the whole process.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

__all__ = ["LIBRARY", "PREFIX", "Library", "digest_in", "digest_of", "digests_in"]

PREFIX = "moc:"
"""How the text begins that names a large MOC; 64 hexadecimal digits follow."""

Place = Callable[[str], str | None]
"""A place where cells are kept: it returns the text of the cells by digest, or None."""

_NAMED = re.compile(rf"{PREFIX}([0-9a-f]{{64}})")


def digest_of(cells: str) -> str:
    """Return the digest of the cells of a MOC in canonical text."""
    return sha256(cells.encode()).hexdigest()


def digest_in(text: str) -> str | None:
    """Return the digest that a text is, or None if it does not name a MOC."""
    found = _NAMED.fullmatch(text)
    return None if found is None else found[1]


def digests_in(text: str) -> frozenset[str]:
    """Return the digests of all MOCs that a criterion, or any other text, names."""
    return frozenset(_NAMED.findall(text))


class Library:
    """Cells by digest.

    Parameters
    ----------
    most_characters
        How many characters are kept in memory; what was used longest ago goes first.
    """

    def __init__(self, most_characters: int = 200_000_000) -> None:
        self._most = most_characters
        self._held: OrderedDict[str, str] = OrderedDict()
        self._places: dict[str, Place] = {}
        self._lock = Lock()

    def add_place(self, name: str, place: Place) -> None:
        """Look for cells in a place, too; a place of the same name is replaced."""
        with self._lock:
            self._places[name] = place

    def remove_place(self, name: str) -> None:
        """Look there no more."""
        with self._lock:
            self._places.pop(name, None)

    def forget(self) -> None:
        """Let go of all that is in memory; what the places have is found again."""
        with self._lock:
            self._held.clear()

    def remember(self, cells: str) -> str:
        """Keep cells in memory; return their digest."""
        digest = digest_of(cells)
        with self._lock:
            self._held[digest] = cells
            self._held.move_to_end(digest)
            while sum(map(len, self._held.values())) > self._most and len(self._held) > 1:
                self._held.popitem(last=False)
        return digest

    def find(self, digest: str) -> str | None:
        """Return the cells that have a digest, or None if neither memory nor any place has them."""
        with self._lock:
            if digest in self._held:
                self._held.move_to_end(digest)
                return self._held[digest]
            places = list(self._places.values())
        for place in reversed(places):
            cells = place(digest)
            if cells is not None and digest_of(cells) == digest:
                self.remember(cells)
                return cells
        return None


LIBRARY = Library()
"""The library of this process."""
