"""A few rows of a fragment, taken when it is written."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from provenn.catalogs.schema import Attribute
from provenn.criteria import AttributeIdentity
from provenn.files.data_folder import DataFolder
from provenn.files.row_samples import encode_sample, sample_parquet

__all__ = ["sample_fragment"]


@dataclass(frozen=True, slots=True)
class _FragmentFile:
    """A file of a fragment."""

    folder: DataFolder
    location: str
    name: str

    def open(self) -> AbstractContextManager[Any]:
        """Open the file for reading, with seeking."""
        return self.folder.open_input_file(self.location, self.name)


def sample_fragment(
    folder: DataFolder, location: str, columns: Sequence[tuple[Attribute, str]]
) -> dict[AttributeIdentity, str]:
    """Return the values of attributes in a few rows of written files, in stored form; none if the folder is far away.

    Parameters
    ----------
    folder
        The data folder.
    location
        The path of the files below the data folder.
    columns
        The attributes, each with the name of its column.
    """
    if not folder.is_local:
        return {}
    files = [_FragmentFile(folder, location, file.name) for file in folder.files(location)]
    identities = {name: attribute.identity for attribute, name in columns}
    sampled = sample_parquet(files, {name: attribute.type for attribute, name in columns})
    return {identities[name]: encode_sample(keys) for name, keys in sampled.items()}
