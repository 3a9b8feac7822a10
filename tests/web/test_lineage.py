"""The lineage around a catalog, large: the picture, its links, and the same as a list and as a file."""

from xml.etree import ElementTree as ET

from tests.web.reading import read


def test_every_box_of_the_picture_and_every_row_of_the_list_leads_to_its_catalog(client, archive):
    told = client.get("/api/catalogs/bright/lineage").json()["lineage"]
    page = read(client.get("/catalogs/bright/lineage").text)
    hrefs = [one["href"] for one in page.named("a")]
    assert len(told["nodes"]) > 4
    for node in told["nodes"]:
        assert hrefs.count(node["link"]) >= 2
        assert archive.catalog(node["id"]).digest in client.get(node["link"]).text
    ids = {node["id"] for node in told["nodes"]}
    assert {digest for edge in told["edges"] for digest in edge} <= ids


def test_depth_direction_and_number_choose_what_is_shown(reader):
    def names(**asked):
        return [
            one["name"] for one in reader.get("/api/catalogs/bright/lineage", params=asked).json()["lineage"]["nodes"]
        ]

    assert names(direction="up") == ["bright", "stars"]
    assert set(names(direction="down", depth=1)) == {"bright", "wide", "all", "both", "rest"}
    assert len(names(most=3)) == 3
    page = read(reader.get("/catalogs/bright/lineage?direction=down&depth=1&most=7").text)
    assert [one["value"] for one in page.named("input")] == ["1", "7"]
    assert reader.get("/catalogs/bright/lineage?most=301").status_code == 422


def test_the_picture_is_a_file_too_that_needs_nothing_else(reader):
    answer = reader.get("/catalogs/bright/lineage.svg?depth=1")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    root = ET.fromstring(answer.text)  # noqa: S314 - it is ours
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not [one for one in root.iter() if one.tag.endswith(("}script", "}a", "}image", "}use", "}foreignObject"))]


def test_the_script_of_the_page_is_our_own_and_is_there(reader):
    page = read(reader.get("/catalogs/bright/lineage").text)
    (script,) = page.named("script")
    answer = reader.get(script["src"])
    assert answer.status_code == 200
    assert "http" not in answer.text.replace("http://www.w3.org", "")
