"""Answers from a real Spark: who is called for what, what is kept and used again, what goes wrong."""

import importlib
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.data import run_records
from provenn.data.run_records import Run
from provenn.errors import CalculationError
from tests.targets import calls
from tests.targets.sixty_stars import NUMBER, STARS, Calculated, N, archive, words, z
from tests.waiting import LIMIT

__all__ = ["archive", "z"]


def values(table: pa.Table, name: str) -> dict[int, float | None]:
    """What the sources have of an attribute."""
    found = dict(zip(table.column("id").to_pylist(), table.column(name).to_pylist(), strict=True))
    assert len(found) == table.num_rows, "each source once"
    return {key: str(value) for key, value in found.items()}


def right(keys) -> dict[int, str]:
    """What the sources should have of it; for pandas, NaN is no value."""
    return {key: str(None if key in (7, 8) else STARS["x"][key] * 2) for key in keys}


def physical(frame) -> str:
    """What Spark is going to do."""
    return frame._jdf.queryExecution().executedPlan().toString()


def latest_run(archive: provenn.Archive) -> Run:
    with archive.context.database.reading() as reading:
        return run_records.find_recent_runs(reading, 1)[0]


# --- who is called ---


def test_the_example_of_the_paper_calls_the_calculator_once_for_each_selected_source(archive, z):
    """B selects from A, C derives from A, D combines both: no join, no exchange, and no call for anybody else."""
    stars = archive["stars"]
    both = stars.select("mag < 2").combine(stars.derive(z.calculator))
    plan = physical(both.to_spark())
    assert "Exchange" not in plan
    assert "Join" not in plan
    assert z.calls() == [], "a DataFrame is not computed yet"
    found = both.to_arrow()
    assert values(found, z.name) == right(range(20))
    assert z.calls() == list(range(20))


def test_the_example_of_the_paper_where_neither_c_nor_d_was_ever_defined(archive, z):
    asked = archive.target(archive["stars"].select("mag < 2"), ["mag", z.name, "dec"])
    plan = physical(asked.to_spark())
    assert "Exchange" not in plan
    assert "Join" not in plan
    found = asked.to_arrow()
    assert found.column_names == ["id", "mag", z.name, "dec"]
    assert values(found, z.name) == right(range(20))
    assert values(found, "dec") == {key: str(float(key % 10)) for key in range(20)}
    assert z.calls() == list(range(20))


def test_a_criterion_on_the_result_calls_it_for_those_that_the_rest_leaves(archive, z):
    asked = archive.target("stars", ["mag"], where=f"mag < 2 AND {z.name} > 3 AND dec < 5")
    found = asked.to_arrow()
    assert sorted(found.column("id").to_pylist()) == [n for n in range(20) if n % 10 < 5 and n > 3]
    assert z.calls() == [n for n in range(20) if n % 10 < 5]


def test_calculators_that_are_chained_are_each_called_once(archive, z, tmp_path):
    once, again = f"{z.name}_once", f"{z.name}_again"
    archive.calculator(once, sql={once: f"{z.name} + 1"})
    options = {
        "inputs": ["id", "x"],
        "outputs": {again: "double"},
        "parameters": {"output": again, "log": str(tmp_path)},
    }
    archive.calculator(again, calls.doubled, **options)
    archive.calculator(f"{z.name}_sum", sql={f"{z.name}_sum": f"{z.name} + {once} + {again}"})
    found = archive.target("stars", [f"{z.name}_sum"], where="mag < 0.7").to_arrow()
    assert values(found, f"{z.name}_sum") == {key: str(3.0 * key + 1) for key in range(7)}
    assert z.calls() == list(range(7))
    assert sorted(calls.called(tmp_path).elements()) == list(range(7))


