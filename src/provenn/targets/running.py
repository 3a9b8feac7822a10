"""Answering: a plan is run, what was costly is kept, and what was seen becomes knowledge.

What is kept is written first and read again: it is computed once, whatever becomes of it. So a plan whose result is to
be kept is carried out by storing the missing parts, and planning again; nothing is left to calculate then. Of several
runs that want the same part, one computes it, and the others wait for it (`provenn.targets.leasing`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from provenn.catalogs import Base, Catalog, ExcludeSources, cone
from provenn.catalogs.roots import check_roots
from provenn.errors import ArchiveBusyError, ContradictionError
from provenn.logic import Statement, empty, equal, nonempty
from provenn.store import catalog_store, counts, fragments, verifications
from provenn.store.database import Database, Writing
from provenn.store.facts import Fact, any_declared
from provenn.store.fragments import Fragment
from provenn.store.observations import observe
from provenn.targets.doubts import doubted_by_counts
from provenn.targets.execution import executed
from provenn.targets.known import known_of
from provenn.targets.leaning import leaning
from provenn.targets.leasing import Turn
from provenn.targets.plan import Plan
from provenn.targets.planning import without_fragments
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Concat, Scan, Step, Stored, is_key, walk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from provenn.spark.pipeline import Pipeline, Prepared
    from provenn.spark.stopwatch import Stopwatch

__all__ = ["Keep", "Part", "Replan", "answered", "learned", "parts_kept", "prepared", "sound", "store_part"]

Keep = Literal["always", "worthwhile", "never"]
"""Which results are kept: all; those for which a calculator in Python was called; none."""

Replan = Callable[[], Plan]
"""Plans once more, with what is stored now."""


def prepared(pipeline: Pipeline, plan: Plan) -> tuple[Plan, Prepared]:
    """Return a plan all of whose fragments are sound, and its data, ready to be computed."""
    plan = sound(pipeline, plan)
    return plan, _data(pipeline, plan)


def _data(pipeline: Pipeline, plan: Plan) -> Prepared:
    from provenn.spark.pipeline import Prepared  # noqa: PLC0415 - planning does without Spark
    from provenn.spark.rows import named  # noqa: PLC0415

    frame = named(_frame(pipeline, plan, plan.after), [(one.identity, one) for one in plan.columns])
    return Prepared(frame, plan.schema, plan.what, plan.bases, plan.fragments, plan.most)


def sound(pipeline: Pipeline, plan: Plan) -> Plan:
    """Return a plan whose fragments are there, and whose base catalogs have keys that identify sources."""
    from provenn.spark.fragments import usable  # noqa: PLC0415 - see above

    while True:
        found = usable(pipeline.database, pipeline.folder, plan.fragments)
        if len(found) == len(plan.fragments):
            break
        plan = without_fragments(plan, {one.id for one in plan.fragments} - {one.id for one in found})
    pipeline.verify(plan.bases)
    return plan


def answered(pipeline: Pipeline, plan: Plan, replan: Replan, keep: Keep) -> tuple[Plan, Prepared]:
    """Return the plan that was carried out, and its data; what is to be kept is stored before, and read from there.

    What somebody else computes now is waited for; so it may be another plan than was given.

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
    plan = sound(pipeline, plan)
    if pipeline.database.read_only:
        return plan, _data(pipeline, plan)
    turn = Turn(pipeline.database, pipeline.listener)
    stored = None
    while stored is None and (kept := parts_kept(plan, keep)):
        stored = store_part(pipeline, plan, kept[0], turn)
        if stored is None:
            plan = sound(pipeline, replan())
    if plan.fragments:
        with suppress(ArchiveBusyError), pipeline.database.writing() as writing:
            fragments.used(writing, [one.id for one in plan.fragments])
    return plan, _data(pipeline, plan) if stored is None else prepared(pipeline, replan())[1]


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
        if one.population != rest.population.name:
            continue  # it is read for a match
        rest = ExcludeSources(rest, next(each.catalog for each in plan.scene.fragments if each.fragment.id == one.id))
    costly = [one for one in plan.after.members if _calculates(one)]
    if len(costly) == 1 and costly[0].extent == rest.extent:
        return [Part(costly[0], rest)]
    return [Part(plan.after, plan.catalog)]


def _calculates(step: Step) -> bool:
    return any(isinstance(one, Calculate) for one in walk(step))


