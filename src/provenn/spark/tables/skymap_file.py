"""The map of the sky in a folder in HATS: a FITS file with the number of sources in each cell, in the nested scheme.

A map lists all cells of its order. One of a high order, most of whose cells have no sources, lists the other cells with
their numbers instead: all cells of the order 10 take 100 MB, however few sources there are.
"""

from __future__ import annotations

from io import BytesIO

import numpy as np

from provenn.sky.cells import Integers

__all__ = ["make_skymap"]

_HIGHEST_WHOLE_ORDER = 8
"""The highest order of which all cells are listed in any case: 6 MB, as other programs write them."""


def make_skymap(histogram: tuple[Integers, Integers], order: int, map_order: int) -> bytes:
    """Return the FITS file.

    Parameters
    ----------
    histogram, order
        The cells with sources, the number of sources in each, and the order of the cells.
    map_order
        The order of the cells of the map, at most `order`.
    """
    from astropy.io import fits  # noqa: PLC0415 - it takes a while to import

    cells, rows = histogram
    numbers, places = np.unique(cells >> (2 * (order - map_order)), return_inverse=True)
    counts = np.bincount(places, rows, len(numbers)).astype(">i8")
    last = (12 << (2 * map_order)) - 1
    cards = {"PIXTYPE": "HEALPIX", "ORDERING": "NESTED", "NSIDE": 1 << map_order, "COORDSYS": "CEL"}
    if map_order > _HIGHEST_WHOLE_ORDER and 2 * len(numbers) <= last:
        columns = [fits.Column("PIXEL", "K", array=numbers), fits.Column("VALUE", "K", array=counts)]
        cards |= {"INDXSCHM": "EXPLICIT", "OBJECT": "PARTIAL"}
    else:
        values = np.zeros(last + 1, ">i8")
        values[numbers] = counts
        columns = [fits.Column("VALUE", "K", array=values)]
        cards |= {"FIRSTPIX": 0, "LASTPIX": last, "INDXSCHM": "IMPLICIT", "OBJECT": "FULLSKY"}
    table = fits.BinTableHDU.from_columns(columns)
    table.header.update(cards)
    stream = BytesIO()
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(stream)
    return stream.getvalue()
