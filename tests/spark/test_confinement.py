"""What the processes that run calculators get, and as whom they run."""

import os
import pwd

import pytest

from provenn.errors import EngineError
from provenn.spark.confinement import Confinement
from provenn.spark.context import start_context
from provenn.spark.engine import Engine
from provenn.spark.plain_accumulators import _PlainValues
from provenn.spark.stopwatch import _SpanUnion
from provenn.spark.worker_environment import build_worker_environment

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can run processes as somebody else")

OWNER = {
    "PATH": "/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C",
    "PYTHONPATH": "/work",
    "PYTHON_WORKER_FACTORY_SECRET": "of Spark",
    "SPARK_REUSE_WORKER": "1",
    "OMP_NUM_THREADS": "1",
    "TMPDIR": "/scratch/ada",
}
SECRET = {
    "AWS_SECRET_ACCESS_KEY": "x",
    "PGPASSWORD": "x",
    "PROVENN_ARCHIVE": "x",
    "PYSPARK_GATEWAY_SECRET": "x",
    "PYSPARK_SUBMIT_ARGS": "--conf spark.some.password=x pyspark-shell",
    "SPARK_AUTH_SECRET": "x",
    "SPARK_SSL_KEY_PASSWORD": "x",
    "GITHUB_TOKEN": "x",
    "http_proxy": "http://ada:x@proxy",
}


def test_a_worker_gets_the_usual_variables_and_no_secrets():
    assert build_worker_environment(OWNER | SECRET) == OWNER


def test_a_worker_gets_what_is_named():
    named = {"SWIRE_DATA": "/data", "SWIRE_SET": "1", "GITHUB_TOKEN": "x"}
    assert build_worker_environment(OWNER | SECRET | named, named=["SWIRE_*", "GITHUB_TOKEN"]) == OWNER | named


def test_a_worker_of_another_user_has_a_home_of_its_own():
    kept = build_worker_environment(OWNER | {"XDG_CACHE_HOME": "/home/ada/.cache"}, user="calc", folder="/srv/calc")
    assert kept["HOME"] == kept["TMPDIR"] == "/srv/calc"
    assert kept["USER"] == kept["LOGNAME"] == "calc"
    assert "XDG_CACHE_HOME" not in kept


def test_variables_of_the_environment_say_it_where_nothing_else_does(monkeypatch):
    monkeypatch.setenv("PROVENN_CALCULATORS_ENVIRONMENT", "B, A_*")
    monkeypatch.delenv("PROVENN_CALCULATORS_AS", raising=False)
    assert Confinement.of() == Confinement("", ("A_*", "B"))
    assert Confinement.of(None, ("C",)) == Confinement("", ("C",))


@pytest.mark.parametrize("name", ["PGPASSWORD", "PG*", "PROVENN_ARCHIVE", "PROVENN_*"])
def test_calculators_cannot_be_given_what_leads_to_the_database(name):
    with pytest.raises(EngineError, match="may lead to the database"):
        Confinement.of(None, (name,))


@pytest.mark.parametrize("name", ["*", "A B", "A=1", "*_KEY", ""])
def test_what_is_no_name_of_a_variable_is_refused(name):
    with pytest.raises(EngineError, match="is not the name of a variable"):
        Confinement.of(None, (name,))


def test_an_unknown_user_is_refused():
    with pytest.raises(EngineError, match="unknown system user 'no such user'"):
        Confinement.of("no such user")


@as_root
def test_root_is_refused_as_another_user():
    with pytest.raises(EngineError, match="must not run as root"):
        Confinement.of("root")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can")
def test_only_root_can_run_calculators_as_somebody_else():
    with pytest.raises(EngineError, match="only root"):
        Confinement.of(pwd.getpwuid(os.getuid()).pw_name)


@as_root
def test_a_python_that_the_user_cannot_run_is_named(monkeypatch, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no module named pyspark' >&2\nexit 1\n")
    python.chmod(0o700)
    monkeypatch.setenv("PYSPARK_PYTHON", str(python))
    with pytest.raises(EngineError, match=f"the user nobody cannot run calculators with {python}"):
        Confinement.of("nobody").check_python()


def test_workers_elsewhere_cannot_be_given_another_user():
    only = "only on a Spark that provenn starts on this machine"
    with pytest.raises(EngineError, match=only):
        Engine("sc://host:15002", confinement=Confinement("nobody"))
    with pytest.raises(EngineError, match=only):
        start_context("spark://host:7077", confinement=Confinement("nobody"))


def test_of_what_workers_send_only_plain_values_are_read():
    serializer = _PlainValues()
    for value in (1, 1.5, "x", [1], {"a": 2}, (1.0, 2.0), {3}, complex(1, 2), None):
        assert serializer.loads(serializer.dumps((7, value))) == (7, value)

    class Bomb:
        def __reduce__(self):
            return print, ("code ran",)

    for refused in ((7, Bomb()), Bomb(), "text", ([1], 2), (1, 2, 3)):
        assert serializer.loads(serializer.dumps(refused)) == (-1, None)
    assert serializer.loads(b"no pickle") == (-1, None)


@pytest.mark.parametrize("update", ["xy", (1.0,), (1.0, "x"), None, 3, [1.0, 2.0]])
def test_a_stopwatch_leaves_out_what_is_no_span(update):
    assert _SpanUnion().addInPlace((1.0, 2.0), update) == (1.0, 2.0)
    assert _SpanUnion().addInPlace((1.0, 2.0), (0.5, 1.5)) == (0.5, 2.0)
