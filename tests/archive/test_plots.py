"""Plots of two attributes: densities compared with DuckDB, and light curves of arrays."""

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import provenn
from provenn.errors import AttributeNotFoundError, PictureError
from tests.spark.conftest import engine

__all__ = ["engine"]

SOURCES = 5000


@pytest.fixture(autouse=True)
def chosen_engine(monkeypatch):
    """Let calls choose the engine: elsewhere, tests ask Spark."""
    monkeypatch.delenv("PROVENN_ENGINE", raising=False)


@pytest.fixture
def files(tmp_path):
    random = np.random.default_rng(9)
    colour = random.normal(1, 0.5, SOURCES)
    columns = {
        "id": np.arange(SOURCES),
        "bp_rp": pa.array(colour, mask=np.arange(SOURCES) % 50 == 0),
        "gmag": np.where(np.arange(SOURCES) % 77 == 0, np.nan, 4 * colour + random.normal(10, 1, SOURCES)),
        "kind": ["star"] * SOURCES,
    }
    pq.write_table(pa.table(columns), tmp_path / "gaia.parquet")
    return tmp_path / "gaia.parquet"


@pytest.fixture
def archive(tmp_path, files):
    with provenn.open(tmp_path / "survey", progress=False) as opened:
        opened.ingest("gaia", files, key="id", population="star").select("gmag < 15", name="bright")
        yield opened


@pytest.mark.parametrize(("name", "where"), [("gaia", "TRUE"), ("bright", "gmag < 15")])
def test_a_density_has_the_counts_of_duckdb(archive, files, name, where):
    plot = archive[name].plot("bp_rp", "gmag")
    columns, rows = plot.counts.shape
    query = f"""WITH t AS (
        SELECT bp_rp AS x, gmag AS y FROM '{files}' WHERE bp_rp IS NOT NULL AND isfinite(gmag) AND {where}),
        ends AS (SELECT min(x) AS x0, max(x) AS x1, min(y) AS y0, max(y) AS y1 FROM t)
        SELECT least(floor((x - x0) / (x1 - x0) * {columns}), {columns - 1})::INT AS i,
        least(floor((y - y0) / (y1 - y0) * {rows}), {rows - 1})::INT AS j, count(*) FROM t, ends GROUP BY i, j"""  # noqa: S608 - constants of this file
    expected = np.zeros((columns, rows), np.int64)
    for column, row, count in duckdb.connect().execute(query).fetchall():
        expected[column, row] = count
    assert plot.counts.sum() == expected.sum()
    assert np.abs(plot.counts - expected).sum() <= 2, "a value at the border of cells may be rounded to either"
    counted = duckdb.connect().execute(f"SELECT count(*) FROM '{files}' WHERE {where}").fetchone()[0]  # noqa: S608 - see above
    assert plot.left_out == counted - plot.counts.sum()


def test_a_density_is_kept_and_drawn(archive):
    first, second = archive["gaia"].plot("bp_rp", "gmag"), archive["gaia"].plot("bp_rp", "gmag")
    assert np.array_equal(first.counts, second.counts)
    assert (first.x.is_reversed, first.y.is_reversed) == (False, True)
    assert first._repr_svg_().startswith("<svg")
    assert "gmag against bp_rp of gaia" in first._repr_svg_()
    assert repr(first) == "<Plot gmag against bp_rp of gaia>"


def test_what_a_target_will_compute_is_plotted(archive):
    target = archive.target("gaia", ["bp_rp", "gmag"], where="gmag < 15")
    assert np.array_equal(target.plot("bp_rp", "gmag").counts, archive["bright"].plot("bp_rp", "gmag").counts)


def test_attributes_without_numbers_are_refused(archive):
    with pytest.raises(PictureError, match="kind has the type string"):
        archive["gaia"].plot("kind", "gmag")
    with pytest.raises(AttributeNotFoundError):
        archive["gaia"].plot("gmga", "bp_rp")


def test_a_catalog_without_sources_is_plotted(archive):
    plot = archive["gaia"].select("gmag < -1000").plot("bp_rp", "gmag")
    assert plot.counts.sum() == 0
    assert plot.svg().startswith("<svg")


def test_arrays_are_drawn_as_light_curves(tmp_path, engine):
    table = pa.table({"id": [1, 2], "mjd": [[1.0, 2.0, 3.0], [1.5]], "mags": [[10.0, None, 11.0], [12.0]]})
    with provenn.open(tmp_path / "curves", progress=False, spark=engine.session) as archive:
        curves = archive.ingest("curves", table, key="id", population="star")
        plot = curves.plot("mjd", "mags")
        assert {curve.name: len(curve.x) for curve in plot.curves} == {"id 1": 3, "id 2": 1}
        assert (plot.x.low, plot.x.high, plot.y.low, plot.y.high) == (1.0, 3.0, 10.0, 12.0)
        assert "id 1: 3 points" in plot.svg()
        with pytest.raises(PictureError, match="only one of them is an array"):
            curves.plot("mjd", "id")