def store_part(pipeline: Pipeline, plan: Plan, part: Part, turn: Turn) -> Fragment | None:
    """Compute a part of a plan and keep it, unless others compute the same.

    Parameters
    ----------
    pipeline
        Where it is computed.
    plan
        The plan, all of whose fragments are sound.
    part
        What is kept of it: those attributes that were asked for.
    turn
        Whose turn it is.

    Returns
    -------
    Fragment or None
        None if others have stored something meanwhile, and it is to be planned again what is missing.
    """
    from provenn.spark.fragments import store_fragment  # noqa: PLC0415 - see above
    from provenn.spark.rows import named  # noqa: PLC0415
    from provenn.spark.stopwatch import Stopwatch  # noqa: PLC0415

    check_roots((one for one in cone(part.catalog) if isinstance(one, Base)), pipeline.roots)
    asked = {one.identity for one in plan.columns}.intersection(part.step.attributes)
    held = [(one.identity, one) for one in part.catalog.schema.attributes if one.identity in asked]
    kept = frozenset(identity for identity, _ in held if not is_key(identity))
    computed = {one.identity: one for step in plan.calculations for one in step.outputs}
    if not computed:
        computed = {identity: one for identity, one in held if identity in kept}
    turn.considered |= {one.fragment.id for one in plan.scene.fragments}
    with (
        turn.leased(part.catalog, kept.intersection(computed), computed) as mine,
        fragments.pinned(pipeline.database, [one.id for one in plan.fragments]),
    ):
        if not mine:
            return None
        stopwatch = Stopwatch(pipeline.engine)
        frame = named(_frame(pipeline, plan, part.step, stopwatch), held)
        facts = leaning(plan)
        stored = store_fragment(
            pipeline.engine,
            pipeline.database,
            pipeline.folder,
            part.catalog,
            frame,
            identities=[identity for identity, _ in held],
            facts=facts,
            listener=pipeline.listener,
            stopwatch=stopwatch,
        )
    pipeline.doubt(learned(pipeline.database, part.catalog, stored.rows, facts))
    return stored


def _frame(pipeline: Pipeline, plan: Plan, step: Step, stopwatch: Stopwatch | None = None) -> DataFrame:
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
        return executed(step, plan.needed, plan.scene, pipeline.engine.session, read, stopwatch=stopwatch)


def learned(database: Database, catalog: Catalog, rows: int, facts: Collection[int] = ()) -> tuple[Fact, ...]:
    """Take note of how many sources a catalog has, and of what follows: it is empty or not, or equal to another one.

    A catalog that lies inside another one and has as many sources is equal to it. Keys are unique, as was verified.
    Nothing is learned from what leans on a declaration: that may be wrong, and taken back.

    Parameters
    ----------
    database
        Where it is noted.
    catalog
        The catalog.
    rows
        How many sources were seen.
    facts
        The numbers of the facts on which that leans.

    Returns
    -------
    tuple of Fact
        The declared facts that are suspended, because what was seen contradicts them.
    """
    if database.read_only:
        return ()
    suspended: list[Fact] = []
    # What is seen of a set is told of the first catalog that was defined by it: others only add attributes.
    catalog = next(one for one in cone(catalog) if one.extent == catalog.extent)
    with suppress(ArchiveBusyError), database.writing() as writing:
        if counts.known(writing, [catalog.digest]) or any_declared(writing, facts):
            return ()
        catalog_store.add(writing, catalog, for_run=True)
        counts.record(writing, catalog.digest, rows)
        with suppress(ContradictionError):  # what data show is told where it is used; a count is no reason to fail
            said = nonempty(catalog.digest) if rows else empty(catalog.digest)
            suspended += observe(writing, said, f"{rows:,} sources counted").suspended
            suspended += _equal_by_count(writing, catalog, rows)
    return (*suspended, *doubted_by_counts(database, catalog))


def _equal_by_count(writing: Writing, catalog: Catalog, rows: int) -> list[Fact]:
    suspended: list[Fact] = []
    if not rows:
        return suspended
    below = [one for one in cone(catalog) if one.extent != catalog.extent]
    digests = [one.digest for one in below]
    known = counts.known(writing, digests) | verifications.verified(writing, digests)
    alike = [one for one in below if known.get(one.digest) == rows]
    if not alike:
        return suspended
    scene = Scene(known_of(writing, catalog), (catalog, *alike))
    for one in alike:
        if scene.holds(scene.same(catalog.extent, one.extent)):
            continue
        either = (scene.inside(catalog.extent, one.extent), scene.inside(one.extent, catalog.extent))
        if any(scene.holds(said) and not _is_declared(scene, said) for said in either):
            reason = f"one lies in the other, and both have {rows:,} sources"
            suspended += observe(writing, equal(catalog.digest, one.digest), reason).suspended
    return suspended


def _is_declared(scene: Scene, said: Statement) -> bool:
    """Whether the proof of a statement leans on what people have said."""
    return any(origin.kind == "declared" for _, origin in scene.known.because(said))
