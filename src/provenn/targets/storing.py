"""Keeping results: take a lease on a part of a plan, compute the part, store it, and learn from its count.

Results to keep are written first and read back, and so computed only once. A plan with results to keep runs in a loop:
store a missing part, and plan again, until no calculation is left. If several runs want the same part, a single run
computes the part and the rest wait (`provenn.targets.leasing`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from provenn.catalogs import Catalog, cone, list_bases
from provenn.catalogs.roots import check_roots
from provenn.criteria import AttributeIdentity
from provenn.data import fragments
from provenn.data.fragments import Fragment
from provenn.database.transactions import Database
from provenn.definitions import catalog_names
from provenn.errors import QuotaError
from provenn.people import quotas
from provenn.targets.keeping import Keep, KeptPart, find_parts_to_keep, find_parts_to_store
from provenn.targets.leaning import find_supporting_facts
from provenn.targets.learning import learn_count
from provenn.targets.leasing import Turn
from provenn.targets.plan import Plan
from provenn.targets.preparing import build_frame, ensure_sound_plan
from provenn.targets.steps import Calculate, is_key, walk_steps

if TYPE_CHECKING:
    from provenn.spark.pipeline import Pipeline

__all__ = ["KeptParts", "keep_parts", "store_fragments"]

P = TypeVar("P", bound=Plan)


@dataclass(frozen=True, slots=True)
class KeptParts(Generic[P]):
    """The plans of a run that keeps results.

    Attributes
    ----------
    executed
        The plan that describes all data read and computed: the plan before the first part was stored.
    final
        The plan of the result; it reads the kept parts from the store.
    """

    executed: P
    final: P


def keep_parts(
    pipeline: Pipeline, plan: P, replan: Callable[[], P], keep: Keep, *, is_final_needed: bool = True
) -> KeptParts[P]:
    """Store the parts of a plan that are worth keeping.

    The run waits for parts that another run computes now, so the executed plan may differ from `plan`.

    Parameters
    ----------
    pipeline
        The pipeline that computes the parts.
    plan
        The plan.
    replan
        Returns the plan of the request for the present state of the archive.
    keep
        The results to keep.
    is_final_needed
        Whether the caller uses the plan of the result. Otherwise the last stored part ends the run: nothing is planned
        again after everything that the plan calculates was stored, and the returned plan reads no stored part.
    """
    plan = ensure_sound_plan(pipeline, plan)
    if pipeline.database.read_only:
        return KeptParts(plan, plan)
    turn = Turn(pipeline.database, pipeline.listener)
    executed, stored = plan, set[int]()
    while missing := [part for part in find_parts_to_keep(plan, keep) if part.step.signature not in stored]:
        try:
            fragment = _store_part(pipeline, plan, missing[0], turn)
        except QuotaError:
            break  # the quota is used up; the caller still gets the result
        if fragment is not None:
            executed = executed if stored else plan
            stored.add(missing[0].step.signature)  # the same part is never stored twice, so the loop ends
            if not is_final_needed and _holds_all_calculations(plan, missing[0]):
                break
        plan = ensure_sound_plan(pipeline, replan())
    executed = executed if stored else plan
    if executed.fragments:
        numbers = [fragment.id for fragment in executed.fragments]
        pipeline.database.note(lambda writing: fragments.record_use(writing, numbers))
    return KeptParts(executed, plan)


def _name_part(database: Database, catalog: Catalog, plan: Plan) -> str:
    """Return what messages call the catalog of a part: its name, or the request that it is stored for."""
    with database.reading() as reading:
        names = catalog_names.find_names_by_digest(reading, [catalog.digest]).get(catalog.digest, ())
    return next(iter(names), plan.what)


def _holds_all_calculations(plan: Plan, part: KeptPart) -> bool:
    """Return whether a plan calculates nothing outside a part, and the part keeps all that is calculated in it."""
    inside = {step.signature: step for step in walk_steps(part.step) if isinstance(step, Calculate)}
    outputs = {output.identity for step in inside.values() for output in step.outputs}
    is_all = all(step.signature in inside for step in walk_steps(plan.after) if isinstance(step, Calculate))
    return is_all and outputs <= part.identities


def store_fragments(
    pipeline: Pipeline, catalog: Catalog, replan: Callable[[], Plan], identities: list[AttributeIdentity] | None
) -> Fragment:
    """Compute and keep attributes of a catalog, unless they are kept already; return the fragment.

    All outputs of calculators for the catalog are kept too. The call waits for another process that computes them now.

    Parameters
    ----------
    pipeline
        The pipeline that computes, writes and registers the fragments.
    catalog
        The catalog.
    replan
        Plans the attributes with the fragments stored now; called only if a fragment must be computed.
    identities
        The identities of the attributes; None for all.
    """
    from provenn.spark.fragment_files import find_fragment  # noqa: PLC0415 - planning runs without Spark

    database = pipeline.database
    turn = Turn(database, pipeline.listener)
    stored: set[int] = set()
    fragment = find_fragment(database, pipeline.folder, catalog, identities)
    if fragment is not None:  # the process that stored it may have died before it learned from the count
        pipeline.report_doubted_facts(learn_count(database, catalog, fragment.rows, fragment.facts))
    while fragment is None:
        plan = ensure_sound_plan(pipeline, replan())
        *others, whole = find_parts_to_store(plan, catalog)
        part = next((candidate for candidate in others if candidate.step.signature not in stored), whole)
        fragment = _store_part(pipeline, plan, part, turn)
        if fragment is not None and part is whole:
            break
        stored |= set() if fragment is None else {part.step.signature}
        fragment = find_fragment(database, pipeline.folder, catalog, identities)
    return fragment


def _store_part(pipeline: Pipeline, plan: Plan, part: KeptPart, turn: Turn) -> Fragment | None:
    """Compute a part of a plan and keep it, unless another run computes the same part.

    Parameters
    ----------
    pipeline
        The pipeline that computes the part.
    plan
        The plan, whose fragments are all sound.
    part
        The part to keep.
    turn
        The turn of this run.

    Returns
    -------
    Fragment or None
        None if another run stored data meanwhile, so that the caller must plan again.

    Raises
    ------
    QuotaError
        If the caller's quota is used up; checked before the computation, and again when the size is known.
    """
    from provenn.spark.fragment_files import store_fragment  # noqa: PLC0415 - planning runs without Spark
    from provenn.spark.stopwatch import Stopwatch  # noqa: PLC0415

    with pipeline.database.reading() as reading:
        quotas.check_stored_quota(reading)
    check_roots(list_bases(cone(part.catalog)), pipeline.roots)
    attributes = part.catalog.schema.attributes
    identities = [
        attribute.identity
        for attribute in attributes
        if is_key(attribute.identity) or attribute.identity in part.identities
    ]
    computed = part.computed
    turn.considered |= {scan.fragment.id for scan in plan.scene.fragments} | plan.scene.apart_fragments
    with (
        turn.hold_lease(part.catalog, frozenset(computed), computed) as is_granted,
        fragments.pin_fragments(pipeline.database, [fragment.id for fragment in plan.fragments]),
    ):
        if not is_granted:
            return None
        stopwatch = Stopwatch(pipeline.engine)
        frame = build_frame(pipeline, plan, part.step, part.identities, stopwatch)
        facts = find_supporting_facts(plan)
        stored = store_fragment(
            pipeline.engine,
            pipeline.database,
            pipeline.folder,
            part.catalog,
            frame,
            identities=identities,
            facts=facts,
            listener=pipeline.listener,
            stopwatch=stopwatch,
            is_named_by_identity=True,
            subject=_name_part(pipeline.database, part.catalog, plan),
        )
    pipeline.report_doubted_facts(learn_count(pipeline.database, part.catalog, stored.rows, facts))
    return stored
