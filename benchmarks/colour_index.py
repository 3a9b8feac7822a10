"""A calculator over batches of pandas, as a user registers one on the command line."""

import pandas as pd

__all__ = ["colour_index"]


def colour_index(batch: pd.DataFrame) -> pd.DataFrame:
    """Return the difference of two magnitudes."""
    return pd.DataFrame({"colour": batch["g"] - batch["r"]})
