"""The workshop of an archive: runs, with their sinks and notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any

from provenn.archive.base_files import BaseFilesPlace
from provenn.archive.spark_place import Progress

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.knowledge.stored_facts import Fact
    from provenn.look.row_order import ColumnOrder
    from provenn.spark.pipeline import PreparedData
    from provenn.spark.writing import WrittenFiles
    from provenn.targets.checking import CheckedFact
    from provenn.targets.engine_choice import EngineChoice
    from provenn.targets.keeping import Keep
    from provenn.words.described_plan import DescribedPlan

__all__ = ["Progress", "Workshop"]

Replan = Callable[[], "DescribedPlan"]
"""Returns the plan of a request for the present state of the archive."""


class Workshop(BaseFilesPlace):
    """Computes data for an archive; `provenn.targets.running` holds the life of a run."""

    def prepare_data(self, replan: Replan, *, check: bool = False) -> PreparedData:
        """Return data ready to be computed."""
        from provenn.targets.running import prepare_request  # noqa: PLC0415 - most commands compute nothing

        return prepare_request(self, replan, check=check)

    def collect_table(
        self, replan: Replan, keep: Keep, limit: int | None, *, check: bool = False, engine: EngineChoice = "auto"
    ) -> pa.Table:
        """Compute data into this process as an Arrow table; compute nothing if the result is proved empty."""
        from provenn.targets.running import answer_request  # noqa: PLC0415 - see above
        from provenn.targets.sinks import TableSink  # noqa: PLC0415

        return answer_request(self, replan, TableSink(limit), keep, check=check, engine=engine)

    def collect_first_rows(
        self, replan: Replan, number: int, *, check: bool = False, engine: EngineChoice = "auto"
    ) -> pa.Table:
        """Compute the first few sources."""
        from provenn.targets.running import answer_request  # noqa: PLC0415 - see above
        from provenn.targets.sinks import FirstRowsSink  # noqa: PLC0415

        return answer_request(self, replan, FirstRowsSink(number), check=check, engine=engine)

    def collect_for_picture(self, replan: Replan, limit: int | None, *, engine: EngineChoice = "auto") -> pa.Table:
        """Compute data into this process for a picture: the run is not recorded, and no result is kept."""
        from provenn.targets.running import answer_request  # noqa: PLC0415 - see above
        from provenn.targets.sinks import PictureSink  # noqa: PLC0415

        return answer_request(self, replan, PictureSink(limit), engine=engine)

    def collect_sorted_rows(
        self, replan: Replan, keep: Keep, order: Sequence[ColumnOrder], number: int, offset: int = 0
    ) -> pa.Table:
        """Compute sources in an order, at most `number` after the first `offset`; the key decides between equals."""
        from provenn.targets.running import answer_request  # noqa: PLC0415 - see above
        from provenn.targets.sorted_rows import SortedRowsSink  # noqa: PLC0415

        return answer_request(self, replan, SortedRowsSink(order, number, offset), keep)

    def count(self, replan: Replan, *, check: bool = False, engine: EngineChoice = "auto") -> int:
        """Count sources, unless the count is known or follows from known counts."""
        from provenn.targets.running import answer_request  # noqa: PLC0415 - see above
        from provenn.targets.sinks import CountSink  # noqa: PLC0415

        return answer_request(self, replan, CountSink(), check=check, engine=engine)

    def write_files(
        self,
        replan: Replan,
        keep: Keep,
        path: str | PathLike[str],
        *,
        check: bool = False,
        **options: Any,  # noqa: ANN401 - those of write
    ) -> WrittenFiles:
        """Compute data into files."""
        from provenn.archive.exported import make_file_notes  # noqa: PLC0415 - see above
        from provenn.targets.running import answer_request  # noqa: PLC0415
        from provenn.targets.sinks import FilesSink  # noqa: PLC0415

        return answer_request(self, replan, FilesSink(path, make_file_notes, options), keep, check=check)

    # -- notices -------------------------------------------------------------------------------------------------

    def report_checked_facts(self, checked: Sequence[CheckedFact]) -> None:
        """Announce the results of checking declared facts on the data."""
        from provenn.archive.notices import make_check_notices  # noqa: PLC0415 - a command starts without it
        from provenn.words.vocabulary import name_facts  # noqa: PLC0415

        with self.database.reading() as reading:
            notices = make_check_notices(checked, partial(name_facts, reading))
        self.notices.tell(notices)

    def report_basis(self, plan: DescribedPlan, facts: Sequence[Fact]) -> None:
        """Announce the declared facts behind the answer of a plan, and new files missing from the plan."""
        from provenn.archive.grown_folders import find_grown_folders  # noqa: PLC0415 - a command starts without it
        from provenn.archive.notices import Notice, make_rest_notices  # noqa: PLC0415

        self.notices.tell(make_rest_notices(plan.what, plan.name_facts(facts), empty=plan.empty))
        catalogs = [attribute.provider for attribute in plan.provided] if plan.catalog is None else [plan.catalog]
        with self.database.reading() as reading:
            grown = find_grown_folders(reading, catalogs, self.roots)
        self.notices.tell(Notice("grown", folder.message) for folder in grown)
