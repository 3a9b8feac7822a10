"""The reason why Spark must read rows that are not read here."""

from __future__ import annotations

__all__ = ["NeedsSpark"]


class NeedsSpark(Exception):  # noqa: N818 - no failure: Spark takes over
    """Rows are not read here, because only Spark is known to give the exact answer, or to be fast enough.

    Parameters
    ----------
    reason
        The reason, as a clause that follows "because".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
