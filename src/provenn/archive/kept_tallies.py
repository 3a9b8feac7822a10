"""Tallies of catalogs for pages and pictures: recalled if they were kept, otherwise made and kept.

A kept tally is right for ever, because definitions and base files do not change. Two conditions keep it so: a tally is
recalled only after a check that the base files are unchanged, and it is kept only if the plan that read the data rested
on no declared or observed fact. If the check fails, the question is asked anew, so that the answer does not depend on
what was kept: a catalog that is proved empty has no rows, whatever became of its files.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from provenn.archive.context import Context
from provenn.catalogs import Base, Catalog, cone, list_bases
from provenn.catalogs.roots import check_roots
from provenn.data.tallies import find_tally, keep_tally
from provenn.database.transactions import Writing
from provenn.errors import BaseFilesError
from provenn.files.file_set import EXTERNAL, TABLE

if TYPE_CHECKING:
    from provenn.words.described_plan import DescribedPlan

__all__ = ["keep_made_tally", "plan_columns", "recall_tally"]

_MOST_PENDING: Final = 1_000
_PENDING: Final[dict[tuple[str, str, str], Any]] = {}
"""Tallies of this process that are written later, by the place of the database, catalog and subject."""


def recall_tally(context: Context, catalog: Catalog, subject: str) -> Any | None:  # noqa: ANN401 - JSON
    """Return the kept tally of a catalog; None without one, or if its base files are not what they were."""
    tally = context.read(find_tally, catalog.digest, subject)
    if tally is None:
        tally = _PENDING.get((context.database.place, catalog.digest, subject))
    if tally is None:
        return None
    bases = list_bases(cone(catalog))
    if any(base.files.format in (EXTERNAL, TABLE) for base in bases):  # only Spark could check them
        return None
    try:
        _check_bases(context, bases)
    except BaseFilesError:
        return None
    return tally


def _check_bases(context: Context, bases: list[Base]) -> None:
    """Check that the files of base catalogs are permitted and unchanged."""
    check_roots(tuple(bases), context.workshop.roots)
    context.workshop.check_bases(bases)


def keep_made_tally(context: Context, catalog: Catalog, subject: str, tally: Any, plan: DescribedPlan) -> None:  # noqa: ANN401 - JSON
    """Keep a tally of a catalog, unless the plan that read its data rests on facts, or the archive is busy."""
    from provenn.targets.leaning import find_supporting_facts  # noqa: PLC0415 - see below

    if find_supporting_facts(plan) or context.database.read_only:
        return
    key = context.database.place, catalog.digest, subject

    def keep(writing: Writing) -> None:
        keep_tally(writing, catalog.digest, subject, tally)
        _PENDING.pop(key, None)  # if the transaction fails, the tally is made again

    if context.later is None:
        context.database.note(keep)
    elif len(_PENDING) < _MOST_PENDING:
        _PENDING[key] = json.loads(json.dumps(tally))  # as the archive gives it back
        context.later(context.database, keep)


def plan_columns(
    context: Context, catalog: Catalog, name: str, attributes: tuple[str, ...]
) -> Callable[[], DescribedPlan]:
    """Return a function that plans some attributes of a catalog for the present state of the archive."""
    from provenn.archive.plans import attach_names  # noqa: PLC0415 - most commands plan nothing
    from provenn.catalogs import verbs  # noqa: PLC0415
    from provenn.targets.plan_memory import PlanMemory  # noqa: PLC0415
    from provenn.targets.planning import plan_catalog  # noqa: PLC0415

    database, memory = context.database, PlanMemory["DescribedPlan"]()
    kept = catalog if attributes == catalog.schema.names else verbs.keep(catalog, attributes)

    def replan() -> DescribedPlan:
        return memory.recall(
            database,
            lambda reading: attach_names(plan_catalog(reading, kept, name), database, "never", {kept.digest: name}),
        )

    return replan
