"""The whole error tree of provenn.

::

    ProvennError                      everything provenn raises on purpose
    ├── StatementError (ValueError)   a statement that cannot be read; marks the column
    ├── LabelError (ValueError)       a label that is unfit, or named twice
    ├── UnknownLabelError (KeyError)  a label that nothing mentions; says what was meant
    ├── HypercubeError (ValueError)   an array that is not a Boolean hypercube
    ├── PictureError (ValueError)     something that cannot be drawn
    ├── BudgetError (ValueError)      a relationship that would need too many hypercubes
    └── ContradictionError (ValueError)  facts that contradict each other; carries the minimal conflict

Every message names the offending thing; `hint`, where there is one, says what to do about it.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [
    "BudgetError",
    "ContradictionError",
    "HypercubeError",
    "LabelError",
    "PictureError",
    "ProvennError",
    "StatementError",
    "UnknownLabelError",
    "did_you_mean",
]


class ProvennError(Exception):
    """Everything that provenn raises on purpose.

    Parameters
    ----------
    message
        What is wrong, naming the offending thing.
    hint
        What to do about it, or nothing.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class StatementError(ProvennError, ValueError):
    """A statement that cannot be read.

    Parameters
    ----------
    problem
        What is wrong.
    text
        The statement as it was given.
    column
        Where in `text`, counted from 0.
    """

    def __init__(self, problem: str, text: str, column: int, *, hint: str = "") -> None:
        start = max(0, column - 60)
        shown = text[start : column + 40]
        super().__init__(f"{problem}, at column {column + 1}\n  {shown}\n  {' ' * (column - start)}^", hint=hint)
        self.problem = problem
        self.text = text
        self.column = column


class LabelError(ProvennError, ValueError):
    """A label that is not a non-empty string, or one that is named twice."""


class UnknownLabelError(ProvennError, KeyError):
    """A label that nothing mentions.

    Parameters
    ----------
    label
        The label that was asked for.
    known
        The labels there are, to suggest one from.
    """

    def __init__(self, label: str, known: Iterable[str]) -> None:
        super().__init__(f"nothing is known of a set {label!r}", hint=did_you_mean(label, known))
        self.label = label


class HypercubeError(ProvennError, ValueError):
    """An array that is not a Boolean hypercube."""


class PictureError(ProvennError, ValueError):
    """Something that cannot be drawn."""


class BudgetError(ProvennError, ValueError):
    """A relationship that would need more hypercubes than its budget allows.

    Parameters
    ----------
    labels
        The sets it would relate.
    size
        How many hypercubes it would need.
    budget
        How many it may have.
    """

    def __init__(self, labels: Iterable[str], size: int, budget: int) -> None:
        self.labels = tuple(labels)
        self.size = size
        self.budget = budget
        amount = f"{size:,}" if size < 10**15 else f"about 2**{size.bit_length() - 1}"
        super().__init__(
            f"a relationship between {', '.join(self.labels)} would need {amount} hypercubes, "
            f"more than the budget of {budget:,}",
            hint="ask Knowledge instead, which needs no hypercubes; or remove sets, state more, raise `budget`",
        )


class ContradictionError(ProvennError, ValueError):
    """Facts that contradict each other: from them everything would follow, so nothing is proved.

    Parameters
    ----------
    conflict
        An `Explanation` whose facts cannot all hold, and of which none can be left out.
    """

    def __init__(self, conflict: Any) -> None:  # noqa: ANN401 - errors lie below the layer of explanations
        super().__init__(f"the facts contradict each other:\n{conflict}", hint="retract or correct one of them")
        self.conflict = conflict


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint that names the known words nearest to `word`, or an empty string.

    >>> did_you_mean("brigth", ["bright", "faint"])
    'did you mean bright?'
    """
    close = get_close_matches(word, list(known), n=3)
    return f"did you mean {' or '.join(close)}?" if close else ""
