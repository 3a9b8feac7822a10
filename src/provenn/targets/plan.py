"""A plan: the request, the literal steps, the steps to execute, and the proof that both give the same answer."""

from __future__ import annotations

from dataclasses import dataclass, field

from provenn.catalogs import Attribute, Base, Catalog, Schema
from provenn.criteria import AttributeIdentity
from provenn.data.fragments import Fragment
from provenn.display.row_counts import Rows
from provenn.logic import Statement
from provenn.targets.bounds import bound_answer_rows
from provenn.targets.providers import ProvidedAttribute
from provenn.targets.rewriting import AppliedRule
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, FragmentScan, Nothing, PlanStep, Scan, is_key, walk_steps

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a request is answered.

    A plan is a value without prose; `provenn.words.described_plan.DescribedPlan` is a plan that describes itself.

    Parameters
    ----------
    what
        The request, in words.
    catalog
        The request as a catalog; None if some sources get NULL, because no catalog can express this.
    provided
        Each requested attribute, with its provider.
    created
        Catalogs that planning created because the archive had no equal.
    columns
        The attributes of the result, in order.
    before
        The literal steps, as the catalogs are defined.
    after
        The steps that are executed.
    applied
        The rules between `before` and `after`, in order.
    scene
        The knowledge that planning used.
    coverage
        The proved statements that every requested source has the requested attributes.
    """

    what: str
    catalog: Catalog | None
    provided: tuple[ProvidedAttribute, ...]
    created: tuple[Catalog, ...]
    columns: tuple[Attribute, ...]
    before: PlanStep
    after: PlanStep
    applied: tuple[AppliedRule, ...]
    scene: Scene = field(repr=False)
    coverage: tuple[Statement, ...] = field(default=(), repr=False)

    @property
    def needed(self) -> frozenset[AttributeIdentity]:
        """The identities of the requested attributes, without the key."""
        return frozenset(column.identity for column in self.columns if not is_key(column.identity))

    @property
    def schema(self) -> Schema:
        """The attributes of the result."""
        return Schema(self.columns)

    @property
    def bases(self) -> tuple[Base, ...]:
        """The base catalogs whose files are read."""
        return tuple(
            {step.base.digest: step.base for step in walk_steps(self.after) if isinstance(step, Scan)}.values()
        )

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The fragments that are read."""
        return tuple(
            {
                step.fragment.id: step.fragment for step in walk_steps(self.after) if isinstance(step, FragmentScan)
            }.values()
        )

    @property
    def empty(self) -> bool:
        """Whether the answer is proved to be empty, so that nothing is computed."""
        return isinstance(self.after, Nothing)

    @property
    def most(self) -> int | None:
        """The upper bound for the number of sources; None if there is none."""
        return self.rows.high

    @property
    def rows(self) -> Rows:
        """The number of sources: an exact count, or sound bounds with an estimate."""
        return Rows.exactly(0) if self.empty else bound_answer_rows(self.scene, (self.before, self.after))

    @property
    def calculations(self) -> tuple[Calculate, ...]:
        """The calculators to call."""
        return tuple(step for step in walk_steps(self.after) if isinstance(step, Calculate))
