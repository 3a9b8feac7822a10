"""A warm Spark: the answers of commands on it, whom it serves, and what happens when somebody dies."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from provenn.spark.warm.messages import connect_socket, read_message, send_message
from tests.archive.samples import write_parquet
from tests.permissions import drop_root
from tests.spark.elsewhere import run_core
from tests.spark.warm.keeping import Warm, find_children, is_running, keep_warm
from tests.waiting import FOR_EVER, wait_until

ATTACH = """
import sys
from provenn.spark.engine import Engine, attach_session
engine = Engine("warm")
if attach_session(engine._confinement, lambda reason: print("refused:", reason)) is None:
    sys.exit("it would start a Spark of its own")
session = engine.session
print(type(session.sparkContext).__name__)
"""
HOLD = f"{ATTACH}\nsys.stdin.readline()\nengine.close()\n"
FOR_LONG = f"""{ATTACH}
import time
from pyspark.sql.functions import udf
session.sparkContext.addJobTag("work")
print("working")
session.range(4).select(udf(lambda number: time.sleep({FOR_EVER}))("id")).collect()
"""
ON_WARM, ON_OWN = "AttachedContext\n", "it would start a Spark of its own\n"


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    with keep_warm(tmp_path_factory.mktemp("cache")) as place:
        yield place


@pytest.fixture
def archive(tmp_path):
    """A program's folder with stars and a calculator that tells where it runs."""
    write_parquet(tmp_path / "stars.parquet")
    (tmp_path / "telling.py").write_text(TELLING)
    return tmp_path


TELLING = """
import os
import pandas as pd

def tell(batch):
    print("calculating")
    text = f"{VERSION} {os.environ.get('SWIRE_DATA')} {os.environ.get('PGPASSWORD')} {os.getcwd()}"
    return pd.DataFrame({"told": [text] * len(batch)})

VERSION = 1
"""


def tell(warm: Warm, archive: Path, name: str, **variables: str) -> tuple[str, str]:
    """Compute the calculator anew in a fresh archive; return its value, and all that the command writes."""
    commands = [
        ("init",),
        ("ingest", "stars", archive / "stars.parquet", "--key", "hip", "--population", "star"),
        ("calculator", "tell", "telling:tell", "--input", "vmag", "--output", "told=string"),
        ("derive", "stars", "--calculator", "tell", "--name", "told"),
    ]
    place = {"PROVENN_ARCHIVE": str(archive / name), "PYTHONSAFEPATH": ""}
    for command in commands:
        warm.run_python("-m", "provenn", *command, cwd=archive, **place)
    written = warm.run_python("-m", "provenn", "head", "told", "--json", cwd=archive, **place, **variables)
    return written, warm.ask()["served"]


def test_the_core_gives_the_same_answers_on_a_warm_spark(warm):
    """The tests that hold wherever Spark runs hold there: settings, joins, files, calculators and their errors."""
    served = warm.ask()["served"]
    run_core("warm", XDG_CACHE_HOME=str(warm.cache), PROVENN_WARM="")
    assert warm.ask()["served"] > served


def test_a_command_uses_it_and_variables_and_options_choose_another(warm):
    """PROVENN_WARM=off, another setting and another user of Java lead to a Spark of one's own, with a reason."""
    assert warm.run_python("-c", ATTACH) == ON_WARM
    assert warm.run_python("-c", ATTACH, code=1, PROVENN_WARM="off") == ON_OWN
    reason = "refused: it was started with another value of the environment variable AWS_PROFILE\n"
    assert warm.run_python("-c", ATTACH, code=1, AWS_PROFILE="other") == reason + ON_OWN


def test_strangers_and_calculators_are_refused(warm):
    """Neither another user, nor a calculator, nor anybody without the secret of a command gets to its Java."""
    with warm.start(HOLD) as command:
        assert command.stdout.readline() == ON_WARM
        socket_path = warm.folder / "socket"
        if os.geteuid() == 0:
            with drop_root(), pytest.raises(PermissionError):
                connect_socket(socket_path)
        wish = {"want": "attach", "surroundings": {}}
        program = f"""
import ctypes
from pathlib import Path
from provenn.spark.warm.messages import *
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # as every worker does
connection = connect_socket(Path({str(socket_path)!r}))
send_message(connection, {wish!r})
print(read_message(connection))
"""
        answer = warm.run_python("-c", program)
        assert "'it is not for calculators'" in answer or "NoNewPrivs:\t1" in Path("/proc/self/status").read_text()
        ports = list_ports(find_children(warm.ask()["pid"]))
        assert ports, "the gateway of the command listens"
        for port in ports:
            for greeting in ("", "A\nwrong\ne\n"):
                assert not call_java(port, greeting), "nobody gets an answer without the secret"
        command.stdin.close()
    for path in (warm.folder, socket_path):
        assert path.stat().st_uid == os.getuid()
        assert not path.stat().st_mode & 0o077


