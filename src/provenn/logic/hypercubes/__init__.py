"""Sets of Boolean hypercubes, after Buddelmeijer & Valentijn.

A hypercube states for each Venn region of some sets whether the region holds any object. Here a hypercube is an integer
with a bit per region, and only regions inhabited by some hypercube have a bit: regions known to be empty cost nothing,
and neither does a set defined as a function of other sets, for any number of sets.

`Hypercubes` is the interface. `PackedHypercubes` serves up to 64 regions, so every relationship of up to 6 sets: a
sorted array of unsigned 64-bit numbers. `WideHypercubes` serves any number of regions: a set of Python integers.
`LabelledHypercubes` knows the region of each bit.
"""

from typing import TYPE_CHECKING

from provenn.offered_names import offer_names

if TYPE_CHECKING:
    from provenn.logic.hypercubes.interface import Hypercubes
    from provenn.logic.hypercubes.labelled import LabelledHypercubes, build_all_hypercubes, build_hypercubes
    from provenn.logic.hypercubes.packed import PackedHypercubes
    from provenn.logic.hypercubes.wide import WideHypercubes

__all__ = [
    "Hypercubes",
    "LabelledHypercubes",
    "PackedHypercubes",
    "WideHypercubes",
    "build_all_hypercubes",
    "build_hypercubes",
]

__getattr__, __dir__ = offer_names(
    __name__,
    {
        "provenn.logic.hypercubes.interface": "Hypercubes",
        "provenn.logic.hypercubes.labelled": "LabelledHypercubes build_all_hypercubes build_hypercubes",
        "provenn.logic.hypercubes.packed": "PackedHypercubes",
        "provenn.logic.hypercubes.wide": "WideHypercubes",
    },
)
