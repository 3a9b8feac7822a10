"""Bounds among sets with counts: provenn, and z3 with its theory of finite sets.

A random lineage of sets is drawn, each made from earlier ones, and filled with random objects; every set is counted.
The question is how many objects two of the sets share outside a third one. z3 gets the same definitions and counts as
finite sets with sizes, and is asked whether one object more than provenn's upper bound is possible. What takes longer
than the limit is ended.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import process_time

import numpy as np

from benchmarks.measure import Minimum, in_fresh_process, show
from provenn.logic import Knowledge, Statement, difference, intersection, subset, union
from provenn.logic.counting import bound_count, count

__all__ = ["main"]

SIZES = (5, 10, 20, 40, 1_000)
LIMIT = 60.0
OBJECTS = 20_000
_RECENT = 200


def _draw(size: int) -> tuple[list[Statement], list[tuple[str, str, str, str]], dict[str, int], tuple[str, str, str]]:
    """Return the facts, the same as (operation, set, left, right), the counts, and the sets of the question."""
    draw, drawn = Random(size), np.random.default_rng(size)
    sets: dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]] = {}
    facts: list[Statement] = []
    made: list[tuple[str, str, str, str]] = []
    for number in range(size):
        name = f"S{number}"
        if number < 4:
            sets[name] = drawn.random(OBJECTS) < 0.3
            continue
        left, right = (f"S{draw.randrange(max(0, number - _RECENT), number)}" for _ in range(2))
        operation = draw.choice("SSIUD") if left != right else "S"
        made.append((operation, name, left, right))
        match operation:
            case "S":
                sets[name] = sets[left] & (drawn.random(OBJECTS) < draw.choice([0.1, 0.5, 0.9]))
                facts.append(subset(name, left))
            case "I":
                sets[name] = sets[left] & sets[right]
                facts.append(intersection(name, left, right))
            case "U":
                sets[name] = sets[left] | sets[right]
                facts.append(union(name, left, right))
            case _:
                sets[name] = sets[left] & ~sets[right]
                facts.append(difference(name, left, right))
    first, second, third = draw.sample(list(sets)[: max(5, size // 2)], 3)
    return facts, made, {name: int(held.sum()) for name, held in sets.items()}, (first, second, third)


def measure_provenn(size: int) -> Callable[[], tuple[float, int, int | None]]:
    """Return a function that returns the seconds of processor time and the bounds."""
    facts, _, counts, (first, second, third) = _draw(size)
    bound_count(Knowledge(["B <= A"]), "B", [count("A", 1)])  # loads the solvers

    def bound() -> tuple[float, int, int | None]:
        start = process_time()
        bounds = bound_count(
            Knowledge(facts), f"{first} & {second} - {third}", [count(name, number) for name, number in counts.items()]
        )
        return process_time() - start, bounds.low, bounds.high

    return bound


def measure_z3(size: int, high: int) -> Callable[[], tuple[float, str]]:
    """Return a function that asks z3 whether there can be more objects than `high`."""
    import z3  # type: ignore[import-untyped] # noqa: PLC0415 - only this process needs it

    _, made, counts, (first, second, third) = _draw(size)
    sort = z3.FiniteSetSort(z3.IntSort())
    sets = {name: z3.Const(name, sort) for name in counts}
    solver = z3.Solver()
    for operation, name, left, right in made:
        match operation:
            case "S":
                solver.add(z3.FiniteSetSubset(sets[name], sets[left]))
            case "I":
                solver.add(sets[name] == z3.FiniteSetIntersect(sets[left], sets[right]))
            case "U":
                solver.add(sets[name] == z3.FiniteSetUnion(sets[left], sets[right]))
            case _:
                solver.add(sets[name] == z3.FiniteSetDifference(sets[left], sets[right]))
    for name, number in counts.items():
        solver.add(z3.FiniteSetSize(sets[name]) == number)
    asked = z3.FiniteSetDifference(z3.FiniteSetIntersect(sets[first], sets[second]), sets[third])
    solver.add(z3.FiniteSetSize(asked) > high)

    def check() -> tuple[float, str]:
        start = process_time()
        answer = str(solver.check())
        return process_time() - start, answer

    return check


def main() -> int:
    """Measure, print a table, and return 1 if 1 000 sets take more than a second of a processor."""
    rows, slowest = [], 0.0
    for size in SIZES:
        answer = in_fresh_process(measure_provenn, size, seconds=LIMIT)
        if answer is None:
            rows.append((str(size), f"> {LIMIT:g} s", "", "not asked", ""))
            slowest = LIMIT
            continue
        seconds, low, high = answer
        slowest = seconds
        other = None if high is None else in_fresh_process(measure_z3, size, high, seconds=LIMIT)
        told = ("no answer", "") if other is None else (f"{other[0]:.2f} s, {other[1]}", f"{other[0] / seconds:.1f}")
        rows.append((str(size), f"{seconds:.2f} s", f"{low:,} to {high:,}" if high is not None else f"{low:,}", *told))
    show("Bounds among sets with counts", ("sets", "provenn", "bounds", "z3", "ratio"), rows)
    minimum = Minimum("1 000 sets with counts", slowest, 1.0, "s", at_most=True)
    print(*minimum.row())
    return 0 if minimum.reached else 1
