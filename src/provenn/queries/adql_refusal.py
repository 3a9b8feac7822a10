"""The refusal of a part of an ADQL query; the reader adds the place."""

from __future__ import annotations

__all__ = ["AdqlRefusalError"]


class AdqlRefusalError(Exception):
    """A part of a query in ADQL has no meaning here.

    Parameters
    ----------
    problem
        The problem.
    hint
        What to do.
    """

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
