"""The page that defines: previews are proved and change nothing, errors stand beside their field, rights are kept."""

import re

import pytest

from tests.web.reading import read
from tests.web.survey import ODD
from tests.web.team import HIDDEN, form_of, serving_team


def get(client, **query):
    page, json = client.get("/define", params=query), client.get("/api/define", params=query)
    assert page.status_code == json.status_code
    read(page.text)
    assert "Traceback" not in page.text
    return page, json.json()


def test_a_preview_says_what_is_proved_and_defines_nothing(client, archive):
    before = archive.matches()
    page, found = get(client, sources="stars", criterion="vmag < 3")
    preview = found["preview"]
    assert ("lies inside", "bright") in [(one["words"], one["catalog"]["name"]) for one in preview["relations"]]
    assert preview["words"].endswith(preview["sources"])
    assert re.search(r"\d+ sources", preview["sources"])
    assert "lies inside" in page.text
    assert archive.matches() == before


def test_a_selection_that_cannot_have_sources_says_so(client):
    assert get(client, sources="stars", criterion="vmag < 3 AND vmag > 4")[1]["preview"]["sources"] == "no sources"


def test_units_stand_beside_the_attributes(client):
    _, found = get(client, sources="stars")
    assert {"name", "type", "unit"} <= found["attributes"][0].keys()


@pytest.mark.parametrize(
    ("query", "field", "told"),
    [
        ({"sources": "nobody"}, "sources", "no catalog is named"),
        ({"sources": "stars", "criterion": "vmagg < 6"}, "criterion", "did you mean vmag?"),
        ({"sources": "stars", "criterion": "vmag <"}, "criterion", "cannot be parsed"),
    ],
)
def test_an_error_stands_beside_its_field(client, query, field, told):
    page, _ = get(client, **query)
    assert page.status_code in (400, 404)
    assert f'id="problem-{field}"' in page.text
    assert f'aria-describedby="problem-{field}"' in page.text
    assert told in page.text


