"""Files that cannot matter are not read: a file with a selected row always is, whoever wrote it, whatever it states."""

import math
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import provenn
from provenn.catalogs import Base, Files, verbs
from provenn.errors import CriterionError, FilesChangedError
from provenn.knowledge import file_relevance
from provenn.targets.rules.irrelevant_files import irrelevant_files
from provenn.targets.steps import Nothing, PlanStep, Scan, walk_steps
from tests.catalogs.samples import derived
from tests.criteria.oracle import constants, criteria
from tests.files.lakehouse_tables import DeltaHistory, IcebergHistory
from tests.knowledge.test_file_facts import STORED, draw_values, southern
from tests.targets.samples import tried
from tests.targets.scenes import planned, scene_of

__all__ = ["southern"]


def write(path: Path, columns: dict, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path, **options)
    return path


def read_names(plan: PlanStep) -> list[set[str]]:
    """The names of the files that each scan of a plan reads."""
    return [
        {name for name, text in scan.base.files.fingerprints if scan.chosen is None or text in scan.chosen}
        for scan in walk_steps(plan)
        if isinstance(scan, Scan)
    ]


def choose(base: Base, criterion: str) -> set[str]:
    """The names of the files that the plan of a selection reads."""
    plan, _ = planned(verbs.select(base, criterion))
    return set().union(*read_names(plan))


@st.composite
def drawn_folders(draw, place: Path):
    """A base of several files, criteria on it, and the rows of each file: some files have no statistics, or few."""
    kinds = draw(st.lists(st.sampled_from(list(STORED)), min_size=1, max_size=2))
    columns = dict(zip("xy", kinds, strict=False))
    trees = draw(st.lists(criteria(*columns.items(), between_columns=True, max_leaves=3), min_size=1, max_size=3))
    near = [pair for tree in trees for pair in constants(tree)]
    stored = {name: draw(st.sampled_from(STORED[kind])) for name, kind in columns.items()}
    plain = {name: pa.string() if pa.types.is_dictionary(kind) else kind for name, kind in stored.items()}
    rows: dict[str, list[dict]] = {}
    for file in range(draw(st.integers(2, 7))):
        size = draw(st.sampled_from([5, 4, 3, 2, 1, 0]))
        values = {name: draw_values(draw, kind, near, name, size) for name, kind in columns.items()}
        arrays = {name: pa.array(values[name], plain[name]).cast(kind) for name, kind in stored.items()}
        write(
            place / f"{file}.parquet",
            {"id": pa.array(range(10 * file, 10 * file + size), pa.int64()), **arrays},
            row_group_size=draw(st.integers(1, 3)),
            write_statistics=draw(st.sampled_from([True, True, True, False, ["x"]])),
        )
        rows[f"{file}.parquet"] = [{name: values[name][row] for name in columns} for row in range(size)]
    return Base.of(Files.at(place), key="id", population="star"), trees, rows


def test_every_file_with_a_selected_row_is_read(tmp_path_factory):
    """Random files and criteria: NULL, NaN, zeros of both signs, infinities, all types, files without statistics."""
    folder = tmp_path_factory.mktemp("chosen")
    seen: Counter[str] = Counter()

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def examine_folders(data) -> None:
        base, trees, rows = data.draw(drawn_folders(Path(mkdtemp(dir=folder))))
        for tree in trees:
            with suppress(CriterionError):
                read = choose(base, tree.sql())
                matching = {name for name, own in rows.items() if any(tree.truth(row) is True for row in own)}
                assert matching <= read, f"{tree.sql()} selects rows of {matching - read}"
                seen["files"] += len(rows)
                seen["left out"] += len(rows) - len(read)
                seen["some"] += 0 < len(read) < len(rows)

    examine_folders()
    assert seen["some"] > 20, "some plans must read some of the files"
    assert seen["left out"] > 100


# --- which files ---


@pytest.fixture
def days(tmp_path) -> Base:
    """A year of files: keys and moments rise, fluxes do not; a flux of each tenth day is NaN."""
    for day in range(365):
        flux = [0.5, math.nan if day % 10 == 0 else 9.5]
        write(
            tmp_path / "days" / f"{day:03}.parquet",
            {"id": [2 * day, 2 * day + 1], "mjd": [60_000.0 + day, 60_000.5 + day], "flux": flux},
        )
    return Base.of(Files.at(tmp_path / "days"), key="id", population="detection")


