"""Estimates of plans against the truth, on the stars of Hipparcos, whose columns are far from evenly spread.

Each criterion selects from the same base catalog. DuckDB counts the stars. provenn estimates them as plans do: from the
sample of rows that is kept when files are ingested; without it, from the lowest and the highest value in the footers,
moderated towards a third; the same as if values were spread evenly; and with neither. The error of an estimate is a
factor: 2 is twice, or half, as many as there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import exp, log
from pathlib import Path
from time import perf_counter

import duckdb

from benchmarks.measure import Minimum, show
from provenn.catalogs import Base, Files, SelectSources, cone
from provenn.demo.fetching import fetch_catalogs
from provenn.files.listing import list_files
from provenn.files.row_samples import decode_sample, sample_parquet
from provenn.knowledge.consequences import build_knowledge
from provenn.targets import column_shares
from provenn.targets.costs import estimate_rows
from provenn.targets.known import build_definition
from provenn.targets.literal import build_step
from provenn.targets.row_samples import RowSample
from provenn.targets.scene import Scene

__all__ = ["CRITERIA", "find_factor", "find_mean", "main", "measure_errors"]

CRITERIA = (
    "vmag < 6.76",
    "vmag < 3",
    "vmag > 10",
    "vmag BETWEEN 5 AND 6",
    "plx > 10",
    "plx > 50",
    "plx > 100",
    "plx < 0",
    "bv > 1.5",
    "bv < 0",
    "bv IS NULL",
    "pmra > 100",
    "abs(pmra) > 100",
    "vmag < 6 AND plx > 10",
    "vmag < 6 AND plx < 10",
    "vmag < 6.76 AND bv < 0.5 AND plx > 20",
    "vmag < 5 OR plx > 50",
    "plx > 0 AND vmag + 5 * log10(plx) - 10 < 0",
    "1000 / plx < 25",
    "pmra * pmra + pmdec * pmdec > 40000",
    "dec > 60 AND vmag < 8",
    "in_cone(ra, dec, 56.75, 24.12, 5)",
)
WORST = 1.5
"""The error, as a geometric mean, that samples promise."""


def _make_base(path: Path) -> Base:
    return Base.of(Files.at(path), key="hip", population="star")


def _estimate(base: Base, criterion: str, *, with_sample: bool) -> float:
    """Return the estimated number of stars, which a plan would show if no bound is stricter."""
    catalog = SelectSources.of(base, criterion)
    lineage = cone(catalog)
    known = build_knowledge([build_definition(ancestor) for ancestor in lineage])
    columns = {base.schema[name].identity: decode_sample(text) or () for name, text in base.files.samples}
    samples = (RowSample(base.extent, columns),) if with_sample else ()
    return estimate_rows(Scene(known, lineage, samples=samples), build_step(catalog))


def _estimate_evenly(base: Base, criterion: str) -> float:
    """Return the estimate as if values were spread evenly between the lowest and the highest."""
    moderate = column_shares.moderate_share
    column_shares.moderate_share = lambda share: min(share, 1.0)
    try:
        return _estimate(base, criterion, with_sample=False)
    finally:
        column_shares.moderate_share = moderate


def _count(path: Path, criterion: str) -> int:
    if criterion.startswith("in_cone"):
        distance = "2 * asin(sqrt(pow(sin(radians(dec - 24.12) / 2), 2) + cos(radians(dec)) * cos(radians(24.12))"
        criterion = f"degrees({distance} * pow(sin(radians(ra - 56.75) / 2), 2)))) <= 5"
    criterion = criterion.replace("log10(plx)", "CASE WHEN plx > 0 THEN log10(plx) END")
    criterion = criterion.replace("1000 / plx", "1000 / nullif(plx, 0)")
    return len(duckdb.read_parquet(str(path)).filter(criterion))


def measure_errors(path: Path) -> dict[str, list[tuple[int, float]]]:
    """Return for each way of estimating the number of stars and the estimate, for each criterion."""
    base = _make_base(path)
    bare = replace(base, files=replace(base.files, statistics=()))
    ways: dict[str, Callable[[str], float]] = {
        "sample": lambda criterion: _estimate(base, criterion, with_sample=True),
        "lowest and highest": lambda criterion: _estimate(base, criterion, with_sample=False),
        "evenly spread": lambda criterion: _estimate_evenly(base, criterion),
        "fixed fractions": lambda criterion: _estimate(bare, criterion, with_sample=False),
    }
    counts = {criterion: _count(path, criterion) for criterion in CRITERIA}
    return {name: [(counts[criterion], way(criterion)) for criterion in CRITERIA] for name, way in ways.items()}


def find_factor(true: int, estimate: float) -> float:
    """Return by which factor an estimate is wrong, at least 1; a star more on both sides, for none at all.

    >>> find_factor(9, 4), find_factor(4, 9), find_factor(7, 7)
    (2.0, 2.0, 1.0)
    """
    ratio = (true + 1) / (estimate + 1)
    return max(ratio, 1 / ratio)


def find_mean(factors: list[float]) -> float:
    """Return the geometric mean."""
    return exp(sum(map(log, factors)) / len(factors))


def main() -> int:
    """Show estimates, their errors, and how long taking a sample takes."""
    path = fetch_catalogs().hipparcos
    measured = measure_errors(path)
    rows = [
        (criterion, f"{measured['sample'][place][0]:,}", *(f"{way[place][1]:,.0f}" for way in measured.values()))
        for place, criterion in enumerate(CRITERIA)
    ]
    means = {name: find_mean([find_factor(*pair) for pair in pairs]) for name, pairs in measured.items()}
    worst = {name: max(find_factor(*pair) for pair in pairs) for name, pairs in measured.items()}
    rows.append(("error: geometric mean", "", *(f"{mean:.2f}" for mean in means.values())))
    rows.append(("error: worst", "", *(f"{factor:,.1f}" for factor in worst.values())))
    show("Estimated numbers of stars of Hipparcos", ["criterion", "true", *measured], rows)
    base = _make_base(path)
    kinds = {column.name: column.type for column in base.files.columns}
    times = []
    for _ in range(5):
        began = perf_counter()
        sample_parquet(list_files(str(path)), kinds)
        times.append(perf_counter() - began)
    print(f"taking the sample: {1000 * min(times):.0f} ms, {sum(len(text) for _, text in base.files.samples):,} bytes")
    minimum = Minimum("error of estimates from samples", means["sample"], WORST, at_most=True)
    print(*minimum.row())
    return 0 if minimum.reached else 1
