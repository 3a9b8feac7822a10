"""Calculators that do what they should not, or that tell what they saw."""

from pathlib import Path

import pandas as pd
import pyarrow as pa

BAD = 13


def raises(batch):  # noqa: ARG001
    raise ValueError("no convergence\n\nafter 3 steps")


def raises_at(batch):
    if (batch["x"] == BAD).any():
        raise ValueError("thirteen")
    return pd.DataFrame({"z": batch["x"]})


def shorter(batch):
    return pd.DataFrame({"z": batch["x"][1:]})


def arrow_longer(batch):
    return pa.table({"z": pa.array([1.0] * (batch.num_rows + 1))})


def other_name(batch):
    return pd.DataFrame({"zz": batch["x"]})


def one_more(batch):
    return pd.DataFrame({"z": batch["x"], "error": batch["x"]})


def twice(batch):
    return pd.DataFrame([[1.0, 2.0]] * len(batch), columns=["z", "z"])


def arrow_twice(batch):
    return pa.table([batch.column(0), batch.column(0)], names=["z", "z"])


def nothing(batch):  # noqa: ARG001
    return None


def a_list(batch):
    return list(batch["x"])


def an_array(batch):
    return batch["x"].to_numpy()


def a_series(batch):
    return batch["x"] * 2


def arrow_column(batch):
    return batch.column(0)


def a_batch(batch):
    return pa.record_batch({"z": batch.column(0).combine_chunks()})


def constant(batch, value):
    """The same JSON value for every source."""
    return pd.DataFrame({"z": pd.Series([value] * len(batch))})


def arrow_constant(batch, value, kind):
    """The same JSON value for every source, of one of Arrow's types."""
    array = pa.array([value] * batch.num_rows)
    return pa.table({"z": array.cast(getattr(pa, kind)()) if kind else array})


def midnight(batch):
    return pd.DataFrame({"z": pd.to_datetime(["2020-02-29 12:00"] * len(batch))})


def centred(batch):
    return pd.DataFrame({"z": batch["x"] - batch["x"].mean()})


def cumulative(batch):
    return pd.DataFrame({"z": batch["x"].cumsum()})


def arrow_numbered(batch):
    return pa.table({"z": pa.array(range(batch.num_rows), pa.float64())})


def same(batch):
    return batch.rename(columns={"x": "z"})


def arrow_same(batch):
    return batch.rename_columns(["z"])


def dtype(batch):
    """What pandas gets."""
    return pd.DataFrame({"z": [str(batch["x"].dtype)] * len(batch)})


def arrow_nan_lists(batch):
    """Arrays with NaN in them."""
    return pa.table({"z": [[float("nan"), x.as_py()] for x in batch.column(0)]})


def seen(batch, file):
    """Twice the input; and a line in a file for each source that it was called for."""
    with Path(file).open("a") as opened:
        opened.writelines(f"{x}\n" for x in batch["x"])
    return pd.DataFrame({"z": batch["x"] * 2})


def in_order(batch, file):
    """The position; and a line in a file for each call, with all it got."""
    with Path(file).open("a") as opened:
        opened.write(" ".join(map(str, batch["x"])) + "\n")
    return pd.DataFrame({"z": range(len(batch))})
