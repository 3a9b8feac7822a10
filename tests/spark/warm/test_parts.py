"""The parts of a warm Spark that need no Spark: its folder, its socket, and what commands must have in common."""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from provenn.errors import EngineError
from provenn.spark.warm import asking, folder, messages
from provenn.spark.warm.messages import connect_socket, listen_on, read_message, send_message
from provenn.spark.warm.surroundings import describe_surroundings, explain_difference
from provenn.spark.warm.worker_side import OUTPUT, follow_command, write_inheritance
from tests.permissions import drop_root


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENN_WARM")
    return tmp_path / "provenn"


def test_the_folder_is_of_one_person_alone(cache):
    """It is made so that nobody else looks into it, and one that others could write is not used."""
    assert folder.find_warm_folder() is None
    place = folder.make_warm_folder()
    assert place.path.stat().st_mode & 0o777 == 0o700
    assert folder.find_warm_folder() == folder.make_warm_folder() == place
    for mode in (0o770, 0o707, 0o750, 0o701):
        place.path.chmod(mode)
        for ask in (folder.find_warm_folder, folder.make_warm_folder, asking.find_warm_spark):
            with pytest.raises(EngineError, match="not yours alone"):
                ask()
    place.path.chmod(0o700)
    cache.chmod(0o777)
    with pytest.raises(EngineError, match="not yours alone"):
        folder.find_warm_folder()


@pytest.mark.usefixtures("cache")
def test_a_folder_of_others_a_link_and_a_file_are_refused(tmp_path):
    """Whoever can write to a cache cannot lead commands elsewhere."""
    place = folder.make_warm_folder()
    place.path.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    place.path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EngineError, match="is not a folder"):
        folder.find_warm_folder()
    place.path.unlink()
    place.path.touch()
    with pytest.raises(EngineError, match=r"cannot be made|is not a folder"):
        folder.make_warm_folder()
    place.path.unlink()
    if os.geteuid() == 0:
        place.path.mkdir(mode=0o700)
        os.chown(place.path, 65534, 65534)
        with pytest.raises(EngineError, match="not yours alone"):
            folder.find_warm_folder()


@pytest.mark.usefixtures("cache")
def test_a_cache_that_cannot_be_written_is_told(tmp_path):
    """No folder, no warm Spark; and the error says what to do."""
    tmp_path.chmod(0o555)
    with drop_root(), pytest.raises(EngineError, match="no folder for a warm Spark can be made"):
        folder.make_warm_folder()
    tmp_path.chmod(0o755)


@pytest.mark.usefixtures("cache")
def test_without_a_keeper_there_is_no_warm_spark():
    """Neither before a first start, nor with the socket of a keeper that was killed, nor if it is switched off."""
    assert not asking.may_attach()
    assert asking.find_warm_spark() is asking.stop_keeper() is None
    place = folder.make_warm_folder()
    listen_on(place.socket).close()
    assert asking.find_warm_spark() is None
    assert asking.may_attach(), "only attaching tells"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROVENN_WARM", "off")
        assert not asking.may_attach()


@pytest.mark.usefixtures("cache")
def test_a_stop_removes_what_a_killed_keeper_has_left_and_waits_for_one_that_starts(monkeypatch):
    place = folder.make_warm_folder()
    guest = place.path / "provenn-guest-1"

    def leave_remains():
        listen_on(place.socket).close()
        guest.mkdir()

    leave_remains()
    with place.lock.open("w") as lock:  # a keeper that starts Spark answers only when it is ready
        fcntl.flock(lock, fcntl.LOCK_EX)

        def end_start(_):
            """The keeper that starts ends, while the stop waits for it."""
            assert place.socket.exists()
            assert guest.exists()
            fcntl.flock(lock, fcntl.LOCK_UN)

        monkeypatch.setattr(asking.time, "sleep", end_start)
        assert asking.is_keeper_starting()
        assert asking.stop_keeper() is None
    assert {path.name for path in place.path.iterdir()} == {"lock"}
    assert not asking.may_attach()


_SILENT_KEEPER = """
import fcntl, sys, time
from provenn.spark.warm.folder import make_warm_folder
from provenn.spark.warm.messages import listen_on
folder = make_warm_folder()
lock = folder.lock.open("w")
fcntl.flock(lock, fcntl.LOCK_EX)
listener = listen_on(folder.socket)
print("ready", flush=True)
time.sleep(1e6)
"""


