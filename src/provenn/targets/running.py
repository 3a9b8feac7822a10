"""Answering: a plan is run, what was costly is kept, and what was seen becomes knowledge.

What is kept is written first and read again: it is computed once, whatever becomes of it. So a plan whose result is to
be kept is carried out by storing the missing parts, and planning again; nothing is left to calculate then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provenn.catalogs import Catalog, ExcludeSources, cone
from provenn.errors import ArchiveBusyError, ContradictionError
from provenn.logic import empty, equal, nonempty
from provenn.store import catalog_store, counts, fragments, verifications
from provenn.store.database import Database, Writing
from provenn.store.observations import observe
from provenn.targets.execution import executed
from provenn.targets.known import known_of
from provenn.targets.plan import Plan
from provenn.targets.planning import without_fragments
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Concat, Scan, Step, Stored, walk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from provenn.spark.pipeline import Pipeline, Prepared

__all__ = ["Keep", "Part", "Replan", "answered", "learned", "parts_kept", "prepared"]

Keep = Literal["always", "worthwhile", "never"]
"""Which results are kept: all; those for which a calculator in Python was called; none."""

Replan = Callable[[], Plan]
"""Plans once more, with what is stored now."""


def prepared(pipeline: Pipeline, plan: Plan) -> tuple[Plan, Prepared]:
    """Return a plan all of whose fragments are sound, and its data, ready to be computed."""
    plan = _sound(pipeline, plan)
    return plan, _data(pipeline, plan)


def _data(pipeline: Pipeline, plan: Plan) -> Prepared:
    from provenn.spark.pipeline import Prepared  # noqa: PLC0415 - planning does without Spark
    from provenn.spark.rows import named  # noqa: PLC0415

    frame = named(_frame(pipeline, plan, plan.after), [(one.identity, one) for one in plan.columns])
    return Prepared(frame, plan.schema, plan.what, plan.bases, plan.fragments, plan.most)


def _sound(pipeline: Pipeline, plan: Plan) -> Plan:
    """Return a plan whose fragments are there, and whose base catalogs have keys that identify sources."""
    from provenn.spark.fragments import usable  # noqa: PLC0415 - see above

    while True:
        sound = usable(pipeline.database, pipeline.folder, plan.fragments)
        if len(sound) == len(plan.fragments):
            break
        plan = without_fragments(plan, {one.id for one in plan.fragments} - {one.id for one in sound})
    pipeline.verify(plan.bases)
    return plan


def answered(pipeline: Pipeline, plan: Plan, replan: Replan, keep: Keep) -> tuple[Plan, Prepared]:
    """Return a plan and its data; what is to be kept is stored before, and read from there.

    Parameters
    ----------
    pipeline
        Where it runs.
    plan
        The plan.
    replan
        Makes another one.
    keep
        What to keep.
    """
    plan = _sound(pipeline, plan)
    kept = [] if pipeline.database.read_only else parts_kept(plan, keep)
    for part in kept:
        _store(pipeline, plan, part)
    if plan.fragments and not pipeline.database.read_only:
        with suppress(ArchiveBusyError), pipeline.database.writing() as writing:
            fragments.used(writing, [one.id for one in plan.fragments])
    return prepared(pipeline, replan()) if kept else (plan, _data(pipeline, plan))


@dataclass(frozen=True, slots=True)
class Part:
    """A step whose result is kept, and the catalog whose sources it gives."""

    step: Step
    catalog: Catalog


def parts_kept(plan: Plan, keep: Keep) -> list[Part]:
    """Return what is to be kept: of a result that is partly stored, only the rest."""
    if keep == "never" or plan.catalog is None or plan.empty or isinstance(plan.after, Stored):
        return []
    if keep == "worthwhile" and not plan.calculations:
        return []
    if not isinstance(plan.after, Concat):
        return [Part(plan.after, plan.catalog)]
    rest = plan.catalog
    for one in plan.fragments:
        rest = ExcludeSources(rest, next(each.catalog for each in plan.scene.fragments if each.fragment.id == one.id))
    costly = [one for one in plan.after.members if _calculates(one)]
    if len(costly) == 1 and costly[0].extent == rest.extent:
        return [Part(costly[0], rest)]
    return [Part(plan.after, plan.catalog)]


def _calculates(step: Step) -> bool:
    return any(isinstance(one, Calculate) for one in walk(step))


def _store(pipeline: Pipeline, plan: Plan, part: Part) -> None:
    from provenn.spark.fragments import store_fragment  # noqa: PLC0415 - see above
    from provenn.spark.rows import named  # noqa: PLC0415

    schema = part.catalog.schema
    held = [(one.identity, one) for one in schema.attributes if one.identity in part.step.attributes]
    frame = named(_frame(pipeline, plan, part.step), held)
    with fragments.pinned(pipeline.database, [one.id for one in plan.fragments]):
        stored = store_fragment(
            pipeline.engine,
            pipeline.database,
            pipeline.folder,
            part.catalog,
            frame,
            identities=[identity for identity, _ in held],
            facts=_facts(plan),
            listener=pipeline.listener,
        )
    learned(pipeline.database, part.catalog, stored.rows)


def _facts(plan: Plan) -> list[int]:
    """Return the numbers of the declared and observed facts on which a plan leans."""
    known = plan.scene.known
    if not any(origin.fact for origin in known.origins):
        return []
    found = set()
    for said in {str(said): said for one in plan.applied for said in one.said}.values():
        explanation = known.knowledge.explain(said)
        if explanation is not None:
            found |= {known.origin(fact).fact for fact in explanation.facts}
    return sorted(number for number in found if number)


def _frame(pipeline: Pipeline, plan: Plan, step: Step) -> DataFrame:
    from provenn.spark.columns import picked  # noqa: PLC0415 - see above
    from provenn.spark.failures import told  # noqa: PLC0415
    from provenn.spark.fragments import read_fragment  # noqa: PLC0415

    def read(one: Scan | Stored, identities: Sequence[str]) -> DataFrame:
        if isinstance(one, Scan):
            return picked(pipeline.read(one.base), [(one.attributes[each].name, each) for each in identities])
        columns = dict(one.fragment.columns)
        frame = read_fragment(pipeline.engine, pipeline.folder, one.fragment)
        return picked(frame, [(columns[each], each) for each in identities])

    with told(f"preparing {plan.what}"):
        return executed(step, plan.needed, plan.scene, pipeline.engine.session, read)


def learned(database: Database, catalog: Catalog, rows: int) -> None:
    """Take note of how many sources a catalog has, and of what follows: it is empty or not, or equal to another one.

    A catalog that lies inside another one and has as many sources is equal to it. Keys are unique, as was verified.
    """
    if database.read_only:
        return
    # What is seen of a set is told of the first catalog that was defined by it: others only add attributes.
    catalog = next(one for one in cone(catalog) if one.extent == catalog.extent)
    with suppress(ArchiveBusyError), database.writing() as writing:
        if counts.known(writing, [catalog.digest]):
            return
        catalog_store.add(writing, catalog)
        counts.record(writing, catalog.digest, rows)
        with suppress(ContradictionError):  # what data show is told where it is used; a count is no reason to fail
            observe(writing, nonempty(catalog.digest) if rows else empty(catalog.digest), f"{rows:,} sources counted")
            _equal_by_count(writing, catalog, rows)


def _equal_by_count(writing: Writing, catalog: Catalog, rows: int) -> None:
    if not rows:
        return
    below = [one for one in cone(catalog) if one.extent != catalog.extent]
    digests = [one.digest for one in below]
    known = counts.known(writing, digests) | verifications.verified(writing, digests)
    alike = [one for one in below if known.get(one.digest) == rows]
    if not alike:
        return
    scene = Scene(known_of(writing, catalog), (catalog, *alike))
    for one in alike:
        if scene.holds(scene.same(catalog.extent, one.extent)):
            continue
        if scene.lies_in(catalog.extent, one.extent) or scene.lies_in(one.extent, catalog.extent):
            reason = f"one lies in the other, and both have {rows:,} sources"
            observe(writing, equal(catalog.digest, one.digest), reason)
