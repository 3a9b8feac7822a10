"""A few days of the benchmark of growth: all ways agree, and a day costs a day."""

from benchmarks.growth import FEW, REPEATED, Growth, measure_growth


def test_all_ways_agree_and_only_the_new_day_is_calculated(engine, tmp_path):
    growth = Growth(engine.session, tmp_path / "growth", 1)
    try:
        growth.start(2)
        growth.grow(3)
        costs = measure_growth(growth, 30)
        seconds, _ = growth.measure_planning()
    finally:
        growth.close()
    calculated = {way: cost.calculated for way, cost in costs.items()}
    assert calculated["provenn"] == calculated["by hand"] == 30
    assert calculated["Spark, from scratch"] == 3 * FEW + REPEATED * 30
    assert seconds > 0
