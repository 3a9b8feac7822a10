"""Preparing the data of a plan: check that its fragments and keys are sound, and make the DataFrame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from provenn.catalogs.catalog import PartnerLookup
from provenn.catalogs.population import make_plural
from provenn.criteria import AttributeIdentity
from provenn.data.usable_fragments import select_usable
from provenn.database.transactions import Writing
from provenn.definitions import catalog_store
from provenn.errors import ContradictionError, MissingPartnerError
from provenn.hints import Hint
from provenn.knowledge.observations import observe_fact
from provenn.logic import subset
from provenn.targets.execution import execute_plan
from provenn.targets.missing_partners import find_unverified_lookups, plan_missing_partners
from provenn.targets.plan import Plan
from provenn.targets.replanning import replan_without_fragments
from provenn.targets.steps import FragmentScan, PlanStep, Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from provenn.spark.pipeline import Pipeline, PreparedData
    from provenn.spark.stopwatch import Stopwatch

__all__ = ["build_frame", "ensure_sound_plan", "prepare_data", "prepare_plan"]

P = TypeVar("P", bound=Plan)

_MOST_SHOWN = 5
"""How many sources without a partner an error shows."""


def prepare_plan(pipeline: Pipeline, plan: P) -> tuple[P, PreparedData]:
    """Return an equivalent plan with only sound fragments, and the data, ready to be computed."""
    plan = ensure_sound_plan(pipeline, plan)
    return plan, prepare_data(pipeline, plan)


def ensure_sound_plan(pipeline: Pipeline, plan: P) -> P:
    """Return an equivalent plan with only existing fragments, after verifying keys of base catalogs and references."""
    while True:
        sound = select_usable(pipeline.database, pipeline.folder, plan.fragments)
        if len(sound) == len(plan.fragments):
            break
        plan = replan_without_fragments(
            plan, {fragment.id for fragment in plan.fragments} - {fragment.id for fragment in sound}
        )
    pipeline.verify(plan.bases)
    for lookup in find_unverified_lookups(plan):
        _verify_lookup(pipeline, lookup, plan.what)
    return plan


def _verify_lookup(pipeline: Pipeline, lookup: PartnerLookup, what: str) -> None:
    """Make sure that every source of a lookup's parent has a partner, and record it as an observed fact.

    Raises
    ------
    MissingPartnerError
        If a source has none.
    """
    with pipeline.database.reading() as reading:
        plan = plan_missing_partners(reading, lookup, f"checking the references of {what}")
    plan, data = prepare_plan(pipeline, plan)
    rows = [] if plan.empty else pipeline.collect_data(data, None, lambda frame: frame.limit(_MOST_SHOWN).collect())
    if rows:
        raise _make_missing_error(lookup, [row.asDict() for row in rows])
    statement = subset(lookup.parent.digest, lookup.digest)

    def record(writing: Writing) -> None:
        with suppress(ContradictionError):  # contradictions are reported where they matter
            catalog_store.add_catalogs(writing, lookup, for_run=True)
            observe_fact(writing, statement, f"every {' and '.join(lookup.on_names)} leads to a partner")

    pipeline.database.note(record)


def _make_missing_error(lookup: PartnerLookup, rows: Sequence[Mapping[str, object]]) -> MissingPartnerError:
    """Return the error for sources without a partner."""
    names = lookup.find_names()
    shown = ", ".join(
        dict.fromkeys(" and ".join("NULL" if row[name] is None else str(row[name]) for name in names) for row in rows)
    )
    kind = make_plural(lookup.other.population.name)
    return MissingPartnerError(
        f"{' and '.join(names)} leads to none of the {kind} for some sources: {shown}",
        hint=Hint(
            'leave these sources out (missing="drop"), or give NULL (missing="null")',
            command="leave these sources out (--missing drop), or give NULL (--missing null)",
            page="leave sources without a value out, or keep them without it: plan again, and choose so",
        ),
    )


def prepare_data(pipeline: Pipeline, plan: Plan) -> PreparedData:
    """Return the data of a sound plan, ready to be computed."""
    from provenn.spark.pipeline import PreparedData  # noqa: PLC0415 - planning runs without Spark
    from provenn.spark.row_operations import name_columns  # noqa: PLC0415

    frame = name_columns(
        build_frame(pipeline, plan, plan.after, plan.needed), [(column.identity, column) for column in plan.columns]
    )
    return PreparedData(frame, plan.schema, plan.what, plan.bases, plan.fragments, plan.most)


def build_frame(
    pipeline: Pipeline,
    plan: Plan,
    step: PlanStep,
    needed: frozenset[AttributeIdentity],
    stopwatch: Stopwatch | None = None,
) -> DataFrame:
    """Return the DataFrame of a step, with errors translated for the user."""
    from provenn.spark.columns import select_columns  # noqa: PLC0415 - see above
    from provenn.spark.fragment_files import read_fragment  # noqa: PLC0415
    from provenn.spark.spark_errors import translate_errors  # noqa: PLC0415

    def read(scan: Scan | FragmentScan, identities: Sequence[AttributeIdentity]) -> DataFrame:
        if isinstance(scan, Scan):
            return select_columns(
                pipeline.read(scan.base, scan.chosen),
                [(scan.attributes[identity].name, identity) for identity in identities],
            )
        columns = dict(scan.fragment.columns)
        frame = read_fragment(pipeline.engine, pipeline.folder, scan.fragment)
        return select_columns(frame, [(columns[identity], identity) for identity in identities])

    with translate_errors(f"preparing {plan.what}"):
        return execute_plan(step, needed, plan.scene, pipeline.engine.session, read, stopwatch=stopwatch)