def test_an_overlapping_request_computes_the_remainder_only(z):
    assert values(z.ask("mag < 2").to_arrow(), z.name) == right(range(20))
    assert z.calls() == list(range(20))
    wider = z.ask("mag < 3")
    assert [calculation.extent for calculation in wider.plan().calculations] != []
    assert values(wider.to_arrow(), z.name) == right(range(30))
    assert z.calls() == list(range(20, 30))
    crossing = z.ask("mag >= 1.5 AND mag < 3.5", "dec")
    assert values(crossing.to_arrow(), z.name) == right(range(15, 35))
    assert z.calls() == list(range(30, 35))
    everything = z.ask()
    assert values(everything.to_arrow(), z.name) == right(range(N))
    assert z.calls() == list(range(35, N))
    assert values(everything.to_arrow(), z.name) == right(range(N))
    assert z.calls() == []


def test_a_remainder_that_only_keys_tell_is_computed_once(archive, z):
    """No row of the stars says whether Tycho has it."""
    common = archive["stars"].restrict("tycho")
    assert values(archive.target(common, [z.name]).to_arrow(), z.name) == right(range(40, N))
    assert z.calls() == list(range(40, N))
    assert values(z.ask().to_arrow(), z.name) == right(range(N))
    assert z.calls() == list(range(40))


def test_what_a_selection_on_the_result_leaves_out_is_kept_too(archive, z):
    found = archive.target("stars", [z.name], where=f"mag < 2 AND {z.name} > 10").to_arrow()
    assert sorted(found.column("id").to_pylist()) == list(range(11, 20))
    assert z.calls() == list(range(20))
    assert values(z.ask("mag < 2").to_arrow(), z.name) == right(range(20))
    assert z.calls() == [], "it was computed to see whether it is above 10, and is not computed again"


# --- reuse, explicitly: a change that silently stops it fails here ---


REPEATED = {
    "the same": lambda z: z.ask("mag < 2 AND dec < 5", "mag", "dec"),
    "reordered": lambda z: z.ask("dec < 5 AND mag < 2", "mag", "dec"),
    "written otherwise": lambda z: z.ask("NOT (mag >= 2) AND 5 > dec", "mag", "dec"),
    "narrower": lambda z: z.ask("mag < 1 AND dec < 5", "mag", "dec"),
    "narrower by another attribute": lambda z: z.ask("mag < 2 AND dec < 5 AND x > 1", "mag", "dec"),
    "narrower by what is not stored": lambda z: z.ask("mag < 2 AND dec < 5 AND id > 3", "mag", "dec"),
    "fewer attributes": lambda z: z.ask("mag < 2 AND dec < 5"),
    "other attributes": lambda z: z.ask("mag < 2 AND dec < 5", "x"),
    "another order": lambda z: z.archive.target("stars", ["dec", z.name], where="mag < 2 AND dec < 5"),
    "on the result": lambda z: z.ask(f"mag < 2 AND dec < 5 AND {z.name} > 4"),
    "derived from it": lambda z: z.archive.target(
        z.archive["stars"].select("mag < 2 AND dec < 5").derive(z.calculator).derive(w=f"{z.name} * 2"), ["w"]
    ),
    "another name": lambda z: z.archive.target(_twice_selected(z), [z.name, "mag"]),
    "as a catalog": lambda z: z.archive["stars"].derive(z.calculator).select("dec < 5 AND mag < 2"),
    "combined": lambda z: z.archive["stars"].derive(z.calculator).combine(_twice_selected(z)),
}


def _twice_selected(z: Calculated) -> provenn.Catalog:
    """The same sources, as another user selected and named them."""
    name = "somebody_elses"
    if name in z.archive:
        return z.archive[name]
    return z.archive["stars"].select("dec < 5").select("mag < 2", name=name)


@pytest.fixture(scope="module")
def asked_before(archive, tmp_path_factory) -> Calculated:
    """An attribute that somebody has asked for before."""
    z = Calculated(archive, tmp_path_factory.mktemp("asked_before"))
    assert z.ask("mag < 2 AND dec < 5", "mag", "dec").to_arrow().num_rows == 10
    assert z.calls() == [n for n in range(20) if n % 10 < 5]
    return z


