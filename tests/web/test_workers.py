"""Worker processes: the same pages as without them, for everybody their own, whatever happens to a worker."""

import os
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

import provenn
from provenn.archive.tokens import issue_token, revoke_token
from provenn.web import workers
from provenn.web.app import READING_PATHS
from provenn.web.serving import ServerLimits
from provenn.web.workers import Workers
from tests.waiting import LIMIT, wait_until
from tests.web.running import running

PAGES = ["/catalogs", "/catalogs/bright", "/catalogs/bright/lineage", "/compare?a=bright&b=faint", "/catalogs/nothing"]


@contextmanager
def serving(archive, number=2, **options):
    """Serve with workers; give a client and the pool, once all workers are ready."""
    pools = []
    made = Workers.__init__

    def construct(self, *arguments):
        made(self, *arguments)
        pools.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workers, "__init__", construct)
        with running(archive, limits=ServerLimits(workers=number), **options) as address:
            wait_until(lambda: len(pools[0].processes) == number, "the workers are ready")
            with httpx.Client(base_url=address, timeout=LIMIT) as client:
                yield client, pools[0]


@pytest.fixture(scope="module")
def survey(made, tmp_path_factory):
    folder = shutil.copytree(made, tmp_path_factory.mktemp("workers") / "survey")
    with provenn.open(folder, who="ada", progress=False, notify=False) as archive:
        yield archive


@pytest.fixture(scope="module")
def served(survey):
    """A server without accounts, for tests that end no worker."""
    with serving(survey) as opened:
        yield opened


def test_what_workers_answer_is_what_the_server_answers(survey, served):
    client, pool = served
    with running(survey) as alone:
        for path in [*PAGES, *(f"/api{path}" for path in PAGES)]:
            client.get(path)  # the first look at data leaves what was observed
            expected, answer = httpx.get(alone.rstrip("/") + path, timeout=LIMIT), client.get(path)
            assert (answer.status_code, answer.text) == (expected.status_code, expected.text), path
            kept = {"etag", "content-type", "cache-control", "content-security-policy", "vary"}
            assert {name: answer.headers.get(name) for name in kept} == {
                name: expected.headers.get(name) for name in kept
            }
            if "etag" in answer.headers:
                again = client.get(path, headers={"If-None-Match": answer.headers["etag"]})
                assert again.status_code == 304
    assert len(pool.processes) == 2


def test_pages_that_read_go_to_workers_and_others_stay(served, monkeypatch):
    client, pool = served
    asked = []
    ask = pool.ask

    async def note(question):
        asked.append(question)
        return await ask(question)

    monkeypatch.setattr(pool, "ask", note)
    headers = {"Cookie": "provenn_session=secret", "Authorization": "Bearer secret", "Accept": "text/html"}
    for path in (*PAGES, "/jobs", "/runs", "/target", "/quota", "/tap/capabilities", "/static/style.css"):
        client.get(path, headers=headers)
    assert [question["path"] for question in asked] == [path.partition("?")[0] for path in PAGES]
    assert not any("secret" in str(question) for question in asked)
    assert len(READING_PATHS) >= 10


def test_a_change_is_seen_by_every_worker_at_once(survey, served):
    client, _ = served
    for number in range(4):
        name = f"fresh {number}"
        survey.name(survey["bright"], name)
        for _ in range(4):
            assert name in client.get("/catalogs").text
            assert name in client.get("/api/catalogs/bright").json()["names"]


def test_many_clients_at_once_all_get_their_pages(served):
    client, _ = served
    expected = {path: client.get(path).text for path in PAGES}
    with ThreadPoolExecutor(8) as threads:
        asked = [path for path in PAGES for _ in range(6)]
        assert [expected[path] for path in asked] == [answer.text for answer in threads.map(client.get, asked)]


def test_the_end_of_a_worker_takes_nothing_along(survey, monkeypatch):
    monkeypatch.setattr(workers, "_PAUSE", 0.05)
    with serving(survey) as (client, pool):
        before = set(pool.processes)
        first, second = sorted(before)
        os.kill(first, signal.SIGKILL)
        for path in PAGES * 3:  # the other worker answers, and the questions of the first are asked again
            assert client.get(path).status_code == (404 if path.endswith("nothing") else 200)
        wait_until(lambda: len(pool.processes) == 2 and first not in pool.processes, "another takes its place")
        assert second in pool.processes
        for process in pool.processes:
            os.kill(process, signal.SIGKILL)
        wait_until(lambda: client.get("/catalogs").status_code == 200, "the server answers without workers")
        wait_until(lambda: len(pool.processes) == 2, "there are workers again")


def test_a_question_that_ends_every_worker_does_not_end_the_server(survey, monkeypatch):
    monkeypatch.setattr(workers, "_PAUSE", 0.05)
    with serving(survey) as (client, pool):
        send = workers._Worker.send

        def send_and_kill(self, message):
            send(self, message)
            if message.values.get("path") == "/catalogs/faint":
                os.kill(self.process.pid, signal.SIGKILL)

        monkeypatch.setattr(workers._Worker, "send", send_and_kill)
        answer = client.get("/catalogs/faint")
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert client.get("/jobs").status_code == 200
        wait_until(lambda: len(pool.processes) == 2, "there are workers again")
        assert client.get("/catalogs/bright").status_code == 200


def test_workers_end_with_the_server(survey):
    with serving(survey) as (_, pool):
        processes = pool.processes
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_people_see_their_own_part_and_state_stays_in_the_server(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "survey")
    with provenn.open(folder, who="ada", progress=False, notify=False) as archive:
        archive.name(archive["stars"].select("vmag < 2.5"), "top secret", visibility="private")
        tokens = {who: issue_token(archive, who, "author") for who in ("ada", "ben")}
        with serving(archive, tokens=True) as (client, _):

            def ask(who, path, **options):
                headers = {"Authorization": f"Bearer {tokens[who][1]}"}
                return client.get(path, headers=headers | options.pop("headers", {}), **options)

            for _ in range(3):
                assert "top secret" in ask("ada", "/catalogs").text
                assert "top secret" not in ask("ben", "/catalogs").text
            tag = ask("ada", "/catalogs/bright").headers["etag"]
            assert ask("ada", "/catalogs/bright", headers={"If-None-Match": tag}).status_code == 304
            assert ask("ben", "/catalogs/bright", headers={"If-None-Match": tag}).status_code == 200
            assert ask("ada", "/catalogs").headers["cache-control"] == "no-store"
            assert client.get("/catalogs").status_code == 401
            login = client.post("/login", data={"token": tokens["ben"][1], "next": "/catalogs"})
            assert login.status_code == 303
            assert all("Log out" in client.get("/catalogs").text for _ in range(4)), "a session holds in all workers"
            revoke_token(archive, tokens["ben"][0].number)
            assert all(client.get("/catalogs").status_code == 401 for _ in range(4)), "and ends in all workers"


def test_an_answer_that_depends_on_the_platform_is_left_to_the_server(survey, served, monkeypatch):
    client, pool = served
    answers = []
    ask = pool._ask_worker

    async def note(worker, question):
        answers.append(await ask(worker, question))
        return answers[-1]

    monkeypatch.setattr(pool, "_ask_worker", note)
    with survey.context.database.writing() as writing:
        writing.connection.exec_driver_sql("UPDATE facts SET platform = 'Java 1'")
    assert client.get("/compare?a=faint&b=bright").status_code == 200
    assert [answer.values.get("declined") for answer in answers] == [True]
