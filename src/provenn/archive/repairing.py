"""Checking whether an archive is sound, and computing damaged data again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.archive.catalog_computing import store_catalog
from provenn.archive.context import Context
from provenn.archive.references import choose_name
from provenn.definitions import catalog_store
from provenn.errors import ProvennError

if TYPE_CHECKING:
    from provenn.soundness.problems import ArchiveProblem, Progress

__all__ = ["Soundness", "check_soundness"]


@dataclass(frozen=True, slots=True)
class Soundness:
    """The result of checking an archive.

    Parameters
    ----------
    problems
        The current problems.
    mended
        The repaired problems.
    catalogs
        The number of catalogs.
    deep
        Whether every byte was read.
    failed
        The failed attempts to compute data again, with reasons.
    """

    problems: tuple[ArchiveProblem, ...]
    mended: tuple[ArchiveProblem, ...] = ()
    catalogs: int = 0
    deep: bool = False
    failed: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged. Leftovers only take space, and remarks concern things outside the archive."""
        return not self.failed and all(problem.state != "damage" for problem in self.problems)

    def __str__(self) -> str:
        lines = [f"{problem.state}: {problem}" for problem in self.problems]
        lines += [f"mended: {problem}" for problem in self.mended] + [
            f"not repaired: {failure}" for failure in self.failed
        ]
        return "\n".join([*lines, "the archive is sound" if self.sound else "the archive is damaged"])


def check_soundness(
    context: Context,
    *,
    deep: bool = False,
    repair: bool = False,
    audit_head: str | None = None,
    progress: Progress | None = None,
) -> Soundness:
    """Check an archive; see `Archive.check`."""
    from provenn.soundness.checking import find_problems, mend_problems  # noqa: PLC0415 - only checks need them
    from provenn.soundness.problems import no_progress  # noqa: PLC0415 - see above

    database, folder = context.database, context.workshop.folder_if_known
    progress = progress or no_progress
    current_problems = tuple(find_problems(database, folder, deep=deep, audit_head=audit_head, progress=progress))
    failed: list[str] = []
    mended: tuple[ArchiveProblem, ...] = ()
    if repair and any(problem.state != "remark" for problem in current_problems):
        mend_problems(database, folder, current_problems)
        for problem in current_problems:
            if problem.stored is not None:
                progress(f"computing {problem.where}", 0, 0)
                failed += _recompute_fragment(context, problem)
        left = tuple(find_problems(database, folder, deep=deep, audit_head=audit_head, progress=progress))
        left_problems = set(left)
        mended, current_problems = tuple(problem for problem in current_problems if problem not in left_problems), left
    with database.reading() as reading:
        number = catalog_store.count_catalogs(reading)
    return Soundness(current_problems, mended, number, deep, tuple(failed))


def _recompute_fragment(context: Context, problem: ArchiveProblem) -> list[str]:
    """Compute a fragment again; return the reason of a failure. A failed fragment is computed when needed."""
    if problem.stored is None:
        return []
    digest, identities = problem.stored
    try:
        with context.database.reading() as reading:
            catalog = catalog_store.get_catalog(reading, digest)
            name = choose_name(reading, catalog)
        wanted = [attribute.name for attribute in catalog.schema.attributes if attribute.identity in identities]
        store_catalog(context, catalog, name, wanted)
    except ProvennError as error:
        return [f"{problem.where}: {error.message}"]
    return []
