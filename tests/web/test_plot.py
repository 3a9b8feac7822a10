"""The page with two attributes of a catalog against each other."""

from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provenn.archive.spark_place import SparkPlace
from provenn.web.standalone_report import make_report
from tests.web.reading import read
from tests.web.survey import ODD


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    monkeypatch.setattr(SparkPlace, "pipeline", lambda _: pytest.fail("Spark was started"))


def test_the_page_offers_what_can_be_plotted_and_counts_nothing(client):
    page = read(client.get("/catalogs/stars/plot").text)
    assert [found["value"] for found in page.named("option")] == ["hip", "vmag", "plx"] * 2
    assert client.get("/api/catalogs/stars/plot").json()["svg"] == ""
    assert read(client.get("/catalogs/stars").text).links["Plot"] == "/catalogs/stars/plot"


def test_the_density_of_two_attributes_is_that_of_the_catalog(client, archive):
    page = client.get("/catalogs/stars/plot?x=plx&y=vmag")
    assert archive["stars"].plot("plx", "vmag").svg(inline=True) in page.text
    text = " ".join(read(page.text).text.split())
    assert "vmag against plx" in text
    assert "2 sources without both values are left out" in text


def test_arrays_are_drawn_as_light_curves(client, archive, tmp_path):
    table = pa.table({"id": [1, 2], "mjd": [[1.0, 2.0], [3.0]], "mag": [[9.0, 9.5], [8.0]]})
    pq.write_table(table, tmp_path / "curves.parquet")
    archive.ingest("curves", tmp_path / "curves.parquet", key="id", population="variable")
    page = client.get("/catalogs/curves/plot?x=mjd&y=mag")
    assert "id 1: 2 points" in read(page.text).text
    told = client.get("/catalogs/curves/plot?x=id&y=mag")
    assert told.status_code == 400
    assert "only one of them is an array" in told.text


@pytest.mark.parametrize(("x", "y", "told"), [("nothing", "vmag", "nothing"), ("vmag", "spect", "string")])
def test_an_attribute_that_cannot_be_plotted_is_told_beside_the_form(client, x, y, told):
    page = client.get(f"/catalogs/stars/plot?x={x}&y={y}")
    assert page.status_code == 400
    assert told in page.text.partition('id="problem-attributes"')[2]
    read(page.text)


def test_what_only_spark_can_compute_leads_to_a_request(client):
    page = read(client.get("/catalogs/far/plot?x=vmag&y=dist_pc").text)
    assert page.links["Compute and keep the values"].startswith(
        "/target?sources=far&attributes=vmag&attributes=dist_pc"
    )


def test_very_many_sources_are_counted_if_the_viewer_asks(client, monkeypatch):
    monkeypatch.setattr("provenn.web.pages.plot.MOST_UNASKED", 3)
    page = read(client.get("/catalogs/stars/plot?x=plx&y=vmag").text)
    assert "Plot" not in page.links
    assert "vmag against plx" in read(client.get(page.links["Count them now"]).text).text
    assert "vmag against plx" in read(client.get("/catalogs/stars/plot?x=plx&y=vmag").text).text, "it was kept"


def test_odd_names_do_no_harm(client):
    page = client.get(f"/catalogs/{quote(ODD[0])}/plot", params={"x": ODD[0], "y": "vmag"})
    read(page.text)
    assert "<img src=x" not in page.text
    assert client.get("/catalogs/nobody/plot").status_code == 404


def test_a_report_has_the_plots_that_were_counted(client, archive):
    assert make_report(archive, "stars").plots == ()
    archive["stars"].plot("vmag", "plx", engine="look")
    (plot,) = make_report(archive, "stars").plots
    assert "plx" in plot
    assert '<h2 id="plots">' in client.get("/catalogs/stars/report").text
    assert make_report(archive, "bright").plots == ()
