"""Preparing the data of a plan: check that its fragments and keys are sound, and make the DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from provenn.criteria import AttributeIdentity
from provenn.targets.execution import execute_plan
from provenn.targets.plan import Plan
from provenn.targets.replanning import replan_without_fragments
from provenn.targets.steps import FragmentScan, PlanStep, Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from provenn.spark.pipeline import Pipeline, PreparedData
    from provenn.spark.stopwatch import Stopwatch

__all__ = ["build_frame", "ensure_sound_plan", "prepare_data", "prepare_plan"]

P = TypeVar("P", bound=Plan)


def prepare_plan(pipeline: Pipeline, plan: P) -> tuple[P, PreparedData]:
    """Return an equivalent plan with only sound fragments, and the data, ready to be computed."""
    plan = ensure_sound_plan(pipeline, plan)
    return plan, prepare_data(pipeline, plan)


def ensure_sound_plan(pipeline: Pipeline, plan: P) -> P:
    """Return an equivalent plan with only existing fragments, after verifying the keys of base catalogs."""
    from provenn.spark.fragment_files import select_usable  # noqa: PLC0415 - planning runs without Spark

    while True:
        sound = select_usable(pipeline.database, pipeline.folder, plan.fragments)
        if len(sound) == len(plan.fragments):
            break
        plan = replan_without_fragments(
            plan, {fragment.id for fragment in plan.fragments} - {fragment.id for fragment in sound}
        )
    pipeline.verify(plan.bases)
    return plan


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
