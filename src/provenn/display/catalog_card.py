"""Archives, catalogs, and answers about them, as HTML for a notebook.

The HTML has plain elements in the colours of the page, light or dark; the few styles are attributes, to leave the rest
of the notebook unchanged. Long texts and tables are cut, with a remark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.display.figure import shorten_label
from provenn.display.markup import Element, make_element, render

__all__ = ["Card", "Table", "bounds_html", "card_html", "proof_html", "reason_html", "relation_html"]

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
        The title; a click on it hides and shows the table.
    header
        The titles of the columns; the first column names the rows. An empty column is left out.
    rows
        The cells.
    total
        The number of all rows, if only some of them are given.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A summary of an object: a title, a sentence, properties, tables, and a picture.

    Parameters
    ----------
    title, kind
        Its name, and the sort of object.
    what
        The object in a sentence; may be empty.
    rows
        Properties: a word, and its value. A property without a value is left out.
    tables
        Tables.
    warnings
        Problems of the object.
    picture
        SVG or HTML made by this package; may be empty.
    """

    title: str
    kind: str
    what: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    picture: str = ""


def card_html(card: Card) -> str:
    """Return a card as HTML."""
    title = make_element("strong", shorten_label(card.title, _LONGEST), style="font-size:1.15em")
    parts = [render(make_element("p", title, make_element("span", card.kind, style=_FAINT)))]
    if card.what:
        parts.append(render(make_element("p", shorten_label(card.what, _LONGEST))))
    parts += [
        render(make_element("p", make_element("strong", "Warning:"), shorten_label(warning, _LONGEST)))
        for warning in card.warnings
    ]
    properties = [
        (make_element("th", word, scope="row", style=f"{_CELL};{_FAINT}"), _make_cell(value))
        for word, value in card.rows
        if value
    ]
    if properties:
        parts.append(render(make_element("table", *(make_element("tr", *row) for row in properties))))
    parts += [render(_make_table(table)) for table in card.tables if table.rows]
    if card.picture:
        parts.append(f'<div style="overflow-x:auto">\n{card.picture}</div>')
    return _join_parts(parts)


def proof_html(
    statement: str,
    verdict: str,
    reasons: Sequence[tuple[str, str]],
    world: str = "",
    caveats: Sequence[str] = (),
) -> str:
    """Return whether a statement holds, and why, as HTML.

    Parameters
    ----------
    statement
        The statement.
    verdict
        ``"holds"``, ``"fails"`` or ``"unknown"``.
    reasons
        The facts that prove the statement, or its negation: the statement of each fact, and where it comes from.
    world
        A possible world in which the statement is false, as HTML of this package; may be empty.
    caveats
        What the answer takes on trust, one sentence each.
    """
    heading = make_element("p", _make_code(statement), make_element("strong", _VERDICTS[verdict]))
    introduction = [] if not world else [render(make_element("p", "It is false in this world, which the facts allow."))]
    return _join_parts([render(heading), *_list_reasons(reasons), *_list_caveats(caveats), *introduction, world])


def relation_html(words: str, reasons: Sequence[tuple[str, str]], hypercubes: str, caveats: Sequence[str] = ()) -> str:
    """Return the relation of two catalogs as HTML: in words, with reasons, caveats, and hypercubes."""
    heading = render(make_element("p", make_element("strong", shorten_label(words, _LONGEST))))
    return _join_parts([heading, *_list_reasons(reasons), *_list_caveats(caveats), hypercubes])


def bounds_html(
    words: str, proofs: Sequence[str], reasons: Sequence[tuple[str, str]], caveats: Sequence[str] = ()
) -> str:
    """Return the bounds of a number of sources as HTML: in words, with their inequalities, reasons and caveats."""
    heading = render(make_element("p", make_element("strong", shorten_label(words, _LONGEST))))
    inequalities = [render(make_element("p", shorten_label(proof, _LONGEST))) for proof in proofs]
    return _join_parts([heading, *inequalities, *_list_reasons(reasons), *_list_caveats(caveats)])


def reason_html(statement: str, because: str) -> str:
    """Return a fact, and where it comes from, as HTML."""
    return _join_parts([render(make_element("p", _make_code(statement), _make_remark(because)))])


def _join_parts(parts: Sequence[str]) -> str:
    """Return the parts in one block; empty parts are left out."""
    inside = "\n".join(part.rstrip("\n") for part in parts if part)
    return f'<div style="line-height:1.45">\n{inside}\n</div>\n'


def _list_reasons(reasons: Sequence[tuple[str, str]]) -> list[str]:
    """Return facts as a list, each with where it comes from."""
    if not reasons:
        return []
    items = [
        make_element("li", _make_code(statement), _make_remark(because)) for statement, because in reasons[:_MOST_ROWS]
    ]
    items += [make_element("li", line) for line in _count_rest(len(items), len(reasons))]
    return [render(make_element("p", "because")), render(make_element("ol", *items))]


def _list_caveats(caveats: Sequence[str]) -> list[str]:
    """Return caveats as paragraphs."""
    return [render(make_element("p", shorten_label(line, _LONGEST))) for line in caveats]


def _make_code(statement: str) -> Element:
    """Return a statement as code."""
    return make_element("code", shorten_label(statement, _LONGEST))


def _make_remark(text: str) -> Element:
    """Return a remark in faint letters."""
    return make_element("span", shorten_label(text, _LONGEST), style=_FAINT)


def _make_table(table: Table) -> Element:
    """Return a table that folds."""
    rows = table.rows[:_MOST_ROWS]
    columns = [column for column, _ in enumerate(table.header) if any(row[column] for row in rows)]
    heads = [make_element("th", table.header[column], scope="col", style=f"{_CELL};{_FAINT}") for column in columns]
    body = [
        make_element(
            "tr",
            make_element("th", _shorten_cell(row[0]), scope="row", style=_CELL),
            *(_make_cell(row[column]) for column in columns[1:]),
        )
        for row in rows
    ]
    more = [make_element("p", line) for line in _count_rest(len(rows), table.total or len(table.rows))]
    content = make_element("table", make_element("thead", make_element("tr", *heads)), make_element("tbody", *body))
    return make_element("details", make_element("summary", table.title), content, *more, open="")


def _make_cell(text: str) -> Element:
    """Return a cell of a table."""
    return make_element("td", _shorten_cell(text), style=_CELL)


def _shorten_cell(text: str) -> str:
    """Return the text of a cell, shortened; never empty."""
    return (
        shorten_label(text, _LONGEST) or " "
    )  # an element without content would be written as <td/>, which is not HTML


def _count_rest(shown: int, total: int) -> list[str]:
    """Return a line with the number of hidden rows, if any are hidden."""
    return [f"… and {total - shown:,} more"] if total > shown else []
