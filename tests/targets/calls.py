"""Calculators that write down for which sources they are called, or that misbehave; and what they wrote."""

import os
import time
from collections import Counter
from pathlib import Path

import pandas as pd

from tests.waiting import LIMIT

__all__ = [
    "called",
    "called_values",
    "doubled",
    "failing",
    "failing_once",
    "fitted",
    "meeting",
    "patient",
    "ranked",
    "slow",
    "traced",
]

"""Seconds after which a calculator gives up: longer than any machine needs, so that only a test that hangs ends so."""

PROBES = 3
"""How often a worker calls a calculator again to see that it works row by row, after its first batch of several."""


def doubled(batch: pd.DataFrame, output: str, log: str) -> pd.DataFrame:
    """Twice x. The keys of each call are a line in a file of this process."""
    _write_keys(batch, log)
    return pd.DataFrame({output: batch["x"] * 2})


def fitted(batch: pd.DataFrame, value: str, error: str, log: str, factor: float = 2.0) -> pd.DataFrame:
    """Two outputs: x times a factor, and x plus it. The keys of each call are a line in a file of this process."""
    _write_keys(batch, log)
    x = batch.iloc[:, 1]
    return pd.DataFrame({value: x * factor, error: x + factor})


def ranked(batch: pd.DataFrame, output: str, log: str) -> pd.DataFrame:
    """The rank of x among all sources. The keys of each call are a line in a file of this process."""
    _write_keys(batch, log)
    return pd.DataFrame({output: batch["x"].rank(method="min", na_option="keep")})


def traced(batch: pd.DataFrame, value: str, error: str, log: str, factor: float) -> pd.DataFrame:
    """What `fitted` gives. The keys of each call, each with its value, are a line in a file of this process."""
    x = batch.iloc[:, 1]
    with Path(log, str(os.getpid())).open("a") as file:
        file.write(" ".join(f"{value}:{factor}:{key}:{one}" for key, one in zip(batch["id"], x, strict=True)) + "\n")
    return pd.DataFrame({value: x * factor, error: x + factor})


def _write_keys(batch: pd.DataFrame, log: str) -> None:
    with Path(log, str(os.getpid())).open("a") as file:
        file.write(" ".join(map(str, batch.iloc[:, 0])) + "\n")


def failing(batch: pd.DataFrame, output: str, at: int) -> pd.DataFrame:
    """Twice x, but for one source."""
    if (batch["id"] == at).any():
        raise ArithmeticError("no convergence")
    return pd.DataFrame({output: batch["x"] * 2})


def slow(batch: pd.DataFrame, output: str, log: str) -> pd.DataFrame:
    """What `doubled` does, once the test has made a file that says so. That it was called is a file as well."""
    Path(log, "begun").touch()
    until = time.monotonic() + LIMIT
    while not Path(log, "hurry").exists():
        if time.monotonic() > until:
            raise TimeoutError("the test never said that it may go on")
        time.sleep(0.05)
    return doubled(batch, output, log)


def patient(batch: pd.DataFrame, output: str, log: str, seconds: float) -> pd.DataFrame:
    """What `doubled` does, in some seconds."""
    if len(batch) > 1:
        time.sleep(seconds)
    return doubled(batch, output, log)


def meeting(batch: pd.DataFrame, output: str, log: str, others: int) -> pd.DataFrame:
    """What `doubled` does, as soon as so many processes do it at the same time."""
    found = doubled(batch, output, log)
    until = time.monotonic() + LIMIT
    while len(list(Path(log).iterdir())) < others:
        if time.monotonic() > until:
            raise TimeoutError("nobody else came")
        time.sleep(0.05)
    return found


def failing_once(batch: pd.DataFrame, output: str, log: str) -> pd.DataFrame:
    """What `doubled` does, but whoever comes first fails, after a while."""
    try:
        Path(log, "..", "failed").resolve().touch(exist_ok=False)
    except FileExistsError:
        return doubled(batch, output, log)
    time.sleep(1.5)
    raise ArithmeticError("no convergence")


def called(log: Path) -> Counter[int]:
    """For which sources `doubled` was called, and how often; without the calls that only try it out."""
    return Counter({int(text): times for text, times in called_values(log).items()})


def called_values(log: Path) -> Counter[str]:
    """For what calculators wrote down calls, and how often; without the calls that only try them out."""
    found: Counter[str] = Counter()
    for file in log.iterdir():
        lines = [line.split() for line in file.read_text().splitlines()]
        first = next((at for at, texts in enumerate(lines) if len(texts) > 1), len(lines))
        for texts in (*lines[: first + 1], *lines[first + 1 + PROBES :]):
            found.update(texts)
    return found
