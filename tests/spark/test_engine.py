"""The engine: sessions of its own, wherever Spark runs; what it did not start, it does not touch."""

import os
import subprocess
import sys

import pytest

from provenn.errors import EngineError
from provenn.spark import engine as module
from provenn.spark.engine import Engine
from provenn.spark.settings import SETTINGS
from tests.spark.fresh import run
from tests.spark.processes import HOME

# Bound by nobody, on loopback: refused at once.
NOBODY = "127.0.0.1:9"


def test_nothing_starts_before_it_is_needed():
    engine = Engine("local[2]")
    assert not engine.is_started
    engine.close()
    assert repr(engine) == "<Engine on local[2]>"


@pytest.mark.parametrize("spark", ["", "nonsense", "http://host", "spark://", "sc://", "local[", 3, object(), Engine])
def test_what_is_neither_a_url_nor_a_session_is_refused_at_once(spark):
    with pytest.raises(EngineError, match="neither the URL of a Spark nor a session") as caught:
        Engine(spark)
    assert "sc://host:15002" in caught.value.hint


@pytest.mark.parametrize("url", [f"spark://{NOBODY}", f"spark://{NOBODY},{NOBODY}", f"sc://{NOBODY}/;user_id=me"])
def test_a_spark_that_does_not_answer_is_told_at_once(url):
    with pytest.raises(EngineError, match=f"no Spark answers at {url}: Connection refused"):
        _ = Engine(url).session


def test_a_host_that_does_not_exist_is_told():
    with pytest.raises(EngineError, match=r"no Spark answers at sc://host\.invalid"):
        _ = Engine("sc://host.invalid").session


def test_engines_share_one_spark_but_not_their_sessions(engine):
    with Engine() as another:
        assert another.session.sparkContext is engine.session.sparkContext
        another.session.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
        assert engine.session.conf.get("spark.sql.session.timeZone") == "UTC"
    assert engine.session.range(3).count() == 3, "closing one leaves the others"


def test_a_process_cannot_use_two_sparks_at_once(engine):
    assert engine.session.sparkContext.master == "local[2]"
    with pytest.raises(EngineError, match=r"already runs Spark on local\[2\], so it cannot run it on local\[1\]"):
        _ = Engine("local[1]").session


def test_a_session_of_the_users_is_used_through_another(engine):
    theirs = engine.session.newSession()
    theirs.conf.set("spark.sql.caseSensitive", "false")
    with Engine(theirs) as ours:
        assert {name: ours.session.conf.get(name) for name in SETTINGS} == SETTINGS
        assert not ours.is_remote
    assert theirs.conf.get("spark.sql.caseSensitive") == "false"
    assert theirs.range(3).count() == 3


def test_progress_ends_with_all_tasks_on_a_spark_that_forgets_stages():
    """In a process of its own: Spark forgets a stage after a thousand, this one after two."""
    done = run(
        """
from pyspark.sql import SparkSession
theirs = (
    SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.ui.retainedStages", "2")
    .config("spark.ui.showConsoleProgress", "false").getOrCreate()
)
from provenn.spark.engine import Engine
from provenn.spark.progress import watch_run
for _ in range(3):
    seen = []
    with watch_run(Engine(theirs), "counting", seen.append):
        assert theirs.range(0, 8, 1, 8).groupBy("id").count().count() == 8
        theirs.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(60_000)
    print(seen[-1].tasks_done == seen[-1].tasks >= 8)
"""
    )
    assert done.stdout.split() == ["True"] * 3, done.stderr


def test_what_the_user_started_is_neither_stopped_nor_changed():
    """In a process of its own: a session with settings of the user's, used in three ways, then stopped by the user."""
    done = run(
        """
from provenn.spark.context import start_context
start_context("local[1]", brief=True)  # quickly; to the engines it is somebody else's
from pyspark.sql import SparkSession
theirs = SparkSession.builder.config("spark.sql.session.timeZone", "Asia/Tokyo").getOrCreate()
before = dict(theirs.conf.getAll), dict(theirs.sparkContext.getConf().getAll())
from provenn.errors import EngineError
from provenn.spark.engine import Engine
for spark in (theirs, None, "local[1]"):
    with Engine(spark) as engine:
        assert engine.session.conf.get("spark.sql.session.timeZone") == "UTC"
        assert engine.session.range(3).count() == 3
    assert (dict(theirs.conf.getAll), dict(theirs.sparkContext.getConf().getAll())) == before
    assert SparkSession.builder.getOrCreate() is theirs
    assert theirs.range(4).count() == 4, "it lives"
ours = Engine(theirs)
assert ours.session.range(5).count() == 5
theirs.stop()
for one in (ours, Engine(theirs)):
    try:
        one.session
    except EngineError as error:
        print(error)
"""
    )
    assert done.stdout.count("the Spark session that was given has been stopped") == 2, done.stderr
    assert done.stderr == ""


