"""The calculator of the demo: where a star is in the Galaxy, and how fast it moves across the sky.

It stands for calculators that take long; so its results are kept, and it should see no star twice.
"""

import numpy as np
import pandas as pd

__all__ = ["INPUTS", "OUTPUTS", "motion"]

INPUTS = ("ra", "dec", "plx", "pmra", "pmdec")
OUTPUTS = {"gal_lon": "double", "gal_lat": "double", "speed": "double"}

_KM_PER_S = 4.740470463533349
"""One astronomical unit per year."""
_TO_GALACTIC = np.array(  # of the ICRS, as the Hipparcos catalog defines it
    [
        [-0.0548755604, -0.8734370902, -0.4838350155],
        [+0.4941094279, -0.4448296300, +0.7469822445],
        [-0.8676661490, -0.1980763734, +0.4559837762],
    ]
)


def motion(batch: pd.DataFrame) -> pd.DataFrame:
    """Return galactic longitude and latitude in degrees, and the speed across the sky in km/s."""
    ra, dec = np.radians(batch["ra"].to_numpy(float)), np.radians(batch["dec"].to_numpy(float))
    place = _TO_GALACTIC @ np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)])
    plx = batch["plx"].to_numpy(float)
    angle = np.hypot(batch["pmra"].to_numpy(float), batch["pmdec"].to_numpy(float))
    return pd.DataFrame(
        {
            "gal_lon": np.degrees(np.arctan2(place[1], place[0])) % 360,
            "gal_lat": np.degrees(np.arcsin(np.clip(place[2], -1, 1))),
            "speed": _KM_PER_S * angle / np.where(plx > 0, plx, np.nan),
        }
    )
