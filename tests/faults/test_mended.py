"""What failing each file call, and the model of leases and gc, have brought to light; each by itself."""

import errno
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest
from sqlalchemy import delete

import provenn
from provenn.catalogs import Base
from provenn.data import fragments, pins
from provenn.data.leftovers import LEFTOVER, clear_abandoned, open_writing_folder
from provenn.database.tables import pins as pin_rows
from provenn.errors import ArchiveError, FilesMissingError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.spark import fragment_files as storing
from provenn.spark import placing
from tests.crashes import opened, play_spark, survey
from tests.faults.supervisor import Fault, Supervisor, is_supported, lift_fault
from tests.sound import play_store

supervised = pytest.mark.skipif(not is_supported(), reason="this machine lets nobody supervise a process")


def name_bright(folder: Path, say) -> None:
    """Open an archive and give a name; say which error there is, then do it again."""
    for _ in range(2):
        try:
            with opened(folder) as archive:
                for _ in range(2):
                    try:
                        archive.name("bright", "a", move=True)
                        say(b"done")
                    except ArchiveError as error:
                        say(str(error).encode())
                        lift_fault(folder)
        except ArchiveError as error:
            say(str(error).encode())
        else:
            return


@supervised
def test_a_file_that_cannot_be_looked_at_is_told_in_words(tmp_path):
    survey(tmp_path)
    message, _ = Supervisor(tmp_path, Fault(1, "EIO")).run(lambda say: name_bright(tmp_path, say))
    first, *others = message.decode().splitlines()
    assert "cannot be reached: Input/output error" in first
    assert others[-2:] == ["done", "done"]


@supervised
def test_a_file_that_could_just_once_not_be_opened_for_writing_is_opened_again(tmp_path):
    """SQLite opens it for reading then, and every later use of that connection failed."""
    survey(tmp_path)
    undisturbed = Supervisor(tmp_path)
    undisturbed.run(lambda say: name_bright(tmp_path, say))
    places = [
        at for at, call in enumerate(undisturbed.calls, 1) if (call.path, call.creates) == ("provenn.sqlite", True)
    ]
    assert places
    for place in places:
        message, _ = Supervisor(tmp_path, Fault(place, "ENOSPC")).run(lambda say: name_bright(tmp_path, say))
        assert message.decode().splitlines() == ["done", "done"], message


def read_on_a_full_disk(folder: Path, name: str, say) -> None:
    """Fail to give a name on a full disk, read, and give the name once there is room, all beside a reading transaction.

    That transaction keeps its connection, so that each time another one is needed.
    """
    with suppress(ArchiveError), opened(folder) as archive, archive.context.database.reading():
        try:
            archive.name("bright", name)
        except ArchiveError:
            with suppress(ArchiveError):
                archive["bright"]
                say(b"read")
            lift_fault(folder)
            try:
                archive.name("bright", name)
                say(b"named")
            except ArchiveError as error:
                say(str(error).encode())


@supervised
def test_reading_on_a_full_disk_does_not_keep_the_process_from_writing_later(tmp_path):
    """SQLite opened the file for reading alone, and began to write without complaint until the first change."""
    survey(tmp_path)
    undisturbed = Supervisor(tmp_path)
    undisturbed.run(lambda say: read_on_a_full_disk(tmp_path, "undisturbed", say))
    messages = []
    for place, call in enumerate(undisturbed.calls, 1):
        if call.path == "provenn.sqlite-wal" and "full" in call.kinds:
            supervisor = Supervisor(tmp_path, Fault(place, "full"))
            messages.append(supervisor.run(lambda say, name=f"n{place}": read_on_a_full_disk(tmp_path, name, say))[0])
    assert b"read\nnamed\n" in messages
    assert {*messages} <= {b"", b"named\n", b"read\nnamed\n"}


def leave_unfinished(place: Path) -> Path:
    """Have a process die that was writing beside a place; return what it left."""
    pid = os.fork()
    if pid == 0:
        with open_writing_folder(DataFolder.of(place.parent), place.name):
            os._exit(0)
    os.waitpid(pid, 0)
    (left,) = place.parent.glob(".*")
    return left


def test_what_a_killed_backup_or_export_leaves_beside_its_place_is_deleted_by_the_next(tmp_path):
    left = leave_unfinished(tmp_path / "copy")
    assert left.exists()
    with open_writing_folder(DataFolder.of(tmp_path), "another") as mine:
        assert not left.exists()
        clear_abandoned(tmp_path)
        assert (tmp_path / mine).exists(), "its process lives"


@pytest.mark.parametrize("action", ["backup", "export_definitions"])
def test_a_copy_deletes_what_a_killed_one_has_left(tmp_path, action):
    (tmp_path / "copies").mkdir()
    survey(tmp_path)
    left = leave_unfinished(tmp_path / "copies" / "copy")
    with opened(tmp_path) as archive:
        getattr(archive, action)(tmp_path / "copies" / "copy")
    assert not left.exists()
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["copy"]


