"""Labels of sets that are no criteria on the attributes of a row: files, samples, and what references define."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from provenn.catalogs.match_sets import describe_match
from provenn.digests import CatalogDigest, content_digest, is_catalog_label

__all__ = [
    "is_criterion",
    "is_derived_set",
    "make_file_label",
    "make_opaque_label",
    "parse_file_label",
    "parse_opaque_label",
    "parse_sample_label",
]

_DERIVED = ("points [", "pointed [", "first(", "elements(", "opaque(")
"""How the labels begin that references, groups, arrays and opaque SQL define: no criterion and no digest does."""

_OPAQUE = re.compile(r"opaque\(([0-9a-f]{64})\)")
_FILE = re.compile(r"file\(([0-9a-f]{64}), ([0-9a-f]{64})\)")


def make_file_label(whole: CatalogDigest, fingerprint: str) -> str:
    """Return the label of the set of sources in the file of a base catalog with a fingerprint."""
    return f"file({whole}, {content_digest('file of a version', fingerprint)})"


def make_opaque_label(condition: str, others: Sequence[CatalogDigest]) -> str:
    """Return the label of the set of all sources that fulfil an opaque condition.

    Parameters
    ----------
    condition
        The condition in canonical form, over identities of attributes: a source has one value of an identity.
    others
        The digests of the catalogs in its subqueries, in order.
    """
    return f"opaque({content_digest('opaque condition', {'condition': condition, 'others': list(others)})})"


def parse_file_label(label: str) -> tuple[CatalogDigest, str] | None:
    """Return the base catalog of a file, and a word for the file, from the label of its sources; None for another."""
    match = _FILE.fullmatch(label)
    return None if match is None else (CatalogDigest(match[1]), match[2][:8])


def parse_opaque_label(label: str) -> str | None:
    """Return a word for an opaque condition from the label of its set; None for another label."""
    match = _OPAQUE.fullmatch(label)
    return None if match is None else match[1][:8]


def parse_sample_label(label: str) -> tuple[int, float] | None:
    """Return the seed and the fraction from the label of a sample's atom; None for a criterion's label."""
    if not label.startswith("sample("):
        return None
    seed, fraction = label.removeprefix("sample(").partition(",")[0], label.rpartition("<")[2]
    return int(seed), float(fraction)


def is_derived_set(label: str) -> bool:
    """Return whether a label names a set that a reference, a group, an array or opaque SQL defines: no criterion."""
    return label.startswith(_DERIVED)


@lru_cache(maxsize=10_000)
def is_criterion(label: str) -> bool:
    """Return whether a label is a criterion on the attributes of a row; remembered, as many facts name one label."""
    return not (
        is_catalog_label(label)
        or is_derived_set(label)
        or describe_match(label) is not None
        or parse_file_label(label) is not None
        or parse_sample_label(label) is not None
        or label.startswith("files(")
    )
