"""Columns of new files, compared with the columns of the version before."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.catalogs import Base, Catalog
from provenn.errors import BaseFilesError
from provenn.files.file_set import GIVEN

__all__ = ["check_new_columns"]


def check_new_columns(earlier: Catalog, kept: Sequence[Base], added: Base) -> None:
    """Ensure that new files have all columns of a version, with the same types; more columns are allowed.

    Parameters
    ----------
    earlier
        The version before.
    kept
        The base catalogs of the files that both versions have.
    added
        The base catalog of the new files.

    Raises
    ------
    BaseFilesError
        If a column has another type in the new files, or is missing there. The error names the column and both files.
    """
    for attribute in earlier.schema.attributes:
        # Files that are gone do not matter, nor do columns that older files lack, which are NULL there.
        holder = next((base for base in reversed(kept) if base.schema.matching(attribute.name)), None)
        if holder is None or attribute.name in added.key:
            continue
        former = holder.schema.matching(attribute.name)[0]
        matches = added.schema.matching(attribute.name)
        if not matches:
            raise BaseFilesError(
                f"the column {attribute.name}, a {former.type} in {_name_files(holder)}, "
                f"is missing in {_name_files(added)}",
                hint="write the new files with it, NULL where it has no value, or ingest them under a new name",
            )
        if len(matches) == 1 and matches[0].type != former.type:
            raise BaseFilesError(
                f"the column {attribute.name} was a {former.type} in {_name_files(holder)}, "
                f"and is a {matches[0].type} in {_name_files(added)}",
                hint="write the new files with the former type, or ingest them under a new name",
            )


def _name_files(base: Base) -> str:
    """Return the first file of a base catalog, and the number of further files; all files have the same columns."""
    if base.files.format == GIVEN:
        return "the table from memory"
    names = [name for name, _ in base.files.fingerprints]
    others = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    return f"{names[0] if names else base.files.location}{others}"
