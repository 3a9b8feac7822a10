"""Files of a table, written anew without changing rows, after the former files are gone.

The log of a table states that some files hold exactly the rows of former files (`provenn.archive.log_evidence`). The
base catalog of the new files then names the former rows, so the base catalog has the sources and the attributes of the
former files. Fragments, counts and observations of the former files hold for the new base catalog unchanged.

This is sound for these reasons:

- Stored results were computed from former files known to the archive by fingerprints of their content, taken while the
  files existed. The log links names of files to names of files, and a table never writes a name twice. If a former file
  still exists with another content, the log is not believed.
- A row has the same key in both files, and so is the same source; and the same value in each column. The attributes are
  the same only if all former files have the same definition of attributes, and the new files the same columns and
  types: otherwise the former definition behind the value of a row is unknown.
- No base catalog with the same attributes shares a key with the former files, so none shares a key with the new files.

The word of the log is checked where checking is cheap: the number of rows, by the footers of the files, and that the
keys of the new files are unique and are in no other file of the version.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from provenn.archive.context import Context
from provenn.catalogs import Base, Files
from provenn.catalogs.former_rows import FormerRows
from provenn.database.transactions import Reading
from provenn.definitions.base_locations import find_base_locations
from provenn.digests import CatalogDigest
from provenn.files.snapshots import FileRewrite

__all__ = ["RewrittenFiles", "define_rewritten"]

_MOST_LABELS = 1_000
"""The most files that may be named one by one, of base catalogs with other files that are still there."""


@dataclass(frozen=True, slots=True)
class RewrittenFiles:
    """The base catalogs of rewritten files, and why further rewritten files have attributes of their own.

    Parameters
    ----------
    bases
        The base catalogs.
    doubts
        The reasons, a clause each.
    is_log_wrong
        Whether the files contradict the log.
    """

    bases: tuple[Base, ...] = ()
    doubts: tuple[str, ...] = ()
    is_log_wrong: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The names of the files of the base catalogs."""
        return frozenset(name for base in self.bases for name, _ in base.files.fingerprints)


@dataclass(frozen=True, slots=True)
class _Doubt:
    """Why files have attributes of their own, and whether the files contradict the log."""

    reason: str
    is_log_wrong: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """New files with the rows of former files with a single definition of attributes."""

    origin: CatalogDigest
    names: frozenset[str]
    former: Mapping[Base, tuple[str, ...]]


def define_rewritten(
    context: Context,
    rewrites: Iterable[FileRewrite],
    earlier: Sequence[Base],
    new: Collection[str],
    inspect: Callable[[frozenset[str]], Files],
) -> RewrittenFiles:
    """Return the base catalogs of files with the rows of former files, by the log of their table.

    Parameters
    ----------
    context
        The archive.
    rewrites
        The former files that are gone, each with the new files that have their rows.
    earlier
        The base catalogs of the earlier version with files at the place of the table.
    new
        The names of the files that no earlier base catalog has.
    inspect
        Returns the files with some names.
    """
    groups: list[_Group] = []
    doubts: list[_Doubt] = []
    for rewrite in rewrites:
        is_new = rewrite.added <= frozenset(new)
        group = _find_former(rewrite, earlier) if is_new else _Doubt("some of the new files were known before")
        if isinstance(group, _Group):
            groups.append(group)
        else:
            doubts.append(group)
    bases: list[Base] = []
    for _, same in groupby(sorted(groups, key=lambda group: group.origin), key=lambda group: group.origin):
        base = _define_base(context, list(same), inspect)
        if isinstance(base, Base):
            bases.append(base)
        else:
            doubts.append(base)
    reasons = tuple(dict.fromkeys(doubt.reason for doubt in doubts))
    return RewrittenFiles(tuple(bases), reasons, any(doubt.is_log_wrong for doubt in doubts))


def _find_former(rewrite: FileRewrite, earlier: Sequence[Base]) -> _Group | _Doubt:
    """Return the base catalogs of former files, with the fingerprints of the files; or why the definitions differ."""
    former = {
        base: tuple(text for name, text in base.files.fingerprints if name in rewrite.removed)
        for base in earlier
        if any(name in rewrite.removed for name, _ in base.files.fingerprints)
    }
    first = next(iter(former))
    if any(base.files.is_old or base.files.caveat is not None for base in former):
        return _Doubt("the former files are not known by their content")
    if any(base.origin != first.origin for base in former):
        return _Doubt("files with different definitions of their attributes were written into one")
    if not all(base.fits_columns(first) for base in former):
        return _Doubt("files with different columns were written into one")
    return _Group(first.origin, rewrite.added, former)


def _define_base(
    context: Context, groups: Sequence[_Group], inspect: Callable[[frozenset[str]], Files]
) -> Base | _Doubt:
    """Return the base catalog of the new files of some groups with a single definition of attributes; or why not."""
    former: dict[Base, list[str]] = {}
    for group in groups:
        for base, texts in group.former.items():
            former.setdefault(base, []).extend(texts)
    rows = _list_rows(former)
    if sum(piece.label_count for piece in rows) > _MOST_LABELS:
        return _Doubt("too many files of one ingestion were written anew without the others")
    files = inspect(frozenset().union(*(group.names for group in groups)))
    model = next(iter(former))
    base = Base.of(files, key=model.key, population=model.population)
    if files.caveat is not None or not base.fits_columns(model):
        return _Doubt("the new files have other columns")
    stated = context.read(_count_rows, former)
    if stated is not None and files.row_count is not None and stated != files.row_count:
        reason = f"the log is wrong: {files.row_count:,} rows are said to be the same as {stated:,} rows"
        return _Doubt(reason, is_log_wrong=True)
    return base.rewrite(groups[0].origin, rows)


def _list_rows(former: Mapping[Base, Sequence[str]]) -> list[FormerRows]:
    """Return the rows of some files of base catalogs."""
    rows: list[FormerRows] = []
    for base, texts in former.items():
        rows += base.list_former_rows(None if len(texts) == len(base.files.fingerprints) else texts)
    return rows


def _count_rows(reading: Reading, former: Mapping[Base, Sequence[str]]) -> int | None:
    """Return how many rows former files had by their footers; None if only some files of a base catalog are meant."""
    if any(len(texts) < len(base.files.fingerprints) for base, texts in former.items()):
        return None
    recorded = find_base_locations(reading, [base.digest for base in former])
    counts = [
        base.files.row_count if base.digest not in recorded else recorded[base.digest].row_count for base in former
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
