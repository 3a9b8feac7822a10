"""Hypercubes per second: packed arrays against plain Python sets of integers.

Both do the same work on the same hypercubes in the same run, their results are compared, and a ratio smaller than
promised makes the run fail. Counted are the hypercubes given: 500 000 of six sets; where a set is added, those made:
2.9 million of six sets, of all that have four regions of five sets inhabited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from random import Random
from time import process_time

from rich.console import Console
from rich.table import Table

from provenn.logic.algorithms import adding_a_set, enhanced_conjunction, enhanced_nonimplication, removing_a_set
from provenn.logic.hypercubes import LabelledHypercubes, build_hypercubes

__all__ = ["main"]

COUNT = 500_000
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Race:
    """An operation done both ways, and how many times faster the packed one is promised to be."""

    name: str
    promised: int
    plain: Callable[[], set[int]]
    packed: Callable[[], LabelledHypercubes]


def main() -> int:
    """Measure, print a table, and return 1 if a promise is broken."""
    random = Random(0)
    six = {random.getrandbits(64) for _ in range(COUNT)}
    other = {random.getrandbits(64) for _ in range(COUNT // 2)}.union(random.sample(sorted(six), COUNT // 2))
    five = {sum(1 << region for region in chosen) for chosen in combinations(range(32), 4)}
    p, q, r = labelled(six, "ABCDEF"), labelled(other, "ABCDEF"), labelled(five, "ABCDE")
    races = (
        Race("remove the last set", 20, lambda: remove_last(six, 6), lambda: removing_a_set(p, "F")),
        Race("remove the first set", 20, lambda: remove_first(six, 6), lambda: removing_a_set(p, "A")),
        Race("add a set", 20, lambda: add(five, 5), lambda: adding_a_set(r, "F")),
        Race("conjunction", 2, lambda: six & other, lambda: enhanced_conjunction(p, q)),
        Race("nonimplication", 2, lambda: six - other, lambda: enhanced_nonimplication(p, q)),
    )
    table = Table("operation", "plain /s", "packed /s", "ratio", "promised")
    for column in table.columns[1:]:
        column.justify = "right"
    kept = True
    for race in races:
        expected, result, plain, packed = run(race)
        if set(result.over(range(1 << len(result.labels)))) != expected:
            raise AssertionError(f"{race.name}: the results differ")
        size = max(COUNT, len(expected))
        kept = kept and plain >= race.promised * packed
        speeds = (f"{size / seconds:,.0f}" for seconds in (plain, packed))
        table.add_row(race.name, *speeds, f"{plain / packed:.1f}", str(race.promised))
    Console().print(table)
    return 0 if kept else 1


def run(race: Race) -> tuple[set[int], LabelledHypercubes, float, float]:
    """Both results, and the processor seconds of the fastest of a few runs of each, taken in turns."""
    plain = packed = float("inf")
    for _ in range(REPEATS):
        start = process_time()
        expected = race.plain()
        middle = process_time()
        result = race.packed()
        end = process_time()
        plain, packed = min(plain, middle - start), min(packed, end - middle)
    return expected, result, plain, packed


def labelled(hypercubes: set[int], labels: str) -> LabelledHypercubes:
    """The hypercubes as the library holds them."""
    regions = range(1 << len(labels))
    return LabelledHypercubes(tuple(labels), tuple(regions), build_hypercubes(len(regions), hypercubes))


def remove_last(hypercubes: set[int], sets: int) -> set[int]:
    """Algorithm 1 in plain Python, for the last set: the upper half of the bits falls on the lower half."""
    half = 1 << (sets - 1)
    lower = (1 << half) - 1
    return {(one | one >> half) & lower for one in hypercubes}


def remove_first(hypercubes: set[int], sets: int) -> set[int]:
    """Algorithm 1 in plain Python, for the first set: neighbouring bits join, and the gaps are closed by halves."""
    bits = 1 << sets
    masks = [sum(((1 << width) - 1) << start for start in range(0, bits, 2 * width)) for width in _widths(bits)]
    result = set()
    for one in hypercubes:
        joined = (one | one >> 1) & masks[0]
        for width, mask in zip(_widths(bits), masks[1:], strict=False):
            joined = (joined | joined >> width) & mask
        result.add(joined)
    return result


def _widths(bits: int) -> list[int]:
    return [1 << power for power in range(bits.bit_length() - 1)]


def add(hypercubes: set[int], sets: int) -> set[int]:
    """Algorithm 6 in plain Python: every inhabited region goes outside the new set, inside, or both."""
    shift = 1 << sets
    result = set()
    for one in hypercubes:
        lifts = [0]
        rest = one
        while rest:
            region = rest & -rest
            rest ^= region
            lifts = [lift | way for lift in lifts for way in (region, region << shift, region | region << shift)]
        result.update(lifts)
    return result
