"""Arrays of the first sources, as the page of a catalog draws them."""

import json
import math
from dataclasses import asdict

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import provenn
from provenn.archive import overview
from provenn.archive.array_curves import MOST_SOURCES, find_curves, recall_curves
from provenn.catalogs import Population
from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria import Type
from provenn.criteria.types import BIGINT

POINT = pa.struct([("mjd", pa.float64()), ("mag", pa.float64()), ("band", pa.string())])


@pytest.fixture(autouse=True)
def chosen_engine(monkeypatch):
    """Let calls choose the engine: elsewhere, tests ask Spark."""
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)


@pytest.fixture
def curves(tmp_path):
    """Two sources: an array of times, of magnitudes, and of structs; a text that is no number."""
    table = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "mjd": [[1.0, 2.0, 3.0], [1.5]],
            "mags": [[10.0, None, math.nan], [12.0]],
            "points": pa.array([[{"mjd": 5.0, "mag": 1.0, "band": "g"}], []], pa.list_(POINT)),
        }
    )
    with provenn.open(tmp_path / "curves", progress=False) as archive:
        yield archive.ingest("curves", table, key="id", population="star")


def test_arrays_are_seen_without_spark(curves):
    """Numbers stand against times: of the same structs, or of another array; missing elements are left out."""
    values = curves.overview().values
    assert values.left_out == ()
    assert [(picture.x, picture.y, picture.is_reversed) for picture in values.curves] == [
        ("points.mjd", "points.mag", True),
        ("mjd", "mags", True),
    ]
    magnitudes = values.curves[1].curves
    assert [(curve.source, curve.x, curve.y, curve.points) for curve in magnitudes] == [
        ("id 1", (1.0,), (10.0,), 3),
        ("id 2", (1.5,), (12.0,), 1),
    ]
    assert "id 1: 3 points" in values.curves[1].svg("curves")


def test_what_was_seen_is_kept(curves):
    """The second look has the same curves, from the database."""
    first, second = curves.overview().values, curves.overview().values
    assert first.curves == second.curves
    assert recall_curves(json.loads(json.dumps(asdict(first)))["curves"]) == first.curves


def test_an_overview_of_an_earlier_version_is_made_again(curves, monkeypatch):
    """Earlier versions kept overviews that say that Spark must compute arrays."""
    context, catalog = curves.archive.context, curves.definition
    kept = overview._see_values(context, catalog, "curves", overview.plan_columns(context, catalog, "curves", ("id",)))
    earlier = {name: value for name, value in asdict(kept).items() if name != "curves"}
    monkeypatch.setattr(overview, "recall_tally", lambda *_: earlier)
    assert curves.overview().values.curves != ()


def test_collected_values_are_drawn_once_they_are_stored(tmp_path):
    """Without times, values stand against their position; before, the page says that Spark must compute them."""
    table = pa.table({"id": [1, 2, 3], "star": [7, 7, 8], "flux": [1.0, 2.0, 3.0]})
    with provenn.open(tmp_path / "survey", progress=False) as archive:
        detections = archive.ingest("detections", table, key="id", population="detection")
        groups = detections.group("star", fluxes="collect(flux ORDER BY id)", name="groups")
        assert groups.overview().values is None
        groups.store()
        (picture,) = groups.overview().values.curves
        assert (picture.x, picture.y, picture.is_reversed) == ("position", "fluxes", False)
        assert {curve.source: (curve.x, curve.y) for curve in picture.curves} == {
            "star 7": ((0.0, 1.0), (1.0, 2.0)),
            "star 8": ((0.0,), (3.0,)),
        }


def make_schema(*arrays):
    """A key, and arrays of doubles."""
    doubles = [Attribute(name, f"0f3a.{name}", Type("array<double>"), nullable=True) for name in arrays]
    return Schema((Attribute("id", Population.name_key("star", 0), BIGINT, nullable=False), *doubles))


numbers = st.one_of(st.none(), st.floats(), st.integers(-5, 5).map(float))


@given(st.lists(st.tuples(st.lists(numbers, max_size=6), st.lists(numbers, max_size=6)), max_size=7))
def test_the_points_are_those_of_a_loop_in_python(arrays):
    """Random arrays: each drawn point is a pair of finite elements at one position.

    If some arrays have other lengths than their times, it is unknown which elements belong together: then each is drawn
    against its position.
    """
    schema = make_schema("time", "flux")
    rows = [{"id": place, "time": time, "flux": flux} for place, (time, flux) in enumerate(arrays)]
    expected = []
    is_timed = all(len(time) == len(flux) for time, flux in arrays[:MOST_SOURCES])
    for time, flux in arrays[:MOST_SOURCES]:
        points = []
        for position in range(len(flux)):
            pair = time[position] if is_timed else float(position), flux[position]
            if None not in pair and all(math.isfinite(value) for value in pair):
                points.append(pair)
        expected.append(points)
    seen = find_curves(schema, rows)
    if not any(expected):
        assert seen == ()
    else:
        assert seen[0].x == ("time" if is_timed else "position")
        assert [list(zip(curve.x, curve.y, strict=True)) for curve in seen[0].curves] == expected
        assert "NaN" not in json.dumps(asdict(seen[0]))
        drawing = seen[0].svg("random")
        assert "nan" not in drawing
        assert "inf" not in drawing


def test_a_long_array_is_thinned_out():
    """Few points are kept of a long array, its ends among them, and its length is told."""
    schema = make_schema("flux")
    (picture,) = find_curves(schema, [{"id": 1, "flux": [float(number) for number in range(100_000)]}])
    (curve,) = picture.curves
    assert (len(curve.x), curve.x[0], curve.x[-1], curve.points) == (300, 0.0, 99_999.0, 100_000)
    assert "id 1: 100,000 points" in picture.svg("long", inline=True)
