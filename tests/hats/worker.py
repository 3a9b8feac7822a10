"""Answers requests with LSDB: a line of JSON for each, in a process with the packages of LSDB.

`benchmarks.lsdb` starts it. Catalogs are opened once, and so is the pool of Dask.
"""

import json
import sys
import warnings
from functools import cache

import lsdb
import pandas as pd
from dask.distributed import Client

warnings.filterwarnings("ignore")


@cache
def open_catalog(path, *columns):
    """Return a catalog; with some columns, or all."""
    return lsdb.open_catalog(path, columns=list(columns) if columns else None)


def count_rows(catalog):
    """Return the number of rows of a catalog: only numbers leave the partitions."""
    counts = catalog.map_partitions(lambda part: pd.DataFrame({"rows": [len(part)]}), meta={"rows": "int64"})
    return int(counts.compute()["rows"].sum())


def cone(core, ra, dec, radius):
    """Collect the rows in a cone."""
    return len(open_catalog(core).cone_search(ra, dec, radius * 3600).compute())


def box(core, ra, dec, width):
    """Collect the rows in a box."""
    return len(open_catalog(core).box_search((ra, ra + width), (dec, dec + width)).compute())


def crossmatch(core, other, radius):
    """Count the pairs of nearest sources."""
    left, right = (open_catalog(path, "id", "ra", "dec") for path in (core, other))
    return count_rows(left.crossmatch(right, n_neighbors=1, radius_arcsec=radius, suffixes=("_l", "_r")))


def join(core, layer, limit):
    """Count the sources with a condition on attributes of both sides."""
    left, right = open_catalog(core, "id", "ra", "dec", "vmag"), open_catalog(layer, "id", "ra", "dec", "z")
    joined = left.join(right, left_on="id", right_on="id", suffixes=("", "_r"), suffix_method="overlapping_columns")
    return count_rows(joined.query(f"vmag - z < {limit}"))


def write_line(text):
    """Write a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def serve(pool):
    """Answer until the input ends."""
    client = None if pool == "threads" else Client(n_workers=int(pool), threads_per_worker=1, dashboard_address=None)
    write_line("ready")
    for line in sys.stdin:
        name, arguments = json.loads(line)
        write_line(json.dumps(globals()[name](**arguments)))
    if client is not None:
        client.close()


if __name__ == "__main__":
    serve(sys.argv[1])