@pytest.mark.usefixtures("cache")
def test_a_keeper_that_does_not_answer_is_told_of_and_killed_at_once(monkeypatch):
    """As one that was stopped by Ctrl-Z, or whose Java hangs."""
    monkeypatch.setattr(messages, "_PATIENCE", 0.2)
    command = [sys.executable, "-c", _SILENT_KEEPER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as keeper:
        assert keeper.stdout.readline() == b"ready\n"
        assert not asking.is_keeper_starting()
        for ask in (asking.find_warm_spark, asking.stop_keeper):
            with pytest.raises(EngineError, match="does not answer") as caught:
                ask()
            assert caught.value.hint == "`provenn warm --stop --now` ends it"
        assert keeper.poll() is None
        assert asking.stop_keeper(now=True) is None
        assert keeper.wait() == -signal.SIGKILL
    place = folder.find_warm_folder()
    assert {path.name for path in place.path.iterdir()} == {"lock"}


def test_a_socket_far_down_works_and_is_of_one_person(tmp_path):
    """Addresses of sockets are short, paths are not."""
    far = tmp_path / ("x" * 150)
    far.mkdir()
    with listen_on(far / "socket") as listener, connect_socket(far / "socket") as connection:
        assert (far / "socket").stat().st_mode & 0o777 == 0o600
        accepted, _ = listener.accept()
        send_message(accepted, {"a": 1})
        assert read_message(connection) == {"a": 1}
        accepted.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can pretend to be another user")
def test_a_command_speaks_to_no_socket_of_another_user(tmp_path):
    """A stranger who listens where the keeper should learns nothing."""
    tmp_path.chmod(0o777)
    for parent in tmp_path.parents[:2]:
        parent.chmod(0o755)
    with drop_root():
        listener = socket.socket(socket.AF_UNIX)
        place = f"/tmp/provenn-test-{os.getpid()}"  # noqa: S108 - nobody can write to the folder of the tests
        listener.bind(place)
        listener.listen()
    try:
        with listener, pytest.raises(PermissionError, match="another user"):
            connect_socket(type(tmp_path)(place))
    finally:
        os.unlink(place)  # noqa: PTH108 - as bound


def test_everything_that_decides_answers_must_be_equal(monkeypatch):
    """Variables, rights and settings that change are named; secrets are not told."""
    before = describe_surroundings()
    assert explain_difference(before, describe_surroundings()) == ""
    for name in ("AWS_SECRET_ACCESS_KEY", "SPARK_CONF_DIR", "LC_ALL", "PYTHONPATH", "JAVA_TOOL_OPTIONS"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(name, "hidden value")
            now = describe_surroundings()
            assert "hidden value" not in str(now)
            assert explain_difference(before, now).endswith((name, "the configuration of Spark"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_DRIVER_MEMORY", "123m")
        assert "spark.driver.memory" in explain_difference(before, describe_surroundings())
    mask = os.umask(0o077)
    try:
        os.umask(mask ^ 0o070)
        assert explain_difference(before, describe_surroundings()).endswith("the umask")
    finally:
        os.umask(mask)
    for name in ("TERM", "PWD", "OLDPWD", "PROVENN_ARCHIVE", "PGPASSWORD"):
        monkeypatch.setenv(name, "whatever")
    assert explain_difference(before, describe_surroundings()) == "", "these decide nothing, or follow the command"


@pytest.mark.usefixtures("cache")
def test_a_keeper_ends_when_nobody_uses_it_and_when_java_dies(monkeypatch):
    """After its idle time it removes its socket; a Java that has died ends it at once."""
    from provenn.spark.warm import keeper  # noqa: PLC0415 - slow to import, with pyspark

    place = folder.make_warm_folder()
    listen_on(place.socket).close()  # of a keeper that was killed
    monkeypatch.setattr(keeper, "is_java_alive", lambda: True)
    assert keeper.Keeper(place, None, None, 0.0, {}, refuses_confined=True).run() == "no command has used it for 0 s"
    assert not place.socket.exists()
    monkeypatch.setattr(keeper, "is_java_alive", lambda: False)
    assert keeper.Keeper(place, None, None, 60.0, {}, refuses_confined=True).run() == "Java has died"


def test_workers_take_over_what_their_command_wrote_down(tmp_path):
    """The variables of the command, except those that Java sets; its folder; and its standard error."""
    os.mkfifo(tmp_path / OUTPUT)
    write_inheritance(tmp_path, {"SWIRE": "a", "LANG": "C", "PYTHONHASHSEED": "1"}, ["GIVEN"])
    program = f"""
import json, os
from provenn.spark.warm.worker_side import follow_command
result = follow_command({str(tmp_path)!r})
os.write(2, b"printed")
print(json.dumps([result, os.getcwd()]))
"""
    reader = os.open(tmp_path / OUTPUT, os.O_RDWR)
    environment = {"PATH": os.environ["PATH"], "PYTHONHASHSEED": "0", "GIVEN": "g", "SWIRE": "keeper's", "OTHER": "x"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, cwd="/", capture_output=True, check=True)
    result, place = json.loads(done.stdout)
    assert {"SWIRE": "a", "LANG": "C", "PYTHONHASHSEED": "0", "GIVEN": "g"}.items() <= result.items()
    assert "OTHER" not in result
    assert place == str(Path.cwd())
    assert os.read(reader, 100) == b"printed"
    os.close(reader)
    with pytest.raises(OSError, match="No such"):
        follow_command(str(tmp_path / "gone"))
