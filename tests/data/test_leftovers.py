"""What killed writers leave behind is cleared away, wherever it lies; what somebody still writes never is."""

import os
import signal
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert, update

import provenn
from provenn.data import pins
from provenn.data.garbage_collection import AGE, collect_garbage
from provenn.data.leftovers import JOBS, LEFTOVER, mark_folder, open_writing_folder
from provenn.database.tables import pins as pin_rows
from provenn.errors import ArchiveError
from provenn.files.data_folder import DataFolder
from provenn.formats.opening import open_database
from provenn.processes import make_process_mark, read_mark_state
from provenn.transfer.copying import copy_archive
from tests.sound import write_stars

WRITER = """
import os, signal, sys
from pathlib import Path
import provenn
from provenn.files.data_folder import DataFolder
from provenn.data.leftovers import mark_folder, open_writing_folder
from provenn.data.pins import hold_outside

survey, place, how = sys.argv[1:]
with provenn.open(survey, who="ada") as archive:
    store = archive.context.workshop.folder
    if how == "backup":
        archive.backup(Path(place) / "copy", progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    if how == "job":
        folder = Path(place) / "provenn-jobs-abc"
        folder.mkdir()
        mark_folder(folder)
        (folder / "1.csv").write_text("x" * 100)
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "temporary":
        Path(store.new_temporary_address()).write_text("x" * 100)
        os.kill(os.getpid(), signal.SIGKILL)
    with open_writing_folder(DataFolder.of(place), "out.csv", hold_outside(archive.context.database)) as name:
        (Path(place) / name / "result").write_text("half")
        if how == "aside":
            (Path(place) / "out.csv").rename(Path(place) / name / "result-before")
        if how == "wait":
            print("writing", flush=True)
            sys.stdin.readline()
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def survey(tmp_path):
    folder = tmp_path / "survey"
    with provenn.open(folder, who="ada") as archive:
        archive.ingest("stars", write_stars(tmp_path), key="hip", population="star")
    return folder


@pytest.fixture
def place(tmp_path):
    folder = tmp_path / "exports"
    folder.mkdir()
    return folder


def killed(survey, place, how):
    """Let a process write, and be killed meanwhile."""
    done = subprocess.run([sys.executable, "-c", WRITER, str(survey), str(place), how], check=False)
    assert done.returncode == -signal.SIGKILL


def collected(survey, **options):
    with provenn.open(survey, who="ada") as archive:
        return archive.collect_garbage(**options)


def hidden(place):
    return sorted(place.glob(f"{LEFTOVER}*"))


def test_what_a_killed_writer_left_beside_an_export_goes(survey, place):
    killed(survey, place, "export")
    (left,) = hidden(place)
    with provenn.open(survey, who="ada") as archive:
        (output,) = [problem for problem in archive.check().problems if LEFTOVER in problem.where]
        assert output.state == "leftover"
    assert collected(survey, dry_run=True).deleted == (str(left),)
    assert hidden(place) == [left]
    output = collected(survey)
    assert output.deleted == (str(left),)
    assert output.freed > 0
    assert hidden(place) == []
    assert collected(survey).deleted == ()
    with provenn.open(survey, who="ada") as archive:
        assert not [problem for problem in archive.check().problems if problem.state == "leftover"], (
            "no pin is left either"
        )


def test_what_it_had_put_aside_is_put_back(survey, place):
    (place / "out.csv").write_text("before")
    killed(survey, place, "aside")
    assert not (place / "out.csv").exists()
    collected(survey)
    assert (place / "out.csv").read_text() == "before"
    assert hidden(place) == []


def test_what_somebody_writes_is_left_alone(survey, place):
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(survey), str(place), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"writing\n"
        (folder,) = hidden(place)
        with provenn.open(survey, who="ada") as archive, archive.context.database.writing() as writing:
            writing.connection.execute(update(pin_rows).values(expires_at=writing.when - 2 * AGE))
        assert collected(survey).deleted == (), "though its pin has expired: its machine may have slept"
        assert hidden(place) == [folder]
        writer.stdin.write(b"\n")
        writer.stdin.close()
        writer.wait()
    assert collected(survey).deleted == (str(folder),)


def test_of_another_machine_it_goes_a_day_after_the_pin_has_expired(survey, place):
    left = place / f"{LEFTOVER}{'0' * 32}"
    left.mkdir()
    with open_database(survey / "provenn.sqlite") as database:
        for late, gone in ((timedelta(0), False), (2 * AGE, True)):
            with database.writing() as writing:
                when = writing.when - late
                row = {"place": f"{pins.OUTSIDE}{left}", "holder": f"elsewhere/b/1/9/9/{late.days:032x}", "by": "bob"}
                writing.connection.execute(insert(pin_rows), row | {"pinned_at": when, "expires_at": when})
            collect_garbage(database, DataFolder.of(survey / "store"))
            assert left.exists() != gone


@pytest.mark.parametrize("name", ["letters", f"{LEFTOVER}../letters", "..", f"{JOBS}x/../letters"])
def test_an_archive_of_somebody_else_deletes_nothing_but_what_writers_make(survey, place, name):
    letters = place / "letters"
    letters.mkdir()
    (letters / "one").write_text("mine")
    with open_database(survey / "provenn.sqlite") as database:
        with database.writing() as writing:
            row = {"place": f"{pins.OUTSIDE}{place}/{name}", "holder": "elsewhere/b/1/9/9/" + "0" * 32, "by": "bob"}
            when = writing.when - 3 * AGE
            writing.connection.execute(insert(pin_rows), row | {"pinned_at": when, "expires_at": when})
        assert collect_garbage(database, DataFolder.of(survey / "store")).deleted == ()
    assert (letters / "one").read_text() == "mine"


def test_a_temporary_place_tells_whether_its_process_lives(survey, place):
    killed(survey, place, "temporary")
    (left,) = (survey / "store" / "_temporary").iterdir()
    mine = Path(DataFolder.of(survey / "store").new_temporary_address())
    mine.write_text("still written")
    os.utime(mine, (0, 0))
    assert (read_mark_state(left.name), read_mark_state(mine.name)) == ("gone", "alive")
    assert read_mark_state("whatever") == read_mark_state(f"x-{'0' * 12}-1-1") == "unknown"
    assert collected(survey).deleted == (f"_temporary/{left.name}",), "at once, and not what this process writes"
    assert mine.exists()
    assert make_process_mark() in mine.name


def test_temporary_files_of_a_server_that_was_killed_go(survey, place, monkeypatch):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(place))
    killed(survey, place, "job")
    mine = place / f"{JOBS}mine"
    mine.mkdir()
    mark_folder(mine)
    output = collected(survey)
    assert output.deleted == (str(place / f"{JOBS}abc"),)
    assert [path.name for path in place.iterdir()] == [mine.name]


def test_a_backup_that_is_killed_is_none_and_goes(survey, place):
    killed(survey, place, "backup")
    assert not (place / "copy").exists()
    (left,) = hidden(place)
    with pytest.raises(ArchiveError, match="an unfinished backup"):
        provenn.open(left / "result", create=False)
    assert collected(survey).deleted == (str(left),)
    with provenn.open(survey, who="ada") as archive:
        archive.backup(place / "copy")
    with provenn.open(place / "copy") as copy:
        assert copy.check(deep=True).sound


def test_a_database_with_half_a_backup_is_no_archive_and_can_be_backed_up_to(survey, tmp_path):
    def fail(_done, _all):
        raise ZeroDivisionError

    place = tmp_path / "copy.sqlite"
    with open_database(survey / "provenn.sqlite") as source, open_database(place, create=True) as target:
        with pytest.raises(ZeroDivisionError):
            copy_archive(source, target, progress=fail)
        with pytest.raises(ArchiveError, match=r"copy\.sqlite holds an unfinished backup"):
            provenn.open(database=place)
        copy_archive(source, target)
    with provenn.open(database=place) as copy:
        assert copy["stars"]


def test_the_next_writer_clears_up_where_no_archive_knows_of_it(survey, place):
    killed(survey, place, "export")
    with open_writing_folder(DataFolder.of(place), "other.csv") as name:
        assert [item.name for item in hidden(place)] == [name]
    assert hidden(place) == []
