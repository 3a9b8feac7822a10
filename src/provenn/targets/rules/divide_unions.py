"""Rule: calculate member by member where fragments hold what a calculator gives for members of a union."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from provenn.catalogs import Attribute, Extent
from provenn.catalogs.calculators.sql import Output
from provenn.catalogs.extent import build_extent, everything, leaf
from provenn.catalogs.sample_sources import parse_sample_rule
from provenn.criteria import AttributeIdentity, identities_in, parse_criterion, parse_expression
from provenn.targets.match_steps import Matched
from provenn.targets.rules.disjoint_members import separate_members
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Concat, Derive, Exclude, PlanStep, Restrict, Select, walk_steps
from provenn.targets.supplies import find_supplies

__all__ = ["divide_unions"]


def divide_unions(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Move row-wise steps into the members of a union, if a fragment holds a result for one of the members.

    Sound: a row of the union has the values of the member that gives it, and a row-wise step looks at one row. So the
    step gives this row what the same step on the member's own attributes gives. The members share no source here, so no
    calculator is called twice for one source.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import calculate, make_base, show_rewrite, store
    >>> monday, tuesday = make_base("monday", ["vmag"]), make_base("tuesday", ["vmag"])
    >>> both = verbs.concat(monday, tuesday, overlap="first")
    >>> show_rewrite(divide_unions, calculate(both), stored=[store(calculate(monday))])
    calculate(concat(monday, tuesday))
    -> disjoint concat(calculate(monday), calculate(exclude(tuesday, monday)))
    """
    if not isinstance(step, _ROW_STEPS) or not _calculates_above_union(step):
        return None
    branches = _divide(step, needed, scene)
    if branches is None or not _is_stored(step, branches, scene):
        return None
    for branch in branches:
        scene.note_definitions(branch.step)
    columns = tuple(
        (attribute, tuple(branch.get_identity(identity) for branch in branches))
        for identity, attribute in step.attributes.items()
        if all(branch.get_identity(identity) in branch.step.attributes for branch in branches)
    )
    because = "fragments hold what the calculator gives for members of the union"
    return Rewrite(Concat(tuple(branch.step for branch in branches), columns, True, step.extent), because)


_ROW_STEPS = (Calculate, Derive, Select, Restrict, Exclude, Matched, Combine)


@dataclass(frozen=True, slots=True)
class _Branch:
    """A step on one member of a union, and the member's attributes by the identities that the union gives them."""

    step: PlanStep
    renamed: Mapping[AttributeIdentity, Attribute]

    def get_identity(self, identity: AttributeIdentity) -> AttributeIdentity:
        """Return the identity in the member of an attribute of the union."""
        attribute = self.renamed.get(identity)
        return identity if attribute is None else attribute.identity

    def get_attributes(self, identities: Iterable[AttributeIdentity]) -> dict[AttributeIdentity, Attribute]:
        """Return the attributes in the member, by their identities in the union."""
        return {identity: self.step.attributes[self.get_identity(identity)] for identity in identities}


def _follow_rows(step: PlanStep) -> tuple[PlanStep, ...]:
    """Return the inputs whose rows a row-wise step continues; none for any other step."""
    if isinstance(step, Combine):
        return step.members
    if isinstance(step, Calculate) and step.is_catalog_wide:
        return ()
    return step.inputs[:1] if isinstance(step, _ROW_STEPS) else ()


def _calculates_above_union(step: PlanStep) -> bool:
    """Return whether a row-wise calculator is called for rows of a union whose members differ in attributes."""
    return any(
        isinstance(calculation, Calculate)
        and not calculation.is_catalog_wide
        and any(_differs(union) for union in walk_steps(calculation, within=_follow_rows) if isinstance(union, Concat))
        for calculation in walk_steps(step, within=_follow_rows)
    )


def _differs(union: Concat) -> bool:
    return any(set(identities) != {attribute.identity} for attribute, identities in union.columns)


