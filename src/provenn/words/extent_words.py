"""Sets of sources in words: base catalogs, criteria, and what is left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from provenn.catalogs.set_labels import is_derived_set
from provenn.display.text import join_words
from provenn.words.reference_words import negate_derived_set

if TYPE_CHECKING:
    from provenn.catalogs import Extent

__all__ = ["describe_extent"]

_MOST_LEAVES = 40
_PRESENT = " IS NOT NULL"
_TERM = r"([^<>=]+?)"
_COMPARISON = re.compile(rf"{_TERM} (<=?) ([^<>=]+)")
_COMPLEMENT = re.compile(rf"\({_TERM} (<=?) ([^<>=]+)\) IS NOT TRUE")
_COMPARED = re.compile(rf"{_TERM} (?:<=?|>=?|=) [^<>=]+")


def describe_extent(extent: Extent, word: Callable[[str], str], bases: frozenset[str]) -> str:
    """Return a set of sources in words; for a set of very many parts, return only their number.

    Parameters
    ----------
    extent
        The set.
    word
        Returns the words for a base catalog or a criterion.
    bases
        The labels of base catalogs.
    """
    labels = extent.labels
    if len(labels) > _MOST_LEAVES:
        base_labels = [label for label in labels if label in bases]
        few = join_words([word(label) for label in base_labels], 3)
        return f"a set built from {few} and {len(labels) - len(base_labels)} criteria"
    return _describe_set(extent, word, bases, inner=False)


def _describe_set(extent: Extent, word: Callable[[str], str], bases: frozenset[str], *, inner: bool) -> str:
    """Return a set in words; an `inner` set gets parentheses."""
    if extent.label is not None:
        if extent.complemented and is_derived_set(extent.label):
            return negate_derived_set(word(extent.label))
        return _describe_leaf(word(extent.label), base=extent.label in bases, outside=extent.complemented)
    if not extent.parts:
        return "none" if extent.complemented else "all there are"
    # Sets come before complements, and base catalogs before criteria.
    parts = sorted((~part for part in extent.parts) if extent.complemented else extent.parts, key=_make_sort_key(bases))
    words = [_describe_set(part, word, bases, inner=True) for part in parts]
    joined = " or ".join(words) if extent.complemented else " and ".join(_join_comparisons(words))
    return f"({joined})" if inner else joined


def _join_comparisons(words: Sequence[str]) -> list[str]:
    """Return the conditions of an intersection, with comparisons as people write them.

    Sound: where x is not NULL, ``(x <= 10) IS NOT TRUE`` is ``x > 10``, for NaN as well, which is the largest number;
    and x is not NULL where another comparison with x is TRUE.

    >>> _join_comparisons(["x IS NOT NULL", "(x <= 10) IS NOT TRUE"])
    ['x > 10']
    >>> _join_comparisons(["x <= 5", "(x < 5) IS NOT TRUE", "(y < 3) IS NOT TRUE"])
    ['x = 5', '(y < 3) IS NOT TRUE']
    """
    comparisons = [match.groups() for word in words if (match := _COMPARISON.fullmatch(word))]
    present = {word.removesuffix(_PRESENT) for word in words if word.endswith(_PRESENT)}
    not_null = present | {left for left, _, _ in comparisons}
    joined: list[str] = []
    for word in words:
        match = _COMPLEMENT.fullmatch(word)
        if match is None or match[1] not in not_null:
            joined.append(word)
        elif (match[1], "<=", match[3]) in comparisons and match[2] == "<":
            joined[joined.index(f"{match[1]} <= {match[3]}")] = f"{match[1]} = {match[3]}"
        else:
            joined.append(f"{match[1]} {'>' if match[2] == '<=' else '>='} {match[3]}")
    compared = {match[1] for word in joined if (match := _COMPARED.fullmatch(word))}
    return [word for word in joined if word.removesuffix(_PRESENT) not in compared or not word.endswith(_PRESENT)]


def _describe_leaf(word: str, *, base: bool, outside: bool) -> str:
    """Return a base catalog or a criterion, or its complement, in words."""
    if base:
        return f"not in {word}" if outside else f"in {word}"
    if word.endswith(_PRESENT) and outside:
        return word.removesuffix(_PRESENT) + " IS NULL"
    return f"({word}) IS NOT TRUE" if outside else word


def _make_sort_key(bases: frozenset[str]) -> Callable[[Extent], tuple[bool, bool, str]]:
    """Return a sort key for the parts of a set: sets before complements, base catalogs before criteria."""
    return lambda extent: (
        extent.complemented and extent.label is not None,
        extent.label not in bases,
        extent.label or "",
    )
