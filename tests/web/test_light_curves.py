"""Light curves on the page of a catalog: arrays of its first sources, drawn from what is read without Spark."""

import pyarrow as pa
import pytest

from provenn.archive.spark_place import SparkPlace
from tests.web.reading import read
from tests.web.survey import ODD


@pytest.fixture
def curves(archive, monkeypatch):
    """Two stars with arrays of times and magnitudes; Spark must not be started."""
    monkeypatch.setattr(SparkPlace, "pipeline", lambda _: pytest.fail("Spark was started"))
    times = [[float(point) for point in range(5)], [0.5]]
    table = pa.table({"id": [ODD[0], "b"], "mjd": times, "gmags": [[10.0, 11.0, None, 12.0, 13.0], [9.0]]})
    return archive.ingest("curves", table, key="id", population="variable")


@pytest.mark.usefixtures("curves")
def test_the_page_draws_arrays_and_shortens_them_in_rows(client):
    """The picture has a title and a legend; a name with markup stays a text."""
    answer = client.get("/catalogs/curves")
    page = read(answer.text)
    assert "gmags against mjd of curves" in page.text
    assert "b: 1 point" in page.text
    assert "[0, 1, 2, … 5 values]" in page.text
    assert "onerror" not in str(page.named("img"))
    (picture,) = client.get("/api/catalogs/curves").json()["data"]["values"]["curves"]
    assert (picture["x"], picture["y"], picture["is_reversed"]) == ("mjd", "gmags", True)
    points = {curve["source"]: (curve["x"], curve["y"], curve["points"]) for curve in picture["curves"]}
    assert points[f"id {ODD[0]}"] == ([0.0, 1.0, 3.0, 4.0], [10.0, 11.0, 12.0, 13.0], 5)


def test_a_catalog_without_arrays_has_no_such_section(client):
    """The heading appears only with pictures."""
    assert "of the first" not in read(client.get("/catalogs/stars").text).text.partition("Values")[0]
