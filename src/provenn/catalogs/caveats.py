"""What an answer takes on trust of base files, in words: the same words in every interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.files import Files
from provenn.catalogs.fingerprints import Caveat
from provenn.catalogs.lineage import cone

__all__ = ["basis_words", "caveat_words", "caveats_of"]

_CAVEATS: Final[Mapping[Caveat, str]] = {
    "metadata": "its files are known by size, time and footer only (trust=metadata)",
    "unverified": "its files are known by size, time and footer only (unverified, until all bytes are read)",
    "late": "its files may have changed before all bytes were read; what was counted or stored before that rests "
    "on size, time and footer",
}


def caveat_words(name: str, caveat: Caveat) -> str:
    """Return what is taken on trust of the files of a base catalog.

    >>> caveat_words("stars", "metadata")
    'stars: its files are known by size, time and footer only (trust=metadata)'
    """
    return f"{name}: {_CAVEATS[caveat]}"


def caveats_of(catalogs: Iterable[Catalog], word: Callable[[str], str]) -> tuple[str, ...]:
    """Return what is taken on trust of the base files of catalogs, a sentence each; nothing, if nothing is.

    Parameters
    ----------
    catalogs
        The catalogs; all base catalogs of their lineages count.
    word
        Returns what a catalog is called, given its digest.
    """
    bases = (one for one in cone(*catalogs) if isinstance(one, Base))
    return tuple(caveat_words(word(base.digest), caveat) for base in bases if (caveat := base.files.caveat) is not None)


def basis_words(files: Files) -> str:
    """Return what tells whether files are what they were; nothing for a dataset that others keep."""
    match files.caveat or files.basis:
        case "content":
            return "all bytes"
        case "store":
            return "the ETag and version that the object store gives"
        case "metadata":
            return "size, time and footer only (trust=metadata)"
        case "unverified":
            return "size, time and footer only, until they are next used (unverified)"
        case "late":
            return "all bytes, but not since they were ingested"
        case _:
            return ""
