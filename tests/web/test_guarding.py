"""What every request goes through: hosts, origins, sizes, times and how many at once."""

import asyncio
import threading
from itertools import islice

import pytest

from provenn.web.guarding import LARGEST, guard_app
from provenn.web.limits import Limits
from tests.waiting import LIMIT


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", ""])
def test_a_name_that_was_rebound_to_this_machine_is_refused(reader, host):
    answer = reader.get("/api/catalogs", headers={"Host": host})
    assert answer.status_code == 400
    assert "bright" not in answer.text
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:1", "[::1]:8765"])
def test_this_machine_has_several_names(reader, host):
    assert reader.get("/api/catalogs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://127.0.0.1.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 404),
        ({"Origin": "http://127.0.0.1"}, 404),
        ({}, 404),
    ],
)
def test_only_pages_of_ours_change_anything(reader, headers, status):
    assert reader.post("/api/jobs/abc/cancel", headers=headers).status_code == status


def test_no_page_loads_runs_or_is_shown_elsewhere(reader):
    for path in ("/catalogs", "/api/catalogs", "/nothing", "/static/style.css"):
        headers = reader.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers
        assert "strict-transport-security" not in headers


def test_what_is_too_large_is_refused(reader):
    assert reader.post("/api/jobs", content=b"x" * (LARGEST + 1)).status_code == 413
    pieces = (b"x" * 100_000 for _ in range(20))
    assert reader.post("/api/jobs", content=pieces).status_code == 413
    assert reader.post("/api/jobs", content=b"x" * 1000).status_code == 422


# --- limits ---


async def answered(app, *, body=(b"",), pause=0.0):
    """Ask an application; return the status."""
    sent = []
    parts = list(body)

    async def receive():
        if not parts:
            await asyncio.Event().wait()  # the client stays
        await asyncio.sleep(pause)
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"transfer-encoding", b"chunked")]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/x",
        "headers": headers,
        "query_string": b"",
        "scheme": "http",
    }
    await app(scope, receive, send)
    return sent[0]["status"]


def answer_after(event):
    """Return an application that answers on a thread, when the event has happened."""

    async def app(scope, receive, send):
        del scope, receive
        await asyncio.to_thread(event.wait, LIMIT)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return app


def test_what_takes_too_long_is_given_up_though_a_thread_cannot_be_stopped():
    async def asked():
        over = threading.Event()
        limits = Limits(answer_after(over), seconds=0.05)
        status = await answered(limits)
        left = len(limits._running)
        over.set()
        await asyncio.gather(*limits._running, return_exceptions=True)
        await asyncio.sleep(0)
        return status, left, len(limits._running)

    assert asyncio.run(asked()) == (503, 1, 0), "what is still carried out counts until it ends"


def test_of_too_many_requests_at_once_some_are_refused_and_later_ones_are_not():
    async def asked():
        over = threading.Event()
        limits = Limits(answer_after(over), at_once=3)
        requests = [asyncio.ensure_future(answered(limits)) for _ in range(5)]
        refused = [await request for request in islice(asyncio.as_completed(requests), 2)]
        assert refused == [503, 503]
        over.set()
        return sorted(await asyncio.gather(*requests)), await answered(limits)

    assert asyncio.run(asked()) == ([200, 200, 200, 503, 503], 200)


def test_a_body_that_trickles_in_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("provenn.web.guarding._PATIENCE", 0.1)
    app = guard_app(answer_after(threading.Event()))
    assert asyncio.run(answered(app, body=[b"x"] * 50, pause=0.02)) == 408
