"""The numbers of HEALPix cells that Spark computes are those of cdshealpix."""

import astropy.units as u
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.coordinates import Latitude, Longitude
from cdshealpix import nested

import provenn
from tests.spark.conftest import engine

__all__ = ["engine"]

ORDERS = (0, 1, 2, 5, 8, 13, 20, 29)


def test_cells_have_the_numbers_of_cdshealpix(engine, tmp_path):
    random = np.random.default_rng(3)
    ra = np.concatenate([random.uniform(0, 360, 3000), random.uniform(-360, 720, 500), np.linspace(1, 359, 50)])
    dec = np.concatenate([np.degrees(np.arcsin(random.uniform(-1, 1, 3500))), random.choice([-89.99, 89.99, 41.9], 50)])
    without = [(None, 1.0), (1.0, None), (np.nan, 1.0), (np.inf, 1.0), (1.0, 90.5), (1.0, np.nan)]
    table = pa.table(
        {
            "id": list(range(len(ra) + len(without))),
            "ra": pa.array([*ra.tolist(), *(place[0] for place in without)], pa.float64()),
            "dec": pa.array([*dec.tolist(), *(place[1] for place in without)], pa.float64()),
        }
    )
    pq.write_table(table, tmp_path / "places.parquet")
    spark = engine.session.sparkContext.master
    with provenn.open(tmp_path / "sky", spark=spark, progress=False) as archive:
        places = archive.ingest("places", tmp_path / "places.parquet", key="id", population="place")
        derived = places.derive(**{f"h{order}": f"healpix_index({order}, ra, dec)" for order in ORDERS})
        rows = derived.to_arrow().sort_by("id")
        lon, lat = Longitude(ra % 360 * u.deg), Latitude(dec * u.deg)
        for order in ORDERS:
            numbers = rows[f"h{order}"].to_pylist()
            assert numbers[len(ra) :] == [None] * len(without)
            expected = nested.lonlat_to_healpix(lon, lat, order).astype(np.int64)
            assert (np.array(numbers[: len(ra)]) == expected).mean() > (0.999 if order > 20 else 1 - 1e-9), order
        cell = int(rows["h2"][0].as_py())
        chosen = places.select(f"healpix_index(2, ra, dec) = {cell}")
        region = places.select(f"in_moc(ra, dec, '2/{cell}')")
        ids, inside = (set(selected.to_arrow()["id"].to_pylist()) for selected in (chosen, region))
        assert ids == inside
        assert ids


def number_cells(ra: np.ndarray, dec: np.ndarray, order: int) -> np.ndarray:
    """Return the numbers of cells as cdshealpix finds them."""
    return nested.lonlat_to_healpix(Longitude(ra % 360 * u.deg), Latitude(dec * u.deg), order).astype(np.int64)


def test_on_the_border_of_cells_the_number_is_that_of_a_cell_there(engine, tmp_path):
    """Round coordinates lie on borders, where rounding decides; the cell found touches the position."""
    grid = np.array([(ra, dec) for ra in np.arange(0, 360, 7.5) for dec in (-90, -60, -45, -30, 0, 30, 45, 60, 90)])
    ra, dec = grid.T
    pq.write_table(pa.table({"id": list(range(len(ra))), "ra": ra, "dec": dec}), tmp_path / "places.parquet")
    with provenn.open(tmp_path / "sky", spark=engine.session.sparkContext.master, progress=False) as archive:
        places = archive.ingest("places", tmp_path / "places.parquet", key="id", population="place")
        derived = places.derive(**{f"h{order}": f"healpix_index({order}, ra, dec)" for order in ORDERS[:5]})
        rows = derived.to_arrow().sort_by("id")
    differing = 0
    for order in ORDERS[:5]:
        numbers = np.array(rows[f"h{order}"].to_pylist())
        differing += (numbers != number_cells(ra, dec, order)).sum()
        away = np.array([(x, y) for x in (-1e-9, 0, 1e-9) for y in (-1e-9, 0, 1e-9)])
        near = [number_cells(ra + x, np.clip(dec + y, -90, 90), order) for x, y in away]
        at_poles = np.abs(dec) == 90  # all cells of a pole touch it
        assert ((np.array(near) == numbers).any(axis=0) | at_poles).all()
    assert differing, "otherwise the reference may say more"


def test_the_numbers_of_cdshealpix_follow_no_rule_on_borders():
    """The sphere turned by 90 degrees is the same, but a position on a border gets another of the adjacent cells."""
    order, dec = 2, 0.0
    ra = np.arange(0, 90, 11.25)
    numbers = number_cells(ra, np.full(len(ra), dec), order)
    face, place = numbers // 16, numbers % 16
    turned = [number_cells(ra + 90 * turns, np.full(len(ra), dec), order) for turns in (1, 2, 3)]
    expected = [(face // 4 * 4 + (face % 4 + turns) % 4) * 16 + place for turns in (1, 2, 3)]
    assert (np.array(turned) != np.array(expected)).any()
