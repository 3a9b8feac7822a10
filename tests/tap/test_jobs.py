"""Jobs of the TAP service: phases, parameters, limits, waiting, aborting, and what Spark does meanwhile."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import pyvo
from pyvo.dal.tap import AsyncTAPJob
from pyvo.utils.http import create_session

import provenn
from provenn import Archive
from provenn.web import create_app
from tests.tap.conftest import TestClient, make_stars
from tests.waiting import wait_until
from tests.web import calculations

UWS = "{http://www.ivoa.net/xml/UWS/v1.0}"
LATE = 'SELECT hip, late FROM "slow stars"'


def read_xml(content: bytes) -> ET.Element:
    return ET.fromstring(content)  # noqa: S314 - of our own server


def create(client: Any, query: str = "SELECT TOP 3 hip FROM stars", **parameters: str) -> str:
    """Create a job; return its path."""
    answer = client.post("/tap/async", data={"LANG": "ADQL", "QUERY": query, **parameters})
    assert answer.status_code == 303
    return answer.headers["location"].removeprefix("http://127.0.0.1")


def phase_of(client: Any, path: str) -> str:
    return client.get(f"{path}/phase").text


def wait_for(client: Any, path: str, *phases: str) -> None:
    wait_until(lambda: phase_of(client, path) in phases, f"the job is {phases}")


def text_of(client: Any, path: str, tag: str) -> str | None:
    element = read_xml(client.get(path).content).find(f".//{UWS}{tag}")
    assert element is not None, tag
    return element.text


def count_active(archive: Any) -> int:
    return len(archive.context.workshop.pipeline().engine.session.sparkContext.statusTracker().getActiveJobsIds())


def test_a_job_waits_runs_and_ends(client):
    path = create(client, RUNID="night 7", MAXREC="2")
    assert phase_of(client, path) == "PENDING"
    assert text_of(client, path, "runId") == "night 7"
    assert client.get(f"{path}/quote").text == ""
    assert client.get(f"{path}/owner").text == ""
    answer = client.post(f"{path}/phase", data={"PHASE": "RUN"})
    assert (answer.status_code, answer.headers["location"]) == (303, f"http://127.0.0.1{path}")
    wait_for(client, path, "COMPLETED", "ERROR")
    assert text_of(client, path, "phase") == "COMPLETED"
    links = [element.attrib for element in read_xml(client.get(f"{path}/results").content)]
    assert [link["id"] for link in links] == ["result", "plan"]
    assert b"OVERFLOW" in client.get(f"{path}/results/result").content
    assert "stars" in client.get(f"{path}/plan").text
    assert client.get(f"{path}/error").status_code == 404
    assert client.request("DELETE", path).status_code == 303
    assert client.get(path).status_code == 404


def test_parameters_change_until_the_job_starts(client):
    path = create(client)
    changed = {"QUERY": "SELECT hip FROM nowhere", "MAXREC": "1"}
    assert client.post(f"{path}/parameters", data=changed).status_code == 303
    values = {element.get("id"): element.text for element in read_xml(client.get(f"{path}/parameters").content)}
    assert values == {"LANG": "ADQL", "QUERY": "SELECT hip FROM nowhere", "MAXREC": "1"}
    client.post(path, data={"PHASE": "RUN"})
    wait_for(client, path, "ERROR")
    assert "nowhere" in client.get(f"{path}/error").text
    assert "nowhere" in (text_of(client, path, "message") or "")
    assert client.post(f"{path}/parameters", data={"QUERY": "SELECT 1"}).status_code == 400


def test_a_job_without_a_valid_query_ends_with_an_error(client):
    answer = client.post("/tap/async", data={"LANG": "NONE", "QUERY": "SELECT 1", "PHASE": "RUN"})
    path = answer.headers["location"].removeprefix("http://127.0.0.1")
    wait_for(client, path, "ERROR")
    assert "unknown LANG 'NONE'" in client.get(f"{path}/error").text


def test_limits_are_within_those_of_the_service(client):
    path = create(client)
    assert client.get(f"{path}/executionduration").text == "600"
    client.post(f"{path}/executionduration", data={"EXECUTIONDURATION": "30"})
    assert client.get(f"{path}/executionduration").text == "30"
    client.post(f"{path}/executionduration", data={"EXECUTIONDURATION": "999999"})
    assert client.get(f"{path}/executionduration").text == "3600"
    assert client.post(f"{path}/executionduration", data={"EXECUTIONDURATION": "soon"}).status_code == 400
    wanted = datetime.now(UTC) + timedelta(hours=2)
    client.post(f"{path}/destruction", data={"DESTRUCTION": wanted.isoformat()})
    assert client.get(f"{path}/destruction").text[:16] == wanted.isoformat()[:16]
    for wrong in ("tomorrow", "0001-01-01T00:00:00+23:00", "9999-12-31T23:59:59-23:59"):
        assert client.post(f"{path}/destruction", data={"DESTRUCTION": wrong}).status_code == 400
    client.post(f"{path}/destruction", data={"DESTRUCTION": "2001-01-01T00:00:00Z"})
    assert client.get(path).status_code == 404, "its time has come"


def test_a_job_that_takes_too_long_is_stopped(client, archive):
    path = create(client, LATE, EXECUTIONDURATION="1", PHASE="RUN")
    wait_for(client, path, "ERROR")
    assert "longer than 1 seconds" in client.get(f"{path}/error").text
    wait_until(lambda: count_active(archive) == 0, "Spark stops the work")


def test_a_list_of_jobs_is_filtered(client):
    before = datetime.now(UTC)
    first, second = create(client), create(client, PHASE="RUN")
    wait_for(client, second, "COMPLETED")

    def listed(**filters: str) -> list[str]:
        root = read_xml(client.get("/tap/async", params=filters).content)
        return ["/tap/async/" + (element.get("id") or "") for element in root]

    assert {first, second} <= set(listed())
    assert first in listed(PHASE="PENDING")
    assert second not in listed(PHASE="PENDING")
    assert listed(LAST="1") == [second]
    assert set(listed(AFTER=before.isoformat())) == {first, second}
    for wrong in ({"PHASE": "DREAMING"}, {"LAST": "0"}, {"LAST": "x"}, {"AFTER": "then"}):
        assert client.get("/tap/async", params=wrong).status_code == 400


def test_waiting_ends_with_the_phase(client):
    path = create(client)
    assert client.get(f"{path}?WAIT=1").status_code == 200
    answers: list[bytes] = []
    waiting = threading.Thread(target=lambda: answers.append(client.get(f"{path}?WAIT=-1").content))
    waiting.start()
    client.post(f"{path}/phase", data={"PHASE": "ABORT"})
    waiting.join()
    assert b"ABORTED" in answers[0]
    assert client.get(f"{path}?WAIT=x&PHASE=ABORTED").status_code == 200, "nothing is left to wait for"
    assert client.post(f"{path}/phase", data={"PHASE": "RUN"}).status_code == 303
    assert phase_of(client, path) == "ABORTED"


def test_twenty_clients_and_a_long_job_at_once(address, archive):
    """Nobody fails; small queries are answered while a large one runs; and an aborted job stops its Spark."""
    with create_session() as session:
        _ask_beside_a_long_job(pyvo.dal.TAPService(address, session=session).submit_job(LATE), address, archive)


def _ask_beside_a_long_job(large: AsyncTAPJob, address: str, archive: Archive) -> None:
    large.run()
    wait_until(lambda: count_active(archive) > 0, "the large job computes")
    problems: list[BaseException] = []
    counts: dict[int, int] = {}

    def ask(number: int) -> None:
        try:
            with create_session() as session:
                own = pyvo.dal.TAPService(address, session=session)
                counts[number] = len(own.run_sync(f"SELECT hip FROM stars WHERE hip <= {number}"))  # noqa: S608 - a number
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a failure
            problems.append(error)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert counts == {number: number for number in range(1, 21)}
    assert large.phase == "EXECUTING", "the small queries did not wait for it"
    large.abort()
    assert large.phase == "ABORTED"
    wait_until(lambda: count_active(archive) == 0, "Spark stops the work")
    with pytest.raises(pyvo.dal.DALQueryError):
        large.fetch_result()


def test_a_job_that_is_deleted_stops_its_work(client, archive):
    path = create(client, LATE, PHASE="RUN")
    wait_until(lambda: count_active(archive) > 0, "the job computes")
    client.post(path, data={"ACTION": "DELETE"})
    assert client.get(path).status_code == 404
    wait_until(lambda: count_active(archive) == 0, "Spark stops the work")


@pytest.mark.parametrize(
    ("path", "data"),
    [("", {"ACTION": "BURN"}), ("/phase", {"PHASE": "FLY"}), ("/owner", {"OWNER": "me"}), ("/phase", {})],
)
def test_what_a_job_cannot_do_is_refused(client, path, data):
    job = create(client)
    assert client.post(job + path, data=data).status_code == 400
    assert client.get(f"{job}/nothing").status_code == 404
    assert client.get("/tap/async/nothing").status_code == 404


@pytest.mark.parametrize(
    "data",
    [{"PHASE": "banana"}, {"EXECUTIONDURATION": "long"}, {"PHASE": "RUN", "DESTRUCTION": "tomorrow"}],
    ids=["phase", "duration", "destruction"],
)
def test_a_refused_request_leaves_no_job(client, data):
    before = client.get("/tap/async").text
    assert client.post("/tap/async", data={"LANG": "ADQL", "QUERY": "SELECT hip FROM stars", **data}).status_code == 400
    assert client.get("/tap/async").text == before


def test_an_expired_job_is_deleted_although_nobody_asks_for_it(archive, monkeypatch):
    """The files of the job are deleted, too: an answer may be large, and its owner may never come back."""
    monkeypatch.setattr("provenn.web.app.SWEEP_SECONDS", 0.05)
    app = create_app(archive)
    with TestClient(app, base_url="http://127.0.0.1", follow_redirects=False) as client:
        path = create(client, UPLOAD="mine,param:table")
        jobs = app.state.people.tap_jobs
        (folder,) = {work.folder for work in jobs._works.values()}
        assert folder.exists()
        jobs.change(path.rpartition("/")[2], destruction=datetime.now(UTC))
        wait_until(lambda: not folder.exists(), "the files of the job are deleted")
        assert client.get(path).status_code == 404


@pytest.mark.parametrize("order", ["", " ORDER BY hip"])
def test_a_narrower_query_is_read_from_what_a_query_stored(engine, tmp_path, order):
    """What a calculator gave for a first query is kept, and serves a second query inside of the first."""
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", who="ada", progress=False, notify=False, spark=master) as archive:
        stars = archive.ingest("stars", make_stars(), key="hip", population="star")
        archive.calculator("doubled", calculations.doubled, inputs=["vmag"], outputs={"twice": "double"})
        stars.derive("doubled", name="doubled stars")
        plans = []
        with TestClient(create_app(archive), base_url="http://127.0.0.1", follow_redirects=False) as client:
            for limit in (6, 4):
                query = f'SELECT hip, twice FROM "doubled stars" WHERE vmag < {limit}{order}'  # noqa: S608 - own values
                path = create(client, query, PHASE="RUN")
                wait_for(client, path, "COMPLETED", "ERROR")
                assert phase_of(client, path) == "COMPLETED", client.get(f"{path}/error").text
                links = [element.attrib["id"] for element in read_xml(client.get(f"{path}/results").content)]
                assert links == ["result", "plan"]
                plans.append(client.get(f"{path}/plan").text.partition("As computed")[2])
    assert "calculations:doubled" in plans[0]
    assert "reuse: read hip, twice, vmag from fragment #1" in plans[1]
