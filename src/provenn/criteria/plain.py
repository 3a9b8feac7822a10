"""Canonical text for people: names instead of identities, and numbers without suffixes that say nothing new."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from provenn.criteria.writing import with_names
from provenn.sky import FUNCTIONS

__all__ = ["plain_text"]

_TOKEN = re.compile(
    r"""
    (?P<quoted>'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?P<suffix>BD|[DFLSY])(?!\w)
    |(?P<word>\w+)
    |(?P<sign><=|>=|<>|\|\||[^\s\w])
    |(?P<space>\s+)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMPARED = frozenset(["<", "<=", "=", "<>", ">=", ">"])
_ARITHMETIC = frozenset("+-*/%")
_LISTS = frozenset(["IN", *(name.upper() for name in FUNCTIONS)])
_ENDS = frozenset(["", ")", ",", "AND", "OR", "IS", "THEN", "END"])
_WORDS = frozenset(["AND", "OR", "NOT", "CASE", "WHEN", "THEN", "ELSE", "IN", "LIKE", "ESCAPE"])


def plain_text(text: str, names: Mapping[str, str]) -> str:
    """Return a canonical text, or the label of a criterion, as people write it. It is read back as the same.

    A number loses the suffix of its type only where its neighbours give it that type again: compared with a term, in
    a list of values, among the numbers of a region; a double and a bigint also beside an arithmetic operator whose
    other side is no number, and so of that type: canonical text writes every cast. A float keeps its suffix: 5.1 is
    another number than 5.1F.

    Parameters
    ----------
    text
        The canonical text.
    names
        What attributes are called, by identity; an identity that has no name stays as it is.

    Examples
    --------
    >>> plain_text("`hip.vmag` < 6.0D AND `hip.spect` = '5D'", {"hip.vmag": "vmag", "hip.spect": "spect"})
    "vmag < 6 AND spect = '5D'"
    """
    tokens = [found for found in _TOKEN.finditer(with_names(text, names)) if found.lastgroup != "space"]
    calls: list[str] = []
    written: list[str] = []
    end = 0
    for at, token in enumerate(tokens):
        if token[0] == "(":
            calls.append(tokens[at - 1][0].upper() if at else "")
        elif token[0] == ")" and calls:
            calls.pop()
        number = token["number"]
        if number is not None and _is_clear(tokens, at, calls[-1] if calls else ""):
            number = number.removesuffix(".0")
        elif number is not None:
            number = token[0]
        written += [token.string[end : token.start()], token[0] if number is None else number]
        end = token.end()
    return "".join(written)


def _is_clear(tokens: Sequence[re.Match[str]], at: int, call: str) -> bool:
    """Tell whether what stands around a number gives it the type that its suffix names.

    Parameters
    ----------
    tokens, at
        The text, and the place of the number in it.
    call
        What stands before the parenthesis around it.
    """
    suffix = tokens[at]["suffix"]
    if suffix == "F":
        return False
    first = at - 1 if _is_sign(tokens, at - 1) else at
    before, after = _text(tokens, first - 1), _text(tokens, at + 1)
    if after in _ENDS and (before in _COMPARED or (before in ("(", ",") and call in _LISTS)):
        return True
    beside = [first - 2] if before in _ARITHMETIC else []
    beside += [at + 2 + _is_sign(tokens, at + 2)] if after in _ARITHMETIC else []
    return suffix in ("D", "L") and bool(beside) and not any(_text(tokens, one)[:1].isdigit() for one in beside)


def _text(tokens: Sequence[re.Match[str]], at: int) -> str:
    """Return a token in capitals, or nothing where there is none."""
    return tokens[at][0].upper() if 0 <= at < len(tokens) else ""


def _is_sign(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Tell whether there is a minus that belongs to the number behind it, and takes it from nothing."""
    if _text(tokens, at) != "-":
        return False
    before = _text(tokens, at - 1)
    return not before or before in _WORDS or (tokens[at - 1].lastgroup == "sign" and before != ")")
