"""The programs in the how-to of the TAP service run, against a real server."""

import gc
import re
from pathlib import Path
from typing import Any

import pytest

from tests.tap.real_astroquery import run_program

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "serve-tap.md"
NEEDS = ("token", "astroquery")
"""Words of programs that need a server with tokens, or run elsewhere."""


def read_programs(address: str) -> list[str]:
    """Return the programs of the page, with the address of a server."""
    programs = re.findall(r"```py\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    server = address.removesuffix("tap")
    return [program.replace("http://127.0.0.1:8765/", server) for program in programs]


@pytest.mark.filterwarnings("ignore")  # of pyvo about its own dependencies
def test_programs_of_the_how_to_run(address):
    programs = read_programs(address)
    scope: dict[str, Any] = {}
    tried = 0
    for program in programs:
        if not any(word in program for word in NEEDS):
            exec(compile(program, str(PAGE), "exec"), scope)  # noqa: S102 - our own page
            tried += 1
    assert tried >= 3
    assert len(scope["job"].fetch_result()) == 70
    assert len(programs) - tried == len(NEEDS)
    scope.clear()
    gc.collect()  # here nobody minds that pyvo leaves connections open


def test_the_program_with_astroquery_runs(address, monkeypatch):
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)
    (program,) = [program for program in read_programs(address) if "astroquery" in program]
    printed = run_program(
        f"{program}\nprint(list(first['vmag']) == sorted(first['vmag']), len(bright))\n"  # noqa: S608 - a constant
        "print('stars' in list(tables['table_name']), sorted(matched['hip']) == [7, 8])\n"
        "try:\n    service.launch_job('SELECT nope FROM stars')\nexcept Exception as error:\n    print(error)\n"
    )
    assert "True 28\nTrue True\n" in printed
    assert "there is no column nope" in printed
