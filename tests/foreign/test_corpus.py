"""Files of other writers: provenn reads the rows that the writer's own reader does, whatever is in them."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, note, settings
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.files.data_folder import DataFolder
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from provenn.spark.tables.converting import convert_files
from tests.foreign.tables import Drawn, Rows, canonical, drawn_tables, from_arrow
from tests.foreign.writers import STILTS, WRITERS, Writer, spark_writers
from tests.spark.conftest import engine

__all__ = ["engine"]

LOOSE = list(HealthCheck)


def read_by_provenn(path: Path, writer: Writer, engine: Engine | None, folder: Path) -> Rows:
    """Return the rows that provenn reads of a file: with Spark, or as it converts them for Spark."""
    files = Files.at(path, **writer.given)
    if engine is None:
        text = convert_files(files, DataFolder.of(folder))
        return from_arrow(parquet.read_table(text.removeprefix("file://")))
    frame = read_base(engine, Base.of(files, key="id", population="star"), DataFolder.of(folder))
    return from_arrow(frame.toArrow())


def compare(name: str, writer: Writer, drawn: Drawn, engine: Engine | None) -> None:
    """Write a table, and compare what provenn reads with what the writer's own reader reads."""
    table = drawn.only(writer.kinds, writer.nullable).with_texts(writer.texts)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"a{writer.suffix}")
        writer.write(table, path)
        note(f"{name}: {table}")
        theirs = canonical(writer.read(path), **writer.same)
        ours = canonical(
            read_by_provenn(path, writer, engine if writer.by_spark else None, Path(folder, "data")), **writer.same
        )
        result = list(differences(ours, theirs))
        assert not result, (name, result[:5])


def differences(ours: dict, theirs: dict) -> Iterator[tuple]:
    """Yield the cells that differ: key, column, what provenn reads, what the writer's own reader reads."""
    yield from ((key, "row", key in ours, key in theirs) for key in ours.keys() ^ theirs.keys())
    for key in ours.keys() & theirs.keys():
        for name in ours[key].keys() | theirs[key].keys():
            first, other = (row[key].get(name, "no column") for row in (ours, theirs))
            if first != other or type(first) is not type(other):
                yield key, name, first, other


def is_written(name: str, drawn: Drawn) -> bool:
    """Tell whether a writer can write a table without rows; some cannot, or leave nothing to read."""
    return drawn.rows > 0 or not any(
        word in name for word in ("votable", "mrt", "hats", "csv", "tsv", "arrays", "text")
    )


@pytest.mark.filterwarnings("ignore")
def test_converted_files_are_what_their_writers_read():
    @settings(max_examples=8, deadline=None, suppress_health_check=LOOSE)
    @given(drawn_tables())
    def differ(drawn):
        for name, writer in WRITERS.items():
            if not writer.by_spark and is_written(name, drawn):
                compare(name, writer, drawn, None)

    differ()


@pytest.mark.filterwarnings("ignore")
def test_files_that_spark_reads_are_what_their_writers_read(engine):
    check_with_spark(engine, 2)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")
def test_many_files_that_spark_reads_are_what_their_writers_read(engine):
    check_with_spark(engine, 150)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")
def test_many_converted_files_are_what_their_writers_read():
    @settings(max_examples=1500, deadline=None, suppress_health_check=LOOSE)
    @given(drawn_tables(most=12))
    def differ(drawn):
        for name, writer in WRITERS.items():
            if not writer.by_spark and is_written(name, drawn):
                compare(name, writer, drawn, None)

    differ()


def check_with_spark(engine: Engine, examples: int) -> None:
    """Compare files of all writers that Spark reads, all in one session."""
    writers = {name: item for name, item in WRITERS.items() if item.by_spark} | spark_writers(engine.session)

    @settings(max_examples=examples, deadline=None, suppress_health_check=LOOSE)
    @given(drawn_tables())
    def differ(drawn):
        for name, writer in writers.items():
            if is_written(name, drawn):
                compare(name, writer, drawn, engine)

    differ()


@pytest.mark.filterwarnings("ignore")
def test_what_stilts_packs_into_a_votable_is_what_was_packed():
    @settings(max_examples=3, deadline=None, suppress_health_check=LOOSE)
    @given(drawn_tables())
    def differ(drawn):
        for name, writer in STILTS.items():
            if drawn.rows:
                compare(name, writer, drawn, None)

    differ()
