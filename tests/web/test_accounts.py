"""A server that asks for tokens tells strangers nothing, and everybody what they may know."""

import json
import re
import shutil
import time

import pytest

import provenn
from provenn.archive.tokens import issue_token, revoke_token
from provenn.errors import BaseFilesError
from provenn.web import create_app
from provenn.web.accounts import Accounts
from provenn.web.pages.login import _restrict_to_own_pages
from provenn.web.rates import Rate
from tests.web.team import HIDDEN, form_of, serving_team

SECRET = "0" * 12
OPEN = {"/login", "/static"}


@pytest.fixture
def team(archive):
    with serving_team(archive) as opened:
        yield opened


@pytest.fixture(scope="module")
def everybody(made, tmp_path_factory):
    """One server for tests that change nothing."""
    folder = shutil.copytree(made, tmp_path_factory.mktemp("team") / "survey")
    with provenn.open(folder, who="ada", progress=False) as archive, serving_team(archive) as opened:
        yield opened


def routes(archive):
    """Return every method and path that the application has, with something filled in."""
    app = create_app(archive, accounts=Accounts(archive))
    filled = {"which": "bright", "number": "abc", "name": "bright", "part": "phase"}
    found = []
    for path, methods in app.openapi()["paths"].items():
        found += [(method.upper(), path) for method in methods]
    for route in app.routes:
        found += [(method, route.path) for method in getattr(route, "methods", None) or ()]
        for inner in getattr(getattr(route, "original_router", None), "routes", ()):
            found += [(method, inner.path) for method in inner.methods]
    return sorted({(method, re.sub(r"{(\w+)[^}]*}", lambda m: filled[m[1]], path)) for method, path in found})


def test_every_route_needs_a_token_but_the_login_page(archive, monkeypatch):
    asked = routes(archive)
    assert len(asked) > 30
    assert {path for _, path in asked} >= {
        "/catalogs",
        "/api/catalogs",
        "/audit",
        "/jobs/abc/data",
        "/api/openapi.json",
    }
    monkeypatch.setattr("provenn.web.entering._AT_ONCE", 3 * len(asked))  # no refusal for another reason
    with serving_team(archive) as team:
        for method, path in asked:
            if path.rstrip("/") in OPEN or path.startswith("/static"):
                continue
            for who, refusals in ((None, {401}), ("wrong" * 8, {401, 429})):  # few guesses are permitted
                answer = team.ask(who, path, method)
                assert answer.status_code in refusals, (method, path)
                assert answer.headers["cache-control"] == "no-store"
            team.client.cookies.set("provenn_session", "guessed")
            assert team.client.request(method, path).status_code == 401, (method, path)


def test_strangers_cannot_tell_what_exists(everybody):
    there, not_there = (everybody.ask(None, path) for path in ("/catalogs/bright", "/catalogs/nothing"))
    assert there.status_code == not_there.status_code == 401
    assert there.text.replace("bright", "") == not_there.text.replace("nothing", "")
    there, not_there = (everybody.ask(None, path) for path in ("/api/catalogs/bright", "/api/surely/not/a/page"))
    assert there.json() == not_there.json()
    assert there.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/log%0Ain", "/%09login", "/sta%0Atic/a", "/sta%0Dtic/provenn.css"])
def test_a_path_that_only_resembles_an_open_one_needs_a_token(everybody, path):
    assert everybody.ask(None, path).status_code == 401


@pytest.mark.parametrize("host", ["127.0.0.1:/static/?", "127.0.0.1:80/static/?", "127.0.0.1:/login?"])
def test_a_host_cannot_make_a_page_an_open_one(everybody, host):
    assert everybody.ask(None, "/api/catalogs", headers={"Host": host}).status_code in {400, 401}


def test_logging_in_leads_back_to_a_name_with_odd_characters(everybody):
    page = everybody.ask(None, "/catalogs/100%25%3F?depth=1")
    assert 'value="/catalogs/100%25%3F?depth=1"' in page.text


def test_the_login_page_and_its_style_are_all_that_strangers_see(everybody):
    page = everybody.ask(None, "/login")
    assert page.status_code == 200
    assert "bright" not in page.text
    assert everybody.ask(None, "/static/style.css").status_code == 200


# --- roles ---


def test_a_reader_looks_asks_and_plans_but_runs_nothing(everybody):
    for path in (
        "/catalogs",
        "/catalogs/bright",
        "/api/compare?a=bright&b=stars",
        "/target?sources=bright&attributes=vmag",
    ):
        assert everybody.ask("cleo", path).status_code == 200
    asked = {"sources": "bright", "attributes": ["vmag"]}
    for path, body in (
        ("/api/jobs", {"json": asked}),
        ("/target/run", {"data": asked}),
        ("/api/jobs/abc/cancel", {}),
        ("/jobs/abc/cancel", {}),
    ):
        refused = everybody.ask("cleo", path, "POST", **body)
        assert refused.status_code == 403, path
        assert "author" in refused.text
    assert everybody.ask("cleo", "/api/audit").status_code == 403