def list_ports(pids):
    """Return the ports on which processes listen; all of them on loopback."""
    inodes = {link.readlink().name for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    ports = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                address, port = fields[1].split(":")
                raw = b"".join(struct.pack("=I", int(address[at : at + 8], 16)) for at in range(0, len(address), 8))
                assert raw[-4:] in (b"\x7f\0\0\1", b"\0\0\0\1"), "loopback alone"
                ports.append(int(port, 16))
    return ports


def call_java(port, greeting):
    """Return whether Java runs a command of py4j for somebody who begins with a greeting."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(f"{greeting}c\nz:java.lang.System\nexit\ni3\ne\n".encode())
            return connection.recv(100).startswith(b"!y")
    except OSError:
        return False


def test_two_commands_at_once_share_neither_views_nor_settings(warm):
    """Each command has a session of its own."""
    more = "session.range(3).createOrReplaceTempView('mine'); session.conf.set('spark.sql.ansi.enabled', 'true')"
    with warm.start(HOLD.replace("sys.stdin", f"{more}\nprint('ready')\nsys.stdin")) as command:
        assert [command.stdout.readline() for _ in range(2)] == [ON_WARM, "ready\n"]
        answer = warm.run_python(
            "-c", f"{ATTACH}\nprint(session.catalog.listTables(), session.conf.get('spark.sql.ansi.enabled'))"
        )
        assert answer == f"{ON_WARM}[] false\n"
        assert len(warm.ask()["commands"]) == 1
        command.stdin.close()


def test_calculators_run_as_if_the_command_had_started_spark(warm, archive):
    """They get its variables and folder, and no secrets; they print to it; and a changed module is imported anew."""
    options = {"SWIRE_DATA": "/data", "PROVENN_CALCULATORS_ENVIRONMENT": "SWIRE_DATA", "PGPASSWORD": "secret"}
    before = warm.ask()["served"]
    written, served = tell(warm, archive, "first", **options)
    assert served > before
    assert f"1 /data None {archive}" in written
    assert "calculating" in written
    (archive / "telling.py").write_text(TELLING.replace("VERSION = 1", "VERSION = 2"))
    written, _ = tell(warm, archive, "second")
    assert f"2 None None {archive}" in written
    wait_until(lambda: not warm.count_guests(), "the folders of commands vanish")


def test_a_command_that_is_killed_leaves_no_jobs_and_no_processes(warm):
    """The keeper cancels its jobs and ends its workers, and does not wait for what would take for ever."""
    with warm.start(FOR_LONG) as command:
        assert [command.stdout.readline() for _ in range(2)] == [ON_WARM, "working\n"]
        wait_until(lambda: any(warm.folder.glob("provenn-guest-*/daemon-*")), "workers start")
        (mark,) = warm.folder.glob("provenn-guest-*/daemon-*")
        daemon = int(mark.name.split("-")[-2])
        wait_until(lambda: bool(find_children(daemon)), "a worker starts")
        workers = find_children(daemon)
        command.kill()
    wait_until(lambda: not warm.ask()["commands"], "the keeper notices")
    wait_until(lambda: not any(map(is_running, [daemon, *workers])), "its workers end")
    active = "print(list(session.sparkContext.statusTracker().getActiveJobsIds()))"
    assert warm.run_python("-c", f"{ATTACH}\n{active}") == f"{ON_WARM}[]\n"


def test_messages_that_are_none_harm_nobody(warm):
    """Whatever comes over the socket, the keeper goes on."""
    for sent in (b"", b"\n", b"[]\n", b'{"want": 7}\n', b"\xff" * 300_000):
        with connect_socket(warm.folder / "socket") as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(10)
            except OSError:
                continue
    assert warm.ask()["usable"]


def test_a_second_start_finds_the_first_and_a_stop_waits_for_commands(warm):
    """Last of the module: `provenn warm` tells of the Spark that is there; --stop ends it after its commands."""
    status = warm.ask()
    assert json.loads(warm.run("warm", "--json"))["pid"] == status["pid"]
    assert "warm spark" in warm.run("doctor", code=None).lower()
    with warm.start(HOLD) as command:
        assert command.stdout.readline() == ON_WARM
        assert "Spark ends after" in warm.run("warm", "--stop")
        assert "ends after these commands" in warm.run("warm", "--status")
        assert warm.run_python("-c", ATTACH, code=1) == f"refused: it is ending\n{ON_OWN}"
        assert is_running(status["pid"])
        command.stdin.close()
    wait_until(lambda: not is_running(status["pid"]), "the keeper ends")
    assert warm.run("warm", "--stop") == "no Spark is warm\n"
    assert warm.run("warm", "--status").startswith("no Spark is warm")
    assert {path.name for path in warm.folder.iterdir()} <= {"lock", "log", "spark-warehouse"}


def test_two_starts_at_once_make_one_and_a_keeper_that_is_killed_is_noticed(tmp_path):
    """A keeper that dies takes its Java along; commands go on with their own; the next start needs no help."""
    warm = Warm(tmp_path)
    program = [sys.executable, "-m", "provenn", "warm", "--json"]
    starts = [subprocess.Popen(program, env=warm.make_environment(), stdout=subprocess.PIPE) for _ in range(2)]
    pids = {json.loads(start.communicate()[0])["pid"] for start in starts}
    assert len(pids) == 1
    (pid,) = pids
    with warm.start(FOR_LONG.replace("collect()", "collect()\n")) as command:
        children = find_children(pid)
        assert [command.stdout.readline() for _ in range(2)] == [ON_WARM, "working\n"]
        os.kill(pid, signal.SIGKILL)
        assert command.wait() != 0, "the command does not wait for ever"
    wait_until(lambda: not any(map(is_running, children)), "Java ends with its keeper")
    assert not warm.ask()["warm"]
    assert warm.run_python("-c", ATTACH, code=1).startswith("refused: it does not answer")
    with keep_warm(tmp_path) as again:
        pid = again.ask()["pid"]
        (again.folder / "socket").unlink()
        wait_until(lambda: not is_running(pid), "a keeper whose socket vanishes ends")


def test_a_stop_while_spark_starts_ends_it(tmp_path):
    """Found by hand: it said that no Spark is warm, and the Spark came after all."""
    warm = Warm(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-m", "provenn", "warm"], env=warm.make_environment(), stderr=subprocess.PIPE, text=True
    ) as start:
        wait_until(lambda: "Spark is starting" in warm.run("warm", "--status"), "the keeper starts")
        stopped = warm.run("warm", "--stop")
        assert "Spark has ended" in stopped
        assert "as soon as it has started" in stopped
        start.communicate()  # ends, whether it has seen a Spark that was warm for a moment or not
    assert warm.run("warm", "--stop") == "no Spark is warm\n"


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_command_says_that_spark_has_ended_and_stores_nothing(archive, tmp_path, is_stopped):
    """Java dies in the middle of `store`: the archive is as before, and the command can be repeated.

    The command says whether Spark was stopped. A stop that waits can be hurried by another one.
    """
    with keep_warm(tmp_path / "cache") as warm:
        (archive / "telling.py").write_text(
            f"import time\n{TELLING}".replace("    print(", f"    time.sleep({FOR_EVER})\n    print(")
        )
        place = {"PROVENN_ARCHIVE": str(archive / "survey"), "PYTHONSAFEPATH": ""}
        for command in (
            ("init",),
            ("ingest", "stars", archive / "stars.parquet", "--key", "hip", "--population", "star"),
            ("calculator", "tell", "telling:tell", "--input", "vmag", "--output", "told=string"),
            ("derive", "stars", "--calculator", "tell", "--name", "told"),
        ):
            warm.run_python("-m", "provenn", *command, cwd=archive, **place)
        command = subprocess.Popen(
            [sys.executable, "-m", "provenn", "store", "told"],
            env=warm.make_environment(**place),
            cwd=archive,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: any(warm.folder.glob("provenn-guest-*/daemon-*")), "the calculator starts")
        keeper = warm.ask()["pid"]
        if is_stopped:
            assert "Spark ends after" in warm.run("warm", "--stop")
            assert warm.run("warm", "--stop", "--now") == "Spark has ended\n"
        for child in find_children(keeper):
            os.kill(child, signal.SIGKILL)
        said = command.communicate()[1]
        assert "Spark has ended" in said
        assert ("`provenn warm --stop --now` has ended" in said) == is_stopped
        assert ("out of memory" in said) != is_stopped
        assert command.returncode == 2
        wait_until(lambda: not is_running(keeper), "the keeper ends with its Java")
        assert "[]" in warm.run_python("-m", "provenn", "fragments", "--json", cwd=archive, **place)
        assert warm.run_python("-m", "provenn", "check", cwd=archive, **place)


def test_messages_are_whole_lines():
    """A message that comes in parts is read whole, and one that is too long is refused."""
    left, right = socket.socketpair()
    with left, right:
        send_message(left, {"want": "x" * 100_000})
        assert len(read_message(right)["want"]) == 100_000
        left.sendall(b'{"want": "half')
        left.close()
        with pytest.raises(ConnectionError):
            read_message(right)
