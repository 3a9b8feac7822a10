"""Pages of catalogs that follow references to other populations."""

import pytest

import provenn
from tests.light_curves import define_light_curves
from tests.web.reading import read


@pytest.fixture
def archive(tmp_path):
    """An archive of its own, with names that the survey of the other pages has as well."""
    with provenn.open(tmp_path / "curves", who="ada", progress=False, notify=False) as opened:
        yield opened


@pytest.fixture
def catalogs(archive, tmp_path):
    return define_light_curves(archive, tmp_path)


NAMES = ["detections", "looked_up", "perhaps", "detected", "undetected", "curves", "latest", "points"]


@pytest.mark.parametrize("name", NAMES)
def test_every_page_of_a_catalog_that_follows_references_is_shown(catalogs, archive, client, name):
    for place in ("", "/lineage", "/sets"):
        assert client.get(f"/catalogs/{name}{place}").status_code == 200
    page = read(client.get(f"/catalogs/{name}").text)
    assert archive.describe(name).is_what in page.text
    assert catalogs[name].digest in page.text
    assert "points [" not in page.text
    assert "pointed [" not in page.text


@pytest.mark.usefixtures("catalogs")
def test_catalogs_of_other_populations_are_not_compared(client):
    found = client.get("/api/catalogs/looked_up").json()
    assert [(one["name"], one["words"]) for one in found["made_from"]] == [
        ("detections", "lies inside"),
        ("objects", "has another population than"),
    ]
    found = client.get("/api/catalogs/curves").json()
    assert [(one["name"], one["words"]) for one in found["made_from"]] == [
        ("detections", "has another population than")
    ]
    made = {one["name"]: one["words"] for one in client.get("/api/catalogs/objects").json()["made_from_it"]["catalogs"]}
    assert made["looked_up"] == "has another population than"
    assert made["undetected"] == "covers"


@pytest.mark.usefixtures("catalogs")
def test_the_definition_and_the_sources_are_shown_in_words(client):
    def show(name):
        content = client.get(f"/api/catalogs/{name}").json()
        return content["sources"], {one["name"]: one["value"] for one in content["parameters"]}

    assert show("looked_up") == (
        "in detections and objid in objects",
        {"on": "objid", "attributes": "vmag, plx", "missing": "drop"},
    )
    assert show("undetected") == (
        "in objects and not named by objid of detections",
        {"on": "objid", "kept": "the sources that are not referred to"},
    )
    assert show("latest")[1] == {"by": "objid", "order": "mjd DESC", "number": "2"}
    assert show("curves")[1]["curve"] == "collect(mag ORDER BY mjd DESC)"
    assert show("points")[1] == {"arrays": "curve"}


@pytest.mark.usefixtures("catalogs")
def test_the_page_of_a_proof_names_reference_and_catalogs(client):
    page = read(client.get("/compare?a=of_bright&b=in_bright").text)
    assert "objid in bright" in page.text


@pytest.mark.usefixtures("catalogs")
def test_populations_are_lanes_of_the_picture(client):
    assert "in the lane of detections" in client.get("/catalogs/detected/lineage").text
