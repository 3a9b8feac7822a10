"""Files of Delta, Iceberg and Hudi tables are refused without the log, from wherever one looks: some are deleted."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyarrow import parquet

from provenn.catalogs import Files
from provenn.errors import BaseFilesError

OLD = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "year": pa.array([2025, 2025, 2026], pa.int64())})
NEW = pa.table({"id": pa.array([9], pa.int64()), "year": pa.array([2026], pa.int64())})


def delta(folder: Path) -> Path:
    """A Delta table in folders by year, overwritten once."""
    for rows in (OLD, NEW):
        write_deltalake(folder, rows, mode="overwrite", partition_by=["year"])
    return folder


def iceberg(folder: Path) -> Path:
    """An Iceberg table, overwritten once."""
    folder.mkdir(parents=True)
    from pyiceberg.catalog.sql import SqlCatalog  # noqa: PLC0415 - slow to import, in every process of the tests

    catalog = SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.sqlite", warehouse=f"file://{folder}/warehouse")
    catalog.create_namespace("survey")
    table = catalog.create_table("survey.stars", OLD.schema)
    table.append(OLD)
    table.overwrite(NEW)
    catalog.close()
    return next(folder.glob("warehouse/**/metadata")).parent


def hudi(folder: Path) -> Path:
    """The folders of a Hudi table, as its documentation draws them."""
    (folder / ".hoodie" / "timeline").mkdir(parents=True)
    (folder / ".hoodie" / "hoodie.properties").write_text("hoodie.table.name=stars\n")
    for number, rows in enumerate((OLD, NEW)):
        part = folder / "year=2026" / f"a0b1-0_0-1-{number}_2026010100000{number}.parquet"
        part.parent.mkdir(exist_ok=True)
        parquet.write_table(rows.drop(["year"]), part)
    return folder


MAKERS = {"Delta": delta, "Iceberg": iceberg, "Hudi": hudi}


@pytest.fixture(scope="module", params=MAKERS)
def lake(request, tmp_path_factory) -> tuple[str, Path]:
    """What kind of table it is, and its folder."""
    return request.param, MAKERS[request.param](tmp_path_factory.mktemp("lake") / "stars")


def one_file(table: Path) -> Path:
    """A file of a table that holds rows."""
    return min(path for path in table.rglob("*.parquet") if "_delta_log" not in path.parts)


PLACES = {
    "the table": lambda table: table,
    "the folder above": lambda table: table.parent,
    "the folder of a file": lambda table: one_file(table).parent,
    "one file": one_file,
    "a glob in the table": lambda table: table / "**" / "*.parquet",
    "a glob beside the table": lambda table: table.parent / f"{table.name[:-1]}?",
    "a glob in the folder of a file": lambda table: one_file(table).parent / "*.parquet",
    "a URI": lambda table: table.as_uri(),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_table_is_refused_with_a_hint_from_wherever_it_is_looked_at(lake, place):
    kind, table = lake
    with pytest.raises(BaseFilesError, match=f"is a table of {kind}") as caught:
        Files.at(PLACES[place](table), format="parquet")
    assert str(table) in caught.value.message
    assert ("ingest that" if kind == "Hudi" else "ingest the folder of the whole table") in caught.value.hint


def test_links_to_a_table_are_refused_as_well(lake, tmp_path):
    kind, table = lake
    (tmp_path / "folder").symlink_to(one_file(table).parent)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.parquet").symlink_to(one_file(table))
    for place in ("folder", "files", "files/a.parquet"):
        with pytest.raises(BaseFilesError, match=f"is a table of {kind}"):
            Files.at(tmp_path / place, format="parquet")


def test_plain_files_beside_a_table_are_no_part_of_it(lake, tmp_path):
    _, table = lake
    (tmp_path / "table").symlink_to(table)
    parquet.write_table(OLD, tmp_path / "plain.parquet")
    (tmp_path / "metadata").mkdir()
    (tmp_path / "metadata" / "plain.metadata.json").write_text("{}")
    assert Files.at(tmp_path / "*.parquet").row_count == 3
    assert Files.at(tmp_path / "plain.parquet").row_count == 3


def test_a_base_of_an_earlier_version_on_such_a_table_is_not_read_any_more(tmp_path):
    parquet.write_table(OLD, tmp_path / "plain.parquet")
    files = Files.at(tmp_path)
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(BaseFilesError, match="is a table of Delta"):
        files.check()