@pytest.mark.parametrize("how", REPEATED)
def test_what_is_stored_is_reused(asked_before, how):
    target = REPEATED[how](asked_before)
    plan = target.plan()
    assert plan.calculations == ()
    assert asked_before.name in {name for fragment in plan.fragments for _, name in fragment.columns}
    before = len(asked_before.archive.fragments())
    table = target.to_arrow()
    assert asked_before.calls() == []
    wanted = [n for n in range(20) if n % 10 < 5]
    if how.startswith("narrower"):
        wanted = {"narrower": range(5), "narrower by another attribute": [n for n in wanted if n > 2 and n != 7]}.get(
            how, [n for n in wanted if n > 3]
        )
    if how == "on the result":
        wanted = [n for n in wanted if n > 4]
    assert sorted(table.column("id").to_pylist()) == list(wanted)
    if asked_before.name in table.column_names:
        assert values(table, asked_before.name) == right(wanted)
    assert len(asked_before.archive.fragments()) == before, "nothing is kept twice"


def test_reuse_is_recorded(archive, z):
    identity = z.ask("mag < 1").plan().provided[0].attribute.identity
    z.ask("mag < 1").to_arrow()
    first = latest_run(archive)
    assert (first.outcome, first.rows, first.by) == ("done", 10, "ada")
    assert identity in first.computed
    z.ask("mag < 1").to_arrow()
    second = latest_run(archive)
    assert second.id > first.id
    assert identity in second.reused
    assert second.computed == ()
    assert archive.fragments()[-1].fragment.uses >= 1 or any(stored.fragment.uses for stored in archive.fragments())


# --- changed code ---


CODE = """
import pandas as pd

def tripled(batch):
    return pd.DataFrame({{"{name}": batch["x"] * {factor}}})
"""


def test_changed_code_makes_old_fragments_unusable_and_leaves_them_listed(archive, tmp_path, monkeypatch):
    name = f"z{next(NUMBER)}"
    module = f"changing_{name}"
    path = tmp_path / f"{module}.py"
    monkeypatch.syspath_prepend(tmp_path)
    path.write_text(CODE.format(name=name, factor=3))
    imported = importlib.import_module(module)

    def register():
        archive.calculator(name, imported.tripled, inputs=["x"], outputs={name: "double"})
        return archive.target("stars", [name], where="mag < 1")

    asked = register()
    assert asked.to_arrow().column(name).to_pylist()[4] == 6.0
    assert asked.plan().calculations == ()
    (kept,) = asked.plan().fragments

    path.write_text(CODE.format(name=name, factor=30))
    importlib.reload(imported)
    again = register()
    assert again.plan().calculations != ()
    assert again.plan().fragments == ()
    assert again.to_arrow().column(name).to_pylist()[4] == 60.0
    assert again.plan().calculations == ()
    listed = {stored.fragment.id: stored for stored in archive.fragments(dropped=True)}
    assert kept.id in listed
    assert listed[kept.id].fragment.removed_at is None
    assert {one.fragment.id for one in listed.values()} >= {fragment.id for fragment in again.plan().fragments}
    del sys.modules[module]


# --- what is kept ---


def test_never_keeps_nothing(archive, z):
    before = len(archive.fragments())
    asked = z.ask("mag < 1", keep="never")
    for _ in range(2):
        assert values(asked.to_arrow(), z.name) == right(range(10))
        assert z.calls() == list(range(10))
    assert len(archive.fragments()) == before


def test_always_keeps_what_is_cheap_too(archive):
    before = len(archive.fragments())
    name = f"cheap{next(NUMBER)}"
    archive.calculator(name, sql={name: "mag * 2"})
    where = "mag < 1.05"
    archive.target("stars", [name], where=where).to_arrow()
    assert len(archive.fragments()) == before, "what SQL gives is not worth it"
    asked = archive.target("stars", [name], where=where, keep="always")
    first = asked.to_arrow()
    assert len(archive.fragments()) == before + 1
    assert words(asked) == ["reuse"]
    assert values(asked.to_arrow(), name) == values(first, name)
    assert len(archive.fragments()) == before + 1


