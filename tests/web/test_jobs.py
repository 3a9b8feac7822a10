"""Jobs: targets that the server computes, with progress, cancelled or failed, and files that are downloaded."""

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from astropy.table import Table
from pyarrow import parquet
from starlette.testclient import TestClient

import provenn
from provenn.errors import ProvennWarning
from provenn.web import create_app
from provenn.web.first_rows import read_first_rows
from provenn.web.guarding import guard_app
from provenn.web.job_threads import JobLimits
from tests.archive.samples import write_parquet
from tests.spark.conftest import engine
from tests.waiting import LIMIT, wait_until
from tests.web import calculations
from tests.web.reading import read
from tests.web.survey import ODD

__all__ = ["engine"]

SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "fits": ".fits", "votable": ".vot"}
TYPES = {
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv; charset=utf-8",
    "fits": "application/fits",
    "votable": "application/x-votable+xml",
}


@pytest.fixture(scope="module")
def archive(engine, tmp_path_factory) -> Iterator[provenn.Archive]:
    """An archive that computes in the Spark of all tests."""
    folder = tmp_path_factory.mktemp("jobs")
    with provenn.open(folder / "survey", progress=False, spark=engine.session.sparkContext.master) as opened:
        stars = opened.ingest("stars", write_parquet(folder / "stars.parquet"), key="hip", population="star")
        stars.derive(near="1000 / plx", name="near")
        stars.select("vmag < 6", name="bright").store(attributes=["vmag"])
        inputs = {"inputs": ["vmag"]}
        opened.calculator("doubled", calculations.doubled, outputs={"twice": "double"}, **inputs)
        opened.calculator("failing", calculations.failing, outputs={"never": "double"}, **inputs)
        opened.calculator("slow", calculations.slow, outputs={"late": "double"}, **inputs)
        yield opened


@pytest.fixture(scope="module")
def client(archive) -> Iterator[TestClient]:
    with TestClient(guard_app(create_app(archive)), base_url="http://127.0.0.1", follow_redirects=False) as opened:
        yield opened


def start(client, *attributes, sources="bright", **more) -> str:
    answer = client.post("/api/jobs", json={"sources": sources, "attributes": attributes, **more})
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == f"/api/jobs/{answer.json()['id']}"
    return answer.json()["id"]


