"""HTML for a notebook: complete, escaped, bounded, and without any effect on what is around it."""

from html.parser import HTMLParser

import pytest

from provenn.display.catalog_card import Card, Table, card_html, proof_html, reason_html, relation_html

HARM = "<script>alert('x')</script>\n\"&\x07"


class Outline(HTMLParser):
    """The tags and texts of a fragment; it fails if they are not nested."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_card_says_all_that_it_holds():
    card = Card(
        "bright",
        "SelectSources of star",
        "the sources of stars where vmag < 6",
        (("sources", "in stars and vmag < 6"), ("names", "")),
        (Table("2 attributes", ("name", "type", "unit"), (("hip", "bigint", ""), ("vmag", "double", ""))),),
        ("something is wrong",),
        "<svg><title>lineage</title></svg>",
    )
    result = Outline(card_html(card))
    for message in (
        "bright",
        "SelectSources of star",
        "vmag < 6",
        "2 attributes",
        "hip",
        "double",
        "something is wrong",
    ):
        assert message in result.text
    assert "names" not in result.text, "a row that says nothing is left out"
    assert "unit" not in result.text, "and so is a column"
    assert "svg" in result.tags


@pytest.mark.parametrize(
    "product",
    [
        card_html(Card(HARM, HARM, HARM, ((HARM, HARM),), (Table(HARM, (HARM,), ((HARM,),)),), (HARM,))),
        proof_html(HARM, "holds", [(HARM, HARM)]),
        relation_html(HARM, [(HARM, HARM)], ""),
        reason_html(HARM, HARM),
    ],
    ids=["card", "proof", "relation", "reason"],
)
def test_whatever_is_shown_is_escaped_and_changes_nothing_around_it(product):
    result = Outline(product)
    assert "script" not in result.tags
    assert "<script>alert('x')</script>␊\"&␇" in result.text
    assert not {"style", "link", "script", "iframe", "img"} & set(result.tags)
    assert result.attributes <= {"style", "scope", "open"}, "no id, no class, no handler"
    assert "color:" not in product, "the colours are those of the notebook"
    assert "background" not in product


def test_what_is_too_much_is_cut_and_says_so():
    rows = tuple((f"a{number}" * 500, "double") for number in range(1000))
    result = card_html(Card("wide", "", tables=(Table("1,000 attributes", ("name", "type"), rows),)))
    assert "… and 960 more" in result
    assert len(result) < 60_000
    part = card_html(Card("wide", "", tables=(Table("all", ("name", "type"), rows[:40], 100_040),)))
    assert "… and 100,000 more" in part
    assert len(proof_html("A == B", "holds", [("A" * 10_000, "B" * 10_000)] * 1000)) < 60_000


def test_a_proof_says_its_verdict():
    assert "is proved" in proof_html("A == B", "holds", [])
    assert "is refuted" in proof_html("A == B", "fails", [])
    unknown = proof_html("A == B", "unknown", [], "<div>a world</div>")
    assert "is neither proved nor refuted" in unknown
    assert "It is false in this world" in unknown
    assert "world" not in proof_html("A == B", "unknown", []), "the budget ran out"
