"""A folder that gets a file a day: what planning and a refresh take does not grow faster than the number of days."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from sqlalchemy import event

import provenn
from provenn.logic import Knowledge
from tests.effort import count_lines

DAYS = (10, 40)


def write_day(folder: Path, day: int) -> None:
    table = pa.table({"id": [1000 * day + number for number in range(3)], "g": [1.0, 2.0, 3.0]})
    parquet.write_table(table, folder / f"{day:05}.parquet")


@contextmanager
def counting_statements(archive: provenn.Archive) -> Iterator[list[str]]:
    """Collect the SQL statements that an archive executes."""
    statements: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    engine = archive.context.database.engine
    event.listen(engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(engine, "before_cursor_execute", note)


def test_days_that_are_past_cost_no_statements_and_no_proofs(tmp_path, monkeypatch):
    """The last refresh of few days and of many executes as much SQL and asks for as many proofs; so does a plan.

    The lines of Python that are executed may grow with the files, which are compared each day, and no faster.
    """
    proofs = []
    entails = Knowledge.entails
    monkeypatch.setattr(Knowledge, "entails", lambda *arguments: proofs.append(arguments[1]) or entails(*arguments))
    # Digests of files are noted unless the files are very young, which depends on how fast the machine is.
    monkeypatch.setattr("provenn.data.file_memory._can_be_kept", lambda _: False)
    costs = {}
    for days in DAYS:
        folder = tmp_path / f"{days} days"
        folder.mkdir()
        write_day(folder, 0)
        with provenn.open(tmp_path / f"archive of {days} days", progress=False) as archive:
            stars = archive.ingest("stars", folder, key="id", population="star")
            stars.derive(bright="g < 2", name="graded").select("g < 3", name="selected")
            for day in range(1, days):
                write_day(folder, day)
                archive.refresh("stars")
            write_day(folder, days)
            proofs.clear()
            with counting_statements(archive) as refresh_statements:
                refresh_lines = count_lines(lambda archive=archive: archive.refresh("stars"))
            refresh_proofs = len(proofs)
        with provenn.open(tmp_path / f"archive of {days} days", progress=False) as archive:
            proofs.clear()
            with counting_statements(archive) as plan_statements:
                plan_lines = count_lines(lambda archive=archive: archive.target("selected", ["bright"]).plan())

        counts = (len(refresh_statements), refresh_proofs, len(plan_statements), len(proofs))
        costs[days] = (counts, refresh_lines, plan_lines)
    few, many = (costs[days] for days in DAYS)
    assert many[0] == few[0], "SQL statements and proofs of a refresh, and of a plan"
    growth = DAYS[1] / DAYS[0]
    assert many[1] < growth * few[1], "lines of a refresh"
    assert many[2] < growth * few[2], "lines of a plan"
