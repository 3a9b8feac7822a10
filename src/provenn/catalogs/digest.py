"""Every content hash of the project."""

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

__all__ = ["Json", "canonical_json", "content_digest"]

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]


def canonical_json(content: Json) -> str:
    """Return the one JSON text of some content: keys sorted, no spaces.

    Raises
    ------
    ValueError
        If it holds NaN or an infinity, which JSON cannot say.
    TypeError
        If it holds anything else that JSON cannot say.
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def content_digest(kind: str, content: Json) -> str:
    """Return the SHA-256, in 64 hexadecimal digits, of some content of a kind.

    >>> content_digest("example", {"b": 1, "a": [True, None]})[:16]
    'dfec891e519fb505'
    """
    return sha256(f"provenn/1/{kind}\n{canonical_json(content)}".encode()).hexdigest()
