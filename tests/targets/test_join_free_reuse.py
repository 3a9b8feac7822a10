"""Stored values are read without a join where they can be: a fragment keeps the attributes by which it was selected."""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.spark.pipeline import Pipeline
from provenn.targets.steps import Combine, Restrict, Scan, walk_steps
from provenn.words.described_plan import DescribedPlan
from tests.targets import calls

SOURCES = 60


@pytest.fixture
def archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    """Stars with a calculator that writes down for which sources it is called."""
    ids = range(SOURCES)
    columns = {"id": ids, "x": [n / 2 for n in ids], "mag": [None if n % 9 == 4 else n / 10 for n in ids]}
    columns["plx"] = [(7 * n) % SOURCES / 1 for n in ids]
    parquet.write_table(pa.table({name: list(values) for name, values in columns.items()}), tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", progress=False, who="ada") as opened:
        shop = opened.context.workshop
        shop._pipeline = Pipeline(opened.context.database, shop.folder, engine)
        opened.ingest("stars", tmp_path / "stars.parquet", key="id", population="star")
        parameters = {"value": "z", "error": "ez", "log": str(tmp_path / "log"), "factor": 2.0}
        (tmp_path / "log").mkdir()
        outputs = {"z": "double", "ez": "double"}
        opened.calculator("fitted", calls.fitted, inputs=["id", "x"], outputs=outputs, parameters=parameters)
        opened["stars"].select("mag < 4", name="bright")
        yield opened
        shop._pipeline = None


def joins(plan: DescribedPlan) -> list[str]:
    """The joins and base tables of a plan."""
    return [step.word for step in walk_steps(plan.after) if isinstance(step, Combine | Restrict | Scan)]


def values(table: pa.Table) -> dict[int, float]:
    return dict(zip(table.column("id").to_pylist(), table.column("z").to_pylist(), strict=True))


def test_a_fragment_keeps_the_attributes_by_which_it_was_selected(archive, tmp_path):
    archive.target("bright", ["z"], where="plx > 5").to_arrow()
    (stored,) = archive.fragments()
    assert set(stored.attributes) == {"id", "z", "ez", "mag", "plx"}
    called = calls.called(tmp_path / "log").total()
    narrower = archive.target("bright", ["z"], where="plx > 20 AND mag < 3")
    assert not joins(narrower.plan()), "the fragment alone tells these sources"
    z = values(narrower.to_arrow())
    assert z == {n: float(n) for n in range(30) if n % 9 != 4 and (7 * n) % SOURCES > 20}
    assert calls.called(tmp_path / "log").total() == called, "nothing is calculated again"


def test_a_criterion_on_another_attribute_needs_a_join_and_no_call(archive, tmp_path):
    archive.target("bright", ["z"]).to_arrow()
    called = calls.called(tmp_path / "log").total()
    target = archive.target("bright", ["z"], where="plx > 20")
    assert sorted(joins(target.plan())) == ["restrict", "scan"]
    z = values(target.to_arrow())
    assert z == {n: float(n) for n in range(40) if n % 9 != 4 and (7 * n) % SOURCES > 20}
    assert calls.called(tmp_path / "log").total() == called


def test_fragments_that_hold_all_together_need_no_join(archive, tmp_path):
    """Of two users, the second asks for some of what the first got, and for more; a third asks for the same again."""
    wanted = ["mag", "plx", "z"]
    archive.target("bright", wanted).to_arrow()
    more = archive["stars"].select("mag >= 2 AND mag < 5", name="more")
    archive.target(more, wanted).to_arrow()
    again = archive.target(more, wanted)
    assert len(again.plan().fragments) == 2
    assert not joins(again.plan())
    assert values(again.to_arrow()) == {n: float(n) for n in range(20, 50) if n % 9 != 4}
    assert max(calls.called(tmp_path / "log").values()) == 1, "no source is calculated twice"


def test_what_was_stored_is_read_without_another_job_of_spark(archive, monkeypatch):
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)
    monkeypatch.setattr(Pipeline, "collect_data", lambda *_: pytest.fail("Spark reads what it has just stored"))
    assert values(archive.target("bright", ["z"]).to_arrow()) == {n: float(n) for n in range(40) if n % 9 != 4}
    (run,) = archive.runs()
    assert run.rows == 36
    (stored,) = archive.fragments()
    assert stored.fragment.rows == 36
