"""The caveats about base files on which an answer rests, in words: the same words in every interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from provenn.catalogs.base import list_bases
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.restoring import cone
from provenn.files.fingerprints import Caveat

__all__ = ["describe_caveat", "describe_caveats"]

_CAVEATS: Final[Mapping[Caveat, str]] = {
    "metadata": "its files are identified only by size, time and footer (trust: metadata)",
    "unverified": "its files are identified only by size, time and footer, until all bytes are read",
    "late": "its files may have changed before all bytes were read; earlier counts and stored data rest on size, "
    "time and footer",
}


def describe_caveat(name: str, caveat: Caveat) -> str:
    """Return the caveat about the files of a base catalog, in words.

    >>> describe_caveat("stars", "metadata")
    'stars: its files are identified only by size, time and footer (trust: metadata)'
    """
    return f"{name}: {_CAVEATS[caveat]}"


def describe_caveats(catalogs: Iterable[Catalog], word: Callable[[str], str]) -> tuple[str, ...]:
    """Return the caveats about the base files of catalogs, a sentence each; empty without caveats.

    Parameters
    ----------
    catalogs
        The catalogs; all base catalogs of their lineages count.
    word
        Returns the name of a catalog for the viewer, from its digest.
    """
    bases = list_bases(cone(*catalogs))
    return tuple(
        describe_caveat(word(base.digest), caveat) for base in bases if (caveat := base.files.caveat) is not None
    )