@pytest.mark.parametrize("written", [None, "", "half of a wor"])
def test_a_hidden_folder_that_does_not_tell_its_process_is_deleted_when_it_is_old(tmp_path, written):
    left = tmp_path / f"{LEFTOVER}{'0' * 32}"
    left.mkdir()
    if written is not None:
        (left / "_process").write_text(written)
    with open_writing_folder(DataFolder.of(tmp_path), "target"):
        assert left.exists(), "its process may be about to tell"
    os.utime(left, (0, 0))
    with open_writing_folder(DataFolder.of(tmp_path), "target"):
        assert not left.exists()


def forget_pins(archive) -> None:
    with archive.context.database.writing() as writing:
        writing.connection.execute(delete(pin_rows))


def test_a_process_whose_pins_were_forgotten_does_not_register_what_gc_may_be_deleting(tmp_path):
    survey(tmp_path)
    with opened(tmp_path) as archive:
        with pytest.raises(StoreError, match="stopped for too long") as caught:
            play_spark(archive, tmp_path, "stars", meanwhile=lambda: forget_pins(archive))
        assert "run it again" in caught.value.hint
        assert archive.fragments() == []
        assert not list((tmp_path / "data").rglob("*.parquet"))
        play_spark(archive, tmp_path, "stars")
        assert len(archive.fragments()) == 1


def test_pins_that_were_forgotten_before_they_were_first_renewed_are_made_again(tmp_path):
    survey(tmp_path)
    with opened(tmp_path) as archive, pins.hold_places(archive.context.database, "fragments/a", "fragments/b") as held:
        forget_pins(archive)
        with archive.context.database.writing() as writing:
            assert not held.is_unbroken(writing)
            held.renew(writing)
            assert pins.find_pinned_places(writing, writing.when) == {"fragments/a", "fragments/b"}
            assert not held.is_unbroken(writing), "something may have happened meanwhile"


def test_a_commit_whose_answer_was_lost_is_waited_for_before_its_files_are_deleted(tmp_path):
    survey(tmp_path)
    with opened(tmp_path) as archive:
        database, store = archive.context.database, archive.context.workshop.folder
        stars = archive["stars"].definition
        item = play_store(database, store, stars, "stars")
        with database.writing() as writing:
            fragments.forget(writing, item.id)
        with database.writing() as writing:
            columns = [(attribute.identity, attribute.name) for attribute in stars.schema.attributes]
            size = {"rows": item.rows, "files": item.files, "seconds": 1.0}
            fragments.register(writing, stars, columns, location=item.location, **size)
            cleaning = threading.Thread(target=storing._clean_up, args=(database, store, item.location))
            cleaning.start()
            time.sleep(0.5)  # enough for who does not wait
            assert Path(store.at(item.location)).exists()
        cleaning.join()
        assert Path(store.at(item.location)).exists()
        assert archive.check(deep=True).sound


def test_a_table_whose_file_was_deleted_while_its_process_slept_is_not_registered(tmp_path, monkeypatch):
    with provenn.open(tmp_path, who="Ada") as archive:
        table = pa.table({"id": [1, 2]})
        real = Base.of

        def sleeping(*arguments, **named):
            for path in (tmp_path / "store" / "given").rglob("*.parquet"):
                path.unlink()
            return real(*arguments, **named)

        monkeypatch.setattr(Base, "of", sleeping)
        with pytest.raises(FilesMissingError, match="ingest it again"):
            archive.ingest("given", table, key="id", population="source")
        monkeypatch.undo()
        assert list(archive) == []
        archive.ingest("given", table, key="id", population="source")
        assert archive.check(deep=True).sound


def test_a_folder_that_is_overwritten_is_there_all_the_time_and_never_lost(tmp_path, monkeypatch):
    target, parent = tmp_path / "out", DataFolder.of(tmp_path)
    target.mkdir()
    (target / "old").touch()
    with open_writing_folder(parent, "out") as name:
        (tmp_path / name / "result").mkdir()
        placing.publish(parent, name, "out", overwrite=True)
        assert (tmp_path / name / "result" / "old").exists(), "both have changed places at once"
    assert list(target.iterdir()) == []
    (target / "old").touch()
    monkeypatch.setattr(placing, "publish_instead", lambda *_: False)
    monkeypatch.setattr(placing, "publish_new", fail)
    set_aside, calls = placing.set_aside, []
    monkeypatch.setattr(placing, "set_aside", lambda *paths: fail() if calls else calls.append(set_aside(*paths)))
    with open_writing_folder(parent, "out") as name:
        (tmp_path / name / "result").mkdir()
        with pytest.raises(StoreError):
            placing.publish(parent, name, "out", overwrite=True)
    assert (tmp_path / name / "result-before" / "old").exists(), "the only copy"


def fail(*_: object) -> None:
    raise OSError(errno.ENOSPC, "no space")
