"""The only module that calls the solver of linear programmes (HiGHS).

The solver computes with floating point, so its answers are proposals: `certificates` checks them in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Final

import numpy as np

__all__ = ["LinearProgram"]

_NOTHING: Final = np.empty(0, dtype=np.int32)
_MOST_NODES: Final = 1_000  # of a search for whole numbers


class LinearProgram:
    """A linear programme over numbers that are at least 0, extended column by column.

    Parameters
    ----------
    lows, highs
        The bounds of each row; ``inf`` for none.
    """

    def __init__(self, lows: Sequence[float], highs: Sequence[float]) -> None:
        import highspy  # noqa: PLC0415 - slow to load, and only bounds need it

        self._names: Any = highspy
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("presolve", "off"),
            ("mip_max_nodes", _MOST_NODES),
            ("mip_rel_gap", 0.0),
        ):
            self._model.setOptionValue(option, value)
        self._columns = 0
        if lows:
            self._model.addRows(
                len(lows), np.array(lows, float), np.array(highs, float), 0, _NOTHING, _NOTHING, np.empty(0)
            )

    def __len__(self) -> int:
        return self._columns

    def add_column(self, cost: float, rows: Sequence[int], factor: float = 1.0) -> None:
        """Add a column with the same factor in some rows."""
        self._model.addCol(cost, 0.0, inf, len(rows), np.array(rows, dtype=np.int32), np.full(len(rows), factor))
        self._columns += 1

    def set_costs(self, costs: Sequence[float], *, highest: Sequence[float]) -> None:
        """Replace the cost and the highest value of every column."""
        if self._columns:
            numbers = np.arange(self._columns, dtype=np.int32)
            self._model.changeColsCost(self._columns, numbers, np.array(costs, float))
            self._model.changeColsBounds(self._columns, numbers, np.zeros(self._columns), np.array(highest, float))

    def minimise(self) -> float | None:
        """Return the least cost, or None if there is none: see `values` and `duals`."""
        if not self._columns:
            return 0.0
        self._model.run()
        if self._model.getModelStatus() != self._names.HighsModelStatus.kOptimal:
            return None
        return float(self._model.getInfo().objective_function_value)

    def values(self) -> list[float]:
        """Return the values of the columns in the last solution."""
        return list(self._model.getSolution().col_value) if self._columns else []

    def duals(self) -> list[float]:
        """Return the duals of the rows in the last solution: positive for lower bounds, negative for upper bounds."""
        return list(self._model.getSolution().row_dual)

    def find_whole_values(self) -> list[int] | None:
        """Return whole values of the columns with a low cost; None if the search finds none."""
        self._set_kind(int(self._names.HighsVarType.kInteger))
        self._model.run()
        has_solution = self._model.getInfo().primal_solution_status == int(
            self._names.SolutionStatus.kSolutionStatusFeasible
        )
        values = [round(value) for value in self.values()] if has_solution else None
        self._set_kind(int(self._names.HighsVarType.kContinuous))
        return values

    def _set_kind(self, kind: int) -> None:
        numbers = np.arange(self._columns, dtype=np.int32)
        kinds = np.full(self._columns, kind, dtype=np.uint8)
        self._model.changeColsIntegrality(self._columns, numbers, kinds)
