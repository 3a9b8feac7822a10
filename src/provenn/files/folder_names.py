"""Columns and values in the names of folders, such as ``year=2026``, read exactly as Spark reads them.

Hive, Spark and pyarrow write a character that a name cannot have as an escape, ``%2F``. Each escape is one character
to Spark, the one with that number: ``%C3%BC`` is ``Ã¼``, although programs that escape the bytes of UTF-8 mean ``ü``.
Other uses of ``%`` and ``+`` stand for themselves. Spark gives the rows, so every value here is the one of Spark.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["NO_VALUE", "decode_escapes", "read_folder_values", "split_folders"]

NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder of a partition column that stands for NULL."""

_ESCAPE: Final = re.compile("%([0-9a-fA-F]{2})")


def decode_escapes(text: str) -> str:
    """Return a column or value in the name of a folder without escapes.

    >>> decode_escapes("g%2Fr"), decode_escapes("50%25"), decode_escapes("%C3%BC"), decode_escapes("100%+%zz")
    ('g/r', '50%', 'Ã¼', '100%+%zz')
    """
    return _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)


def split_folders(name: str) -> tuple[tuple[str, str], ...]:
    """Return the columns and values in the path of a file, with their escapes.

    Spark goes up from the file to the first folder with a value, and on as long as each folder has one: the values of
    folders above any other folder are not read.

    >>> split_folders("year=2026/night=5/a.parquet"), split_folders("year=2026/raw/night=5/images/a.parquet")
    ((('year', '2026'), ('night', '5')), (('night', '5'),))
    """
    pairs: list[tuple[str, str]] = []
    for folder in reversed(name.split("/")[:-1]):
        column, equals, value = folder.partition("=")
        if equals:
            pairs.insert(0, (column, value))
        elif pairs:
            break
    return tuple(pairs)


def read_folder_values(name: str) -> tuple[tuple[str, str | None], ...]:
    """Return the columns and values in the path of a file; None stands for NULL.

    >>> read_folder_values("band=g%2Fr/night=__HIVE_DEFAULT_PARTITION__/a.parquet")
    (('band', 'g/r'), ('night', None))
    """
    return tuple(
        (decode_escapes(column), None if value == NO_VALUE else decode_escapes(value))
        for column, value in split_folders(name)
    )
