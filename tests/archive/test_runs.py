"""What was run, in the user's words: what it reused and computed, and what that saved."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from provenn.archive import Ran
from provenn.catalogs import PythonCalculator
from provenn.data import fragments, run_records
from provenn.definitions import attributes, catalog_store
from provenn.errors import ArchiveBusyError
from provenn.targets.recording import Recorder, record_run
from tests.cli.archive_session import Session
from tests.spark import functions


def store(catalog, names, rows, seconds):
    """Register a fragment whose data nobody has written: plans read none."""
    definition = catalog.definition
    columns = [(definition.schema[name].identity, name) for name in ("hip", *names)]
    with catalog.archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, definition)
        place = f"fragments/{catalog.digest[:6]}-{rows}-{'-'.join(names)}"
        return fragments.register(writing, definition, columns, location=place, rows=rows, files=(), seconds=seconds)


def scaled(output: str) -> PythonCalculator:
    parameters = {"output": output, "factor": 2.0}
    return PythonCalculator.of(functions.scaled, inputs=["plx"], outputs={output: "double"}, parameters=parameters)


@pytest.fixture
def with_z(stars):
    return stars.derive(scaled("z"), name="with_z")


def record(archive, plan, rows=10, *, computed=0, seconds=0.0):
    """Record a run that ended well."""
    with record_run(archive.context.database, plan) as run:
        run.rows, run.computed, run.seconds = rows, computed, seconds
    return archive.runs()[0]


# --- what was reused, and what computed ---


def test_a_run_is_told_by_names(archive, stars, with_z):
    fragment = store(with_z, ["z"], 6000, 12.0)
    target = archive.target(with_z, ["vmag", "z"], where="vmag < 6")
    ran = record(archive, target.plan(), 100, seconds=0.05)
    assert ran == Ran(
        number=ran.number,
        target="with_z where vmag < 6",
        catalog=None,
        name=None,
        by="ada",
        started_at=ran.started_at,
        outcome="done",
        seconds=ran.seconds,
        rows=100,
        reused=("z",),
        computed=(),
        fragments=(fragment.id,),
        saved=pytest.approx(12.0 * 100 / 6000 - 0.05),
    )
    assert archive.runs("with_z") == []
    assert record(archive, stars.plan()).name == "stars"
    assert [run.name for run in archive.runs("stars")] == ["stars"]


def test_what_is_stored_of_a_part_of_the_sources_is_reused_and_computed(archive, with_z):
    """Of 5 000 sources 500 were stored: 4 500 are calculated, and the run says so."""
    store(with_z.select("vmag < 6"), ["z"], 500, 3.0)
    ran = record(archive, with_z.plan(), 5000, computed=4500)
    assert (ran.reused, ran.computed) == (("z",), ("z",))


def test_what_is_derived_is_computed_and_what_files_hold_is_neither(archive, stars):
    ran = record(archive, stars.derive(dist_pc="1000 / plx").plan())
    assert (ran.reused, ran.computed) == ((), ("dist_pc",))
    assert record(archive, stars.plan()).computed == ()


def test_values_that_are_missing_are_not_computed(archive, stars, tmp_path):
    (tmp_path / "seen.csv").write_text("hip,line\n1,2.0\n")
    archive.ingest("seen", tmp_path / "seen.csv", key="hip", population="star")
    plan = archive.target("stars", ["seen.line"], missing="null").plan()
    assert record(archive, plan).computed == ()
    assert stars.name == "stars"


# --- what that saved ---


def saved(plan, rows, *, computed=0, seconds=0.0) -> float:
    return Recorder(plan, None, rows, computed, seconds).saved


def test_a_saving_is_what_the_rows_had_cost_less_what_reading_took(with_z):
    """A fragment of 7 047 sources took 17.8 seconds; of 911 that came out of it, only those were saved."""
    store(with_z, ["z"], 7047, 17.8)
    plan = with_z.select("vmag < 6").plan()
    assert saved(plan, 911) == pytest.approx(17.8 * 911 / 7047)
    assert saved(plan, 911, seconds=1.3) == pytest.approx(17.8 * 911 / 7047 - 1.3)
    assert saved(plan, 911, seconds=60.0) == 0, "never less than nothing"
    assert saved(plan, 0) == 0


def test_rows_that_the_run_computed_itself_save_nothing(with_z):
    store(with_z.select("vmag < 6"), ["z"], 100, 10.0)
    plan = with_z.plan()
    assert saved(plan, 1000, computed=900) == pytest.approx(10.0)
    assert saved(plan, 1000, computed=1000) == 0
    assert saved(plan, 1000, computed=900, seconds=2.0) == pytest.approx(10.0 - 2.0 * 100 / 1000)


def test_what_was_not_reused_saves_nothing(stars, with_z):
    assert saved(with_z.plan(), 1000) == 0
    assert saved(stars.plan(), 1000) == 0


def test_fragments_of_several_attributes_save_all_and_parts_no_more_than_there_are_rows(archive, stars, with_z):
    both = with_z.derive(scaled("y"), name="both")
    store(with_z, ["z"], 1000, 10.0)
    store(stars.derive(scaled("y")), ["y"], 1000, 20.0)
    plan = archive.target(both, ["z", "y"]).plan()
    assert len(plan.fragments) == 2
    assert saved(plan, 100) == pytest.approx(1.0 + 2.0)
    parts = stars.derive(scaled("w"), name="with_w")
    store(parts.select("vmag < 6"), ["w"], 80, 8.0)
    store(parts.select("vmag >= 5"), ["w"], 80, 8.0)
    plan = parts.plan()
    assert len(plan.fragments) >= 1
    assert saved(plan, 100) <= 100 * 8.0 / 80


# --- notes ---


def test_a_result_is_not_lost_because_nobody_can_take_note_of_it(archive, stars, monkeypatch):
    def busy(*_: object, **__: object) -> None:
        raise ArchiveBusyError("the archive is busy")

    with record_run(archive.context.database, stars.plan()) as run:
        monkeypatch.setattr(run_records, "end_run", busy)
        run.rows = 10
    (ran,) = archive.runs()
    assert ran.rows is None


def test_attributes_that_no_catalog_of_the_archive_has_are_told_by_name(archive, stars):
    archive.calculator("dist", sql={"dist_pc": "1000 / plx"})
    ran = record(archive, archive.target("stars", ["dist_pc"]).plan())
    assert (ran.catalog, ran.name, ran.computed, ran.saved) == (None, None, ("dist_pc",), 0)
    assert stars.name == "stars"


def test_failures_cancellations_and_what_never_ended(archive, stars, monkeypatch):
    for raised in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(raised), record_run(archive.context.database, stars.plan()):
            raise raised
    with archive.context.database.writing() as writing:
        run_records.begin_run(writing, "still there")
    assert [(run.outcome, run.saved) for run in archive.runs()] == [
        ("not ended", None),
        ("cancelled", None),
        ("failed", None),
    ]
    monkeypatch.setattr("provenn.archive.run_history._LONGEST", timedelta(0))
    assert archive.runs(most=1)[0].outcome == "never ended"


def test_runs_recorded_without_names_are_told_by_those_in_the_archive(archive, stars):
    identity = stars.schema["vmag"].identity
    with archive.context.database.writing() as writing:
        number = run_records.begin_run(writing, "x")
        run_records.end_run(writing, number, "done", seconds=1, computed=[identity, "unheard of"])
        assert attributes.find_names_by_identity(writing, [identity]) == {identity: "vmag"}
    assert archive.runs()[0].computed == ("unheard of", "vmag")


def test_nothing_is_recorded_where_nothing_can_be_written(archive, stars):
    database = SimpleNamespace(read_only=True)
    with record_run(database, stars.plan()) as run:
        run.rows = 3
    assert archive.runs() == []
    assert archive.last_run is None


def test_the_command(archive, stars, with_z):
    store(with_z, ["z"], 6000, 12.0)
    record(archive, with_z.plan(), 6000)
    session = Session(archive.place.removesuffix("/provenn.sqlite"))
    header, row = session("runs").splitlines()
    assert header.split()[:4] == ["when", "by", "what", "outcome"]
    assert "with_z" in row
    assert "6,000" in row
    assert row.endswith("~12.0"), "a guess is marked"
    (told,) = session.json("runs with_z --most 1")
    assert (told["reused"], told["computed"], told["outcome"]) == (["z"], [], "done")
    assert stars.name == "stars"
