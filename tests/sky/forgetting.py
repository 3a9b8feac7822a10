"""Forget the coverage maps that this process has in memory, as a new process would."""

from provenn.sky import calls, covering, mocs, relation
from provenn.sky.moc_library import LIBRARY

__all__ = ["forget_mocs"]


def forget_mocs() -> None:
    """Empty the library of coverage maps and all caches of what was computed from them."""
    LIBRARY.forget()
    for cached in (
        mocs._compute_ranges,
        mocs._compute_cells,
        mocs._compute_missing_cells,
        mocs._compute_cap,
        calls.read_call,
        relation,
        covering,
    ):
        cached.cache_clear()
