"""No answer violates its own content security policy: every route, opened by itself and shown inside a page of ours."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page

import provenn
from provenn.archive.tokens import issue_token
from provenn.web import create_app
from provenn.web.accounts import Accounts
from tests.browser.visitor import ROOT
from tests.web.running import running

FILLED = {"which": "bright", "number": "abc"}
FOR_PROGRAMS = ("/tap", "/scs", "/datalink")
ASKED = [
    "/compare?a=bright&b=stars&c=faint",
    "/compare?a=bright&b=stars&ask=bright <= faint",
    "/target?sources=bright&attributes=vmag&where=plx < 3",
    "/target?sources=bright&attributes=dist_pc",
    "/catalogs?text=b&unnamed=true",
    "/catalogs/bright/lineage.svg?depth=1&direction=up",
    "/catalogs/nothing",
    "/nothing",
    "/api/nothing",
    "/compare?a=nothing&b=bright",
]


def addresses(folder: Path) -> list[str]:
    """Return the address of every answer to GET that there is.

    XML for programs is left out: a browser shows it by a page of its own, with styles that violate every policy.
    """
    with provenn.open(folder, progress=False) as archive:
        app = create_app(archive, accounts=Accounts(archive))
    paths = {path for path, methods in app.openapi()["paths"].items() if "get" in methods}
    for route in app.routes:
        inner = getattr(getattr(route, "original_router", None), "routes", ())
        paths |= {item.path for item in (route, *inner) if "GET" in (getattr(item, "methods", None) or ())}
    results = [
        re.sub(r"{(\w+)[^}]*}", lambda match: FILLED[match[1]], path)
        for path in sorted(paths)
        if not path.startswith(FOR_PROGRAMS)
    ]
    files = sorted((ROOT / "src/provenn/web/static").rglob("*.*"))
    static = [f"/static/{path.relative_to(ROOT / 'src/provenn/web/static')}" for path in files]
    return [*results, *static, *ASKED]


def violations(page: Page, address: str) -> list[str]:
    """Open an address; return what the browser says of policies."""
    heard: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        heard.append(message.text)

    page.on("console", hear)
    try:
        page.goto(address)
    except Exception as error:
        if "Download is starting" not in str(error):
            raise
    page.evaluate("0")  # what the browser said before this was heard before its answer
    page.remove_listener("console", hear)
    return [text for text in heard if "Content Security Policy" in text]


def test_no_answer_violates_its_own_policy(browser, served):
    asked = addresses(served.folder)
    assert len(asked) > 40
    assert "/catalogs/bright/lineage.svg" in asked
    with browser.new_context(storage_state=served.state) as context:
        page = context.new_page()
        for address in asked:
            assert violations(page, served.address + address) == [], address


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_picture_that_is_opened_by_itself_has_its_colours(browser, served, scheme):
    with browser.new_context(storage_state=served.state, color_scheme=scheme) as context:
        page = context.new_page()
        page.goto(f"{served.address}/catalogs/bright/lineage.svg")
        rule = "[...document.styleSheets].map((sheet) => sheet.cssRules.length).reduce((a, b) => a + b, 0)"
        assert page.evaluate(rule) > 0


def test_pictures_are_shown_inside_a_page_of_ours(browser, served):
    with browser.new_context(storage_state=served.state) as context:
        page = context.new_page()
        heard: list[str] = []
        page.on("console", lambda message: heard.append(message.text))
        page.goto(f"{served.address}/catalogs")
        for source in ("/catalogs/bright/lineage.svg", "/static/icon.svg"):
            width = page.evaluate(
                """(source) => new Promise((resolve, reject) => {
                  const image = document.createElement("img");
                  image.onload = () => resolve(image.naturalWidth);
                  image.onerror = () => reject(new Error(source));
                  image.src = source;
                  document.body.append(image);
                })""",
                source,
            )
            assert width > 0
        assert not heard


def test_nothing_is_framed_and_no_answer_can_be_talked_into_running_anything(browser, served):
    with browser.new_context(storage_state=served.state) as context:
        page = context.new_page()
        for address in ("/catalogs", "/catalogs/bright/lineage.svg", "/api/catalogs"):
            policy = page.request.get(served.address + address).headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy


def test_the_pages_of_a_server_with_tokens_violate_nothing_either(browser, tmp_path):
    from tests.web.survey import make_survey  # noqa: PLC0415 - of the server in this process

    with make_survey(tmp_path / "survey") as archive:
        _, secret = issue_token(archive, "ada", "admin")
        with running(archive, tokens=True) as address, browser.new_context() as context:
            home = address.rstrip("/")
            page = context.new_page()
            assert violations(page, f"{home}/login") == []
            assert violations(page, f"{home}/catalogs") == []
            page.fill("input[name=token]", secret)
            page.press("input[name=token]", "Enter")
            page.wait_for_url("**/catalogs")
            for path in ("/catalogs", "/audit", "/jobs", "/catalogs/bright/lineage.svg", "/login", "/api/openapi.json"):
                assert violations(page, home + path) == [], path
