"""``provenn serve`` and ``provenn quota``: what their options do, and what is wrong with them."""

import json
import os
import signal
import subprocess
import sys

import httpx
import pytest

from tests.cli.archive_session import Session
from tests.waiting import LIMIT


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ("--proxy nonsense", "neither an address nor a network"),
        ("--proxy 0.0.0.0/0", "would trust everyone"),
        ("--user-header X-Remote-User", "only a trusted proxy may name the person"),
        ("--proxy 127.0.0.1 --user-header Cookie", "'Cookie' cannot be the name of a header"),
        ("--proxy 127.0.0.1", "no token exists"),
        ("--certificate nothing.pem", "cannot read --certificate nothing.pem"),
        ("--key nothing.pem", "--key needs --certificate"),
        ("--questions 0", "--questions"),
        ("--seconds 0", "--seconds"),
        ("--jobs-each x", "--jobs-each"),
        ("--tap-rows-most 0", "--tap-rows-most"),
        ("--tap-upload much", "expected a size such as 10GB"),
    ],
)
def test_what_is_wrong_with_an_option_is_told(survey: Session, options, told):
    assert told in " ".join(survey.fails(f"serve --port 0 {options}").replace("│", " ").split())


def test_limits_come_from_options_and_the_environment(survey: Session):
    command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json", "--archive", str(survey.folder)]
    environment = os.environ | {"PROVENN_CONNECTIONS_EACH": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen([*command, "--seconds", "30"], stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            address = json.loads(process.stdout.readline())["address"]
            with httpx.Client(timeout=LIMIT) as first:
                assert first.get(f"{address}api/catalogs").status_code == 200
                with httpx.Client(timeout=LIMIT) as second:
                    refused = second.get(f"{address}api/catalogs")
                assert refused.status_code == 503
                assert "1 connections are open from this address" in refused.text
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT)


# --- quotas ---


def test_quotas_are_set_shown_and_taken_away(survey: Session):
    assert survey("quota ls").startswith("no quotas\nhint: provenn quota set")
    shown = survey.json("quota set dan --stored 1.5GB --jobs 2")
    assert (shown["who"], shown["stored"], shown["jobs"]["limit"]) == ("dan", {"limit": 1_500_000_000, "used": 0}, 2)
    survey("quota set --everyone --questions 600 --downloads '20 MB'")
    assert "1.5 GB" in survey("quota show dan")
    assert "600" in survey("quota show dan"), "which holds for everybody"
    listed = survey.json("quota ls")
    assert {(one["who"], one["kind"], one["amount"]) for one in listed} == {
        ("dan", "stored", 1_500_000_000),
        ("dan", "jobs", 2),
        (None, "questions", 600),
        (None, "downloads", 20_000_000),
    }
    assert "everybody else" in survey("quota ls")
    survey("quota set dan --stored none --jobs none")
    survey("quota set --everyone --questions none --downloads none")
    assert survey.json("quota ls") == []
    assert "set quota" in survey("audit")


@pytest.mark.parametrize(
    "arguments",
    [
        "dan",
        "--jobs 1",
        "dan --everyone --jobs 1",
        "dan --jobs many",
        "dan --jobs 1.5",
        "dan --jobs -1",
        "dan --stored 5 apples",
        "dan --stored 1e400",
        "' dan' --jobs 1",
    ],
)
def test_what_is_no_quota_is_told(survey: Session, arguments):
    told = survey.fails(f"quota set {arguments}")
    assert "Traceback" not in told
    assert survey.json("quota ls") == []
