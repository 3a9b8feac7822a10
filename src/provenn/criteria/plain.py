"""Canonical text for people: names instead of identities, and numbers without redundant suffixes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from provenn.criteria.schema import AttributeIdentity
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


def plain_text(text: str, names: Mapping[AttributeIdentity, str]) -> str:
    """Return a canonical text, or the label of a criterion, in the way people write it.

    The result has the same meaning when read back. A number loses the type suffix only where the neighbours imply the
    same type: in a comparison with a term, in a list of values, among the numbers of a region. A double or bigint also
    loses its suffix beside an arithmetic operator whose other side is not a number, and so has the same type, because
    canonical text writes every cast. A float keeps its suffix: 5.1 and 5.1F are different numbers.

    Parameters
    ----------
    text
        The canonical text.
    names
        The names of attributes by identity; an identity without a name stays unchanged.

    Examples
    --------
    >>> plain_text("`hip.vmag` < 6.0D AND `hip.spect` = '5D'", {"hip.vmag": "vmag", "hip.spect": "spect"})
    "vmag < 6 AND spect = '5D'"
    """
    tokens = [match for match in _TOKEN.finditer(with_names(text, names)) if match.lastgroup != "space"]
    calls: list[str] = []
    pieces: list[str] = []
    end = 0
    for at, token in enumerate(tokens):
        if token[0] == "(":
            calls.append(tokens[at - 1][0].upper() if at else "")
        elif token[0] == ")" and calls:
            calls.pop()
        number = token["number"]
        if number is not None and _has_implied_type(tokens, at, calls[-1] if calls else ""):
            number = number.removesuffix(".0")
        elif number is not None:
            number = token[0]
        pieces += [token.string[end : token.start()], token[0] if number is None else number]
        end = token.end()
    return "".join(pieces)


def _has_implied_type(tokens: Sequence[re.Match[str]], at: int, call: str) -> bool:
    """Tell whether the neighbours of a number imply the type of the suffix.

    Parameters
    ----------
    tokens, at
        The tokens of the text, and the index of the number.
    call
        The token before the innermost parenthesis around the number.
    """
    suffix = tokens[at]["suffix"]
    if suffix == "F":
        return False
    first = at - 1 if _is_negative_sign(tokens, at - 1) else at
    before, after = _read_token(tokens, first - 1), _read_token(tokens, at + 1)
    if after in _ENDS and (before in _COMPARED or (before in ("(", ",") and call in _LISTS)):
        return True
    beside = [first - 2] if before in _ARITHMETIC else []
    beside += [at + 2 + _is_negative_sign(tokens, at + 2)] if after in _ARITHMETIC else []
    return (
        suffix in ("D", "L") and bool(beside) and not any(_read_token(tokens, index)[:1].isdigit() for index in beside)
    )


def _read_token(tokens: Sequence[re.Match[str]], at: int) -> str:
    """Return a token in capitals, or an empty text beyond the ends."""
    return tokens[at][0].upper() if 0 <= at < len(tokens) else ""


def _is_negative_sign(tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Tell whether a token is a minus negating, not subtracting, the next number."""
    if _read_token(tokens, at) != "-":
        return False
    before = _read_token(tokens, at - 1)
    return not before or before in _WORDS or (tokens[at - 1].lastgroup == "sign" and before != ")")
