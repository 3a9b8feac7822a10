"""Answering: a plan is run, what was costly is kept, and what was seen becomes knowledge.

What is kept is written first and read again: it is computed once, whatever becomes of it. So a plan whose result is to
be kept is carried out by storing the missing parts, and planning again; nothing is left to calculate then. Of several
runs that want the same part, one computes it, and the others wait for it (`provenn.targets.leasing`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.catalogs import Base, cone
from provenn.catalogs.roots import check_roots
from provenn.errors import ArchiveBusyError
from provenn.store import fragments
from provenn.store.fragments import Fragment
from provenn.targets.execution import executed
from provenn.targets.keeping import Keep, Part, parts_kept
from provenn.targets.leaning import leaning
from provenn.targets.learning import learn_count
from provenn.targets.leasing import Turn
from provenn.targets.plan import Plan
from provenn.targets.planning import without_fragments
from provenn.targets.steps import Scan, Step, Stored, is_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from provenn.spark.pipeline import Pipeline, Prepared
    from provenn.spark.stopwatch import Stopwatch

__all__ = [
    "Answer",
    "Keep",
    "Part",
    "Replan",
    "answered",
    "parts_kept",
    "prepared",
    "sound",
    "store_part",
]

Replan = Callable[[], Plan]
"""Plans once more, with what is stored now."""


def prepared(pipeline: Pipeline, plan: Plan) -> tuple[Plan, Prepared]:
    """Return a plan all of whose fragments are sound, and its data, ready to be computed."""
    plan = sound(pipeline, plan)
    return plan, _data(pipeline, plan)


def _data(pipeline: Pipeline, plan: Plan) -> Prepared:
    from provenn.spark.pipeline import Prepared  # noqa: PLC0415 - planning does without Spark
    from provenn.spark.rows import named  # noqa: PLC0415

    frame = named(_frame(pipeline, plan, plan.after, plan.needed), [(one.identity, one) for one in plan.columns])
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


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request was answered.

    Parameters
    ----------
    plan
        The plan that was carried out: it tells what was read and what was computed.
    data
        The result, ready to be computed; what is kept is read from where it was stored.
    facts
        The numbers of the declared and observed facts on which the result leans.
    """

    plan: Plan
    data: Prepared
    facts: tuple[int, ...]


def answered(pipeline: Pipeline, plan: Plan, replan: Replan, keep: Keep) -> Answer:
    """Carry out a plan; what is to be kept is stored first, and read from there.

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
        return Answer(plan, _data(pipeline, plan), tuple(leaning(plan)))
    turn = Turn(pipeline.database, pipeline.listener)
    carried, stored = plan, set[int]()
    while left := [part for part in parts_kept(plan, keep) if part.step.signature not in stored]:
        if store_part(pipeline, plan, left[0], turn) is not None:
            carried = carried if stored else plan
            stored.add(left[0].step.signature)  # whatever comes of it, the same part is not stored for ever
        plan = sound(pipeline, replan())
    carried = carried if stored else plan
    if carried.fragments:
        with suppress(ArchiveBusyError), pipeline.database.writing() as writing:
            fragments.used(writing, [one.id for one in carried.fragments])
    return Answer(carried, _data(pipeline, plan), tuple({*leaning(carried), *leaning(plan)}))


def store_part(pipeline: Pipeline, plan: Plan, part: Part, turn: Turn) -> Fragment | None:
    """Compute a part of a plan and keep it, unless others compute the same.

    Parameters
    ----------
    pipeline
        Where it is computed.
    plan
        The plan, all of whose fragments are sound.
    part
        What is kept of it.
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
    given = part.catalog.schema.attributes
    held = [(one.identity, one) for one in given if is_key(one.identity) or one.identity in part.identities]
    computed = part.computed
    turn.considered |= {one.fragment.id for one in plan.scene.fragments}
    with (
        turn.leased(part.catalog, frozenset(computed), computed) as mine,
        fragments.pinned(pipeline.database, [one.id for one in plan.fragments]),
    ):
        if not mine:
            return None
        stopwatch = Stopwatch(pipeline.engine)
        frame = named(_frame(pipeline, plan, part.step, part.identities, stopwatch), held)
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
    pipeline.doubt(learn_count(pipeline.database, part.catalog, stored.rows, facts))
    return stored


def _frame(
    pipeline: Pipeline, plan: Plan, step: Step, needed: frozenset[str], stopwatch: Stopwatch | None = None
) -> DataFrame:
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
        return executed(step, needed, plan.scene, pipeline.engine.session, read, stopwatch=stopwatch)
