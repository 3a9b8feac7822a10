"""Conditions that link several attributes: only these have consequences beyond the order of values."""

from __future__ import annotations

import re
from typing import Final

from provenn.sky import FUNCTIONS as REGIONS

__all__ = ["compares_terms"]

_COLUMN: Final = re.compile(r"`(?:[^`]|``)*`")


def compares_terms(label: str) -> bool:
    """Return whether a condition depends on attributes in several places, and is not a region."""
    if label.count("`") <= 2:  # most labels name a single attribute
        return False
    return len(_COLUMN.findall(label)) > 1 and label.partition("(")[0] not in REGIONS
