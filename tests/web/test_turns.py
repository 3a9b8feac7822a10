"""Questions come in turn, a person's many do not delay another person's, and what nobody waits for stops."""

import asyncio
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
from hypothesis import given
from hypothesis import strategies as st
from starlette.concurrency import run_in_threadpool

from provenn import deadline
from provenn.errors import DeadlineError
from provenn.people.tokens import Role
from provenn.web.accounts import Account, act_as
from provenn.web.fairness import FairQueue
from provenn.web.guarding import guard_app
from provenn.web.job_threads import JobLimits, JobThreads
from provenn.web.limits import Limits
from provenn.web.questions import Question
from provenn.web.turns import TurnLimits, Turns, make_person_key
from tests.waiting import LIMIT, wait_until
from tests.web.running import running_app

READER: Role = "reader"


class Archive:
    """An application that answers questions on threads: it counts them, and holds them until it is told to go on."""

    def __init__(self, *, stoppable: bool = True) -> None:
        self.go_on = threading.Event()
        self.lock = threading.Lock()
        self.started: list[str] = []
        self.ended: list[str] = []
        self.stopped: list[str] = []
        self.stoppable = stoppable

    def work(self, path: str) -> None:
        with self.lock:
            self.started.append(path)
        try:
            while path.startswith("/api/heavy") and not self.go_on.wait(0.005):
                if self.stoppable:
                    deadline.check()
        except DeadlineError:
            self.stopped.append(path)
            raise
        finally:
            with self.lock:
                self.ended.append(path)

    async def __call__(self, scope, receive, send):
        del receive
        await run_in_threadpool(self.work, scope["path"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


def as_person(app):
    """Have the first part of the path say who asks."""

    async def answer(scope, receive, send):
        with act_as(Account(dict(scope["headers"])[b"x-who"].decode(), READER, 1)):
            await app(scope, receive, send)

    return answer


def assembled(app, limits, seconds=LIMIT):
    return guard_app(Limits(as_person(Turns(app, limits)), seconds=seconds))


def ask(address, path, who):
    return httpx.get(f"{address}/api/{path}", headers={"X-Who": who}, timeout=LIMIT)


def ask_in_vain(address, path, who, until):
    """Ask, and hang up as soon as something has happened."""
    url = httpx.URL(address)
    with socket.create_connection((url.host, url.port), timeout=LIMIT) as connection:
        connection.sendall(f"GET /api/{path} HTTP/1.1\r\nHost: {url.host}\r\nX-Who: {who}\r\n\r\n".encode())
        wait_until(until, "the question has arrived")


def count_heavy(paths):
    return sum(path.startswith("/api/heavy") for path in paths)


# --- what nobody waits for ---


def test_the_work_of_a_client_that_is_gone_stops():
    archive = Archive()
    with running_app(assembled(archive, TurnLimits())) as (address, _):
        ask_in_vain(address, "heavy", "ben", lambda: archive.started == ["/api/heavy"])
        wait_until(lambda: archive.stopped == ["/api/heavy"], "the work has stopped")
        assert ask(address, "light", "ben").status_code == 200


def test_work_that_takes_too_long_stops_and_says_so():
    archive = Archive()
    with running_app(assembled(archive, TurnLimits(), seconds=0.3)) as (address, _):

        def is_refused_at_work():  # on a slow machine, not before it has begun
            answer = ask(address, "heavy", "ben")
            assert answer.status_code == 503
            assert "longer than 0.3 seconds" in answer.json()["error"]["message"]
            return bool(archive.started)

        wait_until(is_refused_at_work, "the work has begun")
        wait_until(lambda: archive.stopped == archive.started, "the work has stopped")


def test_a_question_that_waits_for_its_turn_when_its_client_goes_is_never_begun():
    archive = Archive()
    turns = Turns(archive, TurnLimits(at_once=1, per_client=1))
    with running_app(guard_app(Limits(as_person(turns)))) as (address, _), ThreadPoolExecutor(2) as pool:
        first = pool.submit(ask, address, "heavy/1", "ben")
        wait_until(lambda: archive.started == ["/api/heavy/1"], "the first has begun")
        ask_in_vain(address, "heavy/2", "cleo", lambda: turns._queue.count_waiting() == 1)
        wait_until(lambda: turns._queue.count_waiting() == 0, "it is seen that the client is gone")
        archive.go_on.set()
        assert first.result().status_code == 200
        assert ask(address, "light", "cleo").status_code == 200
        assert archive.started == ["/api/heavy/1", "/api/light"]


def test_work_that_cannot_be_stopped_takes_no_turn_from_others_and_no_second_one_for_its_person():
    archive = Archive(stoppable=False)
    limits = TurnLimits(at_once=2, per_client=2)
    with running_app(assembled(archive, limits, seconds=0.3)) as (address, _), ThreadPoolExecutor(4) as pool:

        def keep_two_threads():  # on a slow machine, some are refused before they have begun
            refused = list(pool.map(lambda number: ask(address, f"heavy/{number}", "ben").status_code, range(4)))
            assert refused == [503] * 4
            return len(archive.started) >= 2

        wait_until(keep_two_threads, "two have begun")
        assert len(archive.started) == 2, "of the others it was never the turn"
        assert not archive.ended, "and these two go on"
        wait_until(lambda: ask(address, "light", "cleo").status_code == 200, "cleo has her turn")
        assert ask(address, "light", "ben").status_code == 503, "who keeps threads has none left"
        archive.go_on.set()
        wait_until(lambda: count_heavy(archive.ended) == 2, "the two have ended")
        wait_until(lambda: ask(address, "light", "ben").status_code == 200, "and so they are counted no more")


# --- fairness ---


def test_many_questions_of_one_person_do_not_delay_the_single_one_of_another():
    archive = Archive()
    limits = TurnLimits(at_once=3, per_client=2, waiting_per_client=50)
    with running_app(assembled(archive, limits)) as (address, _), ThreadPoolExecutor(50) as pool:
        many = [pool.submit(ask, address, f"heavy/{number}", "ben") for number in range(45)]
        wait_until(lambda: len(archive.started) == 2, "two of them have begun")
        assert ask(address, "light", "cleo").status_code == 200
        assert len(archive.started) == 3
        archive.go_on.set()
        assert {one.result().status_code for one in many} == {200}


def test_of_those_who_wait_everybody_comes_in_turn():
    archive = Archive()
    turns = Turns(archive, TurnLimits(at_once=1, per_client=1))
    with running_app(guard_app(Limits(as_person(turns)))) as (address, _), ThreadPoolExecutor(30) as pool:
        asked = [pool.submit(ask, address, "heavy", "dan")]
        wait_until(lambda: len(archive.started) == 1, "it has begun")
        asked += [pool.submit(ask, address, f"ben/{number}", "ben") for number in range(20)]
        wait_until(lambda: turns._queue.count_waiting() == 20, "all of ben's wait")
        asked += [pool.submit(ask, address, f"cleo/{number}", "cleo") for number in range(3)]
        wait_until(lambda: turns._queue.count_waiting() == 23, "and all of cleo's")
        archive.go_on.set()
        assert {one.result().status_code for one in asked} == {200}
        order = [path.split("/")[2] for path in archive.started[1:]]
        assert order[:6] == ["ben", "cleo"] * 3


def test_whose_questions_are_too_many_is_told_which_limit_it_is_and_others_are_not_refused():
    archive = Archive()
    limits = TurnLimits(at_once=2, per_client=1, waiting_per_client=3)
    with running_app(assembled(archive, limits)) as (address, _), ThreadPoolExecutor(10) as pool:
        many = [pool.submit(ask, address, f"heavy/{number}", "ben") for number in range(6)]
        wait_until(lambda: sum(one.done() for one in many) == 2, "two were refused")
        assert ask(address, "light", "cleo").status_code == 200
        archive.go_on.set()
        answers = [one.result() for one in many]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert Counter(answer.status_code for answer in answers) == {200: 4, 429: 2}
        assert "3 of your requests are waiting" in refused[0].json()["error"]["message"]
        assert refused[0].headers["retry-after"] == "1"


def test_too_many_questions_of_everybody_are_told_to_be_too_many_for_the_server():
    archive = Archive()
    limits = TurnLimits(at_once=1, per_client=1, most_waiting=2)
    with running_app(assembled(archive, limits)) as (address, _), ThreadPoolExecutor(10) as pool:
        many = [pool.submit(ask, address, f"heavy/{number}", f"person {number}") for number in range(5)]
        wait_until(lambda: sum(one.done() for one in many) == 2, "two were refused")
        archive.go_on.set()
        refused = [one.result() for one in many if one.result().status_code == 503]
        assert "2 requests are waiting, which is the limit of the server" in refused[0].text
        assert refused[0].headers["retry-after"] == "1"


def test_a_client_that_reads_slowly_keeps_no_turn():
    async def large(scope, receive, send):
        del receive
        size = 30_000_000 if scope["path"] == "/api/large" else 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(size)})

    with (
        running_app(assembled(large, TurnLimits(at_once=1, per_client=1))) as (address, _),
        httpx.stream("GET", f"{address}/api/large", headers={"X-Who": "ben"}, timeout=LIMIT) as slow,
    ):
        assert slow.status_code == 200
        assert ask(address, "small", "cleo").status_code == 200


