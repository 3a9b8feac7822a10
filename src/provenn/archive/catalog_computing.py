"""Plans, counts and stored attributes of whole catalogs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from provenn.archive.context import Context
from provenn.archive.notices import make_rest_notices
from provenn.archive.stored_fragments import Stored, store_attributes
from provenn.catalogs import Catalog, verbs
from provenn.database.transactions import Database, Reading

if TYPE_CHECKING:
    from provenn.targets.engine_choice import EngineChoice
    from provenn.targets.keeping import Keep
    from provenn.targets.plan import Plan
    from provenn.words.described_plan import DescribedPlan

__all__ = ["count_sources", "plan_attributes", "store_catalog"]


def plan_attributes(reading: Reading, database: Database, catalog: Catalog, name: str, keep: Keep) -> DescribedPlan:
    """Return the plan for all attributes of a catalog, with the names of the user; `name` is for messages."""
    from provenn.archive.plans import attach_names  # noqa: PLC0415 - most commands plan nothing
    from provenn.targets.planning import plan_catalog  # noqa: PLC0415 - see above

    return attach_names(plan_catalog(reading, catalog, name), database, keep, {})


def count_sources(context: Context, catalog: Catalog, name: str, *, check: bool, engine: EngineChoice) -> int:
    """Return the number of sources of a catalog, planning only the key; see `Data.to_arrow` for the options."""
    from provenn.archive.plans import attach_names  # noqa: PLC0415 - see above

    def plan() -> DescribedPlan:
        keys = _plan(context, verbs.keep(catalog, ()), name)
        return attach_names(keys, context.database, "never", {catalog.digest: name})

    return context.workshop.count(plan, check=check, engine=engine)


def store_catalog(context: Context, catalog: Catalog, name: str, attributes: Sequence[str] | None = None) -> Stored:
    """Compute attributes of a catalog's sources, by default all, and keep them; see `Archive.store`."""
    from provenn.targets.recovering import compute_despite_damage  # noqa: PLC0415 - see above

    workshop = context.workshop
    plan = partial(_plan, context, name=name)
    compute = partial(store_attributes, workshop.pipeline(), catalog, plan, attributes)
    stored = compute_despite_damage(context.database, workshop.folder, compute)
    workshop.notices.tell(make_rest_notices(f"fragment #{stored.fragment.id} of {name}", stored.rests_on))
    return stored


def _plan(context: Context, catalog: Catalog, name: str) -> Plan:
    """Return the plan of a catalog; `name` is for messages."""
    from provenn.targets.planning import plan_catalog  # noqa: PLC0415 - see above

    return context.read(plan_catalog, catalog, name)
