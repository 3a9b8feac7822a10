"""Remedies for what people type from habit: symbols of other languages in a criterion, quotes of text editors."""

import re
from typing import Final

__all__ = ["find_slip", "suggest_straight_quotes"]

_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`(?:[^`]|``)*`", re.DOTALL)
_SLIPS: Final = (
    (r"[‘’‚“”„«»]", "write straight quotes: '…'"),
    (r"&&", "write AND for &&"),
    (r"\|\|", "write OR for ||"),
    (r"=>", "write >= for =>"),
    (r"=<", "write <= for =<"),
    (r"===", "write = for ==="),
    (r"\*\*", "write power(x, 2) for x ** 2"),
    (r"(?i)^\s*where\b", "leave out WHERE: a criterion is the condition alone"),
    (r"(?i)^\s*select\b", "a criterion is the condition alone, without SELECT and FROM"),
    (r"(?i)\bin\s+[^\s(]", "write a list in parentheses: IN (1, 2)"),
    (r"(?i)\blike\s+[^\s'\"]", "write the pattern in quotes: LIKE 'a%'"),
    (r"(?i)\bbetween\b(?!.*\band\b)", "write both ends: BETWEEN 1 AND 2"),
    (r"\d,\d", "write a decimal point: 1.5"),
    (r"#", "write a comment as /* … */, or leave it out"),
    (r"(?i)\b(and|or|not)\s*$", "the condition is not complete: something is missing at its end"),
)
"""Forms that no criterion has, outside quotes, each with what to write instead; the first that occurs is told."""


def find_slip(text: str) -> str:
    """Return what to write instead of a form from another language in a text that cannot be parsed; else nothing.

    >>> find_slip("vmag < 6 && plx > 10")
    'write AND for &&'
    >>> find_slip("name = 'a && b' AND")
    'the condition is not complete: something is missing at its end'
    >>> find_slip("vmag <")
    ''
    """
    bare = _QUOTED.sub("''", text)
    return next((remedy for form, remedy in _SLIPS if re.search(form, bare, re.DOTALL)), "")


def suggest_straight_quotes(name: str) -> str:
    """Return the remedy for a name in the quotes of a text editor; nothing for another name.

    >>> suggest_straight_quotes("“Vega”")
    "write straight quotes: 'Vega'"
    """
    inner = re.fullmatch(r"[‘’‚“”„«»](.*?)[‘’‚“”„«»]?", name, re.DOTALL)
    return f"write straight quotes: '{inner[1]}'" if inner else ""