def test_an_author_may_run_but_not_see_the_audit_log(everybody):
    assert (
        everybody.ask("ben", "/api/jobs", "POST", json={"sources": "nothing", "attributes": ["a"]}).status_code == 404
    )
    assert everybody.ask("ben", "/api/jobs/abc/cancel", "POST").status_code == 404
    for path in ("/audit", "/api/audit", "/audit?most=5"):
        refused = everybody.ask("ben", path)
        assert refused.status_code == 403
        assert "token" in refused.text
        assert HIDDEN not in refused.text


def test_an_admin_sees_who_did_what(team):
    team.log_in("cleo")
    team.ask("wrong", "/api/catalogs")
    noted = team.ask("ada", "/api/audit").json()["done"]
    assert [(one["action"], one["who"], one["via"]) for one in noted[:2]] == [
        ("fail to log in", "?", "http"),
        ("log in", "cleo", "http"),
    ]
    assert [one["subject"] for one in noted if one["action"] == "make token"] == ["token #3", "token #2", "token #1"]
    page = team.ask("ada", "/audit?action=log in")
    assert page.status_code == 200
    assert "cleo" in page.text
    assert not any(secret in json.dumps(noted) for secret in team.secrets.values())


def test_whoever_runs_a_server_without_tokens_sees_the_audit_log(client):
    assert client.get("/api/audit").status_code == 200
    assert client.get("/login").status_code == 404


# --- tokens ---


def test_a_revoked_token_and_its_sessions_are_useless_at_once(team):
    team.log_in("ben")
    assert team.client.get("/api/catalogs").status_code == 200
    revoke_token(team.archive, team.numbers["ben"])
    assert team.client.get("/api/catalogs").status_code == 401
    assert team.ask("ben", "/api/catalogs").status_code == 401
    assert team.client.post("/login", data={"token": team.secrets["ben"]}).status_code == 401


def test_an_expired_token_is_useless(team):
    _, secret = issue_token(team.archive, "dan", "admin", days=1e-9)
    assert team.ask(secret, "/api/catalogs").status_code == 401
    _, secret = issue_token(team.archive, "dan", "admin", days=1)
    assert team.ask(secret, "/api/catalogs").status_code == 200


@pytest.mark.parametrize(
    "given", ["Basic YTpi", "Bearer", "Bearer ", "bearer x y", "Bearer \xff\xfe", "Token " + SECRET]
)
def test_anything_else_is_no_token(team, given):
    assert team.client.get("/api/catalogs", headers={"Authorization": given.encode("latin-1")}).status_code == 401


def test_a_token_in_the_address_is_no_token(everybody):
    assert everybody.ask(None, f"/api/catalogs?token={everybody.secrets['ada']}").status_code == 401


def test_the_digest_of_a_token_is_no_token(team):
    with team.archive.context.database.reading() as reading:
        digests = reading.connection.exec_driver_sql("SELECT digest FROM tokens").scalars().all()
    assert len(digests) == 3
    assert not set(digests) & set(team.secrets.values())
    assert all(team.ask(digest, "/api/catalogs").status_code == 401 for digest in digests)


# --- sessions ---


def test_logging_in_sets_a_cookie_that_no_script_and_no_other_site_has(everybody):
    answer = everybody.log_in("ben")
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalogs")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie
    assert everybody.secrets["ben"] not in cookie
    page = everybody.client.get("/catalogs")
    assert page.status_code == 200
    assert "ben" in page.text
    assert everybody.secrets["ben"] not in page.text


def test_over_https_the_cookie_is_secure_and_the_browser_stays_with_https(everybody):
    answer = everybody.client.post("https://127.0.0.1/login", data={"token": everybody.secrets["ben"]})
    assert "Secure" in answer.headers["set-cookie"]
    assert "max-age" in answer.headers["strict-transport-security"]
    assert "strict-transport-security" not in everybody.log_in("ben").headers


def test_logging_out_ends_the_session(team):
    team.log_in("ben")
    session = team.client.cookies["provenn_session"]
    form = form_of(team.client.get("/catalogs").text)
    answer = team.client.post("/logout", data={"form": form})
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    team.client.cookies.set("provenn_session", session)
    assert team.client.get("/catalogs").status_code == 401


def test_a_wrong_token_is_told_in_one_way_and_seldom(team):
    answers = [team.client.post("/login", data={"token": f"wrong {number}"}) for number in range(14)]
    assert [answer.status_code for answer in answers] == [401] * 10 + [429] * 4
    assert "set-cookie" not in answers[0].headers
    assert team.log_in("ben").status_code == 303, "who has a good token is not locked out"
    noted = team.ask("ada", "/api/audit?action=fail to log in").json()["done"]
    assert len(noted) == 10, "and the audit log is not flooded"


