"""The error inside this package for text without a meaning; the reader adds the position."""

__all__ = ["Refusal"]


class Refusal(Exception):  # noqa: N818 - never leaves the package: the reader turns it into a CriterionError
    """A form that has no meaning in a criterion, with a hint."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
