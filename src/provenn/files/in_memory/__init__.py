"""Conversion of tables in memory: from astropy, pandas and Arrow to Arrow, and back to astropy."""

from provenn.files.in_memory.taking import check_table_key, convert_to_arrow

__all__ = ["check_table_key", "convert_to_arrow"]
