"""The literals of the catalogs and criteria of an index, by label, without a Python object for each catalog."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping

import numpy as np
from numpy.typing import NDArray

from provenn.digests import CatalogDigest

__all__ = ["ExtentLabels"]

_BYTES = 32  # of a digest


class ExtentLabels(MutableMapping[str, int]):
    """The literals of labels: those of catalogs in arrays, sorted by digest, and the others and new ones in a mapping.

    Parameters
    ----------
    digests, literals
        The digests of catalogs, 32 bytes each and sorted, and their literals.
    others
        The literals of other labels.
    """

    def __init__(
        self,
        digests: NDArray[np.bytes_] | None = None,
        literals: NDArray[np.int64] | None = None,
        others: dict[str, int] | None = None,
    ) -> None:
        self._digests = np.zeros(0, f"S{_BYTES}") if digests is None else digests
        self._literals = np.zeros(0, np.int64) if literals is None else literals
        self.others = {} if others is None else others
        self._new: list[CatalogDigest] = []  # catalogs among the others

    def _find_place(self, label: str) -> int | None:
        if len(label) != 2 * _BYTES or not len(self._digests):
            return None
        try:
            key = bytes.fromhex(label)
        except ValueError:
            return None
        place = int(np.searchsorted(self._digests, np.bytes_(key)))
        # NumPy drops zeros at the end of bytes.
        return place if place < len(self._digests) and self._digests[place].ljust(_BYTES, b"\0") == key else None

    def __getitem__(self, label: str) -> int:
        literal = self.get(label)
        if literal is None:
            raise KeyError(label)
        return literal

    def get(self, label: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """Return the literal of a label; `default` without the label."""
        literal = self.others.get(label)
        if literal is None and isinstance(label, str):
            place = self._find_place(label)
            literal = default if place is None else int(self._literals[place])
        return literal

    def __contains__(self, label: object) -> bool:
        return label in self.others or (isinstance(label, str) and self._find_place(label) is not None)

    def __setitem__(self, label: str, literal: int) -> None:
        place = None if label in self.others else self._find_place(label)
        if place is None:
            self.others[label] = literal
        else:
            self._literals[place] = literal

    def __delitem__(self, label: str) -> None:
        del self.others[label]

    def popitem(self) -> tuple[str, int]:
        """Remove the label that was added last."""
        return self.others.popitem()

    def __len__(self) -> int:
        return len(self._digests) + len(self.others)

    def __iter__(self) -> Iterator[str]:
        yield from _to_texts(self._digests)
        yield from self.others

    # -- catalogs ------------------------------------------------------------------------------------------------

    def add_catalog(self, digest: CatalogDigest) -> None:
        """Note that a label is a catalog of the population."""
        self._new.append(digest)

    def list_catalogs(self) -> list[CatalogDigest]:
        """Return the digests of all catalogs of the population, in the order of `list_literals`."""
        return [*_to_texts(self._digests), *self._new]

    def list_literals(self) -> NDArray[np.int64]:
        """Return the literals of all catalogs of the population."""
        new = np.array([self.others[digest] for digest in self._new], np.int64)
        return np.concatenate((self._literals, new))

    def select_catalogs(self, is_selected: NDArray[np.bool_]) -> list[CatalogDigest]:
        """Return the digests of selected catalogs, sorted; the places are those of `list_literals`."""
        stored = len(self._digests)
        selected = _to_texts(self._digests[is_selected[:stored]])
        new = sorted(self._new[place] for place in np.flatnonzero(is_selected[stored:]).tolist())
        return sorted([*selected, *new]) if new else selected

    def to_arrays(self) -> tuple[NDArray[np.bytes_], NDArray[np.int64], dict[str, int]]:
        """Return all catalogs in arrays, sorted by digest, and the other labels."""
        new = sorted(self._new)
        digests = np.concatenate((self._digests, _to_array(new)))
        literals = np.concatenate((self._literals, np.array([self.others[digest] for digest in new], np.int64)))
        order = np.argsort(digests, kind="stable")
        is_new = set(new)
        others = {label: literal for label, literal in self.others.items() if label not in is_new}
        return digests[order], literals[order], others

    def compact(self) -> None:
        """Keep all catalogs in arrays from now on."""
        self._digests, self._literals, self.others = self.to_arrays()
        self._new = []


def _to_array(digests: list[CatalogDigest]) -> NDArray[np.bytes_]:
    return np.frombuffer(bytes.fromhex("".join(digests)), f"S{_BYTES}")


def _to_texts(digests: NDArray[np.bytes_]) -> list[CatalogDigest]:
    text = np.ascontiguousarray(digests).tobytes().hex()
    return [CatalogDigest(text[start : start + 2 * _BYTES]) for start in range(0, len(text), 2 * _BYTES)]
