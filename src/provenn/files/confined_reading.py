"""Reading the metadata of an Iceberg table from its own folder alone.

The metadata name each other by absolute addresses, which may be anything in a table of somebody else: a file
elsewhere, an address on the network, even a class for reading (``py-io-impl``). So provenn gives pyiceberg this reader,
which knows one folder, ignores all properties, and writes nothing. An address below the location of the table, as its
metadata have it, means the same path below the folder, so that a table that was moved or copied can be read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

from pyiceberg.io import FileIO, InputFile, OutputFile

from provenn.errors import BaseFilesError
from provenn.files.snapshots import check_inside, lies_in_folder, make_log_error

__all__ = ["TableReader"]

_LONGEST = 64 * 2**20
"""The most bytes of a manifest."""


class TableReader(FileIO):
    """Opens the files of one table.

    Parameters
    ----------
    folder
        The folder of the table.
    location
        The location of the table, as its metadata state.
    """

    def __init__(self, folder: str, location: str) -> None:
        super().__init__()
        self.folder = folder
        self._starts = [_strip_scheme(location).rstrip("/") + "/", f"{folder}/"]

    def find_name(self, address: str) -> str:
        """Return the path below the folder that an address means.

        Raises
        ------
        BaseFilesError
            If the address lies elsewhere.
        """
        path = _strip_scheme(address)
        for start in self._starts:
            if path.startswith(start):
                return check_inside(path.removeprefix(start), path.removeprefix(start), self.folder)
        return check_inside(path, address if "://" in address else f"file:{address}", self.folder)

    def new_input(self, location: str) -> InputFile:
        """Return a file of the table.

        Raises
        ------
        BaseFilesError
            If the address leads out of the folder.
        """
        name = self.find_name(location)
        path = f"{self.folder}/{name}"
        if not lies_in_folder(path, self.folder):
            raise BaseFilesError(
                f"the log of {self.folder} leads out of the folder of the table: {name} is a link",
                hint="copy the table with all its files into one folder",
            )
        return _TableFile(path, self.folder)

    def new_output(self, location: str) -> OutputFile:
        """Raise an error: nothing is written."""
        _refuse_writing(location)

    def delete(self, location: str | InputFile | OutputFile) -> None:
        """Raise an error: nothing is deleted."""
        _refuse_writing(location)


class _TableFile(InputFile):
    """A file of a table."""

    def __init__(self, path: str, folder: str) -> None:
        super().__init__(path)
        self._folder = folder

    def __len__(self) -> int:
        return Path(self.location).stat().st_size

    def exists(self) -> bool:
        """Whether the file exists."""
        return Path(self.location).is_file()

    def open(self, seekable: bool = True) -> Any:  # noqa: ANN401, ARG002 - pyiceberg's protocol of streams
        """Open the file for reading."""
        if len(self) > _LONGEST:
            raise make_log_error("Iceberg", self._folder, f"{self.location} is larger than any metadata")
        return Path(self.location).open("rb")


def _strip_scheme(address: str) -> str:
    """Return the path of an address on this machine; any other address as it is.

    >>> _strip_scheme("file:///lake/stars"), _strip_scheme("file:/lake/stars"), _strip_scheme("s3://lake/stars")
    ('/lake/stars', '/lake/stars', 's3://lake/stars')
    """
    return "/" + address.removeprefix("file:").lstrip("/") if address.startswith("file:") else address


def _refuse_writing(location: object) -> NoReturn:
    raise BaseFilesError(f"provenn does not write to tables, and {location} is part of one")