@pytest.mark.parametrize(
    "address", ["//evil.example", "https://evil.example", "/\\evil.example", "x", "/a\nb", "/logout"]
)
def test_logging_in_leads_to_no_other_site(everybody, address):
    answer = everybody.client.post("/login", data={"token": everybody.secrets["ben"], "next": address})
    assert answer.headers["location"] == "/catalogs"
    assert _restrict_to_own_pages("/target?sources=a%2Fb") == "/target?sources=a%2Fb"


def test_a_form_of_a_session_needs_what_its_page_gave_it(everybody):
    everybody.log_in("ben")
    form = form_of(everybody.client.get("/target?sources=bright&attributes=vmag").text)
    asked = {"sources": "nothing", "attributes": ["vmag"]}
    assert everybody.client.post("/target/run", data=asked).status_code == 403
    assert everybody.client.post("/target/run", data=asked | {"form": "x"}).status_code == 403
    assert everybody.client.post("/target/run", data=asked | {"form": form}).status_code == 404, (
        "there is no such catalog"
    )
    assert everybody.client.post("/api/jobs", json=asked).status_code == 403
    assert everybody.client.post("/api/jobs", json=asked, headers={"X-Provenn-Form": form}).status_code == 404
    everybody.log_in("cleo")
    assert everybody.client.post("/logout", data={"form": form}).status_code == 403, "not that of another session"


FORMS = (
    "/define?sources=stars&criterion=vmag+%3C+3",
    "/knowledge",
    "/target?sources=bright&attributes=vmag",
    "/compare?a=tenth&b=near",
    "/catalogs/bright",
)


@pytest.mark.parametrize("path", FORMS)
def test_every_form_that_changes_something_brings_what_the_server_needs_and_readers_see_none(everybody, path):
    everybody.log_in("ben")
    forms = re.findall(r'<form [^>]*method="post".*?</form>', everybody.client.get(path).text, re.DOTALL)
    assert len(forms) > 1 or "/catalogs" in path
    assert all('name="form"' in form for form in forms)
    everybody.log_in("cleo")
    seen = re.findall(r'<form action="([^"]+)" method="post"', everybody.client.get(path).text)
    assert seen == ["/logout"]


def test_an_author_looks_at_two_catalogs_by_the_form_of_the_page(everybody):
    everybody.log_in("ben")
    page = everybody.client.get("/compare?a=tenth&b=near").text
    (form,) = re.findall(r'<form action="/compare/look".*?</form>', page, re.DOTALL)
    answer = everybody.client.post("/compare/look", data=dict(re.findall(r'name="(\w+)" value="([^"]*)"', form)))
    assert answer.status_code != 403, answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ],
)
def test_a_page_of_another_site_sends_nothing_even_with_the_cookie_and_the_form(everybody, headers):
    everybody.log_in("ben")
    form = form_of(everybody.client.get("/catalogs").text)
    for path in ("/logout", "/target/run", "/login", "/api/jobs"):
        assert everybody.client.post(path, data={"form": form}, headers=headers).status_code == 403
    assert everybody.client.get("/catalogs").status_code == 200, "and nobody was logged out"


# --- what is private ---

