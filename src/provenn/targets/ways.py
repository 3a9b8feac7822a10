"""The origin of attribute values in a plan: reading, derivation or calculation."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.criteria import AttributeIdentity
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.match_steps import Match, list_side_columns
from provenn.targets.opaque_steps import QueryBySql
from provenn.targets.plan import Plan
from provenn.targets.reference_steps import Explode, Group, Lookup
from provenn.targets.steps import Calculate, Combine, Concat, Derive, Fill, FragmentScan, Nothing, PlanStep, Scan

__all__ = ["find_computed_attributes", "find_giving_steps", "find_reused_attributes"]


def find_giving_steps(step: PlanStep, identity: AttributeIdentity) -> Iterator[PlanStep]:
    """Yield the steps that give the values of an attribute; different sources may have different steps."""
    match step:
        case Scan() | FragmentScan():
            yield step
        case Derive(attribute=attribute) if attribute.identity == identity:
            yield step
        case Calculate(outputs=outputs) if identity in {output.identity for output in outputs}:
            yield step
        case Fill(missing=missing) if identity in {attribute.identity for attribute in missing}:
            yield step
        case Concat():
            identities = next(identities for attribute, identities in step.columns if attribute.identity == identity)
            for member, member_identity in zip(step.members, identities, strict=True):
                yield from find_giving_steps(member, member_identity)
        case Match(catalog=catalog) if identity == catalog.separation.identity:
            yield step
        case ContinuedMatch(catalog=catalog, columns=stored_columns):
            yield from find_giving_steps(step.stored, stored_columns[identity])
            if identity == catalog.separation.identity:
                yield step
                return
            sides = list_side_columns(catalog, frozenset({identity}))
            for name, side_step in step.sides.items():
                own = sides[name.endswith("right")]
                if identity in own and not name.startswith("kept"):
                    yield from find_giving_steps(side_step, own[identity])
        case Match():
            columns = step.columns(frozenset({identity}))
            side = next(position for position, side_columns in enumerate(columns) if identity in side_columns)
            yield from find_giving_steps(step.inputs[side], columns[side][identity])
        case Lookup() if looked_up := step.find_columns(frozenset({identity})):
            yield from find_giving_steps(step.other, looked_up[identity])
        case Group() | Explode() | QueryBySql():
            yield step
        case Combine():
            yield from find_giving_steps(
                next(member for member in step.members if identity in member.attributes), identity
            )
        case Nothing():
            return
        case _:
            yield from find_giving_steps(step.inputs[0], identity)


def find_reused_attributes(plan: Plan) -> dict[AttributeIdentity, str]:
    """Return the names, by identity, of attributes with at least some values read from fragments."""
    return _find_attributes_given_by(plan, FragmentScan)


def find_computed_attributes(plan: Plan) -> dict[AttributeIdentity, str]:
    """Return the names, by identity, of attributes with some derived, calculated, matched or aggregated values.

    A partly stored attribute is both reused and computed; an attribute read from files is neither.
    """
    return _find_attributes_given_by(plan, Derive | Calculate | Match | ContinuedMatch | Group | Explode | QueryBySql)


def _find_attributes_given_by(plan: Plan, kind: type | object) -> dict[AttributeIdentity, str]:
    """Return the names, by identity, of needed attributes with some values from a kind of step."""
    return {
        column.identity: column.name
        for column in plan.columns
        if column.identity in plan.needed
        and any(isinstance(step, kind) for step in find_giving_steps(plan.after, column.identity))  # type: ignore[arg-type]
    }
