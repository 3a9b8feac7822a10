"""A plan that describes itself in the words of its reader."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from provenn.catalogs.caveats import describe_caveats
from provenn.display.plan import PlanArgument, PlanPicture, plan_html, plan_svg, plan_text
from provenn.targets.leaning import find_declared_facts
from provenn.targets.looking import find_refusal
from provenn.targets.plan import Plan
from provenn.words.arguments import Argument, list_arguments
from provenn.words.plan_words import build_picture
from provenn.words.step_words import DIGESTS, Words

if TYPE_CHECKING:
    from provenn.knowledge.stored_facts import Fact
    from provenn.targets.keeping import Keep

__all__ = ["DescribedPlan"]


@dataclass(frozen=True, slots=True)
class DescribedPlan(Plan):
    """A plan that describes itself. As text, a tree of steps; in a notebook, a picture.

    Parameters
    ----------
    keep
        The results to keep; None if the caller did not choose.
    words
        The vocabulary of the reader.
    """

    keep: Keep | None = None
    words: Words = field(default=DIGESTS, repr=False)

    @classmethod
    def of(cls, plan: Plan, words: Words = DIGESTS, keep: Keep | None = None) -> DescribedPlan:
        """Return a plan that describes itself with a vocabulary."""
        values = {plan_field.name: getattr(plan, plan_field.name) for plan_field in fields(Plan)}
        return cls(**values, keep=keep, words=words)

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts behind the answer, by number, without facts proved by observations.

        Each access searches for these facts anew.
        """
        return self.name_facts(find_declared_facts(self))

    def name_facts(self, facts: Iterable[Fact]) -> tuple[Fact, ...]:
        """Return facts with the reader's names in their statements."""
        word = self.words.word
        return tuple(replace(fact, statement=fact.statement.relabelled(word)) for fact in facts)

    @property
    def caveats(self) -> tuple[str, ...]:
        """The unverified assumptions about base files, one sentence each."""
        providers = [attribute.provider for attribute in self.provided] if self.catalog is None else [self.catalog]
        read = {fragment.id for fragment in self.fragments}
        stored_catalogs = [stored.catalog for stored in self.scene.fragments if stored.fragment.id in read]
        return describe_caveats([*providers, *stored_catalogs], self.words.word)

    @property
    def engine(self) -> str:
        """Who reads: a look without Spark, or Spark and the reason."""
        if self.empty:
            return "nobody reads data, because the answer is proved to be empty"
        reason = find_refusal(self)
        if reason:
            return f"Spark computes it, because {reason}"
        return "read without Spark, unless the result is written to files"

    @property
    def reasons(self) -> tuple[Argument, ...]:
        """The reasons why the executed steps answer the request: rule, statements, and a proof on demand."""
        return list_arguments(self, self.words)

    @property
    def picture(self) -> PlanPicture:
        """The trees and notes of the plan, for display."""
        return build_picture(self, self.words, self.keep, self.rests_on, self.caveats)

    def text(self, width: int = 120) -> str:
        """Return the literal and the executed steps as trees for a terminal."""
        return plan_text(self.picture, width)

    def svg(self) -> str:
        """Draw the literal steps beside the executed steps."""
        return plan_svg(self.picture)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        arguments = [
            PlanArgument(argument.because, tuple(map(str, argument.statements)), argument.proof)
            for argument in self.reasons
        ]
        return plan_html(self.picture, arguments)
