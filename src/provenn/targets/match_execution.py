"""Execution of the steps that match on the sky, as Spark DataFrames whose columns are named by identity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from provenn.criteria import AttributeIdentity
from provenn.spark.columns import select_columns
from provenn.spark.crossmatch import MatchSide, join_pairs, match_pairs
from provenn.spark.row_operations import keep_matched_rows
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.costs import estimate_rows
from provenn.targets.match_steps import Match, list_side_columns
from provenn.targets.scene import Scene
from provenn.targets.steps import PlanStep, find_key, is_key

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["compute_continued_match", "compute_match"]

_Rows = tuple[PlanStep, "DataFrame"]
"""A step with its rows."""


def compute_match(
    scene: Scene, step: Match, inputs: Sequence[DataFrame], needed: frozenset[AttributeIdentity]
) -> DataFrame:
    """Return the pairs of a match."""
    left, right = inputs
    return _match_rows(scene, step, (step.left, left), (step.right, right), needed)


def _match_rows(
    scene: Scene, step: Match | ContinuedMatch, left: _Rows, right: _Rows, needed: frozenset[AttributeIdentity]
) -> DataFrame:
    """Return the pairs of rows of both sides; the smaller side is copied to several cells."""
    match = step.catalog
    columns = list_side_columns(match, needed)
    ra, dec, other_ra, other_dec = match.coordinates
    placement, other_placement = match.placements
    return match_pairs(
        MatchSide(left[1], find_key(left[0].attributes), ra, dec, columns[0], match.rule.radius_column, placement),
        MatchSide(right[1], find_key(right[0].attributes), other_ra, other_dec, columns[1], None, other_placement),
        match.rule,
        match.separation.identity,
        spread_left=estimate_rows(scene, left[0]) < estimate_rows(scene, right[0]),
    )


def compute_continued_match(
    scene: Scene, step: ContinuedMatch, inputs: Sequence[DataFrame], needed: frozenset[AttributeIdentity]
) -> DataFrame:
    """Return the pairs of a match: stored ones, and those of new sources; see `provenn.targets.continued_match`."""
    match, separation = step.catalog, step.catalog.separation.identity
    stored, *frames = inputs
    rows: dict[str, _Rows] = {
        name: (side, frame) for (name, side), frame in zip(step.sides.items(), frames, strict=True)
    }
    left_key = find_key({attribute.identity: attribute for attribute, _ in match.attributes_of("left")})
    right_key = find_key({attribute.identity: attribute for attribute, _ in match.attributes_of("right")})
    values = sorted(identity for identity in needed | {separation} if not is_key(identity))
    columns = [(name, name) for name in (*left_key, *right_key)] + [(step.columns[name], name) for name in values]
    pairs = select_columns(stored, columns)
    matched = []
    if "kept_left" in rows:
        pairs = _keep_pairs(pairs, left_key, rows["kept_left"])
    if "kept_right" in rows:
        lost = _keep_pairs(pairs, right_key, rows["kept_right"], is_in=False)
        pairs = _keep_pairs(pairs, right_key, rows["kept_right"])
        if step.may_lose_partner:
            left, frame = rows["left"]
            alone = keep_matched_rows(frame, lost, find_key(left.attributes), left_key)
            matched.append(_match_rows(scene, step, (left, alone), rows["right"], needed))
    if "new_right" in rows:
        matched.append(_match_rows(scene, step, rows["left"], rows["new_right"], needed))
    if "new_left" in rows:
        matched.append(_match_rows(scene, step, rows["new_left"], rows["right"], needed))
    return join_pairs([pairs, *matched], left_key, right_key, separation, match.rule)


def _keep_pairs(
    pairs: DataFrame, pair_key: Sequence[AttributeIdentity], side: _Rows, *, is_in: bool = True
) -> DataFrame:
    """Return the pairs whose source is among the rows of a side; with `is_in` False, the other pairs."""
    step, frame = side
    return keep_matched_rows(pairs, frame, pair_key, find_key(step.attributes), is_in=is_in)
