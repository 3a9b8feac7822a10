"""The life of a run, from top to bottom: plan once, lease, compute, keep, learn, record.

| step | where |
| --- | --- |
| plan | `provenn.targets.plan_memory`: the plan that was shown, unless the archive has changed since |
| lease | `provenn.targets.leasing`: concurrent runs wait for each other's parts |
| compute | `provenn.targets.preparing`, and the sink that takes the rows (`provenn.targets.sinks`) |
| keep | `provenn.targets.storing`: parts worth keeping are stored first, and read back |
| learn | `provenn.targets.learning`: the count, and the facts that follow from it |
| record | `provenn.targets.recording`: duration, outcome, reuse |

Damaged stored data are dropped, and the run starts again without them (`provenn.targets.recovering`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from provenn.catalogs import PythonCalculator
from provenn.catalogs.calculators.allowed import check_allowed
from provenn.data.fragments import record_use
from provenn.errors import SparkNeededError
from provenn.files.file_set import TABLE
from provenn.knowledge.stored_facts import Fact
from provenn.look.refusal import NeedsSpark
from provenn.targets.bounds import bound_answer_rows
from provenn.targets.checking import check_facts
from provenn.targets.engine_choice import EngineChoice, choose_engine
from provenn.targets.keeping import Keep, find_parts_to_keep
from provenn.targets.leaning import Basis, find_basis, find_declared_facts, find_supporting_facts
from provenn.targets.learning import learn_count
from provenn.targets.plan import Plan
from provenn.targets.preparing import prepare_data, prepare_plan
from provenn.targets.recording import Recorder, record_run
from provenn.targets.recovering import compute_despite_damage
from provenn.targets.replanning import replan_without_declared
from provenn.targets.sinks import Sink, TakenRows
from provenn.targets.storing import keep_parts
from provenn.targets.workplace import Workplace

if TYPE_CHECKING:
    from provenn.spark.pipeline import PreparedData

__all__ = ["answer_request", "prepare_request"]

P = TypeVar("P", bound=Plan)
T = TypeVar("T")

_LOG = logging.getLogger(__name__)


def answer_request(
    place: Workplace[P],
    replan: Callable[[], P],
    sink: Sink[T],
    keep: Keep = "never",
    *,
    check: bool = False,
    engine: EngineChoice = "auto",
) -> T:
    """Answer a request.

    Parameters
    ----------
    place
        Where the run computes, and to whom it reports.
    replan
        Returns the plan of the request for the present state of the archive; the same plan while nothing changes.
    sink
        Takes the rows: a table, the first rows, a count or files.
    keep
        The results to keep.
    check
        Whether to check the declared facts of the answer on the data first, and not use them.
    engine
        Who reads: by default a look without Spark where it gives the same answer.
    """
    compute = partial(_live_once, place, replan, sink, keep, check=check, engine=choose_engine(engine))
    return compute_despite_damage(place.database, place.folder_if_known, compute)


def _live_once(
    place: Workplace[P], replan: Callable[[], P], sink: Sink[T], keep: Keep, *, check: bool, engine: EngineChoice
) -> T:
    """Live the life of a run; if its result cannot be right, live it again without the declared facts."""
    if check:
        replan = _check_declared_facts(place, replan)
    plan = replan()
    known = sink.find_known_answer(place, plan)
    if known is not None:
        place.report_suspended_facts(known.suspended)
        if known.is_reasoned:
            place.report_basis(plan, find_declared_facts(plan))
        return known.answer
    suspended: Sequence[Fact] = ()
    with _record(place, plan, sink) as run:
        look = _look(place, run, sink, keep, engine) if engine != "spark" else None
        taken, final = (look, run.plan) if look is not None else _compute(place, run, replan, sink, keep, engine=engine)
        run.rows = taken.rows
        basis = _find_basis(run, final)
        run.doubtful = sink.is_compared and not check and _is_impossible(run.plan, basis.declared, taken)
        if not run.doubtful and taken.rows is not None and run.plan.catalog is not None:
            suspended = learn_count(place.database, run.plan.catalog, taken.rows, run.facts)
    if run.doubtful and engine == "look":
        raise SparkNeededError(f"declared facts must be checked before {plan.what} can be read")
    if run.doubtful:
        return _live_once(place, replan, sink.repeat(), keep, check=True, engine=engine)
    place.report_suspended_facts(suspended)
    place.report_basis(run.plan, basis.declared)
    return taken.answer


def prepare_request(place: Workplace[P], replan: Callable[[], P], *, check: bool = False) -> PreparedData:
    """Return the data of a request, ready to be computed by the caller: nothing is kept, learned or recorded."""
    if check:
        replan = _check_declared_facts(place, replan)
    plan, data = prepare_plan(place.pipeline(), replan())
    place.report_basis(plan, find_declared_facts(plan))
    return data


def _check_declared_facts(place: Workplace[P], replan: Callable[[], P]) -> Callable[[], P]:
    """Check the declared facts of an answer on the data; return a function that plans without declared facts."""
    facts = find_declared_facts(replan())
    checked = check_facts(place.pipeline(), facts) if facts else []
    place.report_suspended_facts([fact for result in checked for fact in result.suspended])
    place.report_checked_facts(checked)
    return lambda: replan_without_declared(replan())


@contextmanager
def _record(place: Workplace[P], plan: P, sink: Sink[T]) -> Iterator[Recorder[P]]:
    """Record the run around the body, if the sink takes all of the answer."""
    if not sink.is_recorded:
        yield Recorder(plan)
        return
    with record_run(place.database, plan) as run:
        place.latest_run = run.number
        yield run


def _look(
    place: Workplace[P], run: Recorder[P], sink: Sink[T], keep: Keep, engine: EngineChoice
) -> TakenRows[T] | None:
    """Return the rows, read without Spark; None if Spark must compute them, or store them first.

    Raises
    ------
    SparkNeededError
        If only a look is allowed, and Spark must compute the rows.
    """
    if engine == "auto" and sink.is_recorded and not place.database.read_only and find_parts_to_keep(run.plan, keep):
        return None
    taken = _try_look(place, run, sink, run.plan, engine)
    if taken is not None and sink.is_recorded and run.plan.fragments:
        numbers = [fragment.id for fragment in run.plan.fragments]
        place.database.note(lambda writing: record_use(writing, numbers))
    return taken


def _try_look(
    place: Workplace[P], run: Recorder[P], sink: Sink[T], plan: P, engine: EngineChoice
) -> TakenRows[T] | None:
    """Return the rows of a plan, read without Spark; None if Spark must compute them.

    Raises
    ------
    SparkNeededError
        If only a look is allowed, and Spark must compute the rows.
    """
    try:
        with run.measure_reading():
            return sink.take_look(place, plan)
    except NeedsSpark as refusal:
        if engine == "look":
            raise SparkNeededError(f"only Spark can compute {plan.what}: {refusal.reason}") from refusal
        _LOG.debug("Spark computes %s, because %s", plan.what, refusal.reason)
        return None


def _check_before_start(place: Workplace[P], plan: P) -> None:
    """Check base files and calculators before Spark starts, which takes longer; later they are checked once more."""
    if place.pipeline().engine.is_started:
        return
    for calculation in plan.calculations:
        if isinstance(calculation.calculator, PythonCalculator):
            check_allowed(calculation.calculator)
            calculation.calculator.check()
    place.check_bases(base for base in plan.bases if base.files.format != TABLE)


def _compute(
    place: Workplace[P], run: Recorder[P], replan: Callable[[], P], sink: Sink[T], keep: Keep, *, engine: EngineChoice
) -> tuple[TakenRows[T], P]:
    """Return the rows, and their plan; results to keep are stored first, and then read from the store.

    What was stored needs no Spark to be read, unless the engine is chosen.
    """
    _check_before_start(place, run.plan)
    pipeline = place.pipeline()
    if sink.is_recorded:
        kept = keep_parts(pipeline, run.plan, replan, keep)
        run.plan, final = kept.executed, kept.final
        read = {fragment.id for fragment in run.plan.fragments}
        run.computed = sum(fragment.rows for fragment in final.fragments if fragment.id not in read)
        look = _try_look(place, run, sink, final, engine) if engine == "auto" and final is not run.plan else None
        if look is not None:
            return look, final
        data = prepare_data(pipeline, final)
    else:
        run.plan, data = prepare_plan(pipeline, run.plan)
        final = run.plan
    with run.measure_reading():
        return sink.take_rows(place, final, data), final


def _find_basis(run: Recorder[P], final: P) -> Basis:
    """Return the facts behind the executed plan; note the facts behind all plans of the run."""
    basis = find_basis(run.plan)
    run.facts = basis.numbers if final is run.plan else tuple({*basis.numbers, *find_supporting_facts(final)})
    return basis


def _is_impossible(plan: Plan, declared: Sequence[Fact], taken: TakenRows[T]) -> bool:
    """Return whether a result that rests on declared facts is impossible: by its row count, or by a repeated key.

    Both checks are free. The bounds on the steps as they are defined use no declared fact, and a key is unique.
    """
    if not declared or taken.rows is None:
        return False
    bounds = bound_answer_rows(plan.scene, (plan.before,))
    if taken.rows < bounds.low or (bounds.high is not None and taken.rows > bounds.high):
        return True
    key = [column.name for column in plan.schema.key]
    return taken.table is not None and taken.table.group_by(key).aggregate([]).num_rows < taken.rows
