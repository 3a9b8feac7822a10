"""A new version of a base catalog: the base catalogs of the files, and the combined catalog."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn.archive.column_changes import check_new_columns
from provenn.archive.log_evidence import NO_EVIDENCE, LogEvidence
from provenn.archive.shared_files import describe_place
from provenn.catalogs import (
    Base,
    Catalog,
    SqlCalculator,
    list_joined_bases,
    list_version_bases,
    verbs,
)

__all__ = ["NewVersion"]


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A new version of a base catalog, as far as the files tell.

    Parameters
    ----------
    earlier
        The version before.
    kept
        The base catalogs of the files that both versions have.
    added
        The base catalog of the new files; None if there are none.
    came, went
        How many files the new version has that the earlier one lacks, and the reverse.
    log
        For a table with a log: what the log says of the new version.
    rewritten
        The base catalogs of new files that hold rows of the earlier version, whose files are gone.
    """

    earlier: Catalog
    kept: tuple[Base, ...]
    added: Base | None
    came: int
    went: int
    log: LogEvidence = NO_EVIDENCE
    rewritten: tuple[Base, ...] = ()

    @property
    def only_grew(self) -> bool:
        """Whether the new version has all files of the earlier version, or all rows by the log of the table."""
        return not self.went or self.log.relation in ("equal", "subset")

    @property
    def is_same(self) -> bool:
        """Whether both versions have the same files."""
        return not self.came and not self.went

    def define(self) -> Catalog:
        """Return the catalog of the new version.

        The columns come from the newest files. Older files give NULL for missing columns.

        Raises
        ------
        BaseFilesError
            If a column changed its type, or is missing in the new files.
        """
        if self.is_same:  # a base catalog that is the same may have a new location
            return self.kept[0] if len(self.kept) == 1 and self.kept[0] == self.earlier else self.earlier
        if self.added is not None:
            check_new_columns(self.earlier, (*self.kept, *self.rewritten), self.added)
        bases = list(self.members)
        members = _join_bases(bases if self.added is None else [*bases, self.added])
        catalogs = [_add_absent_columns(member, members[-1]) for member in members]
        return catalogs[0] if len(catalogs) == 1 else verbs.concat(*catalogs, overlap="files")

    @property
    def members(self) -> tuple[Base, ...]:
        """The base catalogs of all files but the new ones, joined as in the earlier version if none is gone."""
        if self.went or self.moved:
            return *self.kept, *self.rewritten
        return list_joined_bases(self.earlier) or ()

    def list_comparisons(self) -> list[tuple[Base, tuple[Base, ...]]]:
        """Return the base catalogs of new files, each with the base catalogs to compare keys with."""
        pairs = [(base, (*self.kept, *self.rewritten[:place])) for place, base in enumerate(self.rewritten)]
        return pairs if self.added is None else [*pairs, (self.added, self.members)]

    @property
    def moved(self) -> tuple[Base, ...]:
        """The base catalogs with files at a new known place, or among new files, and new parts of base catalogs."""
        earlier = {base.digest: describe_place(base) for base in list_version_bases(self.earlier) or ()}
        return tuple(base for base in self.kept if describe_place(base) != earlier.get(base.digest))


def _join_bases(bases: Sequence[Base]) -> list[Base]:
    """Return base catalogs, joined where possible; the last stays the last, or becomes a part of the last."""
    joined: list[Base] = []
    for base in bases:
        place = next((place for place, other in enumerate(joined) if other.can_join(base)), None)
        joined.append(base if place is None else joined.pop(place).join(base))
    return joined


def _add_absent_columns(member: Base, newest: Base) -> Catalog:
    """Return a member of a version with the columns of the newest files: NULL for missing columns."""
    absent: dict[str, str] = {}
    for attribute in newest.schema.attributes:
        matches = member.schema.matching(attribute.name)
        if not matches and attribute.name not in newest.key:
            absent[attribute.name] = f"CAST(NULL AS {attribute.type})"
    return verbs.derive(member, SqlCalculator.of(absent)) if absent else member
