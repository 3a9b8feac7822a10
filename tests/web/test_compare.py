"""The page compare: regions, relations and proofs of two or three catalogs, and any statement."""

import re

import pytest

from tests.web.reading import read
from tests.web.survey import ODD


def get(client, path, **query):
    page, json = client.get(path, params=query), client.get(f"/api{path}", params=query)
    assert page.status_code == json.status_code
    read(page.text)
    assert "Traceback" not in page.text
    return page, json.json()


def test_without_catalogs_there_is_a_form_that_suggests_names(client):
    page, view = get(client, "/compare")
    assert page.status_code == 200
    assert view["compared"] is None
    assert {"bright", "faint", *ODD} <= set(view["suggested"])
    assert '<option value="bright">' in page.text


def test_a_single_catalog_waits_for_a_second(client):
    page, view = get(client, "/compare", a="bright")
    assert view["compared"] is None
    assert "Name a second catalog to compare with bright." in page.text
    assert "Name a second catalog" not in get(client, "/compare", ask="bright <= stars")[0].text


def test_three_catalogs_have_eight_regions_each_with_what_is_known_of_it(client, archive):
    page, view = get(client, "/compare", a="bright", b="faint", c="both")
    known = archive.compare("bright", "faint", "both")
    compared = view["compared"]
    assert [catalog["digest"] for catalog in compared["catalogs"]] == list(known.digests)
    assert [(region["words"], region["says"]) for region in compared["regions"]] == [
        (region.words, region.says) for region in known.regions
    ]
    assert compared["hypercubes"] == len(known.hypercubes)
    assert [pair["words"] for pair in compared["pairs"]] == [pair.words for pair in known.relations]
    for region in known.regions:
        assert f'<th scope="row">{region.words}</th>' in page.text, "a table says what the picture shows"
    assert page.text.count("<svg") == 2


def test_a_proof_is_a_chain_of_facts_whose_names_are_links(client, archive):
    page, view = get(client, "/compare", a="both", b="bright")
    (pair,) = view["compared"]["pairs"]
    assert pair["words"] == "both lies inside bright"
    (reason,) = pair["reasons"]
    assert reason["statement"]["text"] == "both == bright & tenth"
    links = {part["name"]: part["digest"] for part in reason["statement"]["parts"] if part["digest"]}
    assert links == {name: archive[name].digest for name in ("both", "bright", "tenth")}
    assert reason["because"].startswith("both: ")
    assert 'href="/catalogs/tenth"' in page.text


def test_a_criterion_in_a_proof_is_no_link(client):
    _, view = get(client, "/compare", a="bright", b="faint")
    parts = [part for reason in view["compared"]["pairs"][0]["reasons"] for part in reason["statement"]["parts"]]
    assert [part["digest"] for part in parts if part["text"] == '"vmag < 6"'] == ["", ""]


def test_many_hypercubes_are_drawn_in_part_and_counted(client):
    page, view = get(client, "/compare", a="tenth", b="bright", c="renamed")
    assert len(view["compared"]["cells"]) <= 16
    assert "hypercube" in page.text


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [("both <= bright", "proved"), ("overlapping(bright, faint)", "refuted"), ("tenth == both", "unknown")],
)
def test_any_statement_can_be_asked(client, statement, verdict):
    page, view = get(client, "/compare", ask=statement)
    answer = view["answer"]
    assert answer["verdict"] == verdict
    assert answer["statement"]["text"] == statement
    assert not answer["ran_out"]
    assert bool(answer["reasons"]) == (verdict != "unknown")
    assert (answer["world"] is not None) == (verdict == "unknown")
    assert f"<strong>{verdict}</strong>" in page.text
    assert ("A possible world" in page.text) == (verdict == "unknown")


def test_a_world_is_one_in_which_the_statement_is_false(client):
    _, view = get(client, "/compare", ask="tenth <= bright")
    assert view["answer"]["sets"] == ["tenth", "bright"]
    assert ["tenth"] in view["answer"]["world"]


def test_a_page_shows_what_is_proved_nevertheless_and_possible_rows(client):
    page, view = get(client, "/compare", ask="faint == rest")
    assert view["answer"]["helps"] == [
        "proved: faint <= rest",
        "possible: a row with vmag = NULL would be in rest and not in faint",
    ]
    assert "the data need not contain such rows" in page.text
    page, view = get(client, "/compare", a="bright", b="faint")
    assert view["compared"]["pairs"][0]["helps"] == []
    assert "the data need not contain such rows" not in page.text


def test_a_page_says_that_the_time_ran_out(client, monkeypatch):
    monkeypatch.setattr("provenn.web.pages.compare._BUDGET", 0.0)
    page, view = get(client, "/compare", ask="tenth == both & faint")
    assert view["answer"]["verdict"] == "unknown"
    assert view["answer"]["ran_out"]
    assert "No proof was found in the time" in page.text


@pytest.mark.parametrize("statement", ["bright <", "bright + faint", "__import__('os').system('x')", "1 == 1"])
def test_a_statement_that_cannot_be_read_is_shown_beside_its_field(client, statement):
    page, view = get(client, "/compare", ask=statement, a="bright", b="faint")
    assert page.status_code == 400
    assert "column" in view["error"]["message"]
    assert '<div class="failure told" role="alert" id="problem-ask">' in page.text
    assert re.search(r"<pre>[^<]*\n\s*\^", page.text), "the column is marked"
    assert "bright shares no source with faint" in page.text, "the comparison is there all the same"


def test_unknown_catalogs_and_other_populations_are_told(client):
    page, view = get(client, "/compare", a="bright", b="brihgt")
    assert page.status_code == 404
    assert "brihgt" in view["error"]["message"]
    assert 'id="problem-catalogs"' in page.text
    page, view = get(client, "/compare", a="bright", b="galaxies")
    assert page.status_code == 400
    assert "cannot compare" in view["error"]["message"]
    assert get(client, "/compare", ask="bright <= nobody")[0].status_code == 404


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_compared_and_do_no_harm(client, archive, name):
    page, view = get(
        client, "/compare", a=name, b="stars", ask="'" + name.replace("\\", "\\\\").replace("'", "\\'") + "' <= stars"
    )
    assert page.status_code == 200
    assert view["compared"]["pairs"][0]["words"] == f"{name} lies inside stars"
    assert view["answer"]["verdict"] == "proved"
    assert "<img" not in page.text
    assert archive["stars"]


def test_what_is_too_long_is_refused(client):
    assert get(client, "/compare", a="x" * 501)[0].status_code == 422
    assert get(client, "/compare", ask="a" * 2001)[0].status_code == 422
