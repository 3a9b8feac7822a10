"""Texts that nobody would write, and texts that somebody wrote and something spoiled."""

import re
from collections.abc import Sequence

from hypothesis import strategies as st

__all__ = ["spoiled", "texts"]

ODD = (
    *("\0", "\ud800", "\udfff", "\ufeff", "\u202e", "\u2028", "\x1b[31m", "\u0301", "ﬁ", "İ", "ß", "٣", "²", "½"),
    *("\U0001f52d", "\U0010ffff", "\N{NO-BREAK SPACE}", "\N{FULLWIDTH LEFT PARENTHESIS}", "\r", "\v", "\x85"),
    *(
        "\\",
        "'",
        '"',
        "`",
        "--",
        "/*",
        "*/",
        "#",
        ";",
        "%s",
        "{}",
        "${x}",
        "{{ 7 * 7 }}",
        "<script>",
        "../..",
        "\\u0000",
    ),
    *("9" * 400, "1e999", "-0", "0x1F", "1e-400", "NaN", "1_000", "0." + "0" * 400 + "1", "((((", "))))", ",,"),
)
_PIECES = re.compile(r"\s+|\w+|.", re.DOTALL)


def texts() -> st.SearchStrategy[str]:
    """Any text, with characters that are none."""
    return st.one_of(
        st.text(alphabet=st.characters(), max_size=60),
        st.lists(st.sampled_from(ODD), max_size=8).map("".join),
        st.binary(max_size=60).map(lambda data: data.decode("utf-8", "surrogateescape")),
    )


def spoiled(good: st.SearchStrategy[str], words: Sequence[str]) -> st.SearchStrategy[str]:
    """Good texts, with a few words or characters taken out, put in, doubled, exchanged; or nested, or repeated.

    Parameters
    ----------
    good
        The texts.
    words
        What has a meaning in them.
    """
    piece = st.one_of(st.sampled_from(words), st.sampled_from(ODD), st.text(max_size=3))
    change = st.tuples(st.sampled_from(_CHANGES), st.integers(0, 10**6), st.integers(0, 10**6), piece)
    few = st.tuples(good, st.lists(change, min_size=1, max_size=6)).map(_changed)
    return st.one_of(few, st.lists(st.sampled_from(words), max_size=25).map(" ".join), _repeated(good, words))


def _changed(arguments: tuple[str, list[tuple[str, int, int, str]]]) -> str:
    text, changes = arguments
    pieces = _PIECES.findall(text)
    for change, item, other, piece in changes:
        if not pieces:
            pieces = [piece]
        at, to = item % len(pieces), other % len(pieces)
        match change:
            case "take out":
                del pieces[at]
            case "put in":
                pieces.insert(at, piece)
            case "replace":
                pieces[at] = piece
            case "exchange":
                pieces[at], pieces[to] = pieces[to], pieces[at]
            case "double":
                pieces[at:at] = pieces[min(at, to) : max(at, to) + 1]
            case "cut":
                pieces = pieces[:at]
            case "cut a word":
                pieces[at] = pieces[at][: other % (len(pieces[at]) + 1)]
    return "".join(pieces)


_CHANGES = ("take out", "put in", "replace", "exchange", "double", "cut", "cut a word")


def _repeated(good: st.SearchStrategy[str], words: Sequence[str]) -> st.SearchStrategy[str]:
    """Deep and long texts: something said again and again, before, after or around a good text."""
    often = st.one_of(st.integers(2, 30), st.sampled_from([99, 100, 101, 1000, 5000]))
    word = st.sampled_from(words)
    return st.one_of(
        st.builds(lambda text, times: "(" * times + text + ")" * times, good, often),
        st.builds(lambda text, before, times: f"{before} " * times + text, good, word, often),
        st.builds(lambda text, after, times: text + f" {after}" * times, good, word, often),
        st.builds(lambda text, between, times: f" {between} ".join([text] * min(times, 200)), good, word, often),
        st.builds(lambda text, name, times: f"{name}(" * times + text + ")" * times, good, word, often),
    )
