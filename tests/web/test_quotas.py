"""Quotas: the owner sets them, people see them, and the server keeps to them."""

import threading
import time
from datetime import date

import pytest

from provenn.archive.quotas import EVERYONE, list_quotas, list_usage, set_quotas
from provenn.errors import NotYoursError, QuotaError
from provenn.people import quotas
from provenn.web import quota_limits as web_quotas
from tests.waiting import LIMIT, wait_until
from tests.web.team import serving_team
from tests.web.test_accounts import computed

ASKED = {"sources": "bright", "attributes": ["vmag"], "format": "csv"}


@pytest.fixture
def team(archive, monkeypatch):
    monkeypatch.setattr(web_quotas, "_SECONDS", 0.0)
    monkeypatch.setattr("provenn.web.jobs.Jobs._compute", computed)
    with serving_team(archive) as opened:
        yield opened


def used(archive, who, kind):
    return next(one for one in list_usage(archive, who) if one.kind == kind)


def run(team, who):
    job = team.ask(who, "/api/jobs", "POST", json=ASKED).json()["id"]
    while team.ask(who, f"/api/jobs/{job}").json()["state"] != "done":
        time.sleep(0.01)
    return f"/api/jobs/{job}/data"


# --- setting them ---


def test_a_quota_of_ones_own_goes_before_that_of_everybody(archive):
    set_quotas(archive, EVERYONE, {"stored": 100, "jobs": 1})
    set_quotas(archive, "ben", {"stored": 500})
    assert [used(archive, who, "stored").limit for who in ("ben", "cleo")] == [500, 100]
    assert [used(archive, who, "jobs").limit for who in ("ben", "cleo")] == [1, 1]
    set_quotas(archive, "ben", {"stored": None})
    set_quotas(archive, EVERYONE, {"jobs": None})
    assert [used(archive, who, "stored").limit for who in ("ben", "cleo")] == [100, 100]
    assert used(archive, "ben", "jobs").limit is None
    assert [(quota.who, quota.kind, quota.amount, quota.set_by) for quota in list_quotas(archive)] == [
        (EVERYONE, "stored", 100, "ada")
    ]
    noted = [(one.action, one.subject, one.detail) for one in archive.audit(most=2)]
    assert noted == [("set quota", "*", "jobs: none"), ("set quota", "ben", "stored: none")]


@pytest.mark.parametrize(
    ("who", "kind", "amount"), [("", "jobs", 1), (" ben", "jobs", 1), ("ben", "job", 1), ("ben", "jobs", -1)]
)
def test_what_is_no_quota_is_refused(archive, who, kind, amount):
    with pytest.raises(QuotaError):
        set_quotas(archive, who, {"stored": 1, kind: amount})
    assert not list_quotas(archive), "and nothing of it is set"


def test_only_who_sees_everything_sets_them(archive):
    with pytest.raises(NotYoursError):
        set_quotas(archive.as_seen_by("ben"), "ben", {"stored": 10**12})


# --- what is stored ---


def test_nobody_keeps_more_than_they_may(archive):
    (fragment,) = archive.fragments()
    size = fragment.fragment.size
    assert used(archive, "ada", "stored").used == size
    assert used(archive, "ben", "stored").used == 0
    set_quotas(archive, "ada", {"stored": size + 10})
    with archive.context.database.writing() as writing:
        quotas.check_stored_quota(writing, 10)
        with pytest.raises(QuotaError, match=f"ada may store {size + 10} bytes") as caught:
            quotas.check_stored_quota(writing, 11)
    assert "ask the owner for more" in caught.value.hint
    with archive.as_seen_by("ben").context.database.reading() as reading:
        quotas.check_stored_quota(reading, 10**15)


# --- downloads ---


def test_nobody_downloads_more_in_a_day_than_they_may(team, monkeypatch):
    path = run(team, "ben")
    size = len(team.ask("ben", path).content)
    set_quotas(team.archive, "ben", {"downloads": 3 * size})
    assert team.ask("ben", path).status_code == 200
    assert team.ask("ben", path).status_code == 200
    refused = team.ask("ben", path)
    assert refused.status_code == 429
    assert "you may download" in refused.json()["error"]["message"]
    assert "tomorrow" in refused.json()["error"]["hint"]
    assert team.ask("ada", run(team, "ada")).status_code == 200, "others may"
    wait_until(lambda: used(team.archive, "ben", "downloads").used == 3 * size, "it is written down")
    monkeypatch.setattr(web_quotas, "today", lambda: date(2999, 1, 1))
    assert team.ask("ben", path).status_code == 200, "tomorrow is another day"