def test_looking_at_it_keeps_nothing(archive, z):
    before = len(archive.fragments())
    asked = z.ask("mag < 1")
    assert len(asked.head(3)) == 3
    assert asked.count() == 10
    assert asked.to_spark().count() == 10
    assert len(archive.fragments()) == before


def test_all_ways_to_have_it_agree(z, tmp_path):
    asked = z.ask("mag < 2 AND x IS NOT NULL", "mag")
    spark = {row["id"]: str(row[z.name]) for row in asked.to_spark().collect()}
    head = asked.head(1000)
    assert spark == right(n for n in range(20) if n != 7)
    assert asked.count() == len(spark)
    arrow = asked.to_arrow()
    assert arrow.column_names == ["id", z.name, "mag"]
    assert values(arrow, z.name) == spark
    frame = asked.to_pandas()
    assert list(frame.columns) == list(head.columns) == ["id", z.name, "mag"]
    assert values(pa.Table.from_pandas(frame), z.name) == spark, "NULL is NaN in pandas, and back"
    assert sorted(head["id"]) == sorted(frame["id"])
    written = asked.write(tmp_path / "out.parquet")
    assert written.rows == len(spark)
    assert values(parquet.read_table(tmp_path / "out.parquet"), z.name) == spark
    assert asked.count() == len(spark)


def test_writing_keeps_what_was_costly_too(archive, z, tmp_path):
    assert z.ask("mag < 1").write(tmp_path / "out.csv").rows == 10
    assert z.calls() == list(range(10))
    z.ask("mag < 1").write(tmp_path / "again.csv")
    assert z.calls() == []
    assert latest_run(archive).outcome == "done"


def test_a_target_that_is_stored_is_a_catalog_with_a_name(archive, z):
    asked = z.ask("mag < 1", "dec")
    made = asked.store(f"stored_{z.name}")
    assert z.calls() == list(range(10))
    assert archive[f"stored_{z.name}"] == made
    assert words(made) == ["reuse"]
    assert values(made.to_arrow(), z.name) == right(range(10))
    assert z.calls() == []
    assert archive.relate(made, archive["stars"].select("mag < 1")).summary == "equal"


def test_values_that_are_missing_are_null_and_never_kept(archive, z):
    """Tycho has a bt for some stars only. A NULL for the others is no value of bt, or of what is made from it."""
    name = f"{z.name}_bt"
    archive.calculator(name, sql={name: "tycho.bt + 1"})
    before = len(archive.fragments())
    asked = archive.target("stars", [z.name, name, "tycho.bt"], missing="null")
    found = asked.to_arrow()
    expected = {key: str((key - 40) / 10 + 1) if key >= 40 else "None" for key in range(N)}
    assert values(found, name) == expected
    assert values(found, z.name) == right(range(N))
    assert z.calls() == list(range(N))
    held = {name for fragment in archive.fragments()[before:] for name in fragment.attributes}
    assert name not in held
    assert "bt" not in held
    dropped = archive.target("stars", [name], missing="drop").to_arrow()
    assert sorted(dropped.column("id").to_pylist()) == list(range(40, N))


# --- what goes wrong ---


def stored_files(archive: provenn.Archive) -> list[str]:
    folder = Path(archive.context.workshop.folder.location)
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


def test_a_calculator_that_fails_leaves_nothing_behind(archive):
    name = f"z{next(NUMBER)}"
    parameters = {"output": name, "at": 15}
    options = {"inputs": ["id", "x"], "outputs": {name: "double"}, "parameters": parameters}
    archive.calculator(name, calls.failing, **options)
    before, files = len(archive.fragments(dropped=True)), stored_files(archive)
    asked = archive.target("stars", [name], where="mag < 2")
    for _ in range(2):
        with pytest.raises(CalculationError, match="no convergence"):
            asked.to_arrow()
        assert latest_run(archive).outcome == "failed"
        assert latest_run(archive).rows is None
    assert len(archive.fragments(dropped=True)) == before
    assert stored_files(archive) == files
    assert asked.plan().calculations != ()
    fine = archive.target("stars", [name], where="mag < 1.5")
    assert values(fine.to_arrow(), name) == right(range(15))
    assert latest_run(archive).outcome == "done"


