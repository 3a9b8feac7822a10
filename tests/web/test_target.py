"""The page target: attributes to pick, the plan, and what cannot be answered. Nothing is computed for it."""

import re

import pytest

from provenn.web.jobs import Jobs
from tests.archive.samples import write_parquet
from tests.web.reading import read
from tests.web.survey import ODD


def get(client, **query):
    page, json = client.get("/target", params=query), client.get("/api/target", params=query)
    assert page.status_code == json.status_code
    read(page.text)
    assert "Traceback" not in page.text
    return page, json.json()


def test_sources_come_first(client):
    page, found = get(client)
    assert found["source"] is None
    assert "Choose attributes" in page.text
    assert 'name="attributes"' not in page.text


def test_attributes_of_the_catalog_of_others_and_of_calculators_are_offered(client):
    page, found = get(client, sources="light")
    assert found["offered"] == ["vmag", "dist_pc", "near", "plx", "spect", "v"], "its own first; the key comes anyway"
    assert '<input type="checkbox" name="attributes" value="dist_pc">' in page.text


def test_a_large_population_offers_some_and_suggests_others(client, archive, tmp_path):
    wide = {f"c{number:03}": [1.0] for number in range(100)}
    archive.ingest("table", write_parquet(tmp_path / "wide.parquet", {"id": [1], **wide}), key="id", population="row")
    page, found = get(client, sources="table", attributes=["c000", "c099"], more="c098, c097")
    assert len(found["offered"]) == 63, "sixty, and those that are chosen"
    assert len(found["others"]) == 41
    assert found["plan"]["attributes"] == ["id", "c000", "c099", "c098", "c097"]
    assert page.text.count(" checked>") == 4


def test_attributes_of_other_catalogs_are_typed_with_commas_between_them(client, archive):
    """What is in backquotes is one name, whatever is in it."""
    archive["stars"].rename({"plx": "p, q"}, name="odd, too")
    typed = "stars.plx AS parallax, `odd, too`.`p, q` AS again"
    page, found = get(client, sources="light", attributes="vmag", more=typed, where="stars.plx > 3")
    assert found["plan"]["attributes"] == ["hip", "vmag", "parallax", "again"]
    assert found["wanted"]["attributes"] == ["vmag", "stars.plx AS parallax", "`odd, too`.`p, q` AS again"]
    assert f'value="{typed}"' in page.text, "and the form has it again"


def test_the_plan_is_shown_with_reasons_and_what_it_takes(client, archive):
    page, found = get(client, sources="bright", attributes=["vmag", "dist_pc"], where="plx > 3")
    plan = found["plan"]
    known = archive.target("bright", ["vmag", "dist_pc"], where="plx > 3").plan()
    assert plan["what"] == "vmag, dist_pc of bright where plx > 3"
    assert plan["attributes"] == ["hip", "vmag", "dist_pc"]
    assert plan["rows"] == {"low": 0, "high": known.most, "estimate": known.rows.estimate}
    assert plan["calculated"] == ["tests.web.survey:distance"]
    assert plan["after"]["what"] == "calculate dist_pc by tests.web.survey:distance"
    assert [one["proof"] for one in plan["reasons"]] == [
        list(reason.proof) for reason in known.reasons if reason.statements
    ]
    assert "<summary>As text</summary>" in page.text
    assert page.text.count("<svg") == 1
    assert 'action="/target/run"' in page.text


def test_what_is_stored_is_reused(client):
    _, found = get(client, sources="bright", attributes="vmag")
    assert found["plan"]["reused"] == [1]
    assert found["plan"]["after"]["label"] == "reuse"


@pytest.mark.parametrize(
    ("query", "status", "field", "said"),
    [
        ({"sources": "nobody"}, 404, "sources", "nobody"),
        ({"sources": "stars", "attributes": "vmga"}, 400, "attributes", "vmga"),
        ({"sources": "stars", "attributes": "z"}, 400, "attributes", "galaxy"),
        ({"sources": "stars", "attributes": "vmag", "where": "vmag <"}, 400, "where", "vmag"),
        ({"sources": "stars", "attributes": "vmag", "where": "rand() < 1"}, 400, "where", "rand"),
        ({"sources": "stars", "attributes": "vmga", "where": "vmag <"}, 400, "attributes", "vm"),
    ],
)
def test_what_cannot_be_answered_is_told_beside_the_form(client, query, status, field, said):
    page, found = get(client, **query)
    assert page.status_code == status
    assert said in found["error"]["message"]
    assert f'id="problem-{field}"' in page.text
    assert 'action="/target/run"' not in page.text


