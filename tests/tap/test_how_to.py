"""The programs in the how-to of the TAP service run, against a real server."""

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve-tap.md"
NEEDS = ("token", "astroquery")
"""Words of programs that need a server with tokens, or a package that is not installed."""


@pytest.mark.filterwarnings("ignore")  # of pyvo about its own dependencies
def test_programs_of_the_how_to_run(address):
    programs = re.findall(r"```py\n(.*?)```", PAGE.read_text(), re.DOTALL)
    scope: dict[str, Any] = {}
    tried = 0
    for program in programs:
        if not any(word in program for word in NEEDS):
            text = program.replace("http://127.0.0.1:8765/tap", address)
            text = text.replace("http://127.0.0.1:8765/", address.removesuffix("tap"))
            exec(compile(text, str(PAGE), "exec"), scope)  # noqa: S102 - our own page
            tried += 1
    assert tried >= 3
    assert len(scope["job"].fetch_result()) == 70
    assert len(programs) - tried == len(NEEDS)
