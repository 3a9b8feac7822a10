"""A real server, on this machine: where it listens, whom it asks for tokens, and what it holds."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import httpx
import pytest
import uvicorn

from provenn.archive.tokens import issue_token, revoke_token
from provenn.errors import ServerError
from provenn.web.connections import ConnectionLimits
from provenn.web.serving import ServerLimits, serve
from tests.waiting import LIMIT, wait_until
from tests.web.running import is_answered

get = partial(httpx.get, timeout=LIMIT)


@contextmanager
def running(archive, monkeypatch, **options):
    """Serve on a thread; give the address."""
    servers, addresses = [], []
    made = uvicorn.Server.__init__

    def noted(self, config):
        made(self, config)
        servers.append(self)

    monkeypatch.setattr(uvicorn.Server, "__init__", noted)
    thread = threading.Thread(target=serve, args=(archive,), kwargs={"port": 0, "ready": addresses.append, **options})
    thread.start()
    while not (servers and servers[0].started):
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield addresses[0]
    finally:
        servers[0].should_exit = True
        thread.join(LIMIT)
        assert not thread.is_alive()


def test_elsewhere_than_on_this_machine_it_is_refused_until_somebody_has_a_token(archive):
    def refused(**options):
        with pytest.raises(ServerError) as caught:
            serve(archive, ready=pytest.fail, port=0, **options)
        return caught.value

    assert "provenn token new" in refused(host="192.0.2.1").hint
    assert "provenn token new" in refused(tokens=True).hint
    token, _ = issue_token(archive, "ben", "reader")
    assert "cannot listen" in refused(host="192.0.2.1").message
    assert "--allow-host" in refused(host="0.0.0.0").hint  # noqa: S104 - refused
    revoke_token(archive, token.number)
    issue_token(archive, "ben", "reader", days=1e-9)
    assert "provenn token new" in refused(host="192.0.2.1").hint


def test_on_this_machine_it_works_as_it_always_did(archive, monkeypatch):
    with running(archive, monkeypatch) as address:
        assert get(f"{address}api/catalogs").json()["total"] > 0
        assert get(f"{address}api/catalogs", headers={"Host": "evil.example"}).status_code == 400
        assert get(f"{address}catalogs", headers={"X-Long": "x" * 100_000}).status_code in (
            400,
            431,
        )


def test_with_tokens_it_asks_for_them_and_for_names_that_it_has(archive, monkeypatch):
    _, secret = issue_token(archive, "ben", "reader")
    given = {"Authorization": f"Bearer {secret}"}
    with running(archive, monkeypatch, tokens=True, hosts=["survey.example.org"]) as address:
        assert get(f"{address}api/catalogs").status_code == 401
        assert get(f"{address}api/catalogs", headers=given).status_code == 200
        for host, status in (("survey.example.org", 200), ("evil.example", 400)):
            assert get(f"{address}api/catalogs", headers=given | {"Host": host}).status_code == status


def test_fifty_clients_at_once_are_answered_without_an_error(archive, monkeypatch):
    with running(archive, monkeypatch) as address, ThreadPoolExecutor(50) as clients:
        pages = ["catalogs", "api/catalogs?text=b", "catalogs/bright", "api/compare?a=bright&b=stars"] * 15

        def ask(page):
            return get(f"{address}{page}").status_code

        assert set(clients.map(ask, pages)) == {200}


def test_a_connection_on_which_no_request_arrives_is_closed(archive, monkeypatch):
    limits = ServerLimits(connections=ConnectionLimits(seconds=0.5))
    with running(archive, monkeypatch, limits=limits) as address:
        place = (httpx.URL(address).host, httpx.URL(address).port)
        silent, slow = (socket.create_connection(place, timeout=LIMIT) for _ in range(2))
        used = None
        while used is None:  # a request that arrives too late is not answered: a slow machine sends another
            used = socket.create_connection(place, timeout=LIMIT)
            used.sendall(b"GET /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            if answer := used.recv(100):
                assert answer.startswith(b"HTTP/1.1 200")
            else:
                used.close()
                used = None
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        for one in (silent, slow, used):
            while one.recv(100_000):
                pass
            one.close()
        wait_until(lambda: is_answered(f"{address}api/catalogs"), "who sends a request in time is answered")
