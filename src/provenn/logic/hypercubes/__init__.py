"""Sets of Boolean hypercubes, after Buddelmeijer & Valentijn.

A hypercube says of each Venn region of some sets whether it holds any object. Here a hypercube is one integer with one
bit per region, and only regions that some hypercube inhabits have a bit: what is known to be empty costs nothing, and
neither does a set that is a function of others, however many sets there are.

`Hypercubes` is the interface. `Packed` serves up to 64 regions, so every relationship of up to 6 sets: one sorted
array of unsigned 64-bit numbers. `Wide` serves any number: a set of Python integers. `Labelled` tells which
region a bit stands for.
"""

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.labelled import Labelled, every, made
from provenn.logic.hypercubes.packed import Packed
from provenn.logic.hypercubes.wide import Wide

__all__ = ["Hypercubes", "Labelled", "Packed", "Wide", "every", "made"]