def test_a_name_of_several_attributes_lists_them(client, archive):
    archive["stars"].derive(colour="vmag + 1", name="red")
    archive["stars"].derive(colour="vmag + 2", name="blue")
    page, found = get(client, sources="stars", attributes="colour")
    assert page.status_code == 400
    assert {"red", "blue"} <= set(found["error"]["message"].replace(",", " ").split())


def test_sources_that_may_lack_an_attribute_are_shown_in_a_possible_world(client, archive, tmp_path):
    archive.ingest(
        "other", write_parquet(tmp_path / "other.parquet", {"hip": [1], "w": [2.0]}), key="hip", population="star"
    )
    page, found = get(client, sources="stars", attributes="other.w")
    assert page.status_code == 400
    assert found["error"]["message"] == "not all sources of stars are proved to have w"
    assert "2 other" in page.text
    assert "A possible world in which some sources do not have it" in page.text
    assert get(client, sources="stars", attributes="other.w", missing="null")[0].status_code == 200


@pytest.mark.parametrize(
    "query", [{"missing": "maybe"}, {"keep": "some"}, {"sources": "x" * 501}, {"attributes": ["a"] * 201}]
)
def test_what_no_target_has_is_refused(client, query):
    page, found = get(client, **{"sources": "stars", "attributes": "vmag"} | query)
    assert page.status_code == 422
    assert re.search("must be one of|must have at most 500|may occur at most 200 times", found["error"]["message"])


@pytest.mark.parametrize("name", ODD)
def test_odd_names_do_no_harm(client, name):
    page, found = get(client, sources=name, attributes="vmag")
    assert page.status_code == 200
    assert found["plan"]["what"] == f"vmag of {name}"
    assert "<img" not in page.text
    assert get(client, sources="stars", attributes=name)[0].status_code == 400


# --- asking for a run: what is refused before anything starts ---


@pytest.fixture
def no_jobs(monkeypatch):
    """Whatever starts a job fails."""

    def fail(*_):
        raise AssertionError("a job was started")

    monkeypatch.setattr(Jobs, "start", fail)


FORM = {"sources": "bright", "attributes": "vmag", "format": "csv"}


@pytest.mark.usefixtures("no_jobs")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Host": "evil.example"}, 400),
    ],
)
def test_a_run_is_not_started_from_elsewhere(client, headers, status):
    assert client.post("/target/run", data=FORM, headers=headers).status_code == status
    assert client.post("/api/jobs", json=FORM, headers=headers).status_code == status


@pytest.mark.usefixtures("no_jobs")
@pytest.mark.parametrize("change", [{"format": "exe"}, {"sources": ""}, {"attributes": []}, {"missing": "maybe"}])
def test_a_run_that_is_no_run_is_refused(client, change):
    for answer in (
        client.post("/target/run", data=FORM | change),
        client.post("/api/jobs", json=FORM | {"attributes": ["vmag"]} | change),
    ):
        assert answer.status_code == 422
        assert re.search("must be one of|must not be empty|is missing", answer.text)


@pytest.mark.usefixtures("no_jobs")
def test_bodies_of_the_wrong_kind_or_size_are_refused(client):
    assert client.post("/api/jobs", content=b"{", headers={"Content-Type": "application/json"}).status_code == 422
    assert client.post("/api/jobs", data=FORM).status_code == 422
    assert client.post("/target/run", json=FORM).status_code == 422
    assert client.post("/target/run", data=FORM | {"where": "x" * 1_100_000}).status_code == 413
    assert client.post("/api/jobs", content=b"x" * 1_100_000).status_code == 413
    assert client.get("/target/run").status_code == 405
    assert client.put("/api/jobs").status_code == 405
    assert client.post("/target").status_code == 405


def test_a_target_that_cannot_be_answered_starts_no_job(client):
    answer = client.post("/api/jobs", json={"sources": "bright", "attributes": ["vmga"]})
    assert answer.status_code == 400
    assert "vmga" in answer.json()["error"]["message"]
    page = client.post("/target/run", data={"sources": "nobody", "attributes": "vmag"})
    assert page.status_code == 404
    assert client.get("/api/jobs").json() == {"jobs": []}
