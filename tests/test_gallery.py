"""The documentation leads: every page has a place in the order of tasks, and its pictures are those of this program."""

import re
from collections import Counter
from pathlib import Path

from gallery.session import draw_session, record_session

DOCS = Path(__file__).parents[1] / "docs"


def test_the_recorded_session_is_that_of_this_program(golden):
    golden(DOCS / "pictures" / "session.svg", draw_session(record_session()))


def test_every_page_has_one_place_in_the_order_of_tasks():
    entries = [
        line
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
        for line in tree.splitlines()
        if line and not line.startswith(":")
    ]
    pages = {path.relative_to(DOCS).with_suffix("") for path in DOCS.rglob("*") if path.suffix in (".md", ".ipynb")}
    own = {str(page) for page in pages if page.parts[0] != "_build"} - {"index"}
    assert Counter(entries) == Counter(own)
    assert entries[:3] == ["tutorial/first-steps", "tutorial/archive", "tutorial/targets"]