def test_a_selection_of_days_reads_the_files_of_these_days(days):
    plan, rules = planned(verbs.select(days, "mjd >= 60010 AND mjd < 60013"))
    assert read_names(plan) == [{"010.parquet", "011.parquet", "012.parquet"}]
    assert [rule.because for rule in rules if rule.rule == "irrelevant_files"] == [
        "by what they say of themselves, the 362 other files have no such sources"
    ]
    assert choose(days, "id = 17 OR id = 400") == {"008.parquet", "200.parquet"}
    assert len(choose(days, "id >= 600")) == 65
    assert len(choose(days, "flux > 3")) == 365, "an upper bound says nothing of NaN"
    assert len(choose(days, "flux > 10 AND mjd < 60002")) == 2, "of which one has a NaN"
    assert len(choose(derived(days, e="id + 1"), "e = 100")) == 1
    inner = verbs.select(days, "mjd < 60100")
    assert len(choose(derived(inner, e="id + 1"), "e > 190")) == 5


def test_few_questions_find_the_files(days, monkeypatch):
    asked = []
    refute = file_relevance._refute_files
    monkeypatch.setattr(file_relevance, "_refute_files", lambda *given: asked.extend(given[2]) or refute(*given))
    assert len(choose(days, "mjd >= 60010 AND mjd < 60013")) == 3
    assert len(asked) < 60


def test_the_rule_leaves_alone_what_it_cannot_judge(tmp_path):
    place = tmp_path / "two"
    for number in (1, 2):
        write(place / f"{number}.parquet", {"id": [number], "x": [number]}, write_statistics=number == 1)
    base = Base.of(Files.at(place), key="id", population="star")
    assert choose(base, "x > 5") == {"2.parquet"}, "silence is no bound"
    selection = verbs.select(base, "x > 5")
    scene = scene_of(selection)
    step = planned(selection, scene)[0]
    assert tried(irrelevant_files, step, scene) is None, "once is enough"
    before = planned(selection, replace(scene, listed_files=scene_of(base).listed_files))[0]
    assert read_names(before) == [{"1.parquet", "2.parquet"}], "nothing is known of the files"
    assert tried(irrelevant_files, Scan(base), scene) is None


def test_a_plan_without_files_keeps_the_set_of_the_selection(tmp_path):
    """Each file refutes the condition, but the bounds of all files together do not: sets cannot prove it empty."""
    place = tmp_path / "two"
    for number in (1, 9):
        write(place / f"{number}.parquet", {"id": [number], "x": [number]})
    selection = verbs.select(Base.of(Files.at(place), key="id", population="star"), "x = 5")
    scene = scene_of(selection)
    plan, (rule,) = planned(selection, scene)
    assert isinstance(plan, Nothing)
    assert not scene.is_empty(rule.before.extent)
    assert scene.is_proved(scene.state_equal(rule.before.extent, rule.after.extent))


def test_only_the_content_of_files_is_believed(tmp_path):
    place = tmp_path / "two"
    for number in (1, 2):
        write(place / f"{number}.parquet", {"id": [number], "x": [number]})
    assert Files.at(place, trust="metadata").file_bounds == ()
    files = Files.at(place)
    changed = tuple((name, text.replace("[2,3", "[5,6")) for name, text in files.file_bounds)
    assert changed != files.file_bounds
    for file_bounds, read in ((files.file_bounds, 1), (changed, 2)):
        base = Base.of(replace(files, file_bounds=file_bounds), key="id", population="star")
        assert len(choose(base, "x < 2")) == read, "changed notes say nothing"


def test_folders_state_values_of_files_in_any_format(tmp_path):
    for day in range(10, 20):
        place = tmp_path / "text" / f"day=2026-11-{day}"
        place.mkdir(parents=True)
        (place / "a.csv").write_text(f"id,x\n{day},1\n")
    base = Base.of(Files.at(tmp_path / "text"), key="id", population="star")
    assert choose(base, "day > '2026-11-17'") == {f"day=2026-11-{day}/a.csv" for day in (18, 19)}


def test_regions_read_the_pixels_near_them(southern):
    base, table = southern
    ra, dec = (np.asarray(table[name])[0] for name in ("ra", "dec"))
    read = choose(base, f"in_cone(ra, dec, {ra}, {dec}, 0.01)")
    assert len(read) < len(base.files.fingerprints) == 4
    assert f"Npix={np.asarray(table['_healpix_29'])[0] >> 56}.parquet" in {Path(name).name for name in read}


