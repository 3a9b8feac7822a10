"""The benchmark of estimates: samples are close on real stars, and better than what footers state."""

from benchmarks.estimates import CRITERIA, find_factor, find_mean, measure_errors
from tests.real_stars import real_stars


def test_estimates_from_samples_are_close_on_real_stars():
    measured = measure_errors(real_stars().hipparcos)
    errors = {name: find_mean([find_factor(*pair) for pair in pairs]) for name, pairs in measured.items()}
    assert {len(pairs) for pairs in measured.values()} == {len(CRITERIA)}
    assert errors["sample"] < 1.5
    assert errors["sample"] < min(error for name, error in errors.items() if name != "sample") / 3


def test_the_error_is_a_factor():
    assert find_factor(9, 4) == find_factor(4, 9) == 2
    assert find_mean([1.0, 4.0]) == 2
