"""The evidence of a table's log about a new version: whether the files are former files, only written anew.

A compaction writes the rows of some files into new files. The log of the table states that no row changed, and provenn
trusts the log: the former files, while present, stand for the new files. Once the former files are gone (VACUUM), the
new files are read as the former rows (`provenn.archive.rewritten_files`). Either way nothing computed of the former
files is computed again. Where the log is silent about this, the module says why.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from provenn.digests import CatalogDigest
from provenn.files.snapshots import FileRewrite, LoggedRewrites, TableSnapshot, find_shared_files
from provenn.files.table_logs import read_rewrites
from provenn.logic import Statement, equal, subset

__all__ = ["NO_EVIDENCE", "LogEvidence", "find_log_evidence"]


@dataclass(frozen=True, slots=True)
class LogEvidence:
    """The evidence of a table's log about a new version.

    Parameters
    ----------
    names
        The names of files that have exactly the rows of the new version.
    table
        The kind of table and the version; empty without a table.
    rewrites
        The versions of the table that only rewrote files which the earlier version has, in descending order.
    replaced
        The files of the earlier version that are gone, each with the files of the new version that have their rows.
    relation
        The relation of the sources of the earlier version to those of the new one that follows; empty if none does.
    doubts
        Why values of files that may only have been written anew are computed again, a clause each.
    """

    names: frozenset[str] = frozenset()
    table: str = ""
    rewrites: tuple[int, ...] = ()
    replaced: tuple[FileRewrite, ...] = ()
    relation: Literal["", "equal", "subset", "superset"] = ""
    doubts: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """The word of the log, as the reason of a fact."""
        kind = self.table.partition(" ")[0]
        return (
            f"the log of the {kind} table says so: {_name_versions(self.rewrites)} rewrote files without changing rows"
        )

    def doubt(self, *reasons: str) -> LogEvidence:
        """Return the evidence with further reasons why values are computed again."""
        return replace(self, doubts=tuple(dict.fromkeys((*self.doubts, *reasons))))

    def distrust_former_files(self, names: frozenset[str]) -> LogEvidence:
        """Return the evidence after former files turned out to be changed: nothing about their replacements.

        The same rows, according to the log, may then be rows never read by this archive.
        """
        evidence = replace(self, names=names, rewrites=(), replaced=(), relation="")
        return evidence.doubt("former files changed after they were ingested")

    def state_relation(self, earlier: CatalogDigest, new: CatalogDigest) -> Statement | None:
        """Return the log's statement about the sources of two versions; None if definitions say as much.

        Sound as far as the log is true: both versions have the rows of the same files before the rewriting, or one
        version has more files.
        """
        if not self.replaced or not self.doubts or earlier == new:
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
        """Return in words that files were only rewritten, and why values are computed again; else an empty text."""
        clauses = []
        if self.rewrites:
            versions = _name_versions(self.rewrites)
            clauses.append(f"by the log of the table, {versions} rewrote files without changing rows")
        if self.replaced and not self.doubts:
            clauses.append("the former files are gone, and the new files are read in their place")
        if self.doubts:
            clauses.append(f"values of new files are computed again: {', and '.join(self.doubts)}")
        return "; ".join(clauses)


NO_EVIDENCE = LogEvidence()
"""The evidence for files without a log."""


def _name_versions(versions: Collection[int]) -> str:
    return f"version{'s' * (len(versions) > 1)} {', '.join(map(str, sorted(versions)))}"


def find_log_evidence(
    snapshot: TableSnapshot, earlier: Collection[str], *, is_whole: bool, seen: Collection[int] = ()
) -> LogEvidence:
    """Return the evidence of a table's log about a version, given the names of the files of an earlier version.

    Parameters
    ----------
    snapshot
        The new version.
    earlier
        The names of the files of the earlier version in the folder of the table.
    is_whole
        Whether these are all files of the earlier version.
    seen
        The versions of the table in which these files were first seen: only later versions can have rewritten them.
    """
    known = frozenset(earlier)
    logged = LoggedRewrites() if known <= snapshot.names else read_rewrites(snapshot, seen)
    stated = find_shared_files(snapshot.names, logged.rewrites, known)
    evidence = LogEvidence(snapshot.names, str(snapshot), doubts=_find_doubts(logged, known - stated.names))
    if not stated.rewrites:
        return evidence
    gone = {name for name in stated.names - snapshot.names if not Path(snapshot.folder, name).is_file()}
    shared = find_shared_files(snapshot.names, logged.rewrites, known - gone) if gone else stated
    relation: Literal["", "equal", "subset", "superset"] = ""
    if is_whole and known <= stated.names:
        relation = "equal" if known == stated.names else "subset"
    elif is_whole and stated.names <= known:
        relation = "superset"
    return replace(
        evidence,
        names=shared.names,
        rewrites=stated.rewrites,
        replaced=tuple(rewrite for rewrite in stated.replaced if rewrite.added <= shared.names),
        relation=relation,
    )


def _find_doubts(logged: LoggedRewrites, missing: frozenset[str]) -> tuple[str, ...]:
    """Return why the log does not say where the rows of some files, no longer in the table, went.

    Files whose rows changed, by the log, leave no doubt.
    """
    mixed = sorted(rewrite.version for rewrite in logged.rewrites if rewrite.removed & missing)
    doubts = []
    if missing and not logged.is_complete:
        doubts.append("the log of the table no longer keeps all versions since these files were read")
    if mixed:
        doubts.append(
            f"{_name_versions(mixed)} rewrote files together with others, whose rows this archive has not read"
        )
    return tuple(doubts)
