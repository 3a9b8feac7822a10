"""Paths on this machine, as people write them."""

import os
from pathlib import Path

__all__ = ["expand_home"]


def expand_home(path: str | os.PathLike[str]) -> Path:
    """Return a path with the home folder for a leading ``~``; a ``~`` that no user has stays as it is.

    Shells leave a ``~`` to the program in quotes and after ``=``.

    >>> expand_home("survey/stars.parquet").name
    'stars.parquet'
    >>> str(expand_home("~nobody_of_this_name/stars.parquet"))
    '~nobody_of_this_name/stars.parquet'
    """
    return Path(os.path.expanduser(path))  # noqa: PTH111 - the method of Path raises where no user has this name
