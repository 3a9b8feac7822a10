"""The platform to record with stored values; see `provenn.database.platform`."""

from __future__ import annotations

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.platform_traits import find_lineage_traits
from provenn.database.transactions import Reading

__all__ = ["describe_platform"]


def describe_platform(reading: Reading, *catalogs: Catalog) -> str | None:
    """Return the platform to record with values computed from catalogs; None for platform-independent values."""
    traits = find_lineage_traits(*catalogs)
    return reading.platform().describe(traits) if traits else None