def test_a_part_knows_what_its_files_state(days):
    """Of a version that lacks some files, the others still say what they said."""
    prints = dict(days.files.fingerprints)
    part = days.take({name: text for name, text in prints.items() if name >= "100"}, days.files.location)
    selection = verbs.select(part, "mjd >= 60010 AND mjd < 60103")
    scene = scene_of(selection)
    listed = replace(scene_of(days).listed_files, identities=scene.listed_files.identities)
    plan, _ = planned(selection, replace(scene, listed_files=listed))
    assert read_names(plan) == [{"100.parquet", "101.parquet", "102.parquet"}]


@pytest.mark.parametrize("seed", range(4))
def test_versions_of_lakehouse_tables_know_what_their_files_state(tmp_path, seed):
    """Every row of every version is in a file that is read for it; appended, deleted, merged, compacted."""
    histories = [
        DeltaHistory(tmp_path / "delta", seed, partitioned=seed % 2 == 1),
        IcebergHistory(tmp_path / "iceberg", seed, partitioned=seed % 2 == 1),
    ]
    left_out = 0
    for history in histories:
        for _ in range(4):
            history.step()
        files = Files.at(history.folder)
        base = Base.of(files, key="id", population="star")
        for row in history.read().to_pylist():
            criterion = " AND ".join(
                f"{name} IS NULL" if value is None else f"{name} = {value}" for name, value in sorted(row.items())
            )
            read = choose(base, criterion)
            left_out += len(files.fingerprints) - len(read)
            keys = [parquet.read_table(Path(files.location) / name, partitioning=None)["id"] for name in read]
            assert any(row["id"] in array.to_pylist() for array in keys), criterion
    assert left_out > 0


# --- with an archive and Spark ---


@pytest.fixture
def archive(tmp_path, engine):  # noqa: ARG001 - the Spark of all tests
    with provenn.open(tmp_path / "survey") as opened:
        yield opened


def write_nights(place: Path, days: range) -> None:
    random = np.random.default_rng(5)
    for day in days:
        write(
            place / f"day=2026-11-{day}" / "part.parquet",
            {"id": range(100 * day, 100 * day + 50), "x": random.normal(day, 1, 50), "n": random.integers(0, 9, 50)},
        )


def test_spark_is_given_the_files_that_matter_and_gives_the_rows_of_all(archive, tmp_path):
    write_nights(tmp_path / "nights", range(10, 30))
    nights = archive.ingest("nights", tmp_path / "nights", key="id", population="detection")
    cases = {
        "day = '2026-11-17'": 1,
        "id BETWEEN 1210 AND 1330": 2,
        "x < 14 AND n > 3 AND NOT isnan(x)": None,
        "day IN ('2026-11-12', '2026-11-28') AND x > 12": 2,
    }
    assert "1 of 20 files" in str(nights.keep("x").select("id = 1200").plan())
    everything = f"read_parquet('{tmp_path}/nights/*/*.parquet', hive_partitioning=true, hive_types_autocast=false)"
    for criterion, count in cases.items():
        selection = nights.select(criterion)
        frame = selection.to_spark()
        listed = len(frame.inputFiles())
        assert listed < 20
        assert count in (None, listed)
        assert [scan.file_count for scan in walk_steps(selection.plan().after) if isinstance(scan, Scan)] == [listed]
        expected = duckdb.sql(f"FROM {everything} SELECT id, x, n, day WHERE {criterion}").fetchall()
        assert sorted((row["id"], row["x"], row["n"], row["day"]) for row in frame.collect()) == sorted(expected)


def test_a_file_that_is_not_read_may_not_change_either(archive, tmp_path):
    write_nights(tmp_path / "nights", range(10, 14))
    selection = archive.ingest("nights", tmp_path / "nights", key="id", population="detection").select("id < 1050")
    assert len(selection.to_pandas()) == 50
    write_nights(tmp_path / "nights", range(13, 14))
    with pytest.raises(FilesChangedError, match="day=2026-11-13"):
        selection.to_pandas()


def test_files_that_were_appended_one_by_one_are_chosen_too(archive, tmp_path):
    for end in (12, 13, 14, 15):
        write_nights(tmp_path / "nights", range(end - 1, end))
        nights = archive.ingest("nights", tmp_path / "nights", key="id", population="detection")
    selection = nights.select("id >= 1300 AND id < 1310")
    frame = selection.to_spark()
    assert sorted(row["id"] for row in frame.collect()) == list(range(1300, 1310))
    assert len(frame.inputFiles()) == 1
