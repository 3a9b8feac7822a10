"""Where the values of an attribute come from in a plan: which steps read, derive or calculate them."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.targets.match_steps import Match
from provenn.targets.plan import Plan
from provenn.targets.steps import Calculate, Combine, Concat, Derive, Fill, Nothing, Scan, Step, Stored

__all__ = ["computed_attributes", "giving_steps", "reused_attributes"]


def giving_steps(step: Step, identity: str) -> Iterator[Step]:
    """Yield the steps that give the values of an attribute: for different sources, there may be several."""
    match step:
        case Scan() | Stored():
            yield step
        case Derive(attribute=attribute) if attribute.identity == identity:
            yield step
        case Calculate(outputs=outputs) if identity in {output.identity for output in outputs}:
            yield step
        case Fill(missing=missing) if identity in {attribute.identity for attribute in missing}:
            yield step
        case Concat():
            given = next(names for attribute, names in step.columns if attribute.identity == identity)
            for member, name in zip(step.members, given, strict=True):
                yield from giving_steps(member, name)
        case Match(catalog=catalog) if identity == catalog.separation.identity:
            yield step
        case Match():
            columns = step.columns(frozenset({identity}))
            side = next(at for at, given in enumerate(columns) if identity in given)
            yield from giving_steps(step.inputs[side], columns[side][identity])
        case Combine():
            yield from giving_steps(next(one for one in step.members if identity in one.attributes), identity)
        case Nothing():
            return
        case _:
            yield from giving_steps(step.inputs[0], identity)


def reused_attributes(plan: Plan) -> dict[str, str]:
    """Return the attributes of which at least some values are read from fragments: their names, by identity."""
    return _given_by(plan, Stored)


def computed_attributes(plan: Plan) -> dict[str, str]:
    """Return the attributes of which at least some values are derived, calculated or matched: names, by identity.

    An attribute of which a part was stored is both reused and computed; one that files hold is neither.
    """
    return _given_by(plan, Derive | Calculate | Match)


def _given_by(plan: Plan, kind: type | object) -> dict[str, str]:
    return {
        column.identity: column.name
        for column in plan.columns
        if column.identity in plan.needed
        and any(isinstance(step, kind) for step in giving_steps(plan.after, column.identity))  # type: ignore[arg-type]
    }
