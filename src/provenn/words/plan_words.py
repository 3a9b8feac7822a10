"""The description of a plan: its steps as trees with reasons, and notes on skipped, created and kept parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn import deadline
from provenn.display.name_lists import join_names
from provenn.display.plan import PlanNode, PlanPicture
from provenn.display.row_counts import Rows
from provenn.targets.bounds import bound_step_rows
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.costs import estimate_cost
from provenn.targets.gathering import find_reused_fragments
from provenn.targets.keeping import Keep, find_parts_to_keep
from provenn.targets.literal import build_steps
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
from provenn.targets.rules.continue_match import explain_whole_match
from provenn.targets.steps import (
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
    is_key,
    walk_steps,
)
from provenn.targets.ways import find_giving_steps
from provenn.words.arguments import list_arguments
from provenn.words.step_words import Words, describe_step

if TYPE_CHECKING:
    from provenn.criteria import AttributeIdentity
    from provenn.knowledge.stored_facts import Fact
    from provenn.targets.plan import Plan
    from provenn.targets.rewriting import AppliedRule

__all__ = ["build_picture"]

_DEEPEST = 40
"""How many steps a tree shows."""

_Operation = tuple[object, ...]
"""The operation of a step, apart from its inputs."""


def build_picture(
    plan: Plan, words: Words, keep: Keep | None, rests_on: Sequence[Fact], caveats: tuple[str, ...]
) -> PlanPicture:
    """Return the trees and notes of a plan for display.

    Parameters
    ----------
    plan
        The plan.
    words
        The vocabulary of the reader.
    keep
        The results to keep; None if the caller did not choose.
    rests_on
        The declared facts behind the answer, in the words of the reader.
    caveats
        The unverified assumptions about base files.
    """
    builder = _PictureBuilder(plan, words)
    notes = {
        "Attributes": tuple(builder.describe_attributes()),
        "Proved": tuple(str(argument) for argument in list_arguments(plan, words) if argument.statements),
        "Rests on": tuple(fact.words for fact in rests_on),
        "Created": tuple(_describe_created(plan, words)),
        "Kept": tuple(_describe_kept(plan, keep)),
        "Not read": plan.scene.unread_reasons,
        "Chosen": tuple(_describe_choice(plan)),
        "Taken on trust": caveats,
    }
    names = join_names([column.name for column in plan.columns if not is_key(column.identity)]) or "the key"
    return PlanPicture(
        f"{names} of {plan.what}",
        builder.build_literal_tree(plan.before, plan.needed),
        builder.build_executed_tree(plan.after, plan.needed),
        tuple((heading, lines) for heading, lines in notes.items() if lines),
    )


@dataclass(frozen=True, slots=True)
class _DropReason:
    """The reason for dropping a step: the rule, if a rule dropped the step, and a sentence."""

    rule: AppliedRule | None
    because: str


class _PictureBuilder:
    """Builds the trees of a plan."""

    def __init__(self, plan: Plan, words: Words) -> None:
        self.plan = plan
        self.words = words
        self.answer_rows = plan.rows
        self.operations = {operation for step in walk_steps(plan.after) for operation in _find_operations(step)}
        self.dropped, self.introduced = _find_changes(plan.applied)
        names: dict[int, list[str]] = {}
        for digest, step in build_steps(*plan.scene.catalogs).items():
            names.setdefault(step.signature, []).append(words.word(digest))
        # If the same steps make several catalogs, show the shortest name, and names of one word first.
        self.names = {
            signature: min(candidates, key=lambda word: (" " in word, len(word)))
            for signature, candidates in names.items()
        }

    # -- the literal steps --------------------------------------------------------------------------------------

    def build_literal_tree(
        self,
        step: PlanStep,
        needed: frozenset[AttributeIdentity],
        above: _DropReason | None = None,
        seen: set[int] | None = None,
    ) -> PlanNode:
        """Return the tree of the literal steps, each marked computed or skipped.

        `above` is the drop reason of the step above, so that a reason is not repeated.
        """
        deadline.check()
        seen = set() if seen is None else seen
        dropped = self._explain_drop(step) if self._is_dropped(step) else None
        label = "compute" if dropped is None else "skip"
        name = self.names.get(step.signature, "")
        what = describe_step(step, needed, self.plan.scene, self.words)
        what = what if not name or isinstance(step, Scan) else f"{what} ({name})"
        if id(step) in seen and step.inputs:
            return PlanNode(label, what, step=step.signature, again=True)
        seen.add(id(step))
        reads = zip(step.inputs, step.reads(needed), strict=True)
        inputs = (
            tuple(self.build_literal_tree(input_step, read, dropped, seen) for input_step, read in reads)
            if len(seen) < _DEEPEST
            else ()
        )
        cut = () if len(inputs) == len(step.inputs) else (_make_rest_node(step),)
        because = "" if dropped is None or (above is not None and above.rule is dropped.rule) else dropped.because
        return PlanNode(label, what, self._rows(step), because, (*inputs, *cut), step=step.signature)

    def _is_dropped(self, step: PlanStep) -> bool:
        """Return whether no operation of a literal step is executed."""
        return not _find_operations(step) & self.operations

    def _explain_drop(self, step: PlanStep) -> _DropReason:
        """Return why a step is not executed.

        A rule's own reason applies only if the step has the same sources as the step that the rule replaced.
        """
        rules = [self.dropped[operation] for operation in _find_operations(step) if operation in self.dropped]
        if not rules:
            return _DropReason(None, "no remaining step needs it")
        rule = rules[-1]
        if rule.before.extent.digest == step.extent.digest:
            return _DropReason(rule, rule.because)
        fragments_read = sorted(find_reused_fragments(rule.after) - find_reused_fragments(rule.before))
        if not fragments_read:
            return _DropReason(rule, "no remaining step needs it")
        rows = next(scan.fragment.rows for scan in self.plan.scene.fragments if scan.fragment.id == fragments_read[0])
        stored = Rows.exactly(rows).with_noun("source")
        return _DropReason(rule, f"fragment #{fragments_read[0]} with {stored} is read instead")

    # -- the executed steps --------------------------------------------------------------------------------------------

    def build_executed_tree(
        self, step: PlanStep, needed: frozenset[AttributeIdentity], reason_above: str = "", seen: set[int] | None = None
    ) -> PlanNode:
        """Return the tree of the executed steps.

        `reason_above` is the last reason shown above, so that a reason is not repeated.
        """
        seen = set() if seen is None else seen
        what = describe_step(step, needed, self.plan.scene, self.words)
        label, part = self._make_label(step)
        if id(step) in seen and step.inputs:
            return PlanNode(label, what, part=part, step=step.signature, again=True)
        seen.add(id(step))
        changed = self._explain_introduction(step)
        because = changed if changed and changed != reason_above else self._explain_usual_step(step, needed)
        reads = zip(step.inputs, step.reads(needed), strict=True)
        inputs = (
            tuple(
                self.build_executed_tree(input_step, read, changed or reason_above, seen) for input_step, read in reads
            )
            if len(seen) < _DEEPEST
            else ()
        )
        cut = () if len(inputs) == len(step.inputs) else (_make_rest_node(step),)
        return PlanNode(label, what, self._rows(step), because, (*inputs, *cut), part, step.signature)

    def _make_label(self, step: PlanStep) -> tuple[str, float]:
        """Return the label of an executed step, and the stored share of the rows."""
        if isinstance(step, Nothing):
            return "skip", 0.0
        if isinstance(step, FragmentScan):
            return "reuse", 1.0
        if isinstance(step, ContinuedMatch):
            return "partial reuse", 0.0
        if not isinstance(step, Concat):
            return "compute", 0.0
        stored = [self._rows(member) for member in step.members if _is_from_store(member)]
        if not stored:
            return "compute", 0.0
        if len(stored) == len(step.members):
            return "reuse", 1.0
        stored_rows, all_rows = sum(stored, Rows.exactly(0)), self._rows(step)
        if stored_rows.estimate is None or not all_rows.estimate:
            return "partial reuse", 0.0
        return f"partial reuse ({stored_rows} of {all_rows})", min(1.0, stored_rows.estimate / all_rows.estimate)

    def _explain_introduction(self, step: PlanStep) -> str:
        """Return the reason of the rule behind a step; empty if no rule introduced the step."""
        for operation in _find_operations(step):
            rule = self.introduced.get((operation, step.extent.digest))
            if rule is not None:
                return rule.because
        return ""

    def _explain_usual_step(self, step: PlanStep, needed: frozenset[AttributeIdentity]) -> str:
        """Return the reason for a step that no rule introduced."""
        match step:
            case Scan():
                return "read from the files"
            case FragmentScan():
                return "computed before"
            case Calculate(outputs=outputs) if step.is_catalog_wide:
                return "not stored for exactly these sources: its value for one of them depends on all"
            case Calculate(outputs=outputs):
                fragments = self.plan.scene.find_stored(output.identity for output in outputs)
                return "not stored for these sources" if fragments else "not stored"
            case Derive():
                return "SQL is cheap: its results are not stored"
            case Select():
                return "selects the requested sources"
            case Combine():
                return "no single table has every attribute"
            case Restrict() | Exclude() | Matched() | Partnered():
                return "the other catalog decides which sources remain"
            case Match():
                return explain_whole_match(step, needed, self.plan.scene) or "these pairs are not stored"
            case ContinuedMatch():
                return "the stored pairs of an earlier version serve"
            case Lookup():
                return "the attributes belong to partners"
            case Group():
                return "each group is a source"
            case First():
                return "all sources of a group decide which come first"
            case Explode():
                return "each element is a source"
            case FilterBySql():
                return "nothing is known of its condition"
            case QueryBySql():
                return "nothing is known of its rows: all of them are computed"
            case Concat():
                return "its sources come from several steps"
            case Fill():
                return "these sources do not have it"
        return "proved to have no sources"

    def _rows(self, step: PlanStep) -> Rows:
        """Return the number of rows of a step; zero if the step is proved to be empty.

        Steps with the sources of the answer have the bounds of the answer, which both trees prove together.
        """
        scene = self.plan.scene
        if step.extent.digest in (self.plan.before.extent.digest, self.plan.after.extent.digest):
            return self.answer_rows
        return Rows.exactly(0) if scene.is_empty(step.extent) else bound_step_rows(scene, step)

    # -- attributes ----------------------------------------------------------------------------------------------

    def describe_attributes(self) -> Iterator[str]:
        """Yield one line for each origin of requested attributes."""
        if self.plan.empty:
            return
        names_by_origin: dict[str, list[str]] = {}
        for column in self.plan.columns:
            if not is_key(column.identity):
                origins = list(
                    dict.fromkeys(map(self._describe_source, find_giving_steps(self.plan.after, column.identity)))
                )
                ordered = sorted(origins, key=lambda origin: "fragment" not in origin)
                names_by_origin.setdefault("; the rest ".join(ordered), []).append(column.name)
        for origin, names in names_by_origin.items():
            yield f"{join_names(names)}: {origin}"

    def _describe_source(self, step: PlanStep) -> str:
        """Return how a step gives an attribute."""
        match step:
            case Scan(base=base):
                return f"read from {self.words.word(base.digest)}"
            case FragmentScan(fragment=fragment):
                return f"read from fragment #{fragment.id}"
            case Derive():
                return "derived by SQL"
            case Calculate() if not step.calls_python:
                return "derived by SQL from all sources"
            case Calculate(calculator=calculator):
                return f"calculated in Python by {calculator.function}"
            case Group():
                return "aggregated by SQL"
            case Explode():
                return "taken from arrays"
            case QueryBySql():
                return "computed by SQL that is not understood"
            case Fill():
                return "without a value"
        return "computed by the match"


def _find_operations(step: PlanStep) -> frozenset[_Operation]:
    """Return the operations of a step; a selection has an operation for each atom."""
    match step:
        case Scan(base=base):
            return frozenset({("scan", base.digest)})
        case FragmentScan(fragment=fragment):
            return frozenset({("reuse", fragment.id)})
        case Select(condition=condition):
            return frozenset(("select", label) for label in condition.labels)
        case Derive(attribute=attribute):
            return frozenset({("derive", attribute.identity)})
        case Calculate(outputs=outputs):
            return frozenset({("calculate", *(output.identity for output in outputs))})
        case Restrict(other=other) | Exclude(other=other):
            return frozenset({(step.word, other.extent.digest)})
        case Match(catalog=catalog):
            return frozenset({("match", catalog.digest)})
        case ContinuedMatch(catalog=catalog):
            return frozenset({("continue match", catalog.digest)})
        case Matched(condition=condition):
            return frozenset({("matched", condition.digest)})
        case Partnered(own=own, others=others, is_in=is_in):
            return frozenset({("partnered", own, others, is_in)})
        case Lookup(reference=reference, columns=columns):
            return frozenset({("lookup", reference, *(attribute.identity for attribute, _ in columns))})
        case Group(reference=reference):
            return frozenset({("group", reference)})
        case First(by=by, order=order, number=number):
            return frozenset({("first", by, *(ordering.canonical for ordering in order), number)})
        case Explode(arrays=arrays):
            return frozenset({("explode", *arrays)})
        case FilterBySql(selection=selection):
            return frozenset({("filter by SQL", selection.label)})
        case QueryBySql(query=query):
            return frozenset({("query by SQL", query.digest)})
    return frozenset({(step.word,)})


def _find_changes(
    applied: Iterable[AppliedRule],
) -> tuple[dict[_Operation, AppliedRule], dict[tuple[_Operation, str], AppliedRule]]:
    """Return the dropped and the introduced operations, each with the last responsible rule."""
    dropped: dict[_Operation, AppliedRule] = {}
    introduced: dict[tuple[_Operation, str], AppliedRule] = {}
    for rule in applied:
        before = {
            (operation, step.extent.digest): None
            for step in walk_steps(rule.before)
            for operation in _find_operations(step)
        }
        after = {
            (operation, step.extent.digest): None
            for step in walk_steps(rule.after)
            for operation in _find_operations(step)
        }
        remaining = {operation for operation, _ in after}
        dropped.update((operation, rule) for operation, _ in before if operation not in remaining)
        introduced.update((operation_place, rule) for operation_place in after if operation_place not in before)
    return dropped, introduced


def _is_from_store(step: PlanStep) -> bool:
    """Return whether a step reads a fragment and calls no calculator."""
    steps = list(walk_steps(step))
    return any(isinstance(descendant, FragmentScan) for descendant in steps) and not any(
        isinstance(descendant, Calculate) for descendant in steps
    )


def _make_rest_node(step: PlanStep) -> PlanNode:
    """Return a node with the number of steps left out of the tree."""
    number = len(list(walk_steps(*step.inputs)))
    return PlanNode("compute", f"… {number:,} more step{'s' * (number != 1)}")


def _describe_created(plan: Plan, words: Words) -> Iterator[str]:
    """Yield a sentence for each created catalog."""
    for catalog in plan.created:
        new = [name for name in catalog.schema.names if name not in catalog.dependencies[0].schema.names]
        description = f", which gives {join_names(list(new))}" if new else ""
        name = words.word(catalog.digest)
        yield f"{name}{description}: newly defined, for every source that allows it"


def _describe_kept(plan: Plan, keep: Keep | None) -> Iterator[str]:
    """Yield a sentence for each part to keep."""
    if keep is None:
        return
    for part in find_parts_to_keep(plan, keep):
        number = bound_step_rows(plan.scene, part.step).with_noun("source")
        yield f"the result{f' for {number}' if number else ''}, as a fragment (keep: {keep})"


def _describe_choice(plan: Plan) -> Iterator[str]:
    """Yield the reason for the choice: its cost relative to the literal steps."""
    if plan.empty:
        yield "no computation: the answer is proved to be empty"
        return
    if not plan.applied:
        yield "run every step as defined: nothing is cheaper"
        return
    share = estimate_cost(plan.scene, plan.after, plan.needed) / max(
        estimate_cost(plan.scene, plan.before, plan.needed), 1.0
    )
    kinds = [
        ("reads stored data", bool(plan.fragments)),
        ("derives with SQL", any(map(_is_sql, walk_steps(plan.after)))),
        ("calls Python last", any(step.calls_python for step in plan.calculations)),
    ]
    actions = ", ".join(text for text, is_used in kinds if is_used) or "reads only files"
    yield f"{actions}; {_compare_cost(share)}"


def _is_sql(step: PlanStep) -> bool:
    return isinstance(step, Derive) or (isinstance(step, Calculate) and not step.calls_python)


def _compare_cost(share: float) -> str:
    """Return the cost of a plan in words, from its share of the cost of running every step.

    >>> _compare_cost(0.0066)
    'about 150 times cheaper than running every step'
    >>> _compare_cost(0.7)
    'about 30 % cheaper than running every step'
    >>> _compare_cost(0.97)
    'costs as much as running every step'
    """
    if share > 0.95:
        return "costs as much as running every step"
    if share > 0.5:
        return f"about {float(f'{(1 - share) * 100:.1g}'):g} % cheaper than running every step"
    times = min(1 / max(share, 1e-9), 10_000)
    return f"about {float(f'{times:.2g}'):,g} times cheaper than running every step"
