"""What is known and why, as HTML for a notebook."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from provenn.display.figure import shortened
from provenn.display.markup import Element, element, render

__all__ = ["OPEN_UNIVERSE", "classification_html", "explanation_html", "knowledge_html"]

OPEN_UNIVERSE = "some object is outside all sets (open universe)"
"""What a proof says where it needs the open universe."""

_MOST_ROWS = 40
_LONGEST = 200


def explanation_html(conclusion: str | None, facts: Sequence[str], *, open_universe: bool) -> str:
    """Return why something is so: the facts from which it follows, or, without a conclusion, that contradict."""
    reasons = [_code(fact) for fact in facts] + [OPEN_UNIVERSE] * open_universe
    if conclusion is None:
        heading = element("p", "These facts contradict each other:")
    else:
        heading = element("p", _code(conclusion), "follows from" if reasons else "holds, whatever the sets are")
    return _block(heading, *_list(reasons))


def knowledge_html(facts: Iterable[str], *, sets: int, total: int, open_universe: bool) -> str:
    """Return the first facts of a knowledge, and how many sets and facts there are."""
    shown = [_code(fact) for fact in islice(facts, _MOST_ROWS)]
    universe = "an open" if open_universe else "a closed"
    heading = f"Knowledge of {_counted(sets, 'set')} from {_counted(total, 'fact')}, in {universe} universe"
    return _block(element("p", heading), *_list([*shown, *_more(total - len(shown))]))


def classification_html(classes: Sequence[Sequence[str]], parents: Mapping[str, Sequence[str]]) -> str:
    """Return a table of the sets that are equal, and those that directly contain them."""
    rows = [
        element("tr", element("td", _code(" = ".join(equal))), element("td", _code(", ".join(parents[equal[0]]))))
        for equal in classes[:_MOST_ROWS]
    ]
    head = element("tr", element("th", "sets"), element("th", "directly inside"))
    return _block(element("table", head, *rows), *(element("p", more) for more in _more(len(classes) - len(rows))))


def _block(*parts: Element) -> str:
    return render(element("div", *parts)) + "\n"


def _list(items: Sequence[Element | str]) -> list[Element]:
    return [element("ul", *(element("li", item) for item in items))] if items else []


def _code(text: str) -> Element:
    return element("code", shortened(text, _LONGEST))


def _more(count: int) -> list[str]:
    return [f"… and {count:,} more"] if count else []


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
