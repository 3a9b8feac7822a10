"""Versions of Delta and Iceberg tables, on Spark: the rows of the libraries' own readers, true facts, nothing twice."""

import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import provenn
from provenn.errors import BaseFilesError, CatalogNameError, KeyValuesError
from tests.files.lakehouse_tables import DeltaHistory, IcebergHistory, make_rows
from tests.targets import calls


@pytest.fixture
def archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as opened:
        yield opened


def count_rows(table: pa.Table, names: list[str]) -> Counter:
    """The rows of a table."""
    return Counter(tuple(row[name] for name in names) for row in table.to_pylist())


def check_rows(archive: provenn.Archive, name: str, expected: pa.Table) -> None:
    """Make sure that a catalog has the rows of a table, in the columns that it has."""
    table = archive[name].to_arrow()
    assert {"id", "mag", "night"} <= {*table.column_names} <= {*expected.column_names}
    assert count_rows(table, table.column_names) == count_rows(expected, table.column_names)


def check_relations(archive: provenn.Archive, keys: dict[str, set[int]]) -> None:
    """Make sure that what is proved of versions is true of their keys."""
    for old, new in combinations(keys, 2):
        match archive.relate(old, new).summary:
            case "equal":
                assert keys[old] == keys[new]
            case "subset":
                assert keys[old] <= keys[new]
            case "superset":
                assert keys[old] >= keys[new]
            case "disjoint":
                assert not keys[old] & keys[new]


@pytest.mark.parametrize(
    ("kind", "seed", "steps"),
    [
        (DeltaHistory, 1, "append merge compact append order delete append vacuum overwrite compact"),
        (DeltaHistory, 11, "order vacuum order order vacuum"),
        (DeltaHistory, 25, "merge append delete compact"),
        (IcebergHistory, 2, "append compact append delete upsert overwrite"),
    ],
    ids=["Delta", "Delta, the same bytes under another name", "Delta, parts of parts", "Iceberg"],
)
def test_a_history_of_all_operations(archive, tmp_path, kind, seed, steps):
    follow_history(archive, kind(tmp_path / "lake", seed, partitioned=True), steps.split())


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", [DeltaHistory, IcebergHistory], ids=["Delta", "Iceberg"])
def test_random_histories(archive, tmp_path, kind, seed):
    chance = random.Random(seed)
    choices = ["append", "append", "overwrite", "delete", "compact", "compact"]
    choices += ["merge", "order", "vacuum", "checkpoint"] if kind is DeltaHistory else ["upsert"]
    history = kind(tmp_path / "lake", seed, partitioned=seed % 2 == 1)
    follow_history(archive, history, [chance.choice(choices) for _ in range(8)])


def follow_history(archive: provenn.Archive, history: DeltaHistory | IcebergHistory, steps: list[str]) -> None:
    """Refresh after each step: a version has the rows that the library reads, and all that is proved is true."""
    archive.ingest("stars", history.folder, key="id", population="star").derive(double="2 * mag", name="twice")
    check_rows(archive, "stars", history.read())
    versions = {"stars@1": set(history.read()["id"].to_pylist())}
    was_empty = False
    for step in steps:
        before, name = archive["stars"].digest, f"stars@{len(versions)}"
        history.step((step,))
        if not history.read().num_rows:
            with pytest.raises(BaseFilesError, match="has no rows"):
                archive.refresh("stars")
            was_empty = True
            continue
        (done,) = archive.refresh("stars")
        check_rows(archive, "stars", history.read())
        if archive["stars"].digest == before:
            assert versions[name] == set(history.read()["id"].to_pylist()), done
            continue
        versions[f"stars@{len(versions) + 1}"] = set(history.read()["id"].to_pylist())
        if step == "append" and not was_empty:
            assert archive.relate(name, "stars").summary == "subset", done
        was_empty = False
        if step in ("compact", "order"):
            assert archive.relate(name, "stars").summary == "equal", done
    check_relations(archive, versions)
    if history.read().num_rows:
        assert archive["twice"].count() == history.read().num_rows
    if isinstance(history, IcebergHistory):
        history.close()


