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
