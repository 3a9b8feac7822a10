"""Base files that Spark cannot read, converted to Parquet in the data folder and named by their content.

The name ``KEY-DIGEST-FOOTER.parquet`` below ``converted/FILES/`` holds the digest of the conversion (`KEY`), the
SHA-256 of all bytes, and the beginning of the SHA-256 of the footer. So damage is noticed without a database, and two
processes that convert the same files never overwrite each other. A conversion can always be made again.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from provenn.data.parquet_contents import digest_bytes, digest_footer
from provenn.errors import StoreError
from provenn.files.data_folder import CONVERTED, DataFolder

__all__ = [
    "Conversion",
    "all_conversions",
    "discard_damaged",
    "find_conversion",
    "find_conversion_damage",
    "keep_conversion",
]

_LOG = logging.getLogger(__name__)
_SHORT = 32
_NAME = re.compile(r"(?P<key>[0-9a-f]{32})-(?P<digest>[0-9a-f]{64})-(?P<footer>[0-9a-f]{32})\.parquet")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A base file converted to Parquet.

    Parameters
    ----------
    files
        The digest of the base files.
    name
        The name of the file below ``converted/FILES``.
    size
        The length of the file in bytes.
    """

    files: str
    name: str
    size: int

    @property
    def place(self) -> str:
        """The path of the file below the data folder."""
        return f"{CONVERTED}/{self.files}/{self.name}"

    @property
    def has_digest(self) -> bool:
        """Whether the name holds the digests: earlier versions wrote names without digests."""
        return _NAME.fullmatch(self.name) is not None


def all_conversions(folder: DataFolder, files: str = "") -> Iterator[Conversion]:
    """Yield the conversions of all base files, or of the base files with a digest."""
    for digest in [files] if files else [entry.name for entry in folder.entries(CONVERTED)]:
        for stored in folder.files(CONVERTED, digest):
            yield Conversion(digest, stored.name, stored.size)


def find_conversion(folder: DataFolder, files: str, key: str) -> str | None:
    """Return the address of a sound conversion, or None. Delete conversions with a damaged footer, if possible.

    Parameters
    ----------
    folder
        The data folder.
    files
        The digest of the base files.
    key
        The digest of the conversion: the input and the settings.
    """
    for conversion in all_conversions(folder, files):
        if conversion.name.startswith(f"{key[:_SHORT]}-") and conversion.has_digest:
            problem = _find_damage_if_there(folder, conversion)
            if problem == "":
                return folder.at(conversion.place)
            if problem is not None:
                _discard(folder, conversion, problem)
    return None


def _find_damage_if_there(folder: DataFolder, conversion: Conversion) -> str | None:
    """Return the problem of a conversion, or ""; None if another process has deleted the file since the listing."""
    try:
        return find_conversion_damage(folder, conversion)
    except StoreError as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return None
        raise


def keep_conversion(folder: DataFolder, temporary: str, files: str, key: str) -> str:
    """Move a converted file to the final name; return the address.

    Processes that convert the same files at once write the same bytes, and so use the same name. The first process
    moves the file there.

    Raises
    ------
    StoreError
        If the file cannot be moved, or a damaged file with its name cannot be deleted.
    """
    with folder.open_input_file(folder.relative_path(temporary)) as opened:
        footer = digest_footer(opened, opened.size())[:_SHORT]
        name = f"{key[:_SHORT]}-{digest_bytes(opened)}-{footer}.parquet"
    address = folder.at(CONVERTED, files, name)
    if find_conversion(folder, files, key) == address or folder.publish_unless_there(temporary, CONVERTED, files, name):
        return address
    problem = find_conversion_damage(folder, Conversion(files, name, 0))
    if problem:
        raise StoreError(f"{address} is damaged and cannot be replaced: {problem}", hint="delete it")
    return address


def find_conversion_damage(folder: DataFolder, conversion: Conversion, *, deep: bool = False) -> str:
    """Return the problem of a conversion, or "".

    Parameters
    ----------
    folder
        The data folder.
    conversion
        The conversion; its name holds its digests.
    deep
        Whether to read all bytes. Otherwise only the footer is compared, which is quick.
    """
    name_parts = _NAME.fullmatch(conversion.name)
    if name_parts is None:
        return "its name does not match its content"
    with folder.open_input_file(conversion.place) as opened:
        if digest_footer(opened, opened.size())[:_SHORT] != name_parts["footer"]:
            return "its footer differs from the footer that was written"
        if deep and digest_bytes(opened) != name_parts["digest"]:
            return "its bytes differ from the bytes that were written"
    return ""


def discard_damaged(folder: DataFolder, address: str) -> str:
    """Read all bytes of a conversion, and delete a damaged file; return the problem, or ""."""
    _, files, name = folder.relative_path(address).split("/")
    for conversion in all_conversions(folder, files):
        if conversion.name == name:
            problem = find_conversion_damage(folder, conversion, deep=True)
            if problem:
                _discard(folder, conversion, problem)
            return problem
    return ""


def _discard(folder: DataFolder, conversion: Conversion, problem: str) -> None:
    """Log a warning, and delete a conversion if possible."""
    _LOG.warning("%s is no longer used: %s", conversion.place, problem)
    with suppress(StoreError):
        folder.remove(conversion.place)
