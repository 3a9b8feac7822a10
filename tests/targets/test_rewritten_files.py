"""Compactions whose former files are gone: nothing is computed again where the log says that rows stayed the same."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

import provenn
from provenn.archive import rewritten_files
from provenn.catalogs import Base, list_version_bases
from provenn.errors import FileError, FilesMissingError
from tests.files.lakehouse_tables import DeltaHistory, IcebergHistory
from tests.targets import calls


@pytest.fixture
def archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as opened:
        yield opened


class Fits:
    """A stored catalog whose calculator writes down for which sources it is called."""

    def __init__(self, archive: provenn.Archive, log: Path, stars: provenn.Catalog, column: str = "x") -> None:
        log.mkdir()
        self._archive, self._log, self._seen = archive, log, 0
        parameters = {"value": "z", "error": "ez", "log": str(log), "factor": 2.0}
        fit = archive.calculator(
            "fit", calls.fitted, inputs=["id", column], outputs={"z": "double", "ez": "double"}, parameters=parameters
        )
        stars.derive(fit, name="fits").store()

    def count_calls(self) -> int:
        """For how many sources the calculator was called since this was asked last."""
        now = calls.called(self._log).total()
        new, self._seen = now - self._seen, now
        return new

    def read(self) -> dict[int, float]:
        """The results by key."""
        table = self._archive["fits"].to_arrow()
        return dict(zip(table["id"].to_pylist(), table["z"].to_pylist(), strict=True))


def make_table(ids: range) -> pa.Table:
    return pa.table({"id": list(ids), "x": [key / 4 for key in ids]})


def make_results(ids: range) -> dict[int, float]:
    return {key: key / 2 for key in ids}


def remove_former_files(history: DeltaHistory | IcebergHistory) -> None:
    """Delete the files that are not in the newest version, as a vacuum does."""
    if isinstance(history, DeltaHistory):
        vacuum(history.folder)
        return
    current = {Path(task.file.file_path.removeprefix("file://")) for task in history.table.scan().plan_files()}
    for path in history.folder.glob("data/**/*.parquet"):
        if path not in current:
            path.unlink()


def vacuum(folder: Path) -> None:
    DeltaTable(folder).vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)


@pytest.fixture
def grown(archive, tmp_path):
    """A table of two files in an archive, and results of a calculator stored for it."""
    folder = tmp_path / "stars"
    write_deltalake(folder, make_table(range(40)))
    stars = archive.ingest("stars", folder, key="id", population="star")
    fits = Fits(archive, tmp_path / "log", stars)
    write_deltalake(folder, make_table(range(40, 60)), mode="append")
    archive.refresh("stars")
    assert fits.count_calls() == 60
    return folder, fits


def test_nothing_is_computed_again_after_compactions_whose_former_files_were_vacuumed(archive, grown):
    folder, fits = grown
    archive["stars"].select("x > 1", name="large")
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    with pytest.raises(FilesMissingError):
        archive["large"].to_arrow()
    (plan,) = archive.refresh("stars", plan=True)
    assert plan.files == (
        "+ 1 file, - 2 files; by the log of the table, version 2 rewrote files without changing rows; "
        "the former files are gone, and the new files are read in their place"
    )
    assert sorted(map(str, plan.catalogs)) == [
        "fits: the same sources; nothing to calculate: all results are stored",
        "large: the same sources; nothing to calculate",
    ]
    archive.refresh("stars")
    relation = archive.relate("stars@2", "stars", why=True)
    assert relation.summary == "equal"
    assert "by its log, these are the rows of former files" in str(relation), relation
    assert archive.relate("large@1", "large").summary == "equal"
    assert archive.relate("stars@1", "stars").summary == "subset"
    assert fits.read() == make_results(range(60))
    assert archive["large"].count() == 55, "from the new files"
    assert fits.count_calls() == 0
    assert archive.refresh("stars")[0].files == "unchanged"
    # What is appended continues, and a further compaction leads back to the same rows.
    write_deltalake(folder, make_table(range(60, 70)), mode="append")
    archive.refresh("stars")
    assert fits.count_calls() == 10
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    archive.refresh("stars")
    (base,) = list_version_bases(archive["stars"].definition)
    assert len(base.rewrites) == 3, "the files of the beginning, not those of the first compaction"
    assert fits.read() == make_results(range(70))
    assert fits.count_calls() == 0
    earlier = [archive.relate(f"stars@{version}", "stars").summary for version in (1, 2, 3, 4)]
    assert earlier == ["subset", "subset", "subset", "equal"]
    assert all(problem.state == "remark" for problem in archive.check(deep=True).problems), "former files are gone"


def test_only_some_files_of_an_ingestion_are_written_anew_and_again_in_part(archive, tmp_path):
    folder = tmp_path / "stars"
    for start in range(0, 40, 10):
        rows = make_table(range(start, start + 10)).append_column("night", pa.array([start // 20] * 10))
        write_deltalake(folder, rows, mode="append", partition_by=["night"])
    stars = archive.ingest("stars", folder, key="id", population="star")
    fits = Fits(archive, tmp_path / "log", stars)
    assert fits.count_calls() == 40
    for start, night in ((40, 0), (50, 1), (60, 0)):
        rows = make_table(range(start, start + 10)).append_column("night", pa.array([night] * 10))
        write_deltalake(folder, rows, mode="append", partition_by=["night"])
        archive.refresh("stars")
        assert fits.count_calls() == 10
        DeltaTable(folder).optimize.compact(partition_filters=[("night", "=", str(night))])
        vacuum(folder)
        (done,) = archive.refresh("stars")
        assert "read in their place" in done.files
        assert fits.read() == make_results(range(start + 10))
        assert archive["stars"].count() == start + 10
        assert fits.count_calls() == 0
    assert archive.relate("stars@1", "stars").summary == "subset"


def test_files_written_together_with_files_that_were_never_read_are_computed_again(archive, grown):
    folder, fits = grown
    write_deltalake(folder, make_table(range(60, 70)), mode="append")
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    (plan,) = archive.refresh("stars", plan=True)
    assert plan.files.endswith(
        "values of new files are computed again: version 3 rewrote files together with others, "
        "whose rows this archive has not read"
    )
    archive.refresh("stars")
    assert fits.read() == make_results(range(70))
    assert fits.count_calls() == 70


def test_a_log_that_was_cut_off_proves_nothing_and_the_plan_says_so(archive, grown):
    folder, fits = grown
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    table = DeltaTable(folder)
    table.create_checkpoint()
    for version in range(3):
        (folder / "_delta_log" / f"{version:020}.json").unlink()
    (plan,) = archive.refresh("stars", plan=True)
    assert plan.files.endswith(
        "values of new files are computed again: the log of the table no longer keeps all versions since these files "
        "were read"
    )
    archive.refresh("stars")
    assert archive.relate("stars@2", "stars").summary == "unknown"
    assert fits.read() == make_results(range(60))
    assert fits.count_calls() == 60


def test_a_log_that_calls_changed_rows_the_same_is_found_out_by_their_number(archive, grown):
    folder, fits = grown
    DeltaTable(folder).delete("id >= 50")
    commit = folder / "_delta_log" / f"{DeltaTable(folder).version():020}.json"
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in actions:
        for word in {"add", "remove"} & action.keys():
            action[word]["dataChange"] = False
    commit.write_text("\n".join(map(json.dumps, actions)))
    vacuum(folder)
    (done,) = archive.refresh("stars")
    assert "the log is wrong: 10 rows are said to be the same as 20 rows" in done.files
    assert fits.read() == make_results(range(50))
    assert archive.relate("stars@2", "stars").summary != "equal"


def test_former_files_that_were_changed_are_not_taken_for_the_new_ones(archive, grown):
    folder, fits = grown
    DeltaTable(folder).optimize.compact()
    current = {file.removeprefix("file://") for file in DeltaTable(folder).file_uris()}
    for path in folder.glob("*.parquet"):
        if str(path) not in current:
            path.write_bytes(path.read_bytes()[:-8] + b"12345678")
    (done,) = archive.refresh("stars")
    assert done.files.endswith("former files changed after they were ingested")
    assert archive.relate("stars@2", "stars").summary == "unknown"
    assert fits.count_calls() == 60


def test_files_with_different_definitions_in_one_are_computed_again(archive, grown):
    folder, fits = grown
    write_deltalake(folder, make_table(range(55, 56)), mode="append")
    DeltaTable(folder).delete("id = 55")  # a file with the other rows of the second one, and keys that were there
    write_deltalake(folder, make_table(range(55, 56)), mode="append")
    archive.refresh("stars")
    assert fits.count_calls() == 20
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    (done,) = archive.refresh("stars")
    assert done.files.endswith("files with different definitions of their attributes were written into one")
    assert archive.relate("stars@3", "stars").summary == "equal", "the sources are the same in any case"
    assert fits.count_calls() == 60
    assert fits.read() == make_results(range(60))


def test_too_many_files_named_one_by_one_are_computed_again(archive, tmp_path, monkeypatch):
    monkeypatch.setattr(rewritten_files, "_MOST_LABELS", 1)
    folder = tmp_path / "stars"
    for start in (0, 5, 10):
        rows = make_table(range(start, start + 5)).append_column("night", pa.array([start // 10] * 5))
        write_deltalake(folder, rows, mode="append", partition_by=["night"])
    archive.ingest("stars", folder, key="id", population="star")
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    (done,) = archive.refresh("stars")
    assert done.files.endswith("too many files of one ingestion were written anew without the others")
    assert archive["stars"].count() == 15


def test_an_archive_does_not_believe_an_import_that_files_hold_the_rows_of_its_own(archive, grown, tmp_path):
    folder, _ = grown
    archive.export_definitions(tmp_path / "before.jsonl")
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    archive.refresh("stars")
    archive.export_definitions(tmp_path / "after.jsonl")
    with provenn.open(tmp_path / "new", progress=False, who="eve") as fresh:
        fresh.import_definitions(tmp_path / "after.jsonl")
        assert isinstance(fresh["stars"].definition, Base)
        assert fresh["stars"].definition.rewrites
        fresh.import_definitions(tmp_path / "after.jsonl", prefix="again ")
    with provenn.open(tmp_path / "known", progress=False, who="eve") as known:
        known.import_definitions(tmp_path / "before.jsonl")
        with pytest.raises(FileError, match="hold the rows of files that are known here"):
            known.import_definitions(tmp_path / "after.jsonl", prefix="new ")


def test_a_changed_definition_of_former_rows_is_refused(archive, grown):
    folder, _ = grown
    DeltaTable(folder).optimize.compact()
    vacuum(folder)
    archive.refresh("stars")
    base = archive["stars"].definition
    for junk in ([["stars", [], []]], [[base.continues, ["x < 3"], []]], [[base.continues, [], [[]]]]):
        changed = Base.restored({**base.parameters(), "rewrites": junk}, base.notes(), ())
        with pytest.raises(provenn.errors.ProvennError, match="not rows of files"):
            changed.check_consistency()


@pytest.mark.parametrize(
    ("kind", "seed", "steps"),
    [
        pytest.param(DeltaHistory, 3, "append compact vacuum delete order vacuum", id="Delta"),
        pytest.param(IcebergHistory, 4, "append compact vacuum upsert compact vacuum", id="Iceberg"),
        pytest.param(
            DeltaHistory,
            3,
            "append compact vacuum append delete compact vacuum order vacuum append compact vacuum",
            id="Delta, longer",
            marks=pytest.mark.campaign,
        ),
        pytest.param(
            IcebergHistory,
            4,
            "append compact vacuum append compact vacuum upsert append compact vacuum",
            id="Iceberg, longer",
            marks=pytest.mark.campaign,
        ),
    ],
)
def test_a_history_with_vacuums(archive, tmp_path, kind, seed, steps):
    follow_history(archive, tmp_path, kind(tmp_path / "lake", seed, partitioned=True), steps.split())


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("kind", [DeltaHistory, IcebergHistory], ids=["Delta", "Iceberg"])
def test_random_histories_with_vacuums(archive, tmp_path, kind, seed):
    chance = random.Random(seed)
    choices = ["append", "append", "append", "delete", "compact", "compact", "vacuum", "vacuum", "vacuum"]
    choices += ["merge", "order", "order"] if kind is DeltaHistory else ["upsert"]
    history = kind(tmp_path / "lake", seed, partitioned=seed % 3 > 0)
    follow_history(archive, tmp_path, history, [chance.choice(choices) for _ in range(10)])


def follow_history(
    archive: provenn.Archive, folder: Path, history: DeltaHistory | IcebergHistory, steps: list[str]
) -> None:
    """Refresh after each step: results are those of the rows that the library reads; none is computed twice.

    Where rows did not change, nothing is calculated, or the refresh says why.
    """
    stars = archive.ingest("stars", history.folder, key="id", population="star")
    fits = Fits(archive, folder / "log", stars, column="mag")
    fits.count_calls()
    refreshed = 0
    for step in steps:
        if step == "vacuum":
            remove_former_files(history)
        else:
            history.step((step,))
        rows = history.read().to_pylist()
        if not rows:
            return
        (done,) = archive.refresh("stars")
        new = fits.count_calls()
        if step in ("compact", "order", "vacuum"):
            assert not new or "computed again" in done.files, (step, done, new)
            refreshed += not new
            assert archive.relate(f"stars@{len(archive.log('stars'))}", "stars").summary == "equal"
        expected = {row["id"]: None if row["mag"] is None else 2 * row["mag"] for row in rows}
        results = {key: None if value != value else value for key, value in fits.read().items()}  # noqa: PLR0124 - NaN
        assert results == expected, (step, done)
        assert not fits.count_calls(), "all results are stored after a refresh"
    assert refreshed
    if isinstance(history, IcebergHistory):
        history.close()
