"""Reduce conditions on texts: patterns, prefixes, and the beginnings of texts are ranges.

Spark compares texts by their bytes in UTF-8, which is the order of their characters' numbers, and Python's order.
How suffixes, contained texts and functions relate is the subject of `text_facts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from provenn.criteria.conditions import join_by_and, negate_condition
from provenn.criteria.domains import Domain, Key, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls, Truth
from provenn.criteria.ranges import Ranges, build_point_ranges
from provenn.criteria.reductions.memberships import build_inside, build_present
from provenn.criteria.types import BOOLEAN, INT, STRING

__all__ = ["build_prefix_ranges", "estimate_position", "find_prefix_end", "reduce_text", "split_pattern"]

_TEXTS = Domain("", None)
_TRUE = Ranges(True, (1,))
_DECODED_AS = "\ufffd"
"""The character that Java reads in place of bytes that are no text."""


def reduce_text(term: Node, where: Ranges) -> Condition | None:
    """Return the condition on a text that a function of it lies in some ranges.

    Sound, because each form is another spelling of the same test: a pattern without wildcards is an equality; a pattern
    that ends with its only ``%`` is a prefix, and texts with the same prefix are a range; cutting a text off after some
    characters keeps the order; a text of no characters is the empty text.
    """
    match term:
        case Call("like", (value, Constant(key=str() as pattern), *escape)):
            return _combine_truth(value, _reduce_pattern(value, pattern, escape), where)
        case Call("startswith", (value, Constant(key=str() as prefix))) if evaluate(value) is None:
            return _combine_truth(value, _build_prefix(value, prefix), where)
        case Call("endswith" | "contains", (value, Constant(key=""))):
            return _combine_truth(value, build_present(value), where)
        case Call("length", (value,)):
            return _reduce_length(value, where)
        case Call("substring" | "left", (value, *numbers)):
            return _reduce_beginning(term, value, numbers, where)
    return None


def split_pattern(pattern: str, escape: str = "\\") -> list[str]:
    """Return the parts of a pattern of LIKE: ``%``, ``_`` and, with a leading ``=``, the literal texts between them.

    >>> split_pattern("a!_b%", "!")
    ['=a_b', '%']
    """
    return list(_split_pattern(pattern, escape))


def _split_pattern(pattern: str, escape: str) -> Iterator[str]:
    """Yield the parts of a pattern; each escape is followed by a character, as `build_pattern_match` made sure."""
    literal = ""
    characters = iter(pattern)
    for character in characters:
        if character in "%_" and character != escape:
            if literal:
                yield "=" + literal
                literal = ""
            yield character
        else:
            literal += next(characters, "") if character == escape else character
    if literal:
        yield "=" + literal


def _reduce_pattern(value: Node, pattern: str, escape: list[Node]) -> Condition | None:
    """Return the condition that a text matches a pattern of LIKE, or None for a pattern that stays opaque."""
    character = escape[0].key if escape and isinstance(escape[0], Constant) else "\\"
    if not isinstance(character, str) or _DECODED_AS in pattern:
        return None
    parts = split_pattern(pattern, character)
    merged = [part for number, part in enumerate(parts) if part != "%" or parts[number - 1 : number] != ["%"]]
    match [part[0] for part in merged], [part[1:] for part in merged if part[0] == "="]:
        case [], _:
            return build_inside(value, build_point_ranges([""], _TEXTS))
        case ["="], [text]:
            return build_inside(value, build_point_ranges([text], _TEXTS))
        case ["%"], _:
            return build_present(value)
        case ["=", "%"], [prefix]:
            return _build_prefix(value, prefix)
        case ["%", "="], [suffix]:
            return _build_test("endswith", value, suffix)
        case ["%", "=", "%"], [part]:
            return _build_test("contains", value, part)
        case ["=", "%", "="], [prefix, suffix] if character not in pattern:
            # Spark tests such a pattern in this way, but one with escapes as a regular expression: of damaged texts,
            # the two have another opinion.
            begins = _build_prefix(value, prefix)
            least = Ranges(False, (len(prefix) + len(suffix),))
            long_enough = build_inside(Call("length", (value,), INT, Nulls.ANY), least)
            return begins and join_by_and([begins, _build_test("endswith", value, suffix), long_enough])
    return None


def _combine_truth(value: Node, truth: Condition | None, where: Ranges) -> Condition | None:
    """Return the condition that a test of a text has some of the truth values, from when it is TRUE."""
    if truth is None:
        return None
    if (0 in where) == (1 in where):
        return build_present(value) if 0 in where else Truth(False)
    return truth if 0 in where else join_by_and([build_present(value), negate_condition(truth)])


def _build_test(function: str, value: Node, text: str) -> Condition:
    """Return the condition that a text ends with, or contains, another one; it is FALSE at NULL."""
    return build_inside(Call(function, (value, Constant(STRING, text)), BOOLEAN, Nulls.ANY), _TRUE)


def _build_prefix(value: Node, prefix: str) -> Condition | None:
    """Return the condition that a text begins with a prefix; it is FALSE at NULL."""
    ranges = build_prefix_ranges(prefix)
    return None if ranges is None else build_inside(value, ranges)


def build_prefix_ranges(prefix: str) -> Ranges | None:
    """Return the texts with a prefix, or None if their end is not known.

    >>> build_prefix_ranges("ST")
    Ranges(first=False, cuts=('ST', 'SU'))
    """
    if not prefix:
        return Ranges(first=True)
    end = find_prefix_end(prefix)
    return None if end is None else Ranges(False, (prefix, end))


def find_prefix_end(prefix: str) -> str | None:
    """Return the least text above all texts with a prefix, or None if that is no text.

    The last byte of the prefix is increased by one. Where the result is not UTF-8, as after U+007F or U+D7FF, texts
    in a damaged file could lie between the prefix and the next character; nothing is said of them.

    >>> find_prefix_end("ST"), find_prefix_end(chr(0x10FFFF))
    ('SU', None)
    """
    data = prefix.encode()
    try:
        return (data[:-1] + bytes([data[-1] + 1])).decode()
    except (UnicodeDecodeError, ValueError):
        return None


def estimate_position(term: Node, where: Ranges) -> tuple[Condition, Condition] | None:
    """Return conditions inside and around the condition that the position of a text in another one lies in some ranges.

    Sound, because a text with a position above 0 is contained, and a text that is not contained has the position 0.
    Not exact: in a damaged text, Spark finds no position for some of the texts that it contains.
    """
    match term:
        case Call("instr", (value, Constant(key=str() as part))) | Call("locate", (Constant(key=str() as part), value)):
            contained = _build_test("contains", value, part)
        case _:
            return None
    present = build_present(value)
    missing = join_by_and([present, negate_condition(contained)])
    around = present if 0 in where else contained if where.cuts or where.first else Truth(False)
    return missing if 0 in where else Truth(False), around


def _reduce_length(value: Node, where: Ranges) -> Condition | None:
    """Return the condition that a length lies in some ranges that do not tell texts with characters apart."""
    if any(not isinstance(cut, int) or cut > 1 for cut in where.cuts):
        return None
    empty = build_point_ranges([""], _TEXTS)
    return build_inside(value, Ranges.union([empty] * (0 in where) + [~empty] * (1 in where)))


def _reduce_beginning(term: Call, value: Node, numbers: list[Node], where: Ranges) -> Condition | None:
    """Return the condition that the first characters of a text lie in some ranges.

    A text lies below a text of at most n characters exactly if its first n characters do. Its first n characters lie
    below a longer text exactly if they lie below or at that text's first n characters.
    """
    constants = [evaluate(number) for number in numbers]
    keys = [None if constant is None else constant.key for constant in constants]
    start, count = (1, keys[0]) if term.operator == "left" else (keys[0], keys[1] if len(keys) > 1 else 2**31 - 1)
    within = get_domain(STRING)
    if start not in (0, 1) or not isinstance(count, int) or within is None:
        return None
    if count <= 0:
        return build_present(value) if "" in where else Truth(False)
    moved: dict[Key, Key] = {}
    for cut in where.cuts:
        end = cut if not isinstance(cut, str) or len(cut) <= count else find_prefix_end(cut[:count])
        if end is None:
            return None
        moved[cut] = end
    return build_inside(value, where.move_cuts(moved.__getitem__, within))
