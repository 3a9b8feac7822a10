"""Criteria with long lists of values: how the processor time grows with the number of values.

Run ``python -m benchmarks long_lists``. Each form of a list is read, written for Spark, and turned into a set with the
facts about it; a list is proved to lie inside another one. Measured is the processor time for a number of values, and
for ten times as many. Time in proportion to the length has the ratio 10; time in proportion to its square, 100.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time

from benchmarks.measure import show, shown
from provenn.catalogs.extent import build_extent, leaf
from provenn.criteria import Attribute, AttributeIdentity, order_facts, parse_criterion, parse_type, render
from provenn.logic import Knowledge, subset

__all__ = ["main"]

FEW, MANY = 2_000, 20_000
LARGEST_RATIO = 20.0
"""How many times as long ten times as many values may take."""

SCHEMA = {
    name: Attribute(AttributeIdentity(name), parse_type(kind)) for name, kind in (("hip", "bigint"), ("name", "string"))
}
NAMES = {one.identity: name for name, one in SCHEMA.items()}
FORMS: dict[str, Callable[[int], str]] = {
    "`hip IN (…)`": lambda number: f"hip IN ({', '.join(str(3 * i) for i in range(number))})",
    "`hip NOT IN (…)`": lambda number: f"hip NOT IN ({', '.join(str(3 * i) for i in range(number))})",
    "`name IN ('…')`": lambda number: "name IN ({})".format(", ".join(f"'HD {3 * i}'" for i in range(number))),
    "`hip = … OR hip = …`": lambda number: " OR ".join(f"hip = {3 * i}" for i in range(number)),
    "`hip BETWEEN … OR …`": lambda number: " OR ".join(f"hip BETWEEN {9 * i} AND {9 * i + 3}" for i in range(number)),
}


def main() -> int:
    """Measure, print a table, and return 1 if the time grows faster than promised."""
    rows, kept = [], True
    works: dict[str, Callable[[int], None]] = {name: partial(take, form) for name, form in FORMS.items()}
    for name, work in {**works, "two lists, one inside the other": compare}.items():
        work(100)
        few, many = (seconds(partial(work, number)) for number in (FEW, MANY))
        kept = kept and many <= LARGEST_RATIO * few
        rows.append((name, shown(few), shown(many), f"{many / few:.1f}", f"{LARGEST_RATIO:g}"))
    sizes = (f"{number:_} values, s".replace("_", " ") for number in (FEW, MANY))
    header = ("criterion", *sizes, "ratio", "at most")
    show("long lists of values", header, rows)
    return 0 if kept else 1


def take(form: Callable[[int], str], number: int) -> None:
    """Do all that is done with a criterion of a number of values without reading data."""
    criterion = parse_criterion(form(number), SCHEMA)
    order_facts(criterion.atoms)
    render(criterion, NAMES)
    build_extent(criterion.true, leaf)


def compare(number: int) -> None:
    """Prove that a list lies inside another one."""
    some, all_of_them = (
        parse_criterion(f"hip IN ({', '.join(str(step * i) for i in range(number // step))})", SCHEMA)
        for step in (6, 3)
    )
    knowledge = Knowledge(order_facts([*some.atoms, *all_of_them.atoms]))
    if not knowledge.entails(subset(some.true, all_of_them.true)):
        raise AssertionError("the shorter list lies inside the longer one")


def seconds(work: Callable[[], object]) -> float:
    """Return the processor seconds of the fastest of two runs."""
    times = []
    for _ in range(2):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)
