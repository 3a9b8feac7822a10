"""`provenn warm` without a Spark: what it says when none is warm, and wrong uses; tests/spark/warm has the rest."""

import json

import pytest

from provenn.cli import warm as command
from provenn.spark.warm import asking, folder
from provenn.spark.warm.messages import listen_on
from tests.cli.archive_session import Session


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("PROVENN_WARM")
    return tmp_path


@pytest.fixture
def session(cache):
    return Session(cache)


def test_without_a_warm_spark_that_is_said(session):
    """Neither --status nor --stop starts anything, or makes a folder."""
    assert session("warm --status") == "no Spark is warm; `provenn warm` starts one\n"
    assert session("warm --stop") == "no Spark is warm\n"
    assert session.json("warm --status") == session.json("warm --stop") == {"warm": False}
    assert folder.find_warm_folder() is None


def test_options_that_contradict_each_other_are_refused(session):
    """--now belongs to --stop, which does not go with --status; no Spark lives for no time."""
    assert "--now needs --stop" in session.fails("warm --now")
    assert "choose one of" in session.fails("warm --stop --status")
    assert "--idle" in session.fails("warm --idle 0")


def test_a_folder_that_others_could_write_is_an_error(session):
    """Nothing is started there, and the error says what to do."""
    folder.make_warm_folder().path.chmod(0o777)
    for options in ("", "--status", "--stop"):
        assert "not yours alone" in session.fails(f"warm {options}")
    result = session.run("warm --json")
    assert json.loads(result.stdout)["error"]["kind"] == "EngineError"
    assert result.exit_code == 2


def test_a_keeper_that_does_not_start_is_told_with_its_reason(session, monkeypatch):
    """The last line of the log is the reason."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    message = session.fails("warm")
    assert "Spark cannot be kept warm" in message
    assert "Spark cannot be started on local[*]: " in message


def test_no_spark_is_warmed_that_no_command_would_use(session, monkeypatch):
    """Found by random commands in tests, where warm Sparks are switched off: a keeper was left behind."""
    monkeypatch.setenv("PROVENN_WARM", "off")
    assert "unset PROVENN_WARM" in session.fails("warm")
    assert folder.find_warm_folder() is None


def test_the_status_names_users_and_obstacles(monkeypatch):
    """A command that uses it, a reason not to use it, and the switch are told."""
    status = asking.WarmStatus(7, "m-7-1", 0.0, 1800.0, None, ("'provenn store' (8)",), 3, "", "it has another Java")
    monkeypatch.setenv("PROVENN_WARM", "off")
    text = command._describe(status)
    for part in (
        "process 7",
        "used by: 'provenn store' (8)",
        "30 minutes",
        "it has another Java",
        "PROVENN_WARM is off",
    ):
        assert part in text
    assert command._make_data(status, is_stopped=False)["usable"] is False
    assert command._describe_end(status) == "Spark has ended"


def test_the_doctor_tells_of_a_keeper_that_died(session):
    """A socket on which nobody listens is a warning with a hint."""
    (check,) = [check for check in session.json("doctor")["checks"] if check["check"] == "warm Spark"]
    assert check["state"] == "ok"
    listen_on(folder.make_warm_folder().socket).close()
    (check,) = [check for check in session.json("doctor")["checks"] if check["check"] == "warm Spark"]
    assert (check["state"], "has died" in check["message"]) == ("warning", True)