def _is_stored(step: PlanStep, branches: Sequence[_Branch], scene: Scene) -> bool:
    """Return whether a fragment holds an output for sources of a branch that it does not hold for the whole step."""
    whole = {output.identity for output in _iterate_outputs(step)}
    for branch in branches:
        outputs = {output.identity for output in _iterate_outputs(branch.step)} - whole
        if outputs and any(
            not scene.is_empty(supply.extent & branch.step.extent)
            for supply in find_supplies(scene, outputs, branch.step)
        ):
            return True
    return False


def _iterate_outputs(step: PlanStep) -> Iterator[Attribute]:
    for calculation in walk_steps(step, within=_follow_rows):
        if isinstance(calculation, Calculate) and not calculation.is_catalog_wide:
            yield from calculation.outputs


def _divide(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> list[_Branch] | None:
    """Return the branches of a step, one for each member of the first union below it; None without a union."""
    if isinstance(step, Concat):
        return _divide_union(step, needed, scene) if _differs(step) else None
    reads = step.reads(needed)
    for position, input_step in enumerate(_follow_rows(step)):
        branches = _divide(input_step, reads[position], scene)
        if branches is not None:
            return [_move_step(step, position, branch) for branch in branches]
    return None


def _divide_union(union: Concat, needed: frozenset[AttributeIdentity], scene: Scene) -> list[_Branch]:
    members = union.members if union.is_disjoint else separate_members(union, needed, scene)
    return [
        _Branch(
            member,
            {
                attribute.identity: member.attributes[identities[position]]
                for attribute, identities in union.columns
                if identities[position] != attribute.identity and identities[position] in member.attributes
            },
        )
        for position, member in enumerate(members)
    ]


def _move_step(step: PlanStep, position: int, branch: _Branch) -> _Branch:
    """Return a row-wise step on a branch of its input at a position."""
    match step:
        case Select():
            condition = _rename_condition(step.condition, branch)
            return _Branch(Select(branch.step, condition, branch.step.extent & condition), branch.renamed)
        case Derive():
            return _move_derivation(step, branch)
        case Calculate():
            return _move_calculation(step, branch)
    inputs = (*step.inputs[:position], branch.step, *step.inputs[position + 1 :])
    return _Branch(step.replace_inputs(inputs), branch.renamed)


def _move_derivation(step: Derive, branch: _Branch) -> _Branch:
    others = branch.get_attributes(step.expression.reads)
    output = Output.of_attribute(step.attribute, step.expression.canonical).derive_from(others)
    renamed = {**branch.renamed, step.attribute.identity: output}
    if output.identity in branch.step.attributes:
        return _Branch(branch.step, renamed)
    expression = parse_expression(step.expression.canonical, others, canonical=True)
    return _Branch(Derive(branch.step, output, expression), renamed)


def _move_calculation(step: Calculate, branch: _Branch) -> _Branch:
    attributes = branch.get_attributes(step.arguments)
    inputs = [attributes[argument] for argument in step.arguments]
    outputs = tuple(step.calculator.make_output(name, kind, inputs) for name, kind in step.calculator.outputs)
    renamed = {**branch.renamed, **{old.identity: new for old, new in zip(step.outputs, outputs, strict=True)}}
    if all(output.identity in branch.step.attributes for output in outputs):
        return _Branch(branch.step, renamed)
    arguments = tuple(attribute.identity for attribute in inputs)
    return _Branch(Calculate(branch.step, step.calculator, arguments, outputs), renamed)


def _rename_condition(condition: Extent, branch: _Branch) -> Extent:
    """Return a condition with the member's attributes in place of those of the union."""

    def rename_label(label: str) -> Extent:
        if parse_sample_rule(label) is not None or not set(identities_in(label)) & branch.renamed.keys():
            return leaf(label)
        others = branch.get_attributes(identities_in(label))
        return build_extent(parse_criterion(label, others, canonical=True).true, leaf)

    return condition.evaluate(rename_label, everything)
