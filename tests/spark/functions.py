"""Calculators for random lineages: they take inputs by position and name outputs as told, as names may be anything."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc


def missing(batch: pd.DataFrame, output: str) -> pd.DataFrame:
    """Whether there is no value, of any type; for pandas NaN is none."""
    return pd.DataFrame({output: batch.iloc[:, 0].isna()})


def scaled(batch: pd.DataFrame, output: str, factor: float) -> pd.DataFrame:
    """A double, times a factor."""
    return pd.DataFrame({output: batch.iloc[:, 0] * factor})


def halved(batch: pd.DataFrame, output: str) -> pd.DataFrame:
    """An integer, divided by two: exact for the largest ones only if they do not become doubles on the way."""
    return pd.DataFrame({output: batch.iloc[:, 0].astype("Int64") // 2})


def marked(batch: pd.DataFrame, output: str, mark: str) -> pd.DataFrame:
    """A string with a mark, or the mark alone; and how long it is."""
    text = batch.iloc[:, 0].fillna("") + mark
    return pd.DataFrame({f"{output} size": text.str.len(), output: text})


def same(batch: pa.Table, output: str) -> pa.Table:
    """The value itself, of any type."""
    return pa.table({output: batch.column(0)})


def numbered(batch: pd.DataFrame, output: str) -> pd.DataFrame:
    """The position of the source in the whole catalog."""
    return pd.DataFrame({output: np.arange(len(batch))})


def counted(batch: pa.Table, output: str) -> pa.Table:
    """How many sources of the whole catalog have a value."""
    return pa.table({output: pa.repeat(pc.count(batch.column(0)).as_py(), batch.num_rows)})