def test_a_person_never_has_the_key_of_an_address():
    scope = {"type": "http", "client": ("192.0.2.7", 1), "headers": []}
    named = Account("192.0.2.7", READER, 1), Account("address 192.0.2.7", READER, 2)
    keys = [make_person_key(scope, None), *(make_person_key(scope, account) for account in named)]
    assert len(set(keys)) == 3


# --- the queue itself ---

PEOPLE = st.sampled_from(["ada", "ben", "cleo"])


@given(
    st.lists(st.tuples(st.sampled_from(["add", "take", "finish", "detach", "end"]), PEOPLE), max_size=80),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_a_fair_queue_never_serves_too_many_and_never_lets_a_person_come_twice_before_another(deeds, at_once, each):
    queue = FairQueue[int](at_once, each)
    served, detached, waiting = Counter(), Counter(), {}
    last: dict[str, int] = {}
    for number, (deed, person) in enumerate(deeds):
        if deed == "add":
            queue.add(person, number)
            waiting.setdefault(person, []).append(number)
            last.setdefault(person, number)
        elif deed == "take":
            room = served.total() < at_once
            ready = {who for who, line in waiting.items() if line and served[who] + detached[who] < each}
            entry = queue.take()
            if not room or not ready:
                assert entry is None
                continue
            assert entry is not None
            who, what = entry
            assert who in ready
            assert waiting[who].pop(0) == what, "a person's own come in their order"
            served[who] += 1
        elif deed == "finish" and served[person]:
            queue.finish(person)
            served[person] -= 1
        elif deed == "detach" and served[person]:
            queue.detach(person)
            served[person] -= 1
            detached[person] += 1
        elif deed == "end" and detached[person]:
            queue.finish_detached(person)
            detached[person] -= 1
        assert queue.count_waiting() == sum(map(len, waiting.values()))


@given(st.dictionaries(PEOPLE, st.integers(1, 20), min_size=2))
def test_between_two_turns_of_a_person_everybody_else_who_waits_has_one(lines):
    queue = FairQueue[int](1, 1)
    for person, length in lines.items():
        for number in range(length):
            queue.add(person, number)
    left = dict(lines)
    order = []
    while (entry := queue.take()) is not None:
        person = entry[0]
        if person in order:
            since = order[len(order) - order[::-1].index(person) :]
            assert {other for other, count in left.items() if count and other != person} <= set(since)
        order.append(person)
        left[person] -= 1
        queue.finish(person)
    assert not any(left.values())


# --- jobs ---


def test_jobs_of_one_person_do_not_delay_those_of_another():
    threads = JobThreads(JobLimits(at_once=2, per_client=1))
    go_on, begun, lock = threading.Event(), [], threading.Lock()

    def job(name):
        def run():
            with lock:
                begun.append(name)
            go_on.wait(LIMIT)

        return run

    jobs = [job(f"ben {number}") for number in range(5)]
    for one in jobs:
        threads.submit("ben", one)
    wait_until(lambda: begun == ["ben 0"], "one of ben's runs")
    assert [threads.count_ahead("ben", one) for one in jobs] == [0, 0, 1, 2, 3]
    threads.submit("cleo", job("cleo"))
    wait_until(lambda: begun == ["ben 0", "cleo"], "cleo's runs at once")
    go_on.set()
    wait_until(lambda: len(begun) == 6, "all have run")
    threads.shutdown()


def test_a_job_that_fails_makes_room():
    threads = JobThreads(JobLimits(at_once=1, per_client=1))
    done = threading.Event()

    def fail():
        raise RuntimeError

    threads.submit("ben", fail)
    threads.submit("ben", done.set)
    assert done.wait(LIMIT)
    threads.shutdown()


def test_a_stopped_question_is_no_failure_of_the_server(caplog):
    async def asked():
        limits = Limits(Turns(Archive(), TurnLimits(), alone=True), seconds=0.05)
        sent = []

        async def receive(state=[0]):  # noqa: B006 - counts
            state[0] += 1
            if state[0] > 1:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message):
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/api/heavy", "headers": [], "query_string": b""}
        await limits(scope, receive, send)
        await asyncio.gather(*limits._running, return_exceptions=True)
        return sent[0]["status"]

    assert asyncio.run(asked()) == 503
    assert not caplog.records


def test_long_work_rests_while_other_people_wait(monkeypatch):
    now, rests = [0.0], []
    monkeypatch.setattr("provenn.web.questions.monotonic", lambda: now[0])
    monkeypatch.setattr("provenn.web.questions.sleep", rests.append)
    crowded = [False]
    question = Question()
    assert not question.is_stopped()
    question.begin(lambda: crowded[0])
    for now[0], crowded[0], rested in (
        (0.5, True, 0),
        (1.5, False, 0),
        (2.0, True, 1),
        (2.001, True, 1),
        (2.5, True, 2),
    ):
        assert not question.is_stopped()
        assert len(rests) == rested
    question.stop()
    assert question.is_stopped()
