"""A look without Spark gives exactly the answers of Spark: random lineages, stored fragments, and every precaution."""

import math
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import provenn
from provenn.archive import Catalog
from provenn.archive.kept_tallies import plan_columns
from provenn.errors import BaseFilesError, FilesChangedError, KeyValuesError, ProvennError, TargetError
from provenn.look.allowance import Allowance
from provenn.look.refusal import NeedsSpark
from provenn.look.row_order import ColumnOrder
from provenn.targets import look_sizes, looking, running
from provenn.targets.looking import check_steps
from tests.look.criteria import make_criterion, make_table

LINEAGES = 14
"""How many catalogs a random archive has beside its base catalogs."""


@pytest.fixture(autouse=True, scope="module")
def chosen_engine():
    """Let calls choose the engine: elsewhere, tests ask Spark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROVENN_ENGINE", raising=False)
        yield


@pytest.fixture
def refusals(monkeypatch) -> list[str]:
    """The reasons why Spark read, as they arise."""
    reasons: list[str] = []
    monkeypatch.setattr(running._LOG, "debug", lambda _text, _what, reason: reasons.append(reason))
    return reasons


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey") as opened:
        yield opened


def write(path: Path, table: dict | pa.Table, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table if isinstance(table, pa.Table) else pa.table(table), path, **options)
    return path


def comparable(table: pa.Table, key: str) -> list[str]:
    """The rows as texts, in the order of the key; -0.0 differs from 0.0, and NaN equals NaN."""
    return sorted(map(repr, table.to_pylist()), key=lambda text: (text.partition(f"'{key}': ")[2], text))


def make_lineage(random: Random, bases: list[Catalog]) -> list[Catalog]:
    """Define catalogs on base catalogs, and store some of them."""
    catalogs = list(bases)
    while len(catalogs) < LINEAGES + len(bases):
        parent, other = random.choices(catalogs, k=2)
        try:
            match random.randrange(8):
                case 0 | 1 | 2:
                    made = parent.select(make_criterion(random, 2))
                case 3:
                    made = parent.restrict(other)
                case 4:
                    made = parent.exclude(other)
                case 5:
                    made = parent.concat(other, order="first")
                case 6:
                    made = parent.combine(other.keep("k", *random.sample(sorted(set(other.schema.names) - {"k"}), 3)))
                case _:
                    names = sorted(set(parent.schema.names) - {"k"})
                    made = parent.keep("k", *random.sample(names, len(names) * 3 // 4))
                    name = random.choice([text for text in made.schema.names if text != "k"])
                    made = made.rename(**{name: f"{name}_{random.randrange(10)}"})
        except ProvennError:
            continue
        catalogs.append(made)
    for catalog in random.sample(catalogs, 2):
        catalog.store()
    return catalogs


@settings(max_examples=15, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_a_look_has_the_answers_of_spark(seed, tmp_path_factory):
    random = Random(seed)
    folder = tmp_path_factory.mktemp("world")
    table = make_table(random)
    write(folder / "one" / "a.parquet", table.slice(0, 15), row_group_size=4)
    write(folder / "one" / "b.parquet", table.slice(15, 10))
    write(folder / "two.parquet", make_table(random, 30).select([*table.column_names[:9], "text", "day"]))
    looks = 0
    with provenn.open(folder / "survey") as archive:
        bases = [
            archive.ingest("one", folder / "one", key="k", population="row"),
            archive.ingest("two", folder / "two.parquet", key="k", population="row"),
        ]
        for catalog in make_lineage(random, bases):
            key = catalog.schema.key[0].name
            try:
                check_steps(catalog.plan())
            except NeedsSpark:
                continue
            looks += 1
            quick, slow = catalog.to_arrow(), catalog.to_arrow(engine="spark")
            assert quick.schema.names == slow.schema.names
            assert quick.schema.types == slow.schema.types
            assert comparable(quick, key) == comparable(slow, key)
            first = catalog.head(5)
            assert len(first) == min(5, len(slow))
            assert set(first[key]) <= set(slow.column(key).to_pylist())
    assert looks > LINEAGES / 2


# --- precautions, none of which starts Spark: a look that gives up says why ---


@pytest.fixture
def no_spark(monkeypatch):
    """Fail where Spark would be used."""

    def refuse(_place):
        raise RuntimeError("Spark is asked")

    monkeypatch.setattr("provenn.archive.spark_place.SparkPlace.pipeline", refuse)


def six_stars(folder: Path, **columns) -> Path:
    return write(
        folder / "stars.parquet", {"hip": [1, 2, 3, 4, 5, 6], "x": [1.0, 2.0, math.nan, -0.0, None, 9.0]} | columns
    )


@pytest.mark.usefixtures("no_spark")
def test_small_answers_need_no_spark(archive, tmp_path):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    large = stars.select("x > 1.5")
    assert large.count() == 3, "NaN is the largest number"
    assert sorted(large.to_pandas()["hip"]) == [2, 3, 6]
    assert sorted(stars.exclude(large).head()["hip"]) == [1, 4, 5]
    assert archive.target("stars", ["x"], where="x = 0").to_arrow().to_pydict() == {"hip": [4], "x": [-0.0]}
    assert len(stars.head(2)) == 2
    assert len(stars.head(0)) == 0


@pytest.mark.usefixtures("no_spark")
def test_tables_from_memory_are_read_without_spark(archive):
    given = archive.ingest(
        "given", pa.table({"k": ["a", "b"], "n": pa.array([1, None], pa.int16())}), key="k", population="row"
    )
    assert given.select("n IS NULL").to_arrow().to_pydict() == {"k": ["b"], "n": [None]}


@pytest.mark.usefixtures("no_spark")
def test_the_key_is_verified_first_and_the_verification_recorded(archive, tmp_path):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    stars.head(1)
    assert archive["stars"].count() == 6
    repeated = write(tmp_path / "twice.parquet", {"hip": [1, 2, 1]})
    with pytest.raises((KeyValuesError, RuntimeError)):
        archive.ingest("twice", repeated, key="hip", population="star").head(1)
    missing = write(tmp_path / "missing.parquet", {"hip": [1, None]})
    with pytest.raises((KeyValuesError, RuntimeError)):
        archive.ingest("missing", missing, key="hip", population="star").head(1)


@pytest.mark.usefixtures("no_spark")
def test_changed_files_are_noticed_before_and_after(archive, tmp_path, monkeypatch):
    path = six_stars(tmp_path)
    stars = archive.ingest("stars", path, key="hip", population="star")
    stars.head(1)
    read = running.Recorder.measure_reading

    def change(run):
        six_stars(tmp_path, y=[1] * 6)
        return read(run)

    monkeypatch.setattr(running.Recorder, "measure_reading", change)
    with pytest.raises(FilesChangedError):
        stars.head(1)
    with pytest.raises(FilesChangedError):
        stars.select("x > 1").count()


@pytest.mark.usefixtures("no_spark")
def test_files_that_change_during_a_look_give_no_answer(archive, tmp_path, monkeypatch):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    stars.head(1)
    read = looking._Look.read_result

    def change(look):
        yield from read(look)
        six_stars(tmp_path, y=[1] * 6)

    monkeypatch.setattr(looking._Look, "read_result", change)
    with pytest.raises(FilesChangedError):
        stars.to_arrow()


@pytest.mark.usefixtures("no_spark")
def test_files_outside_the_permitted_folders_are_refused(tmp_path):
    path = six_stars(tmp_path)
    with provenn.open(tmp_path / "survey") as archive:
        archive.ingest("stars", path, key="hip", population="star")
        confined = archive.as_seen_by(archive.who, confined=False, roots=[str(tmp_path / "elsewhere")])
        with pytest.raises(BaseFilesError):
            confined["stars"].head()


@pytest.mark.parametrize(
    ("column", "reason"),
    [
        (pa.array([0] * 6, pa.timestamp("ns")), "timestamp[ns]"),
        (pa.array([0] * 6, pa.uint64()), "uint64"),
        (pa.array([[[1]]] * 6), "array<array<bigint>>"),
        (pa.array([["a"]] * 6), "array<string>"),
        (pa.array([[1]] * 6, pa.list_(pa.uint32())), "uint32"),
        (pa.array([[1]] * 6, pa.large_list(pa.int64())), "large_list"),
        (pa.array([b"1"] * 6), "binary"),
        (pa.array([1] * 6, pa.duration("us")), "duration[us]"),
    ],
    ids=["nanoseconds", "unsigned", "nested", "texts", "unsigned elements", "large", "binary", "duration"],
)
@pytest.mark.usefixtures("no_spark")
def test_other_columns_are_left_to_spark(archive, tmp_path, refusals, column, reason):
    stars = archive.ingest("stars", six_stars(tmp_path, y=column), key="hip", population="star")
    with pytest.raises(RuntimeError, match="Spark is asked"):
        stars.head()
    assert reason in refusals[-1]
    assert len(stars.keep("x").head()) == 6


def test_arrays_are_read_as_spark_reads_them(engine, tmp_path, refusals):
    """Arrays of numbers and of structs: NULL arrays and elements, NaN, empty arrays; from files and from fragments."""
    point = pa.struct([("mjd", pa.float64()), ("band", pa.string()), ("mag", pa.float32())])
    points = [{"mjd": 1.5, "band": "g", "mag": math.nan}, None, {"mjd": None, "band": None, "mag": 2.0}]
    columns = {
        "id": pa.array(range(5), pa.int64()),
        "group": pa.array([0, 0, 1, 1, 1], pa.int64()),
        "mags": pa.array([[1.0, math.nan, None, -0.0], [], None, [math.inf], [5.0] * 3]),
        "counts": pa.array([[1, None], [2**62], [], None, [0]], pa.list_(pa.int64())),
        "points": pa.array([points, [], None, points * 2, points[:1]], pa.list_(point)),
        "needed": pa.array([[1]] * 5, pa.list_(pa.field("element", pa.int32(), nullable=False))),
    }
    with provenn.open(tmp_path / "arrays", progress=False, spark=engine.session) as archive:
        base = archive.ingest("base", write(tmp_path / "arrays.parquet", columns), key="id", population="source")
        chosen = base.select("id > 0", name="chosen")
        groups = base.group("group", curve="collect(id ORDER BY id)", name="groups")
        groups.store()
        for catalog in (base, chosen, chosen.exclude(base.select("id = 4")), groups):
            looked = catalog.to_arrow(engine="look")
            asked = catalog.to_arrow(engine="spark")
            assert comparable(looked, catalog.attributes[0]) == comparable(asked, catalog.attributes[0])
            assert [field.type for field in looked.schema] == [field.type for field in asked.schema]
        assert refusals == []
        replan = plan_columns(archive.context, base.definition, "base", ("id", "mags"))
        ordered = archive.context.workshop.collect_sorted_rows(replan, "never", [ColumnOrder("mags")], 4)
    assert ordered.column("id").to_pylist() == [2, 1, 0, 4], "Spark sorts arrays: NULL, empty, then by elements"
    assert refusals == ["values of mags are not sorted here: their type is array<double>"]


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda stars: stars.derive(y="ln(x)"), "more than arithmetic"),
        (lambda stars: stars.sample(0.5, seed=1), "sample"),
        (lambda stars: stars.select("ln(x) > 1"), "comparison"),
        (lambda stars: stars.select("x > hip"), "comparison"),
    ],
)
@pytest.mark.usefixtures("no_spark")
def test_other_plans_are_left_to_spark_and_say_why(archive, tmp_path, refusals, make, reason):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    assert stars.plan().engine.startswith("read without Spark")
    made = make(stars)
    with pytest.raises(RuntimeError, match="Spark is asked"):
        made.head()
    assert reason in refusals[-1]
    assert reason in made.plan().engine


@pytest.mark.usefixtures("no_spark")
def test_large_data_are_left_to_spark(archive, tmp_path, refusals, monkeypatch):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    stars.head(1)
    monkeypatch.setattr(look_sizes, "LARGEST", 50)
    with pytest.raises(RuntimeError, match="Spark is asked"):
        stars.to_arrow()
    assert "a look at most" in refusals[-1]
    monkeypatch.undo()
    monkeypatch.setattr(looking, "Allowance", lambda *_: Allowance(left=10))
    monkeypatch.setattr("provenn.archive.spark_place.SparkPlace.pipeline", lambda _place: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        stars.to_arrow()


@pytest.mark.usefixtures("no_spark")
def test_a_caller_can_force_spark(archive, tmp_path, monkeypatch):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    with pytest.raises(RuntimeError, match="Spark is asked"):
        stars.head(engine="spark")
    with pytest.raises(TargetError, match="there is no engine 'sprak'"):
        stars.head(engine="sprak")
    monkeypatch.setenv("PROVENN_ENGINE", "spark")
    with pytest.raises(RuntimeError, match="Spark is asked"):
        stars.head()


def test_commands_look_without_importing_spark_or_pandas(archive, tmp_path):
    stars = archive.ingest("stars", six_stars(tmp_path), key="hip", population="star")
    stars.select("x > 1.5", name="large")
    for arguments in (["head", "large"], ["count", "large"], ["head", "large", "--json"]):
        code = "import sys; from provenn.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
        command = [sys.executable, "-c", code, *arguments, "--archive", str(tmp_path / "survey")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout
        packages = {name.partition(".")[0] for name in done.stderr.split()}
        assert "pyarrow" in packages or arguments[0] == "count"
        assert not packages & {"pyspark", "py4j", "pandas", "astropy", "sqlglot"}