def until(client, number, *states) -> dict:
    """Look at a job and at its page until it is in one of some states."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        job = client.get(f"/api/jobs/{number}").json()
        page = client.get(f"/jobs/{number}")
        assert page.status_code == 200
        read(page.text)
        assert "provenn-jobs" not in page.text, "where its file is"
        if job["state"] in states:
            return job
        assert job["state"] in ("waiting", "running"), job
        time.sleep(0.2)
    raise AssertionError(f"it is still {job}")


def sorted_rows(frame: pd.DataFrame) -> list[tuple]:
    return sorted(frame.itertuples(index=False, name=None))


READ = {
    "parquet": lambda data: parquet.read_table(io.BytesIO(data)).to_pandas(),
    "csv": lambda data: pyarrow.csv.read_csv(io.BytesIO(data)).to_pandas(),
    "fits": lambda data: Table.read(io.BytesIO(data), format="fits").to_pandas(),
    "votable": lambda data: Table.read(io.BytesIO(data), format="votable").to_pandas(),
}


@pytest.mark.parametrize("kind", READ)
def test_a_file_of_every_format_holds_what_the_target_gives(client, archive, kind):
    number = start(client, "vmag", "near", format=kind)
    job = until(client, number, "done", "failed")
    assert job["state"] == "done", job
    expected = archive.target("bright", ["vmag", "near"]).to_pandas()
    answer = client.get(f"/jobs/{number}/data")
    assert answer.status_code == 200
    assert sorted_rows(READ[kind](answer.content)) == sorted_rows(expected)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="bright{SUFFIXES[kind]}"'
    assert answer.headers["Content-Type"] == TYPES[kind]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert client.get(f"/api/jobs/{number}/data").content == answer.content
    assert (job["rows"], job["size"]) == (2, len(answer.content))
    assert job["first"]["columns"] == ["hip", "vmag", "near"]
    assert sorted([*map(float, row)] for row in job["first"]["rows"]) == [[1, 1.5, 10], [2, 5.9, 50]]
    assert job["seconds"] > 0
    page = client.get(f"/jobs/{number}").text
    assert "<td>5.9</td>" in page
    assert f'href="/jobs/{number}/data"' in page
    assert "progress.js" not in page


def test_a_form_starts_a_job_and_leads_to_it(client):
    form = {"sources": "bright", "attributes": ["vmag"], "format": "csv", "where": "", "missing": "error"}
    answer = client.post("/target/run", data=form, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code == 303
    number = answer.headers["Location"].removeprefix("/jobs/")
    job = until(client, number, "done")
    assert job["reused"] == ["vmag"], "it is stored"
    run = next(one for one in client.get("/api/runs").json()["runs"] if one["reused"] == ["vmag"])
    assert job["saved"] == run["saved"] >= 0
    shown = f"~{run['saved']:.1f} s, estimated from earlier computing times" if run["saved"] else "nothing"
    assert shown in client.get(f"/jobs/{number}").text
    listed = client.get("/api/jobs").json()["jobs"]
    assert listed[0]["id"] == number, "the latest first"
    assert f'href="/jobs/{number}"' in client.get("/jobs").text
    assert any(one["reused"] == ["vmag"] for one in client.get("/api/runs").json()["runs"])


def test_what_was_costly_is_kept_and_reused_by_the_next_job(client):
    first = until(client, start(client, "twice"), "done")
    assert (first["computed"], first["reused"]) == (["twice"], [])
    second = until(client, start(client, "twice"), "done")
    assert (second["computed"], second["reused"]) == ([], ["twice"])
    assert second["saved"] == client.get("/api/runs").json()["runs"][0]["saved"]


def test_a_job_says_on_which_declared_facts_it_rests(client, archive):
    archive["stars"].select("vmag < 4", name="brighter")
    with pytest.warns(ProvennWarning, match="brighter cannot have any source"):
        fact = archive.declare("disjoint(bright, brighter)", reason="a slip")
    page = client.get("/target", params={"sources": "brighter", "attributes": "vmag"})
    assert "<dt>rests on</dt><dd>fact #" in page.text
    plan = client.get("/api/target", params={"sources": "brighter", "attributes": "vmag"}).json()["plan"]
    assert plan["rests_on"] == [fact.words]
    assert plan["rows"] == {"low": 0, "high": 0, "estimate": 0}
    number = start(client, "vmag", sources="brighter")
    job = until(client, number, "done")
    assert (job["rows"], job["rests_on"], job["doubted"]) == (0, [fact.words], [])
    assert "disjoint(bright, brighter) (a slip)" in client.get(f"/jobs/{number}").text
    archive.retract(fact.id)
    hoped = archive["stars"].select("length(string(vmag)) > 100", name="brightest")
    archive.declare("nonempty(brightest)", reason="hope")
    job = until(client, start(client, "vmag", sources="brightest"), "done")
    assert (job["rows"], job["rests_on"]) == (0, [])
    assert "is no longer used: contradicted by observation" in job["doubted"][0]
    assert hoped.count() == 0


def test_a_job_that_fails_says_why_and_shows_nothing_of_the_program(client):
    number = start(client, "never")
    job = until(client, number, "done", "failed")
    assert job["state"] == "failed"
    assert "no luck with <b>1</b> column" in job["error"]
    assert "Traceback" not in job["error"] + job["hint"]
    page = client.get(f"/jobs/{number}").text
    assert "no luck with &lt;b&gt;1&lt;/b&gt; column" in page
    answer = client.get(f"/jobs/{number}/data")
    assert answer.status_code == 404
    assert "it is failed" in answer.text


def test_jobs_run_side_by_side_wait_their_turn_and_are_cancelled(client, archive):
    """Two run, the third waits; a cancelled one stops long before it would end, and others go on."""
    slow = [start(client, "late", keep="never") for _ in range(2)]
    for number in slow:
        until(client, number, "running")
    waiting, next_one = start(client, "late", keep="never"), start(client, "vmag")
    assert until(client, waiting, "waiting")["ahead"] == 0
    assert until(client, next_one, "waiting")["ahead"] == 1
    page = client.get(f"/jobs/{next_one}").text
    assert "1 other job before it" in page
    assert '<script src="/static/progress.js" defer>' in page
    assert '<noscript><meta http-equiv="refresh"' in page
    assert client.post(f"/api/jobs/{waiting}/cancel").json()["state"] == "cancelled", "it had not begun"
    writes = "writing the file: stage"
    wait_until(lambda: client.get(f"/api/jobs/{slow[0]}").json()["progress"].startswith(writes), "it writes its file")
    assert 0 <= client.get(f"/api/jobs/{slow[0]}").json()["share"] <= 1
    answer = client.post(f"/jobs/{slow[0]}/cancel", headers={"Sec-Fetch-Site": "same-origin"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/jobs/{slow[0]}")
    assert until(client, slow[0], "cancelled", "done", "failed")["state"] == "cancelled"
    assert until(client, next_one, "done")["rows"] == 2, "there is room for it now"
    assert client.get(f"/api/jobs/{slow[1]}").json()["state"] == "running", "it was not to be cancelled"
    client.post(f"/api/jobs/{slow[1]}/cancel")
    assert until(client, slow[1], "cancelled")
    assert client.get(f"/jobs/{slow[0]}/data").status_code == 404
    assert client.post(f"/api/jobs/{next_one}/cancel").json()["state"] == "done", "what has ended stays as it is"
    assert [run.outcome for run in archive.runs(most=5)].count("cancelled") == 2
    assert archive.target("bright", ["vmag"]).count() == 2, "Spark goes on"


@pytest.mark.parametrize("name", ODD)
def test_files_of_odd_names_are_named_safely(name):
    from provenn.web.jobs import JobRequest, _make_file_name  # noqa: PLC0415 - what a browser is told

    found = _make_file_name(JobRequest(name, ("vmag",), format="fits"))
    assert found.endswith(".fits")
    assert not set(found) & set('/\\:*?"<>|\r\n ')
    assert not found.startswith(".")


def test_the_server_stops_its_jobs_and_removes_their_files_when_it_ends(archive):
    app = create_app(archive)
    with TestClient(guard_app(app), base_url="http://127.0.0.1") as client:
        done = start(client, "vmag")
        until(client, done, "done")
        _, path = app.state.people.jobs.open_data(done)
        assert path.exists()
        late = start(client, "late", keep="never")
        until(client, late, "running")
    assert app.state.people.jobs.find_job(late).state == "cancelled"
    assert not path.parent.exists()


def test_the_oldest_jobs_go_with_their_files_and_no_more_than_some_wait(archive):
    app = create_app(archive, jobs_limits=JobLimits(kept=2))
    with TestClient(guard_app(app), base_url="http://127.0.0.1") as client:
        first = start(client, "vmag")
        until(client, first, "done")
        _, path = app.state.people.jobs.open_data(first)
        until(client, start(client, "near"), "done")
        until(client, start(client, "vmag"), "done")
        assert client.get(f"/jobs/{first}").status_code == 404
        assert not path.exists()
        late = [start(client, "late", keep="never") for _ in range(2)]
        answer = client.post("/api/jobs", json={"sources": "bright", "attributes": ["vmag"]})
        assert answer.status_code == 429
        assert "2 of your jobs are waiting or running, which is the limit" in answer.json()["error"]["message"]
        assert answer.headers["retry-after"] == "10"
        assert [client.post(f"/api/jobs/{number}/cancel").status_code for number in late] == [200, 200]


@pytest.mark.parametrize("number", ["0", "ffffffffffff", "..%2f..%2fetc", "<script>", "x" * 5000])
def test_a_job_that_does_not_exist_is_told(client, number):
    for path in (f"/jobs/{number}", f"/api/jobs/{number}", f"/jobs/{number}/data", f"/api/jobs/{number}/data"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "<script>" not in answer.text or answer.headers["Content-Type"] == "application/json"
    for path in (f"/jobs/{number}/cancel", f"/api/jobs/{number}/cancel"):
        assert client.post(path).status_code == 404
    assert client.post(f"/jobs/{number}/cancel", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get(f"/jobs/{number}/cancel").status_code in (404, 405)


# --- the first rows of files ---


def test_the_first_rows_of_an_empty_file_are_none(tmp_path):
    path = tmp_path / "empty.parquet"
    parquet.write_table(pa.table({"hip": pa.array([], pa.int64())}), path)
    found = read_first_rows(path, "parquet")
    assert (found.columns, found.rows) == (("hip",), ())


def test_missing_and_long_values_are_shown_as_such(tmp_path):
    path = tmp_path / "some.parquet"
    parquet.write_table(pa.table({"a": [None, "x" * 1000], "b": [1, None]}), path)
    found = read_first_rows(path, "parquet")
    assert found.rows == ((None, "1"), (f"{'x' * 200}…", None))


def test_only_a_few_rows_are_read(tmp_path):
    path = Path(tmp_path / "many.csv")
    path.write_text("a,b\n" + '1,"x, y"\n' * 100)
    found = read_first_rows(path, "csv")
    assert found.columns == ("a", "b")
    assert found.rows == (("1", "x, y"),) * 10
