"""Whom the server believes where a request comes from, and who asks: named proxies, and nobody else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.archive.tokens import issue_token, revoke_token
from provenn.errors import ServerError
from provenn.web.forwarding import Hop, read_forwarded, read_hops
from provenn.web.proxies import ThroughProxies, make_address_key, read_proxies
from provenn.web.serving import build_server_app, serve
from tests.web.team import form_of, serving_team

PROXY = "10.0.0.1"
CLIENT = "192.0.2.9"


def seen_through(headers, *, proxies=(PROXY,), peer=PROXY, user_header=None):
    """Return the scope as the application behind sees it."""
    seen = {}

    async def app(scope, receive, send):
        del receive, send
        seen.update(scope)

    through = ThroughProxies(app, read_proxies(proxies, user_header))
    lines = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": "http", "client": (peer, 1234), "scheme": "http", "headers": [(b"host", b"own"), *lines]}
    coroutine = through(scope, None, None)
    with pytest.raises(StopIteration):
        coroutine.send(None)
    return seen


def client_of(*values, header="X-Forwarded-For", **options):
    return seen_through([(header, value) for value in values], **options)["client"][0]


# --- who is believed ---


def test_nobody_is_believed_but_who_is_named_not_even_on_this_machine():
    for peer in ("127.0.0.1", "::1", "192.0.2.1"):
        assert client_of(CLIENT, proxies=(), peer=peer) == peer
        assert client_of(CLIENT, peer=peer) == peer
        forged = [("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "for=1.2.3.4")]
        seen = seen_through([("X-Forwarded-For", CLIENT), ("X-Remote-User", "ada"), *forged], peer=peer, proxies=())
        assert (seen["scheme"], seen["headers"][0]) == ("http", (b"host", b"own"))
        assert len(seen["headers"]) <= 2, "what is not believed is taken away"
        assert "provenn.user" not in seen


@pytest.mark.parametrize(
    ("chain", "client"),
    [
        ([CLIENT], CLIENT),
        (["1.2.3.4, 192.0.2.9"], CLIENT),
        (["1.2.3.4", "192.0.2.9"], CLIENT),
        (["1.2.3.4, 192.0.2.9, 10.0.0.2"], CLIENT),
        (["127.0.0.1, 192.0.2.9, 10.0.0.2,10.0.0.1"], CLIENT),
        (["10.0.0.2"], "10.0.0.2"),
        (["192.0.2.9:4711"], CLIENT),
        (["2001:db8::7"], "2001:db8::7"),
        (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["1.2.3.4, unknown"], PROXY),
        (["1.2.3.4, unknown, 10.0.0.2"], "10.0.0.2"),
        (["account ada"], PROXY),
        (["person ada"], PROXY),
        (["1.2.3.4, 192.0.2.9; DROP TABLE"], PROXY),
        ([""], PROXY),
        ([","], PROXY),
        (["999.1.1.1"], PROXY),
    ],
)
def test_the_client_is_the_rightmost_that_is_no_proxy(chain, client):
    assert client_of(*chain, proxies=(PROXY, "10.0.0.2")) == client


def test_a_proxy_may_be_a_network_or_speak_ipv6():
    assert client_of(CLIENT, proxies=("10.0.0.0/8",), peer="10.9.9.9") == CLIENT
    assert client_of(CLIENT, proxies=("10.0.0.0/8",), peer="::ffff:10.9.9.9") == CLIENT
    assert client_of(CLIENT, proxies=("2001:db8::/32",), peer="2001:db8::5") == CLIENT
    assert client_of(CLIENT, proxies=("[::1]",), peer="::1") == CLIENT
    assert client_of(CLIENT, proxies=("::1",), peer="127.0.0.1") == "127.0.0.1"


def test_the_header_forwarded_is_understood():
    for value in ('for=192.0.2.9;proto=https;host="a.example"', 'For="192.0.2.9:80";Proto=https;host=a.example;by=x'):
        seen = seen_through([("Forwarded", f'for="[2001:db8::1]", {value}')])
        assert (seen["client"][0], seen["scheme"]) == (CLIENT, "https")
        assert (b"host", b"a.example") in seen["headers"]
        assert (b"host", b"own") not in seen["headers"]
    assert client_of("for=_hidden", header="Forwarded") == PROXY
    assert client_of('for="1.2.3.4, for=5.6.7.8', header="Forwarded") == PROXY


def test_of_two_headers_that_contradict_each_other_neither_is_believed():
    both = [("X-Forwarded-For", CLIENT), ("Forwarded", "for=198.51.100.1;proto=https")]
    seen = seen_through(both)
    assert (seen["client"][0], seen["scheme"]) == (PROXY, "http")
    assert seen_through([both[0], ("Forwarded", f"for={CLIENT}")])["client"][0] == CLIENT


@pytest.mark.parametrize(
    ("schemes", "scheme"),
    [(["https"], "https"), (["https, http"], "http"), (["HTTPS"], "https"), (["javascript"], "http"), ([], "http")],
)
def test_the_scheme_is_what_the_nearest_proxy_says(schemes, scheme):
    headers = [("X-Forwarded-For", CLIENT), *(("X-Forwarded-Proto", one) for one in schemes)]
    assert seen_through(headers)["scheme"] == scheme


def test_a_scheme_without_an_address_is_believed_too():
    assert seen_through([("X-Forwarded-Proto", "https")])["scheme"] == "https"


@pytest.mark.parametrize("host", ["a.example/x", "a.example\r\nx", "", "a b", "a@b", "<script>"])
def test_a_host_that_is_none_is_not_believed(host):
    seen = seen_through([("X-Forwarded-For", CLIENT), ("X-Forwarded-Host", host)])
    assert seen["headers"][0] == (b"host", b"own")


@given(st.lists(st.text(max_size=30), max_size=5), st.text(max_size=60))
def test_whatever_a_client_invents_to_the_left_is_of_no_use(invented, forwarded):
    left = ", ".join(one.encode("latin-1", "ignore").decode("latin-1").replace("\n", "") for one in invented)
    assert client_of(left, CLIENT) == CLIENT
    assert client_of(f"{left},{CLIENT}") == CLIENT
    assert client_of(left, CLIENT, peer="192.0.2.77") == "192.0.2.77"
    for hop in (*read_forwarded([forwarded]), *read_hops([forwarded], [forwarded], [forwarded])):
        assert isinstance(hop, Hop)
        assert hop.scheme in (None, "http", "https")


@pytest.mark.parametrize("address", ["", "proxy.example.org", "10.0.0.0/99", "10.0.0.1:80", "0.0.0.0/0", "::/0"])
def test_what_is_no_proxy_is_refused(address):
    with pytest.raises(ServerError, match="the proxy") as caught:
        read_proxies([address])
    assert caught.value.hint


def test_keys_of_addresses_are_those_of_people_who_share_them():
    assert make_address_key("192.0.2.1") != make_address_key("192.0.2.2")
    assert make_address_key("2001:db8::1") == make_address_key("2001:db8::ffff") != make_address_key("2001:db8:0:1::1")
    assert make_address_key("fe80::1%eth0") == make_address_key("fe80::1")


# --- a server with tokens ---


def asked_from(team, address, who="nobody"):
    return team.ask(who, "/api/catalogs", headers={"X-Forwarded-For": address})


@pytest.fixture
def named(archive):
    """A server behind a proxy, which is where the client of the tests is."""
    with serving_team(archive, proxies=read_proxies(["192.0.2.200"])) as team:
        team.client._transport.client = ("192.0.2.200", 50000)
        yield team


def test_the_limit_on_wrong_tokens_is_not_evaded_by_a_forged_address(archive):
    with serving_team(archive) as team:
        statuses = [asked_from(team, f"198.51.100.{number}").status_code for number in range(14)]
        assert statuses == [401] * 10 + [429] * 4
        noted = team.ask("ada", "/api/audit?action=fail to log in").json()["done"]
        assert {one["subject"] for one in noted} == {"testclient"}


def test_behind_a_proxy_it_holds_for_each_client_and_the_audit_log_has_their_addresses(named):
    for client in ("198.51.100.1", "198.51.100.2"):
        forged = [asked_from(named, f"{number}.2.3.4, {client}").status_code for number in range(14)]
        assert forged == [401] * 10 + [429] * 4
    assert asked_from(named, "198.51.100.1", "ben").status_code == 200, "with a good token nobody is locked out"
    noted = named.ask("ada", "/api/audit?action=fail to log in").json()["done"]
    assert {one["subject"] for one in noted} == {"198.51.100.1", "198.51.100.2"}


def test_nobody_is_locked_out_by_an_address_that_looks_like_a_person(archive, monkeypatch):
    monkeypatch.setattr("provenn.web.entering._AT_ONCE", 3)
    monkeypatch.setattr("provenn.web.entering._PER_SECOND", 0.001)
    with serving_team(archive, proxies=read_proxies(["192.0.2.200"])) as team:
        team.client._transport.client = ("192.0.2.200", 50000)
        for forged in ("account ben", "person ben", "ben"):
            for _ in range(5):
                team.ask(None, "/api/catalogs", headers={"X-Forwarded-For": forged})
        assert team.ask("ben", "/api/catalogs").status_code == 200


def test_the_cookie_is_secure_if_the_proxy_is_asked_by_https(named):
    for scheme, secure in (("https", True), ("http", False)):
        named.client.cookies.clear()
        headers = {"X-Forwarded-For": CLIENT, "X-Forwarded-Proto": scheme}
        answer = named.client.post("/login", data={"token": named.secrets["ben"]}, headers=headers)
        assert ("Secure" in answer.headers["set-cookie"]) == secure
        assert ("strict-transport-security" in answer.headers) == secure


def test_a_host_that_a_proxy_names_must_be_ours(named):
    headers = {"X-Forwarded-For": CLIENT, "X-Forwarded-Host": "evil.example"}
    assert named.ask("ben", "/api/catalogs", headers=headers).status_code == 400
    assert named.ask("ben", "/api/catalogs", headers=headers | {"X-Forwarded-Host": "localhost"}).status_code == 200


def test_whoever_is_served_through_a_proxy_needs_a_token_on_this_machine_too(archive):
    with pytest.raises(ServerError, match="no token exists"):
        serve(archive, ready=pytest.fail, port=0, proxies=read_proxies(["127.0.0.1"]))


# --- people whom a proxy vouches for ---


@pytest.fixture
def vouching(archive):
    """A server whose proxy says who asks."""
    with serving_team(archive, proxies=read_proxies(["192.0.2.200"], "X-Remote-User")) as team:
        team.client._transport.client = ("192.0.2.200", 50000)
        yield team


def as_user(team, who, path="/api/catalogs", method="GET", **rest):
    headers = {"X-Remote-User": who} | rest.pop("headers", {})
    return team.ask(None, path, method, headers=headers, **rest)


def test_a_person_whom_the_proxy_names_is_who_they_are_with_their_role(vouching):
    assert as_user(vouching, "cleo").status_code == 200
    assert as_user(vouching, "cleo", "/api/audit").status_code == 403
    assert as_user(vouching, "ada", "/api/audit").status_code == 200
    page = as_user(vouching, "ben", "/catalogs").text
    assert "ben" in page
    assert "top secret" not in page
    assert "/logout" not in page, "there is nothing to log out of"


def test_who_has_no_good_token_is_refused_whoever_vouches_for_them(vouching):
    refused = as_user(vouching, "eve")
    assert refused.status_code == 403
    assert "eve has no token" in refused.json()["error"]["message"]
    assert "provenn token new" in refused.json()["error"]["hint"]
    assert "eve" in as_user(vouching, "eve", "/catalogs").text
    revoke_token(vouching.archive, vouching.numbers["cleo"])
    assert as_user(vouching, "cleo").status_code == 403
    issue_token(vouching.archive, "dan", "admin", days=1e-9)
    assert as_user(vouching, "dan").status_code == 403


def test_the_best_of_several_tokens_counts(vouching):
    issue_token(vouching.archive, "cleo", "admin")
    assert as_user(vouching, "cleo", "/api/audit").status_code == 200


@pytest.mark.parametrize("users", [[""], ["ada", "ben"], []])
def test_a_proxy_must_name_one_person(vouching, users):
    headers = [("X-Remote-User", user) for user in users]
    assert vouching.client.get("/api/catalogs", headers=headers).status_code == 401


def test_the_header_is_worth_nothing_from_anybody_else(archive):
    for options in ({}, {"proxies": read_proxies(["192.0.2.200"])}):
        with serving_team(archive, **options) as team:
            assert as_user(team, "ada").status_code == 401
    app = build_server_app(archive, tokens=True, proxies=read_proxies(["192.0.2.200"], "X-Remote-User"))
    with serving_team(archive, proxies=read_proxies(["192.0.2.200"], "X-Remote-User")) as team:
        assert app is not None
        assert as_user(team, "ada", headers={"X-Forwarded-For": "192.0.2.200"}).status_code == 401


def test_a_token_goes_before_the_header(vouching):
    assert vouching.ask("cleo", "/api/audit", headers={"X-Remote-User": "ada"}).status_code == 403
    assert vouching.ask("wrong", "/api/catalogs", headers={"X-Remote-User": "ada"}).status_code == 401


def test_a_form_of_a_person_whom_the_proxy_names_needs_what_its_page_gave_it(vouching):
    body = {"sources": "nothing", "attributes": ["vmag"]}
    form = form_of(as_user(vouching, "ben", "/target?sources=bright&attributes=vmag").text)
    assert as_user(vouching, "ben", "/target/run", "POST", data=body).status_code == 403
    assert as_user(vouching, "ben", "/target/run", "POST", data=body | {"form": form}).status_code == 404
    assert as_user(vouching, "ada", "/target/run", "POST", data=body | {"form": form}).status_code == 403


def test_a_name_that_is_no_ascii_is_read_as_it_was_meant(vouching):
    issue_token(vouching.archive, "zoë", "reader")
    for encoding in ("utf-8", "latin-1"):
        headers = {"X-Remote-User": "zoë".encode(encoding)}
        assert vouching.client.get("/api/catalogs", headers=headers).status_code == 200


@pytest.mark.parametrize("header", ["", " ", "Authorization", "Cookie", "X-Forwarded-For", "a b", "x:y", "Ü"])
def test_a_header_in_which_nobody_can_be_named_is_refused(header):
    with pytest.raises(ServerError, match=re.escape(repr(header))):
        read_proxies(["127.0.0.1"], header)


def test_a_header_needs_a_proxy():
    with pytest.raises(ServerError, match="only a trusted proxy") as caught:
        read_proxies([], "X-Remote-User")
    assert "--proxy" in caught.value.hint
