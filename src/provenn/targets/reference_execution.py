"""Execution of the steps that follow references, as Spark DataFrames whose columns are named by identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from provenn.criteria import AttributeIdentity
from provenn.spark import reference_operations
from provenn.targets.join_sizes import is_small
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
from provenn.targets.scene import Scene
from provenn.targets.steps import find_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["compute_reference_step"]


def compute_reference_step(
    scene: Scene,
    step: Partnered | Lookup | Group | First | Explode,
    inputs: Sequence[DataFrame],
    needed: frozenset[AttributeIdentity],
) -> DataFrame:
    """Return the rows of a step that follows references."""
    first, *rest = inputs
    match step:
        case Partnered(own=own, others=others, is_in=is_in):
            is_few = is_small(scene, step.other, len(others))
            return reference_operations.keep_partnered_rows(first, rest[0], own, others, is_in=is_in, is_small=is_few)
        case Lookup(reference=reference, keeps_all=keeps_all):
            looked_up, partner_key = step.find_columns(needed), find_key(step.other.attributes)
            is_few = is_small(scene, step.other, len(partner_key) + len(looked_up))
            return reference_operations.look_up(
                first, rest[0], reference.identities, partner_key, looked_up, keeps_all=keeps_all, is_small=is_few
            )
        case Group(reference=reference):
            by = dict(zip(reference.key, reference.identities, strict=True))
            return reference_operations.group_rows(first, by, step.find_values(needed), find_key(step.input.attributes))
        case First(by=grouping, order=order, number=number):
            return reference_operations.keep_first_rows(first, grouping, order, number, find_key(step.attributes))
        case Explode(arrays=arrays, key=key):
            *own_key, position = (attribute.identity for attribute in key)
            renamed = dict(zip(own_key, find_key(step.input.attributes), strict=True))
            columns = [column for column in step.columns if column.attribute.identity in needed]
            return reference_operations.explode_arrays(first, arrays, renamed, position, columns)
