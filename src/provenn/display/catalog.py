"""Archives, catalogs, and answers about them, as HTML for a notebook.

Plain elements in the colours of the page, light or dark; the few styles are attributes, so that nothing else in a
notebook changes. What there is too much of is cut, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.display.figure import shortened
from provenn.display.markup import Element, element, render

__all__ = ["Card", "Table", "card_html", "proof_html", "reason_html", "relation_html"]

_MOST_ROWS = 40
_LONGEST = 400
_CELL = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0;white-space:normal"
_FAINT = "opacity:0.72;font-weight:normal"
_VERDICTS = {"holds": "is proved", "fails": "is refuted", "unknown": "is neither proved nor refuted"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a card.

    Parameters
    ----------
    title
        What it shows; a click on it hides and shows the table.
    header
        The titles of the columns; the first column names the rows. A column that holds nothing is left out.
    rows
        The cells.
    total
        How many rows there are, where that is more than are given.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """Something that is shown as a title, a sentence, what there is to know of it, tables, and a picture.

    Parameters
    ----------
    title, kind
        What it is called, and what sort of thing it is.
    what
        What it is, in a sentence; may be empty.
    rows
        What there is to know: a word, and what it says. A row that says nothing is left out.
    tables
        Tables.
    warnings
        What is wrong with it.
    picture
        SVG or HTML that was made by this package; may be empty.
    """

    title: str
    kind: str
    what: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    picture: str = ""


def card_html(card: Card) -> str:
    """Return a card."""
    title = element("strong", shortened(card.title, _LONGEST), style="font-size:1.15em")
    parts = [render(element("p", title, element("span", card.kind, style=_FAINT)))]
    if card.what:
        parts.append(render(element("p", shortened(card.what, _LONGEST))))
    parts += [render(element("p", element("strong", "Warning:"), shortened(one, _LONGEST))) for one in card.warnings]
    told = [
        (element("th", word, scope="row", style=f"{_CELL};{_FAINT}"), _cell(said)) for word, said in card.rows if said
    ]
    if told:
        parts.append(render(element("table", *(element("tr", *row) for row in told))))
    parts += [render(_table(one)) for one in card.tables if one.rows]
    if card.picture:
        parts.append(f'<div style="overflow-x:auto">\n{card.picture}</div>')
    return _block(parts)


def proof_html(
    statement: str,
    verdict: str,
    reasons: Sequence[tuple[str, str]],
    world: str = "",
    caveats: Sequence[str] = (),
) -> str:
    """Return whether a statement holds, and why.

    Parameters
    ----------
    statement
        What was asked.
    verdict
        ``"holds"``, ``"fails"`` or ``"unknown"``.
    reasons
        The facts that prove it, or its opposite: what each says, and where it comes from.
    world
        A possible world in which it is false, as HTML of this package; may be empty.
    caveats
        What the answer takes on trust, a sentence each.
    """
    said = element("p", _code(statement), element("strong", _VERDICTS[verdict]))
    more = [] if not world else [render(element("p", "It is false in this world, which the facts allow."))]
    return _block([render(said), *_chain(reasons), *_notes(caveats), *more, world])


def relation_html(words: str, reasons: Sequence[tuple[str, str]], hypercubes: str, caveats: Sequence[str] = ()) -> str:
    """Return how two catalogs relate: in words, why, what is taken on trust, and all that is possible, as HTML."""
    said = render(element("p", element("strong", shortened(words, _LONGEST))))
    return _block([said, *_chain(reasons), *_notes(caveats), hypercubes])


def reason_html(statement: str, because: str) -> str:
    """Return a fact, and where it comes from."""
    return _block([render(element("p", _code(statement), _because(because)))])


def _block(parts: Sequence[str]) -> str:
    inside = "\n".join(one.rstrip("\n") for one in parts if one)
    return f'<div style="line-height:1.45">\n{inside}\n</div>\n'


def _chain(reasons: Sequence[tuple[str, str]]) -> list[str]:
    """Return facts as a list, each with where it comes from."""
    if not reasons:
        return []
    items = [element("li", _code(said), _because(because)) for said, because in reasons[:_MOST_ROWS]]
    items += [element("li", line) for line in _more(len(items), len(reasons))]
    return [render(element("p", "because")), render(element("ol", *items))]


def _notes(caveats: Sequence[str]) -> list[str]:
    return [render(element("p", shortened(line, _LONGEST))) for line in caveats]


def _code(statement: str) -> Element:
    return element("code", shortened(statement, _LONGEST))


def _because(text: str) -> Element:
    return element("span", shortened(text, _LONGEST), style=_FAINT)


def _table(table: Table) -> Element:
    rows = table.rows[:_MOST_ROWS]
    shown = [column for column, _ in enumerate(table.header) if any(row[column] for row in rows)]
    heads = [element("th", table.header[one], scope="col", style=f"{_CELL};{_FAINT}") for one in shown]
    body = [
        element("tr", element("th", _short(row[0]), scope="row", style=_CELL), *(_cell(row[one]) for one in shown[1:]))
        for row in rows
    ]
    more = [element("p", line) for line in _more(len(rows), table.total or len(table.rows))]
    content = element("table", element("thead", element("tr", *heads)), element("tbody", *body))
    return element("details", element("summary", table.title), content, *more, open="")


def _cell(said: str) -> Element:
    return element("td", _short(said), style=_CELL)


def _short(text: str) -> str:
    return shortened(text, _LONGEST) or " "  # an element without content would be written as <td/>, which is not HTML


def _more(shown: int, total: int) -> list[str]:
    return [f"… and {total - shown:,} more".replace(",", " ")] if total > shown else []
