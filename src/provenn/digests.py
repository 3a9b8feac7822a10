"""All content hashes of the project."""

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NewType, TypeGuard

__all__ = ["CatalogDigest", "Json", "canonical_json", "content_digest", "is_catalog_label", "is_digest"]

_DIGEST = re.compile("[0-9a-f]{64}")

CatalogDigest = NewType("CatalogDigest", str)
"""The identity of a catalog: the digest of its class, parameters and dependencies. It labels the set of its sources."""

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def canonical_json(content: Json) -> str:
    """Return the canonical JSON text of a value: keys sorted, no spaces.

    Raises
    ------
    ValueError
        If the content holds NaN or an infinity.
    TypeError
        If the content holds any other value without a JSON form.
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_digest(kind: str, content: Json) -> str:
    """Return the SHA-256 of a kind and some content, in 64 hexadecimal digits.

    >>> content_digest("example", {"b": 1, "a": [True, None]})[:16]
    'dfec891e519fb505'
    """
    return sha256(f"provenn/1/{kind}\n{canonical_json(content)}".encode()).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether a text has the form of a digest: 64 hexadecimal digits in lower case.

    >>> is_digest("0f" * 32), is_digest("0F" * 32), is_digest("0f")
    (True, False, False)
    """
    return _DIGEST.fullmatch(text) is not None


def is_catalog_label(label: str) -> TypeGuard[CatalogDigest]:
    """Return whether the label of a set is the digest of a catalog; all other labels are those of criteria."""
    return is_digest(label)