class Fits:
    """A calculator that writes down for which sources it is called."""

    def __init__(self, archive: provenn.Archive, folder: Path) -> None:
        folder.mkdir()
        self._log, self._seen = folder, 0
        parameters = {"value": "z", "error": "ez", "log": str(folder), "factor": 2.0}
        self.calculator = archive.calculator(
            "fit", calls.fitted, inputs=["id", "x"], outputs={"z": "double", "ez": "double"}, parameters=parameters
        )

    def count_calls(self) -> int:
        """For how many sources the calculator was called since this was asked last."""
        now = calls.called(self._log).total()
        new, self._seen = now - self._seen, now
        return new


def make_table(ids: range) -> pa.Table:
    return pa.table({"id": list(ids), "x": [key / 4 for key in ids]})


def test_a_compaction_computes_nothing_again_while_its_former_files_are_there(archive, tmp_path):
    folder = tmp_path / "stars"
    write_deltalake(folder, make_table(range(40)))
    fits = Fits(archive, tmp_path / "log")
    stars = archive.ingest("stars", folder, key="id", population="star")
    stars.derive(fits.calculator, name="fits").store()
    write_deltalake(folder, make_table(range(40, 60)), mode="append")
    archive.refresh("stars")
    assert fits.count_calls() == 60
    first = archive["stars"].digest
    DeltaTable(folder).optimize.compact()
    (done,) = archive.refresh("stars")
    assert done.files == "unchanged: by the log of the table, version 2 rewrote files without changing rows"
    assert archive["stars"].digest == first
    write_deltalake(folder, make_table(range(60, 70)), mode="append")
    archive.refresh("stars")
    table = archive["fits"].to_arrow()
    assert dict(zip(table["id"].to_pylist(), table["z"].to_pylist(), strict=True)) == {n: n / 2 for n in range(70)}
    assert fits.count_calls() == 10


def test_versions_of_one_table_under_several_names_are_related(archive, tmp_path):
    folder = tmp_path / "stars"
    write_deltalake(folder, make_table(range(3)))
    write_deltalake(folder, make_table(range(3, 5)), mode="append")
    old = archive.ingest("old", folder, key="id", population="star", version=0)
    grown = archive.ingest("old", folder, key="id", population="star")
    assert archive.relate(old, grown).summary == "subset"
    assert archive.ingest("first", folder, key="id", population="star", version=0) == old
    assert archive.at("old", version=1) == old
    assert [change.files for change in archive.log("old")] == ["+ 1 file", ""]
    write_deltalake(folder, make_table(range(9, 10)), mode="overwrite")
    grown.select("x > 0", name="positive")
    with pytest.raises(CatalogNameError, match="positive"):
        archive.ingest("old", folder, key="id", population="star")
    new = archive.ingest("old", folder, key="id", population="star", rebuild=True)
    assert new.to_arrow()["id"].to_pylist() == [9], "and not 0, 1, 2, 3, 4, 9"
    assert archive.relate(grown, new).summary == "disjoint", "by their footers"
    assert archive.ingest("back", folder, key="id", population="star", version=1).count() == 5
    with pytest.raises(BaseFilesError, match="has no version 7"):
        archive.ingest("old", folder, key="id", population="star", version=7)


def test_an_append_of_a_known_key_is_refused(archive, tmp_path):
    folder = tmp_path / "stars"
    write_deltalake(folder, make_table(range(3)))
    first = archive.ingest("stars", folder, key="id", population="star")
    write_deltalake(folder, make_table(range(2, 4)), mode="append")
    with pytest.raises(KeyValuesError, match="occur in other files"):
        archive.refresh("stars")
    assert archive["stars"] == first


def test_texts_dates_and_null_of_partition_columns_are_read_as_delta_reads_them(archive, tmp_path):
    names = ["007", "1e5", "50%", "a b", "x/y=z", "true", None]
    rows = make_rows(list(range(7))).append_column("name", pa.array(names))
    rows = rows.append_column("day", pa.array(range(7), pa.int32()).cast(pa.date32()))
    write_deltalake(tmp_path / "stars", rows, partition_by=["name", "day", "night"])
    archive.ingest("stars", tmp_path / "stars", key="id", population="star")
    expected = pa.table(DeltaTable(tmp_path / "stars").scan())
    table = archive["stars"].to_arrow()
    assert count_rows(table, expected.column_names) == count_rows(expected, expected.column_names)
    assert archive["stars"].select("name = '007'").count() == 1
