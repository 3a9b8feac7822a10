"""Small questions are answered without Spark, and with the rows that Spark gives."""

# ruff: noqa: S608 - the queries are constants

import json
import os
import signal
import subprocess
import sys
from unittest import mock

import httpx
import pytest

import provenn
from provenn.archive.workshop import Workshop
from tests.tap.conftest import fill_archive
from tests.tap.test_sync import ask, error_of
from tests.waiting import LIMIT

CONE = "1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 30))"
SMALL = [
    "SELECT TOP 10 * FROM stars",
    "SELECT hip, vmag FROM stars WHERE vmag < 6 OR spect = 'G4'",
    "SELECT TOP 10 hip, vmag FROM stars ORDER BY vmag",
    "SELECT TOP 10 hip, vmag FROM stars ORDER BY vmag DESC, hip OFFSET 5",
    "SELECT hip FROM stars ORDER BY spect, vmag OFFSET 390",
    "SELECT spect FROM stars WHERE hip BETWEEN 5 AND 20 ORDER BY vmag DESC",
    f"SELECT * FROM stars WHERE {CONE}",
    f"SELECT TOP 3 hip FROM bright WHERE {CONE} ORDER BY vmag",
    f"SELECT COUNT(*) AS n FROM stars WHERE {CONE} AND vmag > 5",
    "SELECT hip FROM stars WHERE 0 = CONTAINS(POINT(ra, dec), POLYGON(10, 20, 30, 30, 20, 0))",
    "SELECT hip FROM stars WHERE 1 = CONTAINS(POINT(ra, dec), BOX(10, 20, 30, 30))",
    "SELECT hip FROM stars WHERE DISTANCE(ra, dec, 10, 20) < 30",
    "SELECT TOP 5 hip, 2 * vmag + 5 AS x FROM stars WHERE vmag / 2 < 4 ORDER BY x DESC",
    "SELECT COUNT(*) AS n FROM stars WHERE is_double = 'true' AND vmag < 0 AND vmag > 1",
    "SELECT s.hip, b.vmag FROM stars AS s JOIN bright AS b ON s.hip = b.hip",
    "SELECT hip FROM stars WHERE hip IN (SELECT hip FROM bright)",
]


@pytest.fixture
def any_engine(monkeypatch):
    """Let the service choose who reads: elsewhere, tests ask Spark."""
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)


@pytest.mark.parametrize("query", SMALL)
def test_small_questions_have_the_rows_of_spark(client, monkeypatch, query):
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)
    with mock.patch.object(Workshop, "pipeline", side_effect=AssertionError("Spark was wanted")):
        quick = ask(client, query, RESPONSEFORMAT="json")
    assert quick.status_code == 200, quick.text
    monkeypatch.setenv("PROVENN_ENGINE", "spark")
    slow = ask(client, query, RESPONSEFORMAT="json")
    rows = [answer.json()["rows"] for answer in (quick, slow)]
    if "TOP 10 *" in query:  # any rows will do
        assert [len(part) for part in rows] == [10, 10]
    elif "ORDER BY" in query:
        assert rows[0] == rows[1]
    else:
        assert sorted(rows[0], key=repr) == sorted(rows[1], key=repr)


@pytest.mark.parametrize("path", ["/scs/stars", "/scs/bright"])
def test_a_cone_search_has_the_rows_of_spark(client, monkeypatch, path):
    answers = []
    for engine in ("auto", "spark"):
        monkeypatch.setenv("PROVENN_ENGINE", engine)
        answers.append(client.get(f"{path}?RA=200&DEC=-10&SR=40&RESPONSEFORMAT=json").json())
    assert answers[0]["columns"] == answers[1]["columns"]
    assert sorted(answers[0]["rows"]) == sorted(answers[1]["rows"])
    assert answers[0]["rows"]


@pytest.mark.usefixtures("any_engine")
def test_a_plan_says_how_rows_are_sorted(client):
    job = client.post(
        "/tap/async", data={"LANG": "ADQL", "QUERY": "SELECT TOP 3 hip, vmag FROM stars ORDER BY vmag DESC"}
    )
    place = job.headers["location"].removeprefix("http://127.0.0.1")
    client.post(f"{place}/phase", data={"PHASE": "RUN"})
    client.get(f"{place}?WAIT=50")
    plan = client.get(f"{place}/plan").text
    assert "the rows are sorted by vmag descending, the key; 3 are taken" in plan


@pytest.mark.usefixtures("any_engine")
def test_an_offset_beyond_all_limits_is_refused(client):
    answer = ask(client, "SELECT hip FROM stars ORDER BY hip OFFSET 99999999999999")
    assert answer.status_code == 400
    assert "the limit is 1,000,000,000" in error_of(answer)


def test_no_jvm_starts_for_small_questions(tmp_path):
    """A server whose Java does not exist answers them; a question that needs Spark says so."""
    with provenn.open(tmp_path / "survey", progress=False, notify=False) as archive:
        fill_archive(archive)
    command = [sys.executable, "-m", "provenn", "serve", "--port", "0", "--json", "--archive", str(tmp_path / "survey")]
    environment = {key: value for key, value in os.environ.items() if key not in ("PROVENN_ENGINE", "SPARK_HOME")}
    environment |= {"JAVA_HOME": "/nowhere", "PATH": "/nowhere", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--seconds", str(LIMIT)], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            served = json.loads(process.stdout.readline())
            metadata = ["SELECT * FROM TAP_SCHEMA.columns", "SELECT COUNT(*) FROM stars"]
            for query in [*SMALL, *metadata, "SELECT COUNT(*) FROM stars"]:
                answer = httpx.get(f"{served['tap']}/sync", params={"LANG": "ADQL", "QUERY": query}, timeout=LIMIT)
                assert answer.status_code == 200, answer.text
            for path in ("tap/tables", "tap/capabilities", "tap/examples", "scs/stars?RA=10&DEC=20&SR=30"):
                assert httpx.get(f"{served['address']}{path}", timeout=LIMIT).status_code == 200
            grouped = {"LANG": "ADQL", "QUERY": "SELECT spect, COUNT(*) AS n FROM stars GROUP BY spect"}
            assert "Spark cannot be started" in httpx.get(f"{served['tap']}/sync", params=grouped, timeout=LIMIT).text
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(LIMIT)
