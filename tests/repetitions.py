"""Repetitions of one proof: `make test` makes a few of them, `make campaign` all others."""

from collections.abc import Sequence
from typing import Any

import pytest

__all__ = ["repeat_a_few"]


def repeat_a_few(values: Sequence[Any], few: int) -> list[Any]:
    """Return parameters of a test: `make test` tries the first few, `make campaign` the others.

    Only for values that prove the same once more, such as seeds, and never for those that prove something of their own.
    """
    return [*values[:few], *(pytest.param(value, marks=pytest.mark.campaign) for value in values[few:])]
