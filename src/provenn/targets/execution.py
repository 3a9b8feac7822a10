"""Execution of a plan: the explained steps as Spark DataFrames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from provenn.catalogs import PythonCalculator
from provenn.catalogs.calculators import WindowFunctions
from provenn.criteria import AttributeIdentity, backquoted, render
from provenn.criteria.window_sql import render_window
from provenn.targets.conditions import write_condition_sql
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.join_sizes import find_small_sides, is_small
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
from provenn.targets.scene import Scene
from provenn.targets.steps import (
    Attributes,
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    FragmentScan,
    Nothing,
    PlanStep,
    Restrict,
    Scan,
    Select,
    find_key,
    walk_steps,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from provenn.spark.stopwatch import Stopwatch

__all__ = ["RowReader", "execute_plan"]

RowReader = Callable[[Scan | FragmentScan, Sequence[AttributeIdentity]], "DataFrame"]
"""Reads some columns of a base catalog or a fragment; each column is named by its identity."""


def execute_plan(
    plan: PlanStep,
    needed: frozenset[AttributeIdentity],
    scene: Scene,
    session: SparkSession,
    read: RowReader,
    *,
    stopwatch: Stopwatch | None = None,
) -> DataFrame:
    """Return the rows of a plan, with at least the key and the needed attributes, named by identity.

    Parameters
    ----------
    plan
        The plan.
    needed
        The identities of the requested attributes.
    scene
        The knowledge that planning used.
    session
        The Spark session.
    read
        Reads base catalogs and fragments.
    stopwatch
        Measures how long calculators run; None to skip the measurement.
    """
    from provenn.spark import python_calculators, row_operations  # noqa: PLC0415 - planning runs without Spark
    from provenn.targets import match_execution, opaque_execution, reference_execution  # noqa: PLC0415 - the same

    frames: dict[tuple[int, frozenset[AttributeIdentity]], DataFrame] = {}

    def compute_frame(step: PlanStep, needed: frozenset[AttributeIdentity]) -> DataFrame:
        """Return the rows of a step; equal steps share a DataFrame."""
        frame_key = (step.signature, needed)
        if frame_key not in frames:
            inputs = [
                compute_frame(input_step, reads)
                for input_step, reads in zip(step.inputs, step.reads(needed), strict=True)
            ]
            frames[frame_key] = compute_step(step, inputs, needed)
        return frames[frame_key]

    def compute_step(step: PlanStep, inputs: Sequence[DataFrame], needed: frozenset[AttributeIdentity]) -> DataFrame:
        key = find_key(step.attributes)
        match step:
            case Scan() | FragmentScan():
                return read(step, _list_read_columns(step.attributes, needed))
            case Nothing():
                return row_operations.make_empty_frame(session, step.attributes.values())
            case Select():
                return row_operations.select_rows(inputs[0], write_condition_sql(scene, step))
            case Derive(attribute=attribute, expression=expression):
                return row_operations.derive_attribute(
                    inputs[0], attribute, render(expression, {identity: identity for identity in expression.reads})
                )
            case Calculate(calculator=WindowFunctions(outputs=(window,))):
                names = {identity: identity for identity in window.reads}
                quoted_key = [backquoted(identity) for identity in key]
                attributes = {str(identity): attribute for identity, attribute in step.input.attributes.items()}
                function = render_window(window.parse(attributes), names, quoted_key)
                return row_operations.derive_attribute(inputs[0], step.outputs[0], function)
            case Calculate(calculator=PythonCalculator() as calculator):
                arguments = [step.input.attributes[identity] for identity in step.arguments]
                return python_calculators.apply_calculator(
                    inputs[0],
                    calculator,
                    key={identity: step.attributes[identity].name for identity in key},
                    inputs=[(argument.identity, argument.nullable) for argument in arguments],
                    outputs={
                        name: output.identity for name, output in zip(calculator.names, step.outputs, strict=True)
                    },
                    catalog=step.extent.digest,
                    stopwatch=stopwatch,
                )
            case Restrict():
                small = find_small_sides(scene, step.inputs, _list_widths(step, needed))
                if _may_repeat_keys(step.other):
                    small -= {0}
                return row_operations.restrict_rows(inputs[0], inputs[1], key, small)
            case Exclude():
                few = is_small(scene, step.other, len(key))
                return row_operations.exclude_rows(inputs[0], inputs[1], key, is_small=few)
            case Match():
                return match_execution.compute_match(scene, step, inputs, needed)
            case ContinuedMatch():
                return match_execution.compute_continued_match(scene, step, inputs, needed)
            case Matched():
                return row_operations.keep_matched_rows(inputs[0], inputs[1], key, step.key)
            case Partnered() | Lookup() | Group() | First() | Explode():
                return reference_execution.compute_reference_step(scene, step, inputs, needed)
            case FilterBySql() | QueryBySql():
                return opaque_execution.compute_opaque_step(session, step, inputs)
            case Combine():
                small = find_small_sides(scene, step.inputs, _list_widths(step, needed))
                return row_operations.combine_frames(inputs, key, small)
            case Concat():
                return concatenate_rows(step, inputs, key, needed)
            case Fill(missing=missing):
                return row_operations.add_null_attributes(inputs[0], missing)
        raise NotImplementedError(step.word)

    def concatenate_rows(
        step: Concat, inputs: Sequence[DataFrame], key: Sequence[str], needed: frozenset[AttributeIdentity]
    ) -> DataFrame:
        parts = []
        for position, input_frame in enumerate(inputs):
            rest = input_frame
            for earlier in () if step.is_disjoint else inputs[:position]:
                rest = row_operations.exclude_rows(rest, earlier, key)
            parts.append(rest)
        columns = [
            (attribute, identities)
            for attribute, identities in step.columns
            if attribute.identity in needed or attribute.identity in key
        ]
        return row_operations.concatenate_frames(
            parts,
            [
                {attribute.identity: identities[position] for attribute, identities in columns}
                for position in range(len(parts))
            ],
        )

    return compute_frame(plan, needed)


def _may_repeat_keys(step: PlanStep) -> bool:
    """Return whether a step repeats a key if a declared fact is wrong: members of a union that are not disjoint."""
    return any(isinstance(ancestor, Concat) for ancestor in walk_steps(step))


def _list_widths(step: PlanStep, needed: frozenset[AttributeIdentity]) -> list[int]:
    """Return how many columns are read of each input of a step, the key included."""
    reads = zip(step.inputs, step.reads(needed), strict=True)
    return [len(read.union(find_key(input_step.attributes))) for input_step, read in reads]


def _list_read_columns(attributes: Attributes, needed: frozenset[AttributeIdentity]) -> list[AttributeIdentity]:
    """Return the identities of the columns to read: the key, then the needed attributes."""
    return [*find_key(attributes), *sorted(needed.difference(find_key(attributes)))]
