"""The reference of the language lists what there is."""

import re
from pathlib import Path

from provenn import criteria
from provenn.criteria.calls import _BUILDERS
from provenn.criteria.functions import _ALIASES, FUNCTIONS

PAGE = (Path(__file__).parent.parent.parent / "docs/reference/criteria.md").read_text(encoding="utf-8")


def test_the_reference_lists_every_function_and_no_other():
    table = re.search(r"\| numbers .*?\n\n", PAGE, re.DOTALL)[0]
    listed = re.findall(r"`(\w+)`", table)
    assert sorted(listed) == sorted({*FUNCTIONS, *_BUILDERS, *_ALIASES})


def test_the_reference_names_everything_public():
    assert [name for name in criteria.__all__ if f"`{name}" not in PAGE] == []
