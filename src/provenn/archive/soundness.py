"""Whether an archive is sound; and computing anew what is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.errors import ProvennError
from provenn.store import catalog_store
from provenn.store.checks import Problem, Progress, no_progress
from provenn.store.database import Database
from provenn.store.soundness import mend, problems

if TYPE_CHECKING:
    from provenn.archive.archive import Archive
    from provenn.archive.workshop import Workshop

__all__ = ["Soundness", "checked"]


@dataclass(frozen=True, slots=True)
class Soundness:
    """What was found in an archive.

    Parameters
    ----------
    problems
        What is wrong, now.
    mended
        What was wrong and is mended.
    catalogs
        How many catalogs there are.
    deep
        Whether every byte was read.
    failed
        What could not be computed anew, and why.
    """

    problems: tuple[Problem, ...]
    mended: tuple[Problem, ...] = ()
    catalogs: int = 0
    deep: bool = False
    failed: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged. Leftovers only take space, and remarks concern what is not in the archive."""
        return not self.failed and all(one.state != "damage" for one in self.problems)

    def __str__(self) -> str:
        told = [f"{one.state}: {one}" for one in self.problems]
        told += [f"mended: {one}" for one in self.mended] + [f"not mended: {one}" for one in self.failed]
        return "\n".join([*told, "the archive is sound" if self.sound else "the archive is damaged"])


def checked(
    archive: Archive,
    database: Database,
    workshop: Workshop,
    *,
    deep: bool = False,
    repair: bool = False,
    told: Progress | None = None,
) -> Soundness:
    """Go through an archive, as `Archive.check` says."""
    folder = workshop.folder_if_known
    told = told or no_progress
    found = tuple(problems(database, folder, deep=deep, told=told))
    failed: list[str] = []
    mended: tuple[Problem, ...] = ()
    if repair and any(one.state != "remark" for one in found):
        mend(database, folder, found)
        for one in found:
            if one.stored is not None:
                told(f"computing {one.where}", 0, 0)
                failed += _computed(archive, database, one)
        left = tuple(problems(database, folder, deep=deep, told=told))
        known = set(left)
        mended, found = tuple(one for one in found if one not in known), left
    with database.reading() as reading:
        number = catalog_store.count(reading)
    return Soundness(found, mended, number, deep, tuple(failed))


def _computed(archive: Archive, database: Database, one: Problem) -> list[str]:
    """Compute a fragment anew; return why that failed, if it did. What is not computed now is when it is needed."""
    if one.stored is None:
        return []
    digest, identities = one.stored
    try:
        with database.reading() as reading:
            catalog = catalog_store.get(reading, digest)
        archive.store(
            digest, attributes=[each.name for each in catalog.schema.attributes if each.identity in identities]
        )
    except ProvennError as error:
        return [f"{one.where}: {error.message}"]
    return []