def test_a_run_that_is_cancelled_leaves_nothing_behind(archive, tmp_path):
    name = f"z{next(NUMBER)}"
    options = {"inputs": ["id", "x"], "outputs": {name: "double"}}
    archive.calculator(name, calls.slow, parameters={"output": name, "log": str(tmp_path)}, **options)
    before, files = len(archive.fragments(dropped=True)), stored_files(archive)
    asked = archive.target("stars", [name], where="mag < 2")

    def interrupt():
        until = time.monotonic() + LIMIT
        while not (tmp_path / "begun").exists() and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        asked.to_arrow()
    assert latest_run(archive).outcome == "cancelled"
    assert len(archive.fragments(dropped=True)) == before
    assert stored_files(archive) == files
    (tmp_path / "hurry").touch()
    assert values(asked.to_arrow(), name) == right(range(20)), "and Spark goes on"
    assert latest_run(archive).outcome == "done"


def test_a_fragment_whose_files_are_gone_is_noticed_and_computed_again(archive, z):
    asked = z.ask("mag < 1")
    asked.to_arrow()
    assert z.calls() == list(range(10))
    (kept,) = asked.plan().fragments
    shutil.rmtree(Path(archive.context.workshop.folder.location, kept.location))
    assert values(asked.to_arrow(), z.name) == right(range(10))
    assert z.calls() == list(range(10))
    assert asked.plan().calculations == ()
    (gone,) = [stored for stored in archive.fragments(dropped=True) if stored.fragment.id == kept.id]
    assert "damaged" in gone.unusable
    assert values(asked.to_arrow(), z.name) == right(range(10))
    assert z.calls() == []


def test_a_damaged_fragment_is_noticed_when_part_of_it_would_be_used(archive, z):
    z.ask("mag < 1").to_arrow()
    (kept,) = z.ask("mag < 1").plan().fragments
    for one in Path(archive.context.workshop.folder.location, kept.location).iterdir():
        if one.suffix == ".parquet":
            one.write_bytes(one.read_bytes()[:-20])
    z.calls()
    assert values(z.ask("mag < 2").to_arrow(), z.name) == right(range(20))
    assert z.calls() == list(range(20))


# --- without Spark, without a pen ---


def test_what_is_empty_by_proof_is_answered_without_spark(archive):
    with provenn.open(database=archive.place, spark="local[7]", progress=False) as other:
        asked = other.target("stars", ["mag", "dec"], where="mag < 1 AND mag > 2")
        assert asked.count() == 0
        assert asked.to_arrow().column_names == ["id", "mag", "dec"]
        assert str(asked.to_arrow().schema.field("mag").type) == "double"
        assert asked.to_pandas().empty
        assert asked.head().empty
        assert other.context.workshop._pipeline is None, "no Spark on seven cores was looked for"


def test_an_archive_that_can_only_be_read_answers_and_keeps_nothing(archive, z):
    z.ask("mag < 1").to_arrow()
    z.calls()
    before = len(archive.fragments(dropped=True))
    run = latest_run(archive).id
    master = archive.context.workshop._spark
    with provenn.open(database=archive.place, spark=master, progress=False) as reader:
        object.__setattr__(reader.context.database, "read_only", True)  # the superuser may write anywhere
        asked = reader.target("stars", [z.name, "dec"], where="mag < 2")
        assert values(asked.to_arrow(), z.name) == right(range(20))
        assert z.calls() == list(range(10, 20)), "what is stored is used"
        assert asked.count() == 20
        assert len(asked.head(3)) == 3
    assert len(archive.fragments(dropped=True)) == before
    assert latest_run(archive).id == run
