"""The suffixes of file names: the format that each stands for, and compressed files."""

from typing import Final

__all__ = ["COMPRESSED", "choose_suffix", "find_format", "is_compressed"]

_FORMATS: Final = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".ecsv": "ecsv",
    ".ipac": "ipac",
    ".tbl": "ipac",
    ".mrt": "mrt",
    ".fits": "fits",
    ".fit": "fits",
    ".vot": "votable",
    ".votable": "votable",
    ".xml": "votable",
    ".orc": "orc",
}
"""The format by suffix; of several suffixes of a format, new files get the first."""

COMPRESSED: Final = (".gz", ".bz2", ".zst")
"""The suffixes of compressed files."""


def find_format(name: str) -> str | None:
    """Return the format for the suffix of a file name, ignoring case; None for an unknown suffix.

    >>> find_format("GAIA.FITS"), find_format("stars.orc"), find_format("stars.csv.gz")
    ('fits', 'orc', None)
    """
    return next((format_name for suffix, format_name in _FORMATS.items() if name.lower().endswith(suffix)), None)


def choose_suffix(format_name: str) -> str:
    """Return the suffix for new files of a format.

    >>> choose_suffix("votable")
    '.vot'
    """
    return next(suffix for suffix, name in _FORMATS.items() if name == format_name)


def is_compressed(name: str) -> bool:
    """Return whether the suffix of a file name is that of a compressed file.

    >>> is_compressed("stars.csv.GZ")
    True
    """
    return name.lower().endswith(COMPRESSED)
