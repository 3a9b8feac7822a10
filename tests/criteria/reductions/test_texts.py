"""Prefixes are ranges of texts, and patterns are what they say."""

import re

from hypothesis import given
from hypothesis import strategies as st

from provenn.criteria.reductions.texts import build_prefix_ranges, find_prefix_end, split_pattern

TEXTS = st.text(alphabet=st.sampled_from("aAS\x00\x7f\x80éÿĀ\ud7ff\ue000\uffff😀\U0010ffff"), max_size=4)


@given(TEXTS, TEXTS, TEXTS)
def test_a_prefix_is_exactly_a_range(prefix, text, rest):
    ranges = build_prefix_ranges(prefix)
    if ranges is not None:
        for item in (text, prefix, prefix + rest, prefix[:-1] + rest):
            assert (item in ranges) == item.startswith(prefix)


@given(TEXTS.filter(bool), st.binary(max_size=3))
def test_the_end_of_a_prefix_also_divides_bytes_that_are_no_text(prefix, rest):
    end = find_prefix_end(prefix)
    if end is not None:
        for data in (prefix.encode() + rest, prefix.encode()[:-1] + rest, rest):
            inside = prefix.encode() <= data < end.encode()
            assert inside == data.startswith(prefix.encode())


def test_ends_that_are_no_texts_are_not_known():
    assert [find_prefix_end(text) for text in ("\x7f", "ÿ", "\ud7ff", "\uffff", "\U0010ffff")] == [None] * 5
    assert (find_prefix_end("ST"), find_prefix_end("é")) == ("SU", "ê")


@given(st.text(alphabet="ab%_!", max_size=6), st.text(alphabet="ab%_!", max_size=6))
def test_the_parts_of_a_pattern_match_what_the_pattern_matches(pattern, text):
    if not re.fullmatch(r"(?:[^!]|![!%_])*", pattern):
        return
    expected = re.sub(r"!(.)|(%)|(_)|(.)", _write_regular_expression, pattern)
    parts = split_pattern(pattern, "!")
    result = "".join({"%": ".*", "_": "."}.get(part) or re.escape(part[1:]) for part in parts)
    assert bool(re.fullmatch(result, text)) == bool(re.fullmatch(expected, text))


def _write_regular_expression(match: re.Match) -> str:
    escaped, any_text, any_character, character = match.groups()
    return ".*" if any_text else "." if any_character else re.escape(escaped or character)