PAGES = [
    "/catalogs/{}",
    "/api/catalogs/{}",
    "/catalogs/{}/lineage",
    "/api/catalogs/{}/lineage",
    "/catalogs/{}/sets",
    "/api/catalogs/{}/sets",
    "/catalogs/{}/report",
    "/compare?a={}&b=bright",
    "/api/compare?a={}&b=bright",
    "/api/compare?a=stars&b=bright&ask=nonempty('{}')",
    "/target?sources={}&attributes=vmag",
    "/api/target?sources={}&attributes=vmag",
    "/knowledge?catalog={}",
    "/api/knowledge?catalog={}",
    "/runs?catalog={}",
    "/api/runs?catalog={}",
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("by", ["name", "digest"])
def test_a_private_catalog_is_to_others_as_one_that_there_is_not(everybody, page, by):
    called, nothing = (HIDDEN, "top sacred") if by == "name" else (everybody.hidden, "f" * 64)
    theirs = everybody.ask("ada", page.format(called))
    assert theirs.status_code == 200
    hidden, unknown = (everybody.ask("ben", page.format(one)) for one in (called, nothing))
    assert hidden.status_code == unknown.status_code
    assert hidden.status_code in (400, 404)
    alike = (
        hidden.text.replace(called, "IT")
        .replace(called.replace(" ", "%20"), "IT")
        .replace(called.replace(" ", "+"), "IT")
    )
    other = (
        unknown.text.replace(nothing, "IT")
        .replace(nothing.replace(" ", "%20"), "IT")
        .replace(nothing.replace(" ", "+"), "IT")
    )
    assert alike == other


LISTS = [
    "/catalogs",
    "/api/catalogs?unnamed=true",
    "/catalogs/stars",
    "/api/catalogs/stars",
    "/catalogs/stars/lineage",
    "/catalogs/stars/sets",
    "/catalogs/bright/sets",
    "/knowledge",
    "/runs",
    "/compare",
    "/target",
    "/catalogs/stars/report",
]


def test_no_list_tells_of_a_private_catalog(everybody):
    for path in LISTS:
        text = everybody.ask("ben", path).text
        assert HIDDEN not in text
        assert everybody.hidden not in text
    assert HIDDEN in everybody.ask("ada", "/catalogs").text
    sums = [everybody.ask(who, "/api/catalogs").json()["total"] for who in ("ada", "ben")]
    assert sums[0] == sums[1] + 1


def computed(_, work):
    """Stand for Spark."""
    work.path.write_text("hip\n1\n")
    return {"state": "done", "rows": 1, "size": 6, "file": "bright.csv"}


def test_jobs_and_their_files_are_of_who_started_them(team, monkeypatch):
    monkeypatch.setattr("provenn.web.jobs.Jobs._compute", computed)
    asked = {"sources": "bright", "attributes": ["vmag"], "format": "csv"}
    job = team.ask("ben", "/api/jobs", "POST", json=asked).json()["id"]
    while team.ask("ben", f"/api/jobs/{job}").json()["state"] != "done":
        time.sleep(0.01)
    assert team.ask("ben", f"/api/jobs/{job}/data").text == "hip\n1\n"
    for method, path in (
        ("GET", f"/jobs/{job}"),
        ("GET", f"/api/jobs/{job}"),
        ("GET", f"/jobs/{job}/data"),
        ("GET", f"/api/jobs/{job}/data"),
        ("POST", f"/jobs/{job}/cancel"),
        ("POST", f"/api/jobs/{job}/cancel"),
    ):
        for who, status in (("ada", 404), ("cleo", 403 if method == "POST" else 404)):
            assert team.ask(who, path, method).status_code == status
    assert team.ask("ada", "/api/jobs").json()["jobs"] == []
    assert [one["id"] for one in team.ask("ben", "/api/jobs").json()["jobs"]] == [job]
    noted = team.ask("ada", "/api/audit").json()["done"]
    assert [(one["action"], one["who"], one["via"]) for one in noted[:2]] == [
        ("download", "ben", "http"),
        ("run", "ben", "http"),
    ]


# --- rates ---


def test_who_asks_too_often_is_asked_to_wait_and_others_are_not(archive, monkeypatch):
    monkeypatch.setattr("provenn.web.entering._AT_ONCE", 3)
    monkeypatch.setattr("provenn.web.entering._PER_SECOND", 0.001)
    with serving_team(archive) as team:
        answers = [team.ask("ben", "/api/catalogs") for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].headers["retry-after"] == "1"
        assert team.ask("cleo", "/api/catalogs").status_code == 200
        assert [team.ask(None, "/api/catalogs").status_code for _ in range(4)] == [401, 401, 401, 429]


def test_a_rate_lets_so_many_at_once_and_then_so_many_a_second(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("provenn.web.rates.monotonic", lambda: now[0])
    rate = Rate(per_second=2, at_once=3)
    assert [rate.take("a") for _ in range(4)] == [True, True, True, False]
    assert rate.take("b"), "others do not wait"
    now[0] += 1.0
    assert [rate.take("a") for _ in range(3)] == [True, True, False]
    now[0] += 1000.0
    assert [rate.take("a") for _ in range(4)] == [True, True, True, False]


def test_rates_do_not_grow_without_end():
    rate = Rate(per_second=1, at_once=1)
    for number in range(20_000):
        rate.take(f"address {number}")
    assert len(rate._left) <= 10_000


# --- base files ---


def test_base_files_elsewhere_are_not_read_for_anybody(archive, tmp_path):
    """Neither listed nor read: not for a result, a count, nor for what is kept; Spark is not even started."""
    outside = shutil.copy(tmp_path / "survey" / "stars.parquet", tmp_path / "outside.parquet")
    archive.ingest("outside", outside, key="hip", population="star")
    seen = archive.as_seen_by("ben", confined=False, roots=[str(tmp_path / "survey")])
    for ask in (
        seen["outside"].to_pandas,
        seen["outside"].select("vmag < 6").count,
        lambda: seen.store("outside"),
        lambda: seen.target("outside", ["vmag"]).write(tmp_path / "out.parquet"),
    ):
        with pytest.raises(BaseFilesError, match="this server may not read the files") as caught:
            ask()
        assert str(tmp_path) not in caught.value.message
