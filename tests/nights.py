"""A folder of nights that grows, on an archive whose Spark is played: for tests of crashes and faults.

The catalogs are a base, what a calculator gives for it, which is stored, and a selection. Spark's part is played by
pyarrow: it compares no keys, and writes the columns that are kept. All else is what provenn does: plans, leases,
fragments, facts, definitions and names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

import provenn
from provenn.archive import Archive
from provenn.catalogs import Attribute, Base
from provenn.data.given_tables import locate_table
from provenn.files.data_folder import DataFolder, explain_io_errors
from provenn.files.file_set import GIVEN
from provenn.spark import fragment_files, row_operations, stopwatch
from provenn.spark.pipeline import Pipeline
from provenn.targets import storing
from provenn.targets.plan import Plan
from provenn.targets.planning import plan_catalog
from provenn.targets.steps import Exclude, PlanStep, Restrict, Scan, walk_steps
from tests.targets import calls

__all__ = ["append_file", "append_table", "make_night", "play_spark", "prepare_nights", "refresh_new"]

ROWS = 4


def make_night(night: int) -> pa.Table:
    """The rows of a night."""
    ids = [night * 100 + number for number in range(ROWS)]
    return pa.table({"id": ids, "x": [float(one % 7) for one in ids]})


def prepare_nights(folder: Path) -> None:
    """Make an archive of two nights, with stored results; then a third night comes, and a fourth lies elsewhere.

    The second night makes a version of files in a folder that may hold others: a night that comes is no damage.
    """
    nights = folder / "nights"
    nights.mkdir()
    pq.write_table(make_night(0), nights / "0.parquet")
    with provenn.open(folder, store=folder / "data", who="Ada", progress=False) as archive, play_spark():
        base = archive.ingest("nights", nights, key="id", population="detection")
        parameters = {"value": "z", "error": "ez", "log": str(folder)}
        fit = archive.calculator(
            "fit", calls.fitted, inputs=["id", "x"], outputs={"z": "double", "ez": "double"}, parameters=parameters
        )
        fits = base.derive(fit, name="fits")
        fits.select("x > 2", name="chosen")
        pq.write_table(make_night(1), nights / "1.parquet")
        archive.refresh("nights")

        def replan() -> Plan:
            return archive.context.read(plan_catalog, archive["fits"].definition, "fits")

        storing.keep_parts(archive.context.workshop.pipeline(), replan(), replan, "worthwhile")
    pq.write_table(make_night(2), nights / "2.parquet")
    pq.write_table(make_night(3), folder / "elsewhere.parquet")


# --- the steps: each can be repeated ---


def refresh_new(archive: Archive, _folder: Path) -> None:
    """Refresh, since a night came."""
    with play_spark():
        archive.refresh("nights")


def append_file(archive: Archive, folder: Path) -> None:
    """Append a file from another place."""
    with play_spark():
        archive.append("nights", folder / "elsewhere.parquet")


def append_table(archive: Archive, _folder: Path) -> None:
    """Append a table from memory."""
    with play_spark():
        archive.append("nights", make_night(4))


# --- Spark's part ---


@contextmanager
def play_spark() -> Iterator[None]:
    """Play what Spark does while the body runs."""
    with ExitStack() as stack:
        for place, name, played in (
            (Pipeline, "count_key_rows", lambda pipeline, base: _read_base(base, pipeline.folder).num_rows),
            (Pipeline, "compare_new_keys", lambda pipeline, _bases, new: _read_base(new, pipeline.folder).num_rows),
            (storing, "build_frame", _read_rows),
            (row_operations, "name_columns", lambda rows, _columns: rows),
            (stopwatch, "Stopwatch", lambda _engine: None),
            (fragment_files, "_write", _write_rows),
            (fragment_files, "watch_run", lambda *_arguments: nullcontext()),
        ):
            stack.enter_context(mock.patch.object(place, name, played))
        yield


def _read_rows(pipeline: Pipeline, _plan: Plan, step: PlanStep, *_others: object) -> pa.Table:
    """The rows of the base catalogs that a step calculates for; others are only compared with these."""
    scans = [scan for scan in walk_steps(step, within=_find_row_inputs) if isinstance(scan, Scan)]
    bases = {scan.base.digest: scan.base for scan in scans}
    return pa.concat_tables(_read_base(base, pipeline.folder) for base in bases.values())


def _find_row_inputs(step: PlanStep) -> tuple[PlanStep, ...]:
    return step.inputs[:1] if isinstance(step, Restrict | Exclude) else step.inputs


def _read_base(base: Base, folder: DataFolder) -> pa.Table:
    files = locate_table(folder, base.files) if base.files.format == GIVEN else base.files
    tables = []
    for file in files.list_own_files():
        with file.open() as opened:
            tables.append(pq.read_table(opened))
    return pa.concat_tables(tables)


def _write_rows(rows: pa.Table, columns: Sequence[tuple[str, Attribute]], _folder: object, address: str) -> None:
    zeros: Any = pa.array([0.0] * rows.num_rows)
    named = {
        attribute.name: rows[attribute.name] if attribute.name in rows.column_names else zeros
        for _, attribute in columns
    }
    with explain_io_errors(address):
        Path(address).mkdir()
        with Path(address, "part-0.parquet").open("wb") as file:
            pq.write_table(pa.table(named), file)
