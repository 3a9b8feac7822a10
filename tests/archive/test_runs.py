"""What was run, in the user's words."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from provenn.archive import Ran
from provenn.archive.runs import recorded
from provenn.errors import ArchiveBusyError
from provenn.store import attributes, runs
from tests.cli.archive_session import Session


def plan(catalog, fragments=()):
    """As much of a plan as is recorded."""
    columns = catalog.schema.attributes
    key = {one.identity for one in catalog.schema.key}
    return SimpleNamespace(
        what=f"all of {catalog.name}",
        catalog=catalog.definition,
        columns=columns,
        needed=frozenset(one.identity for one in columns) - key,
        fragments=fragments,
    )


def fragment(number, catalog, names, rows, seconds):
    identities = frozenset(catalog.schema[name].identity for name in names)
    return SimpleNamespace(id=number, identities=identities, rows=rows, seconds=seconds)


def test_a_run_is_told_by_names_with_what_it_saved(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    read = [fragment(4, stars, ["vmag", "plx"], 100, 20.0), fragment(2, stars, ["dec"], 2, 3.0)]
    with recorded(archive._database, plan(bright, read)) as run:
        run.rows = 10
    (ran,) = archive.runs()
    assert ran == Ran(
        number=ran.number,
        target="all of bright",
        catalog=bright.digest,
        name="bright",
        by="ada",
        started_at=ran.started_at,
        outcome="done",
        seconds=ran.seconds,
        rows=10,
        reused=("dec", "plx", "vmag"),
        computed=("spect",),
        fragments=(2, 4),
        saved=20.0 * 10 / 100 + 3.0,
    )
    assert archive.runs("bright") == [ran]
    assert archive.runs("stars") == []


def test_a_result_is_not_lost_because_nobody_can_take_note_of_it(archive, stars, monkeypatch):
    def busy(*_: object, **__: object) -> None:
        raise ArchiveBusyError("the archive is busy")

    with recorded(archive._database, plan(stars)) as run:
        monkeypatch.setattr(runs, "end", busy)
        run.rows = 10
    (ran,) = archive.runs()
    assert ran.rows is None


def test_attributes_that_no_catalog_of_the_archive_has_are_told_by_name(archive, stars):
    unheard_of = SimpleNamespace(identity="0" * 64, name="dist_pc")
    changed = {"columns": (unheard_of,), "needed": {unheard_of.identity}, "catalog": None}
    with recorded(archive._database, SimpleNamespace(**vars(plan(stars)) | changed)):
        pass
    (ran,) = archive.runs()
    assert (ran.catalog, ran.name, ran.computed, ran.rows, ran.saved) == (None, None, ("dist_pc",), None, 0)


def test_failures_cancellations_and_what_never_ended(archive, stars, monkeypatch):
    for raised in (ZeroDivisionError, KeyboardInterrupt):
        with pytest.raises(raised), recorded(archive._database, plan(stars)):
            raise raised
    with archive._database.writing() as writing:
        runs.begin(writing, "still there")
    assert [(one.outcome, one.saved) for one in archive.runs()] == [
        ("not ended", None),
        ("cancelled", None),
        ("failed", None),
    ]
    monkeypatch.setattr("provenn.archive.runs._LONGEST", timedelta(0))
    assert archive.runs(most=1)[0].outcome == "never ended"


def test_runs_recorded_without_names_are_told_by_those_in_the_archive(archive, stars):
    identity = stars.schema["vmag"].identity
    with archive._database.writing() as writing:
        number = runs.begin(writing, "x")
        runs.end(writing, number, "done", seconds=1, computed=[identity, "unheard of"])
        assert attributes.words(writing, [identity]) == {identity: "vmag"}
    assert archive.runs()[0].computed == ("unheard of", "vmag")


def test_nothing_is_recorded_where_nothing_can_be_written(archive, stars):
    database = SimpleNamespace(read_only=True)
    with recorded(database, plan(stars)) as run:
        run.rows = 3
    assert archive.runs() == []


def test_the_command(archive, stars):
    with recorded(archive._database, plan(stars)) as run:
        run.rows = 6000
    session = Session(archive.place.removesuffix("/provenn.sqlite"))
    header, row = session("runs").splitlines()
    assert header.split()[:4] == ["when", "by", "what", "outcome"]
    assert "all of stars" in row
    assert "6,000" in row
    (told,) = session.json("runs stars --most 1")
    assert told["computed"] == ["dec", "plx", "spect", "vmag"]
    assert told["outcome"] == "done"
