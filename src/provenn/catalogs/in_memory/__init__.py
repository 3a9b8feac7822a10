"""Tables in memory: those of astropy, pandas and Arrow as Arrow, and back to astropy."""

from provenn.catalogs.in_memory.taking import arrow_table, check_given_key

__all__ = ["arrow_table", "check_given_key"]
