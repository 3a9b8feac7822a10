"""Calculators that jobs call: one that raises, and one that takes its time."""

import time

import pandas as pd

from tests.waiting import FOR_EVER

__all__ = ["doubled", "failing", "slow"]


def doubled(batch: pd.DataFrame) -> pd.DataFrame:
    """Return twice the magnitude."""
    return pd.DataFrame({"twice": batch.vmag * 2})


def failing(batch: pd.DataFrame) -> pd.DataFrame:
    """Raise, whatever it is given."""
    raise ValueError(f"no luck with <b>{len(batch.columns)}</b> column")


def slow(batch: pd.DataFrame) -> pd.DataFrame:
    """Take for ever, unless it is only looked at."""
    if len(batch):
        time.sleep(FOR_EVER)
    return pd.DataFrame({"late": batch.vmag})
