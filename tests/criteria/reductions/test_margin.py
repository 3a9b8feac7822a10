"""Java's values of mathematical functions lie within the margin of Python's, at very many numbers."""

import math

import numpy as np
import pytest

from provenn.criteria.reductions import library
from provenn.criteria.reductions.library import MARGIN

HALF = MARGIN // 2
"""What may be used up of the margin: the other half is for libraries of other machines."""

POWERS = {f"pow(x, {power}D)": library._split_power(power) for power in (2.0, 3.0, 0.5, -1.0, -2.5, 7.3, 100.0)}
BASES = {f"pow({base}D, x)": library._split_exponential(base) for base in (10.0, 2.0, 0.5, 1.0000001)}
LOGARITHMS = {f"log({base}D, x)": library._split_logarithm(base) for base in (10.0, 2.0, 0.5, 1.0000001, 2.718281828)}
FUNCTIONS = {**{f"{name}(x)": parts for name, parts in library._FUNCTIONS.items()}, **POWERS, **BASES, **LOGARITHMS}


def draw_numbers(count: int, seed: int) -> np.ndarray:
    """Return doubles of all sizes, and many of the sizes that occur."""
    generator = np.random.default_rng(seed)
    bits = generator.integers(-(2**63), 2**63 - 1, count // 3).view(np.float64)
    usual = generator.normal(0, 1, count // 3) * 10.0 ** generator.integers(-6, 4, count // 3)
    near = np.concatenate([[1.0, -1.0, 0.5, math.pi, math.pi / 2, 10.0, 100.0, 1e-5, 3 * math.pi / 2, 709.78, -745.0]])
    steps = np.arange(-count // 60, count // 60)
    close = (near.view(np.int64)[:, None] + steps[None, :]).ravel().view(np.float64)
    return np.concatenate([bits[np.isfinite(bits)], usual, generator.permutation(close)[: count // 3]])


def encode(values: np.ndarray) -> np.ndarray:
    """Return keys that count representable numbers."""
    bits = values.astype(np.float64).view(np.int64)
    magnitude = bits & np.int64(2**63 - 1)
    return np.where(bits < 0, -magnitude, magnitude)


@pytest.mark.parametrize("rounds", [1, pytest.param(60, marks=pytest.mark.campaign)])
def test_java_and_python_agree_within_the_margin(engine, rounds):
    for seed in range(rounds):
        check_functions(engine.session, draw_numbers(20_000 if rounds == 1 else 100_000, seed))


def check_functions(session, numbers: np.ndarray) -> None:
    """Compare Java's and Python's values of all functions at some numbers."""
    frame = session.createDataFrame([(float(value),) for value in numbers], "x double").coalesce(1)
    names = {f"f{place}": text for place, text in enumerate(FUNCTIONS)}
    java = frame.selectExpr("x", *(f"{text} AS {name}" for name, text in names.items())).toPandas()
    xs = java["x"].to_numpy()
    for name, text in names.items():
        values = java[name].to_numpy(dtype=np.float64)
        for part in FUNCTIONS[text]:
            if part.function is None:
                continue
            chosen = (xs >= part.low) & (xs <= part.high)
            python = np.array([part.function(value) for value in xs[chosen].tolist()], dtype=np.float64)
            apart = np.abs(encode(values[chosen]) - encode(python))
            assert len(apart) == 0 or apart.max() <= HALF, (text, xs[chosen][apart.argmax()], apart.max())
            assert (values[chosen] >= part.least).all(), text
            assert (values[chosen] <= part.most).all(), text
