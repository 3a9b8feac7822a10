"""The sink that takes rows in an order: some of the first, after an offset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from provenn.look.refusal import NeedsSpark
from provenn.look.suitability import is_readable_type
from provenn.targets.looking import take_look
from provenn.targets.plan import Plan
from provenn.targets.sinks import KnownAnswer, TakenRows, make_empty_answer
from provenn.targets.workplace import DataPlace

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.look.row_order import ColumnOrder
    from provenn.spark.pipeline import PreparedData

__all__ = ["SortedRowsSink"]


@dataclass(frozen=True, slots=True)
class SortedRowsSink:
    """Takes some rows in an order into this process, as an Arrow table; the key decides between rows that are equal.

    All rows are read, so the run is recorded, and costly results are kept.

    Parameters
    ----------
    order
        The columns to sort by.
    number
        How many rows to take.
    offset
        How many rows to pass over before.
    """

    is_recorded: ClassVar[bool] = True
    is_compared: ClassVar[bool] = True
    order: Sequence[ColumnOrder]
    number: int
    offset: int = 0

    def find_known_answer(self, place: DataPlace, plan: Plan, /) -> KnownAnswer[pa.Table] | None:
        """Return a table without rows, if the answer is proved to be empty."""
        return make_empty_answer(place, plan)

    def take_look(self, place: DataPlace, plan: Plan, /) -> TakenRows[pa.Table]:
        """Sort the rows without Spark; keep no more of them than are wanted."""
        from provenn.look.arrow_tables import make_empty_table  # noqa: PLC0415 - planning runs without Arrow
        from provenn.look.row_order import OrderedRows  # noqa: PLC0415

        for column in self.order:
            kind = plan.schema[column.name].type
            if not is_readable_type(kind):
                raise NeedsSpark(f"values of {column.name} are not sorted here: their type is {kind}")
        rows = OrderedRows(self._complete_order(plan), self.offset + self.number)
        table = take_look(place, plan, rows.take)
        empty = make_empty_table(plan.schema)
        answer = empty if table is None else table.cast(empty.schema).slice(self.offset)
        return TakenRows(answer, rows.count)

    def take_rows(self, place: DataPlace, plan: Plan, data: PreparedData, /) -> TakenRows[pa.Table]:
        """Sort the rows; their number is known if all of them are taken."""
        from provenn.look.arrow_tables import add_field_metadata  # noqa: PLC0415 - see above
        from provenn.spark.columns import collect_sorted  # noqa: PLC0415

        collect = partial(collect_sorted, order=self._complete_order(plan), number=self.number, offset=self.offset)
        table = add_field_metadata(place.pipeline().collect_data(data, None, collect), data.schema)
        is_whole = not self.offset and table.num_rows < self.number
        return TakenRows(table, table.num_rows if is_whole else None)

    def _complete_order(self, plan: Plan) -> list[ColumnOrder]:
        """Return the columns to sort by, and the key."""
        from provenn.look.row_order import ColumnOrder  # noqa: PLC0415 - see above

        return [*self.order, *(ColumnOrder(attribute.name) for attribute in plan.schema.key)]

    def repeat(self) -> Self:
        """Return the same sink."""
        return self
