"""The evidence that files are unchanged, in words: the same words in every interface."""

from __future__ import annotations

from provenn.files.file_set import Files

__all__ = ["describe_basis"]


def describe_basis(files: Files) -> str:
    """Return how changes of files are noticed, in words; empty for an external dataset."""
    match files.caveat or files.basis:
        case "content":
            return "all bytes"
        case "store":
            return "the ETag and version from the object store"
        case "metadata":
            return "size, time and footer only (trust: metadata)"
        case "unverified":
            return "size, time and footer only, until they are next used"
        case "late":
            return "all bytes, but only after they were ingested"
        case _:
            return ""
