"""Knowledge, explanations and classifications as HTML for a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from provenn.display.figure import shorten_label
from provenn.display.markup import Element, make_element, render

__all__ = ["OPEN_UNIVERSE", "classification_html", "explanation_html", "knowledge_html"]

OPEN_UNIVERSE = "some object is outside all sets (open universe)"
"""The line of a proof that needs the open universe."""

_MOST_ROWS = 40
_LONGEST = 200


def explanation_html(conclusion: str | None, lines: Sequence[str]) -> str:
    """Return the lines of a proof of a conclusion; without a conclusion, the facts that contradict each other."""
    reasons = [line if line == OPEN_UNIVERSE else _make_code(line) for line in lines]
    if conclusion is None:
        heading = make_element("p", "These facts contradict each other:")
    else:
        heading = make_element(
            "p", _make_code(conclusion), "follows from" if reasons else "holds, whatever the sets are"
        )
    return _render_block(heading, *_make_list(reasons))


def knowledge_html(facts: Iterable[str], *, sets: int, total: int, open_universe: bool) -> str:
    """Return the first facts of a knowledge, and the numbers of its sets and facts."""
    shown = [_make_code(fact) for fact in islice(facts, _MOST_ROWS)]
    universe = "an open" if open_universe else "a closed"
    heading = f"Knowledge of {_count_noun(sets, 'set')} from {_count_noun(total, 'fact')}, in {universe} universe"
    return _render_block(make_element("p", heading), *_make_list([*shown, *_count_rest(total - len(shown))]))


def classification_html(classes: Sequence[Sequence[str]], parents: Mapping[str, Sequence[str]]) -> str:
    """Return a table of classes of equal sets, each with the direct supersets."""
    rows = [
        make_element(
            "tr",
            make_element("td", _make_code(" = ".join(members))),
            make_element("td", _make_code(", ".join(parents[members[0]]))),
        )
        for members in classes[:_MOST_ROWS]
    ]
    head = make_element("tr", make_element("th", "sets"), make_element("th", "directly inside"))
    return _render_block(
        make_element("table", head, *rows), *(make_element("p", line) for line in _count_rest(len(classes) - len(rows)))
    )


def _render_block(*parts: Element) -> str:
    """Return elements in one block, as HTML."""
    return render(make_element("div", *parts)) + "\n"


def _make_list(items: Sequence[Element | str]) -> list[Element]:
    """Return items as a list; nothing for no items."""
    return [make_element("ul", *(make_element("li", item) for item in items))] if items else []


def _make_code(text: str) -> Element:
    """Return a text as code, shortened."""
    return make_element("code", shorten_label(text, _LONGEST))


def _count_rest(count: int) -> list[str]:
    """Return a line with the number of hidden items, if any are hidden."""
    return [f"… and {count:,} more"] if count else []


def _count_noun(count: int, word: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