def test_a_selection_is_defined_named_and_shown(client, archive):
    answer = client.post("/define/select", data={"sources": "stars", "criterion": "vmag < 3", "name": "brilliant"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/catalogs/brilliant")
    assert archive.relate("brilliant", "bright").summary == "subset"


def test_a_name_that_is_taken_is_refused_beside_its_field(client, archive):
    before = archive["bright"].digest
    asked = {"sources": "stars", "criterion": "vmag < 3", "name": "bright", "visibility": "private"}
    answer = client.post("/define/select", data=asked)
    assert answer.status_code >= 400
    assert '<option value="private" selected>' in answer.text
    assert 'id="problem-name"' in answer.text
    assert 'value="vmag &lt; 3"' in answer.text, "what was typed is still there"
    assert "lies inside" in read(answer.text).text, "so is the preview"
    assert "tick Move in the form" in answer.text
    assert "--move" not in answer.text
    assert archive["bright"].digest == before


def test_a_query_defines_a_catalog(client, archive):
    query = "SELECT * FROM stars WHERE vmag < 3"
    answer = client.post("/define/sql", data={"query": query, "query_name": "asked"})
    assert answer.headers["location"] == "/catalogs/asked"
    assert archive.relate("asked", "bright").summary == "subset"
    wrong = client.post("/define/sql", data={"query": "SELECT nothing FROM nowhere"})
    assert wrong.status_code >= 400
    assert 'id="problem-query"' in wrong.text
    assert "SELECT nothing FROM nowhere" in wrong.text


def test_a_catalog_gets_a_name_and_a_name_is_moved_only_on_purpose(client, archive):
    assert client.post("/define/name", data={"catalog": "bright", "new_name": "shining"}).status_code == 303
    assert archive["shining"] == archive["bright"]
    refused = client.post("/define/name", data={"catalog": "faint", "new_name": "shining"})
    assert 'id="problem-new_name"' in refused.text
    moved = client.post("/define/name", data={"catalog": "faint", "new_name": "shining", "move": "true"})
    assert moved.status_code == 303
    assert archive["shining"] == archive["faint"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_shown_as_they_are(client, name):
    page, _ = get(client, sources=name, criterion="1 = 1", name=name)
    assert page.status_code in (200, 400)


def test_what_is_typed_is_checked_at_once(client):
    def check(**query):
        answer = client.get("/api/define/check", params=query)
        assert answer.status_code == 200
        return answer.json()

    assert check(sources="stars", criterion="")["words"] == ""
    assert "lies inside" in check(sources="stars", criterion="vmag < 3")["words"]
    assert check(sources="stars", criterion="vmagg < 3") | {"words": ""} == {
        "valid": False,
        "words": "",
        "hint": "did you mean vmag?",
    }


def test_a_fact_is_declared_with_its_consequences_and_retracted(client, archive):
    archive["stars"].select("vmag < 3", name="brilliant")
    answer = client.post("/knowledge/declare", data={"statement": "disjoint(brilliant, bright)", "reason": "a mistake"})
    number = int(answer.headers["location"].rpartition("=")[2])
    page = client.get(answer.headers["location"])
    assert "brilliant cannot have any sources" in page.text
    assert f"Retract #{number}" in page.text
    assert client.post("/knowledge/retract", data={"number": number, "reason": "it was one"}).status_code == 303
    assert archive.relate("brilliant", "bright").rests_on == ()
    assert number not in [fact.id for fact in archive.facts()]


def test_a_contradiction_is_refused_beside_its_field(client):
    answer = client.post("/knowledge/declare", data={"statement": "empty(bright)"})
    assert answer.status_code >= 400
    assert 'id="problem-statement"' in answer.text
    assert "nonempty(bright)" in answer.text
    told = [
        client.get("/api/knowledge/check", params={"statement": text}).json()["words"]
        for text in ("bright <= stars", "empty(bright)", "bright <= faint")
    ]
    assert told[:2] == ["this is proved already", "this contradicts what is known"]


FORMS = ["/define/select", "/define/sql", "/define/name", "/knowledge/declare", "/knowledge/retract"]


@pytest.mark.parametrize("path", FORMS)
def test_a_page_of_another_site_defines_nothing(client, path):
    data = {"sources": "stars", "criterion": "vmag < 3", "name": "x", "number": "1"}
    assert client.post(path, data=data, headers={"sec-fetch-site": "cross-site"}).status_code == 403


def test_wrong_parameters_are_explained_in_plain_words(client):
    told = client.get("/catalogs", params={"page": 0}).text
    assert "page must be at least 1" in told
    assert "Input should" not in told


def test_readers_may_preview_and_change_nothing(archive):
    with serving_team(archive) as team:
        assert team.ask("cleo", "/define?sources=stars&criterion=vmag<3").status_code == 200
        for path in FORMS:
            data = {"sources": "stars", "criterion": "vmag < 3", "statement": "bright <= stars", "number": "1"}
            assert team.ask("cleo", path, "POST", data=data).status_code == 403
        team.log_in("cleo")
        page = team.client.get("/define?sources=stars&criterion=vmag<3").text
        assert 'action="/define/select"' not in page
        assert "role author" in page


def test_an_author_defines_for_itself_alone_with_the_secret_of_the_form(archive):
    with serving_team(archive) as team:
        team.log_in("ben")
        form = form_of(team.client.get("/define").text)
        data = {"sources": "stars", "criterion": "vmag < 3", "name": "of ben", "visibility": "private"}
        assert team.client.post("/define/select", data=data).status_code == 403
        assert team.client.post("/define/select", data=data | {"form": form}).status_code == 303
        assert team.ask("ben", "/catalogs/of%20ben").status_code == 200
        assert team.ask("cleo", "/catalogs/of%20ben").status_code == 404
        hidden = team.ask("ben", f"/api/define?sources={HIDDEN}&criterion=vmag<2")
        missing = team.ask("ben", "/api/define?sources=never+made&criterion=vmag<2")
        assert hidden.status_code == missing.status_code == 404
        assert hidden.text.replace(HIDDEN, "never made") == missing.text
        previewed = team.ask("ben", "/api/define?sources=stars&criterion=vmag<2").text
        assert HIDDEN not in previewed


def test_what_is_wrong_is_one_sentence_while_it_is_typed(client):
    told = client.get("/api/define/check", params={"sources": "stars", "criterion": "vmag < 3; vmag"}).json()
    assert told["words"] == "this is more than one expression"


def test_a_size_that_is_not_known_is_not_followed_by_a_noun(client):
    query = "SELECT count(*) AS n FROM stars WHERE vmag < 3"
    told = client.get("/api/define/check-query", params={"query": query}).json()
    assert "counted yet sources" not in told["words"]


def test_a_preview_without_declared_facts_says_nothing_of_them(client, archive):
    for fact in archive.facts():
        if fact.origin == "declared":
            archive.retract(fact.id)
    assert get(client, sources="stars", criterion="vmag < 3")[1]["preview"]["remarks"] == []


def test_counts_of_catalogs_inside_and_around_bound_a_preview(client, archive):
    """Bright has 2 sources; what is declared bounds nothing."""
    assert archive["stars"].select("vmag < 2", name="brightest").count(engine="look") == 1
    assert archive["bright"].count(engine="look") == 2
    preview = get(client, sources="stars", criterion="vmag < 3")[1]["preview"]
    assert preview["sources"].startswith("between 1 and 2 sources")
    archive["stars"].sample(0.5, seed=3, name="half")
    archive.declare("half <= brightest")
    preview = get(client, sources="half", criterion="vmag < 9")[1]["preview"]
    assert ("lies inside", "brightest") in [(one["words"], one["catalog"]["name"]) for one in preview["relations"]]
    assert "1 source" not in preview["sources"]
    (remark,) = preview["remarks"]
    assert remark.endswith(" rests on declared facts")
    archive.declare("empty(half)")
    preview = get(client, sources="half", criterion="vmag < 8")[1]["preview"]
    assert (preview["sources"], preview["remarks"]) == ("no sources", ["it has no sources by declared facts"])


def test_a_preview_names_the_catalogs_that_say_most_however_many_are_newer(client, archive):
    """Neither newer catalogs about other attributes nor empty ones hide those that the selection lies inside."""
    stars = archive["stars"]
    for place in range(65):
        stars.select(f"plx > {place} AND vmag < {40 + place}", name=f"newer_{place:02d}")
    stars.select("vmag < 2 AND vmag > 3", name="impossible")
    assert archive["bright"].count(engine="look") == 2
    page, found = get(client, sources="stars", criterion="vmag < 3")
    preview = found["preview"]
    relations = [(one["words"], one["catalog"]["name"]) for one in preview["relations"]]
    assert relations[0] == ("lies inside", "bright")
    assert preview["words"].startswith("lies inside bright")
    assert "impossible" not in [name for _, name in relations]
    assert re.search(r"compared with 60 of \d+ catalogs with names", preview["remarks"][-1])
    assert "compared with 60 of" in page.text
