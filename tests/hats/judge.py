"""What LSDB and the library of HATS say of folders; runs in the environment of LSDB, which lacks provenn.

Reads questions from the standard input, as JSON: ``{"name": ["function", {"argument": 1}]}``; answers in the same way.
"""

import json
import sys

import hats
import lsdb
import numpy as np
import pandas as pd
from astropy.coordinates import SkyCoord
from hats.io.file_io import read_fits_image
from hats.io.skymap import read_skymap
from hats.io.validation import is_valid_catalog
from hats.pixel_math.spatial_index import compute_spatial_index


def valid(path):
    """Return whether a folder is valid by the strict rules."""
    return bool(is_valid_catalog(path, strict=True))


def rows(path, columns=None):
    """Return all rows, with the cell of each, sorted by the first column."""
    frame = lsdb.open_catalog(path, columns=columns).compute().reset_index()
    return json.loads(frame.sort_values("id").to_json(orient="values", double_precision=15))


def ids(path, kind, arguments):
    """Return the identifiers of sources in a cone or a box."""
    catalog = lsdb.open_catalog(path)
    selected = getattr(catalog, f"{kind}_search")(*arguments).compute()
    return sorted(map(int, selected["id"]))


def cells(path):
    """Return how many cells of positions differ from those of the library."""
    frame = lsdb.open_catalog(path).compute()
    return int((compute_spatial_index(frame["ra"].to_numpy(), frame["dec"].to_numpy()) != frame.index.to_numpy()).sum())


def pairs(left, right, radius, neighbors):
    """Return the pairs of a cross-match."""
    matched = lsdb.open_catalog(left).crossmatch(
        lsdb.open_catalog(right),
        n_neighbors=neighbors,
        radius_arcsec=radius,
        suffixes=("_l", "_r"),
        suffix_method="all_columns",
    )
    frame = matched.compute()
    return sorted([int(a), int(b)] for a, b in zip(frame["id_l"], frame["id_r"], strict=True))


def margin(path):
    """Return the identifiers in the margin of each pixel, and the width."""
    catalog = lsdb.open_catalog(path)
    around = catalog.margin
    found = {
        f"{pixel.order}/{pixel.pixel}": sorted(map(int, around.get_partition(pixel.order, pixel.pixel).compute()["id"]))
        for pixel in around.get_healpix_pixels()
    }
    pixels = [f"{pixel.order}/{pixel.pixel}" for pixel in catalog.get_healpix_pixels()]
    return {"found": found, "pixels": pixels, "width": around.hc_structure.catalog_info.margin_threshold}


def skymap(path):
    """Return the number of sources in the map of the sky."""
    catalog = hats.read_hats(path)
    return [int(np.sum(read_skymap(catalog, None))), catalog.catalog_info.skymap_order]


def cells_of_map(path):
    """Return the cells with sources in a file with a map of the sky, with the number of sources in each."""
    image = read_fits_image(path)
    return [len(image), {str(cell): int(image[cell]) for cell in np.flatnonzero(image)}]


def write(table, path, rows, margin=None):
    """Write a Parquet file as HATS, as LSDB does."""
    frame = pd.read_parquet(table, dtype_backend="pyarrow")
    catalog = lsdb.from_dataframe(frame, ra_column="ra", dec_column="dec", partition_rows=rows, margin_threshold=margin)
    catalog.write_catalog(path, catalog_name="written")
    return len(frame)


def write_nested(objects, sources, path):
    """Write objects with their light curves as nested columns."""
    left = lsdb.from_dataframe(pd.read_parquet(objects, dtype_backend="pyarrow"), ra_column="ra", dec_column="dec")
    right = lsdb.from_dataframe(
        pd.read_parquet(sources, dtype_backend="pyarrow"), ra_column="sra", dec_column="sdec", margin_threshold=60
    )
    nested = left.join_nested(right, left_on="id", right_on="object", nested_column_name="curve")
    nested.write_catalog(path, catalog_name="nested")
    return len(nested.compute())


def extended(core, layer):
    """Return the rows of a core with a layer, which LSDB calls an extension, by identifier; and the layer's columns."""
    catalog = lsdb.open_catalog(core).load_extension(layer)
    frame = catalog.compute().sort_values("id")
    return [list(map(str, frame.columns)), json.loads(frame[["id", "mag", "z"]].to_json(orient="values"))]


def separation(first, second):
    """Return the separation of two positions in arcseconds, by astropy."""
    return float(SkyCoord(*first, unit="deg").separation(SkyCoord(*second, unit="deg")).arcsec)


if __name__ == "__main__":
    answers = {name: globals()[function](**arguments) for name, (function, arguments) in json.load(sys.stdin).items()}
    sys.stdout.write("\n" + json.dumps(answers) + "\n")
