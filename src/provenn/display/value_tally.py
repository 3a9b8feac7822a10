"""The tally of the values of an attribute, as plain values."""

from dataclasses import dataclass

__all__ = ["ValueTally"]


@dataclass(frozen=True, slots=True)
class ValueTally:
    """The values of an attribute in some rows.

    Attributes
    ----------
    name, type
        The attribute.
    rows, nulls, nans, infinite
        The number of rows, and of those without a value, with NaN, and with an infinite number.
    low, high
        The lowest and the highest value as text, without NaN and infinite numbers; empty if there is none.
    bins
        The number of values in bins of equal width from the lowest to the highest; empty if the values are no numbers.
        A bin of whole numbers has equally many of them, but the last may have fewer.
    different
        The number of different values, NULL not counted; None for numbers with a fraction.
    commonest
        The most frequent values as text with their numbers, the most frequent first; empty for numbers in bins.
    """

    name: str
    type: str
    rows: int
    nulls: int
    nans: int = 0
    infinite: int = 0
    low: str = ""
    high: str = ""
    bins: tuple[int, ...] = ()
    different: int | None = None
    commonest: tuple[tuple[str, int], ...] = ()
