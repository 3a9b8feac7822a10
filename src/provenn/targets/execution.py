"""Running a plan: the same steps that it explains, as DataFrames of Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from provenn.criteria import render
from provenn.targets.conditions import condition_sql
from provenn.targets.costs import estimate
from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import Scene
from provenn.targets.steps import (
    Attributes,
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Fill,
    Nothing,
    Restrict,
    Scan,
    Select,
    Step,
    Stored,
    key_of,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from provenn.spark.stopwatch import Stopwatch

__all__ = ["Read", "executed"]

Read = Callable[[Scan | Stored, Sequence[str]], "DataFrame"]
"""Gives the rows of a base catalog or a fragment: some columns, by identity, and called so."""


def executed(
    plan: Step,
    needed: frozenset[str],
    scene: Scene,
    session: SparkSession,
    read: Read,
    *,
    stopwatch: Stopwatch | None = None,
) -> DataFrame:
    """Return the rows of a plan, with at least the key and the attributes that are needed, called by identity.

    Parameters
    ----------
    plan
        The plan.
    needed
        The identities of the attributes that are asked for.
    scene
        What is known.
    session
        Where it runs.
    read
        Gives rows that are read.
    stopwatch
        Measures how long calculators run, if anybody wants to know.
    """
    from provenn.spark import calculators, crossmatch, rows  # noqa: PLC0415 - planning does without Spark

    made: dict[tuple[int, frozenset[str]], DataFrame] = {}

    def frame(step: Step, needed: frozenset[str]) -> DataFrame:
        place = (step.signature, needed)
        if place not in made:
            inputs = [frame(one, reads) for one, reads in zip(step.inputs, step.reads(needed), strict=True)]
            made[place] = _frame(step, inputs, needed)
        return made[place]

    def _frame(step: Step, inputs: Sequence[DataFrame], needed: frozenset[str]) -> DataFrame:
        key = key_of(step.attributes)
        match step:
            case Scan() | Stored():
                return read(step, _carried(step.attributes, needed))
            case Nothing():
                return rows.no_rows(session, step.attributes.values())
            case Select():
                return rows.selected(inputs[0], condition_sql(scene, step))
            case Derive(attribute=one, expression=expression):
                return rows.derived(inputs[0], one, render(expression, {each: each for each in expression.reads}))
            case Calculate(calculator=calculator):
                attributes = [step.input.attributes[identity] for identity in step.arguments]
                return calculators.calculated(
                    inputs[0],
                    calculator,
                    key={identity: step.attributes[identity].name for identity in key},
                    inputs=[(one.identity, one.nullable) for one in attributes],
                    outputs={name: one.identity for name, one in zip(calculator.names, step.outputs, strict=True)},
                    catalog=step.extent.digest,
                    stopwatch=stopwatch,
                )
            case Restrict():
                return rows.restricted(inputs[0], inputs[1], key)
            case Exclude():
                return rows.excluded(inputs[0], inputs[1], key)
            case Match():
                return _paired(step, inputs, needed)
            case Matched():
                return rows.matched(inputs[0], inputs[1], key, step.key)
            case Combine():
                return rows.combined(inputs, key)
            case Concat():
                return _concatenated(step, inputs, key, needed)
            case Fill(missing=missing):
                return rows.filled(inputs[0], missing)
        raise NotImplementedError(step.word)

    def _paired(step: Match, inputs: Sequence[DataFrame], needed: frozenset[str]) -> DataFrame:
        match = step.catalog
        columns = step.columns(needed)
        ra, dec, other_ra, other_dec = match.coordinates
        left = crossmatch.Matching(inputs[0], key_of(step.left.attributes), ra, dec, columns[0])
        right = crossmatch.Matching(inputs[1], key_of(step.right.attributes), other_ra, other_dec, columns[1])
        fewer = estimate(scene, step.left) < estimate(scene, step.right)
        return crossmatch.paired(
            left, right, match.radius, match.separation.identity, best=match.matches == "best", spread_left=fewer
        )

    def _concatenated(
        step: Concat, inputs: Sequence[DataFrame], key: Sequence[str], needed: frozenset[str]
    ) -> DataFrame:
        parts = []
        for at, one in enumerate(inputs):
            rest = one
            for before in () if step.disjoint else inputs[:at]:
                rest = rows.excluded(rest, before, key)
            parts.append(rest)
        wanted = [(one, given) for one, given in step.columns if one.identity in needed or one.identity in key]
        return rows.concatenated(
            parts, [{one.identity: given[at] for one, given in wanted} for at in range(len(parts))]
        )

    return frame(plan, needed)


def _carried(attributes: Attributes, needed: frozenset[str]) -> list[str]:
    return [*key_of(attributes), *sorted(needed.difference(key_of(attributes)))]
