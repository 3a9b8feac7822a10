"""The simulation of large cross-matches, against the rows that Spark handles for a small one."""

import numpy as np
import pyarrow as pa

from benchmarks import crossmatch as crossmatch_benchmark
from benchmarks import crossmatch_scale
from provenn.spark import crossmatch
from provenn.spark.crossmatch import MatchSide, count_cells
from tests.spark.conftest import engine

__all__ = ["engine"]


def test_the_density_is_that_of_the_positions():
    """A source in a steradian, integrated over the sky, is a source."""
    sky = crossmatch_scale.draw_sky(np.random.default_rng(1), 200_000)
    assert np.isclose((1 / sky.density).mean(), 4 * np.pi, rtol=0.02)


def test_as_many_rows_are_copied_and_compared_as_simulated(engine):
    random = np.random.default_rng(2)
    left, right = crossmatch_scale.draw_sky(random, 8000), crossmatch_scale.draw_sky(random, 8000)
    radius = 300.0
    sides = []
    for sky, suffix in ((left, "1"), (right, "2")):
        frame = engine.session.createDataFrame(pa.table({"id": np.arange(8000), "ra": sky.ra, "dec": sky.dec}))
        side = MatchSide(frame, ["id"], ("ra", "deg"), ("dec", "deg"), {"id": "id"})
        sides.append(crossmatch._locate_rows(side, suffix))
    grid = crossmatch._Grid.of(radius)
    placed, spread = grid.place_rows(sides[0], "1"), grid.spread_rows(sides[1], "2")
    zones, cells = count_cells(radius, left.dec)
    assert zones == grid.zones
    sizes = crossmatch_scale.simulate_sizes(
        crossmatch_scale.draw_sky(random, 200_000), 8000, 8000, radius, partitions=10
    )
    rows = spread.count()
    assert np.isclose(rows / 8000, sizes.copies, rtol=0.03)
    together = placed.join(spread, placed[placed.columns[-1]] == spread[spread.columns[-1]]).count()
    assert np.isclose(together / 8000, sizes.compared, rtol=0.1)
    assert np.isclose(sizes.partition, (8000 + rows) / 10, rtol=0.03)
    assert cells.min() >= 1


def test_the_pairs_that_are_timed(engine, tmp_path):
    """A third of the left side lies near a source of the right: within a few standard deviations, all of it."""
    crossmatch_benchmark.write_sides(tmp_path, 3000, 2000)
    (clock, _), pairs = crossmatch_benchmark.count_pairs(tmp_path, 2.0, engine.session)
    assert clock > 0
    assert 990 <= pairs <= 1010
