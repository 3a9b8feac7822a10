"""What `CONTRIBUTING.md` names is there, and what it asks for is done for all that there is."""

import re
from pathlib import Path

from fastapi.routing import APIRoute

from architecture.rooms import PACKAGE, ROOT
from provenn.targets.rules import READING_RULES, RULES
from provenn.web import app
from tests.browser.test_every_page import PAGES

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXAMPLES = re.compile(r"tally|needless_steps")
"""The names of the examples, for which there are no files."""

NOT_VISITED = {"/audit", "/jobs/{number}"}
"""Pages that need an administrator or a job: other tests in a browser visit them."""


def find_path(text: str) -> Path | None:
    """Return the file or folder that the guide means; None if there is none."""
    return next((root / text for root in (ROOT, PACKAGE) if (root / text).exists()), None)


def test_every_path_in_the_guide_is_there():
    quoted = re.findall(r"`([^`\s]+)`", GUIDE) + re.findall(r"\btests/[\w/]+\.py", GUIDE)
    paths = {text for text in quoted if re.fullmatch(r"[\w.]+(/[\w.-]*)+|\w+\.(py|toml|txt)", text)}
    results = {"docs/_build/html"}
    assert len(paths) > 30
    assert [text for text in sorted(paths - results) if not EXAMPLES.search(text) and find_path(text) is None] == []


def test_every_name_that_the_guide_finds_in_a_file_is_there():
    named = re.findall(r"`([\w.]+)`(?:\s+\([^)]*\),)?\s+(?:of|in)\s+`([\w/]+\.py)`", GUIDE)
    assert len(named) > 8
    for name, text in named:
        path = find_path(text)
        assert path is not None, text
        assert name.rpartition(".")[2] in path.read_text(encoding="utf-8"), f"{name} of {text}"


def test_every_rule_is_in_the_reference_in_its_order():
    text = (ROOT / "docs" / "reference" / "targets.md").read_text(encoding="utf-8")
    section = text.partition("## Rules")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert listed == [rule.__name__ for rule in (*RULES, *READING_RULES)]


def test_every_page_is_visited_in_a_browser():
    routes = [route for router in app._PAGES for route in router.routes if isinstance(route, APIRoute)]
    pages = {route.path for route in routes if route.name.endswith("_page") and "GET" in route.methods}
    assert len(pages) > 8
    visited = [address.partition("?")[0] for address in PAGES.values()]
    for page in pages - NOT_VISITED:
        pattern = re.sub(r"{[^}]*}", "[^/]+", page)
        assert any(re.fullmatch(pattern, address) for address in visited), f"{page}: a line in PAGES"
