"""How many connections somebody may have: idle ones, slow ones, and those of a stranger with a thousand of them."""

import socket
from concurrent.futures import ThreadPoolExecutor

import httpx

from provenn.web import protocol
from provenn.web.connections import ConnectionLimits, Connections
from provenn.web.proxies import read_proxies
from provenn.web.serving import ServerLimits, _limit_by_open_files
from tests.waiting import LIMIT, wait_until
from tests.web.running import running, running_app


class Plug:
    """A connection of nobody."""

    def __init__(self, *, idle=True):
        self.idle = idle
        self.dropped = False

    def is_idle(self):
        return self.idle

    def drop(self):
        self.dropped = True


def connect(address, source="127.0.0.1"):
    place = httpx.URL(address)
    return socket.create_connection((place.host, place.port), timeout=LIMIT, source_address=(source, 0))


def answer_of(connection):
    """Read until the other side closes."""
    parts = []
    try:
        while part := connection.recv(100_000):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts).decode()


async def small(scope, receive, send):
    del scope, receive
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"{}"})


# --- the ledger ---


def test_an_address_has_so_many_connections_and_no_more():
    connections = Connections(ConnectionLimits(most=10, per_client=2))
    plugs = [Plug() for _ in range(4)]
    assert [connections.admit(plug, "192.0.2.1") is None for plug in plugs[:3]] == [True, True, False]
    assert connections.admit(plugs[3], "192.0.2.2") is None
    connections.leave(plugs[0])
    connections.leave(plugs[0])
    connections.leave(plugs[2])
    assert connections.admit(plugs[2], "192.0.2.1") is None
    assert len(connections) == 3
    assert "2 connections are open from this address" in connections.admit(Plug(), "::ffff:192.0.2.1")


def test_all_addresses_of_a_network_of_ipv6_are_one():
    connections = Connections(ConnectionLimits(most=10, per_client=2))
    hosts = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:3", "2001:db8:0:1::1"]
    assert [connections.admit(Plug(), host) is None for host in hosts] == [True, True, False, True]


def test_a_named_proxy_has_as_many_as_there_are():
    connections = Connections(ConnectionLimits(most=5, per_client=2), read_proxies(["192.0.2.1"]))
    assert [connections.admit(Plug(idle=False), "192.0.2.1") is None for _ in range(6)] == [True] * 5 + [False]


def test_whoever_has_most_gives_way_to_who_has_fewer_with_what_is_idle():
    connections = Connections(ConnectionLimits(most=6, per_client=4))
    mine = [Plug(idle=number != 0) for number in range(4)]
    for plug in mine:
        connections.admit(plug, "192.0.2.66")
    assert connections.admit(Plug(), "192.0.2.1") is None
    assert connections.admit(Plug(), "192.0.2.2") is None
    assert connections.admit(Plug(), "192.0.2.3") is None, "though there are six"
    assert [plug.dropped for plug in mine] == [False, True, False, False], "the oldest that is idle"
    assert connections.admit(Plug(), "192.0.2.4") is None
    assert len(connections) == 6
    assert "6 connections are open" in connections.admit(Plug(), "192.0.2.66"), "not for whoever has most"


def test_there_are_no_more_connections_than_the_system_allows_files():
    limits = _limit_by_open_files(ConnectionLimits(most=10**9, per_client=10**9))
    assert limits.most < 10**9
    assert limits.per_client <= limits.most


# --- real sockets ---


def test_a_thousand_idle_sockets_of_a_stranger_do_not_keep_others_out(archive):
    limits = ServerLimits(connections=ConnectionLimits(most=300, per_client=100))
    with running(archive, limits=limits) as address:
        idle = [connect(address, "127.0.0.66") for _ in range(1005)]
        try:
            with ThreadPoolExecutor(8) as pool:
                pages = pool.map(lambda _: httpx.get(f"{address}api/catalogs", timeout=LIMIT).status_code, range(24))
                assert set(pages) == {200}
            refusal = answer_of(idle[-1])
            assert refusal == "" or "503" in refusal.split("\r\n")[0]
        finally:
            for connection in idle:
                connection.close()


def test_a_stranger_with_many_addresses_gives_way_too(archive):
    limits = ServerLimits(connections=ConnectionLimits(most=100, per_client=50))
    with running(archive, limits=limits) as address:
        idle = [connect(address, f"127.0.0.{60 + number % 4}") for number in range(400)]
        try:
            assert httpx.get(f"{address}api/catalogs", timeout=LIMIT).status_code == 200
        finally:
            for connection in idle:
                connection.close()


def test_who_is_refused_is_told_which_limit_it_is():
    with running_app(small, ConnectionLimits(most=10, per_client=1)) as (address, connections):
        first = connect(address)
        wait_until(lambda: len(connections) == 1, "it is there")
        with connect(address) as second:
            refusal = answer_of(second)
        assert refusal.startswith("HTTP/1.1 503")
        assert "Retry-After: 5" in refusal
        assert "1 connections are open from this address" in refusal
        first.close()
        wait_until(lambda: len(connections) == 0, "it is gone")
        assert httpx.get(address, timeout=LIMIT).status_code == 200


def test_a_request_of_which_a_byte_comes_now_and_then_is_not_waited_for():
    with running_app(small, ConnectionLimits(seconds=1.0)) as (address, connections):
        slow = connect(address)
        slow.sendall(b"GET / HTTP/1.1\r\nHost: ")
        wait_until(lambda: len(connections) == 1, "it is there")
        while len(connections):
            try:
                slow.send(b"x")
            except OSError:
                break
            socket.socket().close()
        wait_until(lambda: len(connections) == 0, "it is dropped")
        slow.close()


def test_a_client_that_takes_nothing_of_its_answer_is_dropped(monkeypatch):
    monkeypatch.setattr(protocol, "_STALLED", 0.3)

    async def endless(scope, receive, send):
        del scope, receive
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(50_000_000)})

    with running_app(endless) as (address, connections):
        deaf = connect(address)
        deaf.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        wait_until(lambda: len(connections) == 1, "it is there")
        wait_until(lambda: len(connections) == 0, "it is dropped")
        deaf.close()


def test_a_client_that_keeps_its_connection_uses_it_again_and_again():
    with (
        running_app(small, ConnectionLimits(seconds=LIMIT)) as (address, connections),
        httpx.Client(timeout=LIMIT) as client,
    ):
        assert {client.get(address).status_code for _ in range(50)} == {200}
        assert len(connections) == 1
