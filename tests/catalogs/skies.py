"""Folders in HATS, written by hand: what LSDB reads and writes."""

from pathlib import Path

import cdshealpix
import numpy as np
import pyarrow as pa
from astropy.coordinates import Latitude, Longitude
from pyarrow import parquet

__all__ = ["write_hats"]


def write_hats(
    folder: Path,
    *,
    rows: int = 200,
    order: int = 1,
    kind: str = "object",
    several_files: bool = False,
    said_rows: int | None = None,
) -> pa.Table:
    """Write random positions in parts by HEALPix, with all the files besides; return what was written."""
    random = np.random.default_rng(7)
    ra, dec = random.uniform(0, 360, rows), np.degrees(np.arcsin(random.uniform(-1, 1, rows)))
    lon, lat = Longitude(ra, "deg"), Latitude(dec, "deg")
    deep = cdshealpix.nested.lonlat_to_healpix(lon, lat, 29).astype(np.int64)
    pixels = cdshealpix.nested.lonlat_to_healpix(lon, lat, order).astype(np.int64)
    table = pa.table(
        {"_healpix_29": deep, "source_id": np.arange(rows), "ra": ra, "dec": dec, "Norder": np.full(rows, 99, np.int8)}
    )
    table = table.sort_by("_healpix_29")
    pixels = np.asarray(table["_healpix_29"]) >> (2 * (29 - order))
    dataset = folder / "dataset"
    for pixel in np.unique(pixels).tolist():
        place = dataset / f"Norder={order}" / f"Dir={pixel // 10000 * 10000}"
        part = table.filter(pa.array(pixels == pixel))
        place.mkdir(parents=True, exist_ok=True)
        if several_files:
            (place / f"Npix={pixel}").mkdir()
            half = len(part) // 2
            parquet.write_table(part.slice(0, half), place / f"Npix={pixel}" / "0.parquet")
            parquet.write_table(part.slice(half), place / f"Npix={pixel}" / "1.parquet")
        else:
            parquet.write_table(part, place / f"Npix={pixel}.parquet")
    parquet.write_metadata(table.schema, dataset / "_common_metadata")
    parquet.write_metadata(table.schema, dataset / "_metadata")
    parquet.write_table(table.slice(0, 3), dataset / "data_thumbnail.parquet")
    lines = [f"{order},{pixel}" for pixel in np.unique(pixels)]
    (folder / "partition_info.csv").write_text("\n".join(["Norder,Npix", *lines, ""]))
    (folder / "hats.properties").write_text(
        "#HATS catalog\n"
        "obs_collection=sky\n"
        f"dataproduct_type={kind}\n"
        f"hats_nrows={rows if said_rows is None else said_rows}\n"
        "hats_col_ra=ra\n"
        "hats_col_dec=dec\n"
        "hats_col_healpix=_healpix_29\n"
        "hats_col_healpix_order=29\n"
        "hats_cols_sort=_healpix_29\n"
        "hats_max_rows=1000000\n"
        f"hats_order={order}\n"
        f"hats_npix_suffix={'/' if several_files else '.parquet'}\n"
        "moc_sky_fraction=1.0\n"
        "hats_builder=provenn tests\n"
        "hats_creation_date=2026-11-16T07\\:00UTC\n"
        "hats_estsize=10\n"
        "hats_release_date=2025-08-22\n"
        "hats_version=v1.0\n"
    )
    return table