def test_only_what_is_sent_counts(team):
    path = run(team, "ben")
    assert team.ask("ben", path, headers={"Range": "bytes=0-1"}).status_code == 206
    assert team.ask("ben", path, "HEAD").status_code in (200, 405)
    wait_until(lambda: used(team.archive, "ben", "downloads").used == 2, "it is written down")


def test_what_is_downloaded_counts_before_it_is_written_down(team):
    path = run(team, "ben")
    counting = team.ask("ben", "/api/quota").json()["usage"]
    assert [one["used"] for one in counting if one["kind"] == "downloads"] == [0]
    team.ask("ben", path)
    counting = team.ask("ben", "/api/quota").json()["usage"]
    assert [one["used"] for one in counting if one["kind"] == "downloads"] == [6]


# --- jobs and questions ---


def test_a_person_runs_as_many_jobs_at_once_as_their_quota_says(archive, monkeypatch):
    monkeypatch.setattr(web_quotas, "_SECONDS", 0.0)
    go_on = threading.Event()

    def slowly(jobs, work):
        go_on.wait(LIMIT)
        return computed(jobs, work)

    monkeypatch.setattr("provenn.web.jobs.Jobs._compute", slowly)
    with serving_team(archive) as team:
        set_quotas(archive, "ben", {"jobs": 2})
        set_quotas(archive, "cleo", {"jobs": 0})

        def states(who):
            return sorted(one["state"] for one in team.ask(who, "/api/jobs").json()["jobs"])

        try:
            for who in ("ada", "ben"):
                for _ in range(3):
                    assert team.ask(who, "/api/jobs", "POST", json=ASKED).status_code == 201
            assert states("ada") == ["running", "waiting", "waiting"]
            assert states("ben") == ["running", "waiting", "waiting"], "there are two at once in all"
        finally:
            go_on.set()
        wait_until(lambda: states("ada") == states("ben") == ["done"] * 3, "all are done")


def test_whose_quota_is_of_no_jobs_runs_none(team):
    set_quotas(team.archive, "ben", {"jobs": 0})
    refused = team.ask("ben", "/api/jobs", "POST", json=ASKED)
    assert refused.status_code == 429
    assert "your quota allows no jobs" in refused.json()["error"]["message"]


def test_a_person_asks_as_many_questions_a_minute_as_their_quota_says(team, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr("provenn.web.rates.monotonic", lambda: now[0])
    set_quotas(team.archive, "ben", {"questions": 3})
    statuses = [team.ask("ben", "/api/catalogs").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = team.ask("ben", "/api/catalogs")
    assert "your quota is 3 requests per minute" in refused.json()["error"]["message"]
    assert refused.headers["retry-after"] == "20"
    assert team.ask("ben", "/static/style.css").status_code == 200
    assert team.ask("cleo", "/api/catalogs").status_code == 200
    now[0] += 20.1
    assert [team.ask("ben", "/api/catalogs").status_code for _ in range(2)] == [200, 429]


# --- seeing them ---


def test_everybody_sees_their_own(team):
    set_quotas(team.archive, "ben", {"stored": 5_000_000, "questions": 600})
    page = team.ask("ben", "/quota")
    assert page.status_code == 200
    assert "5.0 MB" in page.text
    usage = {one["kind"]: one for one in team.ask("ben", "/api/quota").json()["usage"]}
    assert usage["stored"] == {
        "kind": "stored",
        "what": "bytes of stored fragments",
        "limit": 5_000_000,
        "used": 0,
    }
    assert usage["questions"]["limit"] == 600
    assert team.ask("cleo", "/api/quota").json()["usage"][0]["limit"] is None
    team.log_in("ben")
    assert 'href="/quota"' in team.client.get("/catalogs").text


def test_whoever_runs_a_server_without_tokens_sees_theirs(client):
    assert client.get("/api/quota").json()["who"] == "ada"
    assert client.get("/quota").status_code == 200
