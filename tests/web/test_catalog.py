"""The page of one catalog, and what is proved of it and all others."""

import pytest

from provenn.sky import box, moc
from tests.sky.large_mocs import survey_rectangle
from tests.web.reading import read
from tests.web.survey import ODD

CLASSES = ("stars", "bright", "both", "rest", "tenth", "light", "renamed", "near", "far", "wide", "all", "galaxies")


def shown(client, which, **asked):
    answer = client.get(f"/api/catalogs/{which}", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("name", CLASSES)
def test_a_catalog_of_every_class_shows_its_sentence_its_attributes_and_its_sources(client, archive, name):
    description = archive.describe(name)
    page = read(client.get(f"/catalogs/{name}").text)
    for text in (
        description.is_what,
        description.kind,
        description.sources,
        description.digest,
        *(attribute.name for attribute in description.attributes),
    ):
        assert text in page.text
    assert page.links["Compare with …"] == f"/compare?a={name}"
    assert page.links["Request attributes"] == f"/target?sources={name}"


def test_a_catalog_is_found_by_name_by_digest_and_by_the_beginning_of_it(client, archive):
    digest = archive["bright"].digest
    for which in ("bright", "naked eye", digest, digest[:6]):
        assert shown(client, which)["digest"] == digest
    assert shown(client, "naked eye")["name"] == "naked eye"
    assert shown(client, digest[:6])["name"] == "bright"


def test_the_definition_is_shown_as_it_was_written(reader):
    parameters = {
        name: {parameter["name"]: parameter["value"] for parameter in shown(reader, name)["parameters"]}
        for name in CLASSES
    }
    assert parameters["bright"] == {"criterion": "vmag < 6"}
    assert parameters["tenth"] == {"fraction": "0.1", "seed": "1"}
    assert parameters["light"] == {"attributes": "hip, vmag"}
    assert parameters["renamed"] == {"new names": "v for vmag"}
    assert parameters["near"] == {"near": "1000 / plx"}
    assert parameters["far"]["function"].endswith("survey:distance")
    assert parameters["far"]["outputs"] == "dist_pc double"
    assert (parameters["stars"]["format"], parameters["stars"]["rows"]) == ("parquet", "6")
    assert parameters["both"] == parameters["wide"] == {}


def test_an_attribute_says_which_catalog_defines_it_and_under_which_name(client, archive):
    def where(name):
        return {
            attribute["name"]: (attribute["defined_by"]["name"], attribute["defined_as"])
            for attribute in shown(client, name)["attributes"]
        }

    assert where("renamed")["v"] == ("stars", "vmag")
    assert where("wide") == {
        "hip": ("stars", "hip"),
        "vmag": ("stars", "vmag"),
        "plx": ("stars", "plx"),
        "spect": ("stars", "spect"),
        "near": ("near", "near"),
    }
    assert shown(client, "wide")["attributes"][0]["key"]
    # After a concatenation that defines an attribute anew, that is where it is defined.
    left = archive["bright"].derive(mag="vmag")
    archive.concatenate([left, archive["faint"].derive(mag="vmag + 1")], name="anew")
    assert where("anew")["mag"] == ("anew", "mag")


def test_neighbours_are_there_with_how_the_catalog_relates_to_them(reader):
    view = shown(reader, "bright")
    assert [(catalog["name"], catalog["words"]) for catalog in view["made_from"]] == [("stars", "lies inside")]
    relations = {catalog["name"]: catalog["relation"] for catalog in view["made_from_it"]["catalogs"]}
    assert relations == {"all": "subset", "both": "superset", "rest": "disjoint", "wide": "equal"}
    assert view["made_from_it"]["total"] == 4
    assert [catalog["name"] for catalog in view["same_sources"]["catalogs"]] == ["wide"]


def test_what_is_made_from_a_catalog_is_bounded_and_counted(client, archive):
    for number in range(50):
        archive["stars"].select(f"plx > {number + 1000}")
    view = shown(client, "stars")
    assert len(view["made_from_it"]["catalogs"]) == 20
    assert view["made_from_it"]["total"] == 67
    assert "and 47 more" in read(client.get("/catalogs/stars").text).text


def test_facts_are_there_with_who_declared_them_when_and_why_and_retracted_ones_too(reader):
    view = shown(reader, "faint")
    facts = {fact["statement"]: fact for fact in view["facts"]}
    assert facts["tenth <= faint"]["reason"] == "made <b>so</b>"
    assert facts["tenth <= faint"]["holds"]
    assert (facts["light <= faint"]["holds"], facts["light <= faint"]["retracted_reason"]) == (False, "it was wrong")
    assert facts["nonempty(faint)"]["origin"] == "observed"
    assert "suspended" in facts["empty(faint)"]["retracted_reason"]
    assert view["says"]
    page = read(reader.get("/catalogs/faint").text)
    assert "made <b>so</b>" in page.text
    assert page.text.count("retracted 20") == 2


def test_what_is_stored_is_there_also_for_another_catalog_with_the_same_sources(reader):
    (fragment,) = shown(reader, "bright")["fragments"]
    assert (fragment["attributes"], fragment["rows"], fragment["unusable"]) == (["hip", "vmag"], 2, "")
    (other,) = shown(reader, "wide")["fragments"]
    assert other["stored_for"] == "bright"
    assert shown(reader, "stars")["fragments"] == []


def test_the_history_of_each_name_is_there(client, archive):
    history = {change["name"]: change["changes"] for change in shown(client, "bright")["history"]}
    bright, wide = archive["bright"].digest, archive["wide"].digest
    assert [change["catalog"] for change in history["bright"]] == [bright, wide, bright]
    assert [change["catalog"] for change in history["naked eye"]] == [bright]


def test_a_concatenation_whose_members_are_not_known_to_be_disjoint_any_more_is_warned_of(client, archive):
    hot, near = (archive["stars"].select(criterion) for criterion in ("spect = 'A0'", "plx > 50"))
    fact = archive.declare(f"disjoint('{hot.name}', '{near.name}')", reason="a guess")
    doubtful = archive.concatenate([hot.derive(mag="vmag"), near.derive(mag="vmag + 1")], name="doubtful")
    doubtful.select("mag < 5", name="doubtful too")
    assert shown(client, "doubtful")["warnings"] == []
    archive.retract(fact.id)
    assert "no longer known to be disjoint" in shown(client, "doubtful too")["warnings"][0]
    assert "Warning:" in read(client.get("/catalogs/doubtful").text).text


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("part", ["", "/lineage", "/sets"])
def test_an_odd_name_is_shown_as_it_is_and_does_nothing(reader, name, part):
    (digest,) = (
        entry["digest"]
        for entry in reader.get("/api/catalogs", params={"text": name}).json()["catalogs"]
        if entry["name"] == name
    )
    page = read(reader.get(f"/catalogs/{digest}{part}").text)
    assert name in page.text
    own = [page.links[name]] if part else [page.links["Full lineage"], page.links["Related sets"]]
    assert all(name in read(reader.get(link).text).text for link in own)


@pytest.mark.parametrize(("wrong", "meant"), [("brigth", "bright"), ("star", "stars"), ("galaxie", "galaxies")])
def test_a_name_that_does_not_exist_is_not_found_and_the_one_that_was_meant_is_told(reader, wrong, meant):
    for part in ("", "/lineage", "/sets"):
        page, json = reader.get(f"/catalogs/{wrong}{part}"), reader.get(f"/api/catalogs/{wrong}{part}")
        assert page.status_code == json.status_code == 404
        assert meant in json.json()["error"]["hint"]
        assert meant in read(page.text).text


@pytest.mark.parametrize(
    "raw",
    [
        "%00",
        "%ff",
        "%ED%A0%80",
        "%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "..%2F..%2Fetc%2Fpasswd",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "0000",
        "f" * 64,
        "a" * 400,
        "'%20OR%201=1--",
        "%F0%9F%94%AD",
        "%0d%0aSet-Cookie:%20a=b",
    ],
)
@pytest.mark.parametrize("part", ["", "/lineage", "/lineage.svg", "/sets"])
def test_what_names_no_catalog_is_not_found_and_nothing_else_happens(reader, raw, part):
    answers = [reader.get(f"/catalogs/{raw}{part}"), reader.get(f"/api/catalogs/{raw}{part}")]
    for answer in answers:
        assert answer.status_code == 404
        assert "set-cookie" not in answer.headers
        assert "root:" not in answer.text
        assert "Traceback" not in answer.text
    read(answers[0].text)
    assert answers[1].json()["error"]["message"]


@pytest.mark.parametrize("query", ["depth=0", "depth=21", "depth=x", "direction=sideways", "direction=", "depth="])
def test_a_depth_or_direction_that_makes_no_sense_is_refused(reader, query):
    for part in ("", "/lineage", "/lineage.svg"):
        answer = reader.get(f"/catalogs/bright{part}?{query}")
        assert answer.status_code == 422
        read(answer.text)
    assert reader.get(f"/api/catalogs/bright?{query}").status_code == 422
    assert reader.get("/catalogs/" + "x" * 501).status_code == 422


def test_a_page_leads_to_its_json_also_where_a_name_has_odd_characters(client, archive):
    archive.name(archive["stars"], "100%? #1")
    page = client.get("/catalogs/100%25%3F%20%231")
    assert page.status_code == 200
    assert 'href="/api/catalogs/100%25%3F%20%231"' in page.text


def test_a_large_moc_is_shown_by_its_digest_and_compared(archive, client):
    region = moc(survey_rectangle(11), on=("vmag", "plx"))
    archive["stars"].select(region, name="surveyed")
    archive["stars"].select(box(4, 216, -2, 2, on=("vmag", "plx")), name="around")
    page = client.get("/catalogs/surveyed")
    assert page.status_code == 200
    assert region.text in page.text
    assert "surveyed lies inside around" in read(client.get("/compare?a=surveyed&b=around").text).text
