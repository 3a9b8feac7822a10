"""What the reader is told when something cannot be meant; it adds where."""

__all__ = ["Refusal"]


class Refusal(Exception):  # noqa: N818 - never leaves the package: the reader turns it into a CriterionError
    """Something that has no meaning in a criterion, and what to do about it."""

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.hint = hint
