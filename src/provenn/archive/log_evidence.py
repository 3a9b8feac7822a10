"""What the log of a table says of a new version: whether its files are former files, only written anew.

A compaction writes the rows of some files into others. The log of the table states that no row changed, and provenn
takes its word: the former files, while they are there, stand for the new ones, so that nothing that was computed of
them is computed again. Once they are gone (VACUUM), the new files are read, and their values are computed again,
because an attribute belongs to the files that it was read from. What remains is a fact about the sources of both
versions.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from provenn.digests import CatalogDigest
from provenn.files.snapshots import TableSnapshot, find_shared_files
from provenn.files.table_logs import read_rewrites
from provenn.logic import Statement, equal, subset

__all__ = ["NO_EVIDENCE", "LogEvidence", "find_log_evidence"]


@dataclass(frozen=True, slots=True)
class LogEvidence:
    """What the log of a table says of a new version.

    Parameters
    ----------
    names
        The names of files that have exactly the rows of the new version.
    table
        The kind of table and the version; empty without a table.
    rewrites
        The versions of the table that only rewrote files which the earlier version has, in descending order.
    is_gone
        Whether some of the former files are gone or changed, so that they cannot stand for the new ones.
    relation
        The relation of the sources of the earlier version to those of the new one that follows; empty if none does.
    """

    names: frozenset[str] = frozenset()
    table: str = ""
    rewrites: tuple[int, ...] = ()
    is_gone: bool = False
    relation: Literal["", "equal", "subset", "superset"] = ""

    @property
    def reason(self) -> str:
        """The word of the log, as the reason of a fact."""
        kind = self.table.partition(" ")[0]
        return f"the log of the {kind} table says so: {self._name_versions()} rewrote files without changing rows"

    def _name_versions(self) -> str:
        return f"version{'s' * (len(self.rewrites) > 1)} {', '.join(map(str, sorted(self.rewrites)))}"

    def state_relation(self, earlier: CatalogDigest, new: CatalogDigest) -> Statement | None:
        """Return what the log says of the sources of two versions; None if it says nothing that their files do not say.

        Sound as far as the log is true: both versions have the rows of the same files before these were rewritten,
        or one of them has more files.
        """
        if not self.is_gone or earlier == new:
            return None
        match self.relation:
            case "equal":
                return equal(earlier, new)
            case "subset":
                return subset(earlier, new)
            case "superset":
                return subset(new, earlier)
            case _:
                return None

    def describe(self) -> str:
        """Return in words that files were only rewritten, and whether values are computed again; empty if none was."""
        if not self.rewrites:
            return ""
        consequence = "; the former files are gone, so that values are computed again" if self.is_gone else ""
        return f"by the log of the table, {self._name_versions()} rewrote files without changing rows{consequence}"


NO_EVIDENCE = LogEvidence()
"""The evidence for files without a log."""


def find_log_evidence(
    snapshot: TableSnapshot, earlier: Collection[str], *, is_whole: bool, since: int = 0
) -> LogEvidence:
    """Return what the log of a table says of a version, given the names of the files of an earlier version.

    Parameters
    ----------
    snapshot
        The new version.
    earlier
        The names of the files of the earlier version in the folder of the table.
    is_whole
        Whether these are all files of the earlier version.
    since
        A version of the table that had some of these files: only later versions can have rewritten any of them.
    """
    known = frozenset(earlier)
    rewrites = [] if known <= snapshot.names else read_rewrites(snapshot, since)
    stated = find_shared_files(snapshot.names, rewrites, known)
    if not stated.rewrites:
        return LogEvidence(snapshot.names, str(snapshot))
    gone = {name for name in stated.names - snapshot.names if not Path(snapshot.folder, name).is_file()}
    shared = find_shared_files(snapshot.names, rewrites, known - gone) if gone else stated
    relation: Literal["", "equal", "subset", "superset"] = ""
    if is_whole and known <= stated.names:
        relation = "equal" if known == stated.names else "subset"
    elif is_whole and stated.names <= known:
        relation = "superset"
    return LogEvidence(shared.names, str(snapshot), stated.rewrites, bool(gone), relation)