def test_an_embedded_spark_is_quiet_ends_with_its_last_engine_and_starts_again():
    """In a process of its own; what calculators print is not lost."""
    done = run(
        """
import logging, os, signal, sys, threading, time
from provenn.spark.engine import Engine
one, two = Engine("local[1]", brief=True), Engine()
session = one.session
process = session.sparkContext._gateway.proc
assert session.sparkContext.uiWebUrl is None
assert session.conf.get("spark.driver.host") == "127.0.0.1"
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert "SPARK_LOCAL_IP" not in os.environ, "the environment is as it was"
def printing(batches):
    print("from a calculator")
    yield from batches
frame = session.range(10)
assert frame.mapInArrow(printing, frame.schema).groupBy().count().collect()[0][0] == 10
assert two.session.range(3).count() == 3
one.close()
assert process.poll() is None, "another engine uses it"
two.close()
assert process.wait() == 0, "it has ended"
assert one.session.range(4).count() == 4, "and starts again"
os.kill(one.session.sparkContext._gateway.proc.pid, signal.SIGKILL)
from provenn.errors import EngineError
from provenn.spark.spark_errors import translate_errors
try:
    with translate_errors("counting"):
        frame = one.session.range(2).count()
except EngineError as error:
    print(error)
assert one.session.range(4).count() == 4
# Java dies while it is asked: stopped before, it leaves a question unread, so that the connection is reset.
process, asking = one.session.sparkContext._gateway.proc, threading.get_ident()
def kill():
    while sys._current_frames()[asking].f_code.co_name != "readinto":
        time.sleep(0.01)
    process.kill()
os.kill(process.pid, signal.SIGSTOP)
os.waitpid(process.pid, os.WUNTRACED)  # on a busy machine, it answers for a while before it stops
threading.Thread(target=kill).start()
print("again", one.session.range(4).count())
assert logging.root.handlers == []
""",
        SPARK_LOCAL_IP="",
    )
    assert done.stdout.splitlines()[-1:] == ["again 4"], done.stderr
    assert set(done.stderr.splitlines()) == {"from a calculator"}


def test_java_that_does_not_start_says_why(tmp_path):
    done = run(
        "from provenn.spark.engine import Engine\n"
        "from provenn.errors import EngineError\n"
        "try:\n"
        "    Engine('local[1]').session\n"
        "except EngineError as error:\n"
        "    print(error)\n",
        SPARK_DRIVER_MEMORY="1m",
        XDG_CACHE_HOME=str(tmp_path),
        PROVENN_CLASS_ARCHIVE="off",
    )
    assert "Spark cannot be started on local[1]: " in done.stdout
    assert "heap" in done.stdout.lower() or "memory" in done.stdout.lower(), done.stdout


def test_without_the_packages_of_connect_it_says_what_to_install():
    done = run(
        "import sys\n"
        "sys.modules['grpc'] = None\n"
        "from provenn.spark import engine\n"
        "engine._call = lambda url: None\n"
        "try:\n"
        "    engine.Engine('sc://localhost').session\n"
        "except engine.EngineError as error:\n"
        "    print(error)\n"
    )
    assert "pip install 'provenn[connect]'" in done.stdout, done.stderr


def test_connect_and_spark_itself_do_not_mix(engine, monkeypatch):
    assert engine.session.range(1).count() == 1
    monkeypatch.setattr(module, "_call", lambda _: None)
    with pytest.raises(EngineError, match="this process runs Spark itself"):
        _ = Engine("sc://localhost").session


@pytest.mark.campaign
def test_under_spark_submit_it_uses_what_was_submitted(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from provenn.spark.engine import Engine\n"
        "with Engine() as engine:\n"
        "    print('master', engine.session.sparkContext.master, engine.session.range(3).count())\n"
    )
    done = subprocess.run(
        [HOME / "bin" / "spark-submit", "--master", "local[1]", script],
        env=os.environ | {"PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "master local[1] 3" in done.stdout, done.stderr
