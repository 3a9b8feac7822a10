"""The verdict on a statement: it holds, it fails, or it is unknown."""

from __future__ import annotations

from typing import Self

__all__ = ["Verdict"]


class Verdict(str):
    """``"holds"``, ``"fails"`` or ``"unknown"``, with the reason in words."""

    __slots__ = ("reason",)
    reason: str

    def __new__(cls, answer: str, reason: str) -> Self:
        """Return a verdict with a reason."""
        verdict = super().__new__(cls, answer)
        verdict.reason = reason
        return verdict
