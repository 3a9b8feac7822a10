"""A plan: what was asked, what would be computed literally, what is computed instead, and why that is the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from provenn.catalogs import Attribute, Base, Catalog, Schema
from provenn.catalogs.caveats import caveats_of
from provenn.display.rows import Rows
from provenn.logic import Statement
from provenn.store.facts import Fact
from provenn.store.fragments import Fragment
from provenn.targets.bounds import known_rows
from provenn.targets.providers import Provided
from provenn.targets.rewriting import Applied
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Nothing, Scan, Step, Stored, is_key, walk
from provenn.targets.wording import DIGESTS, Words

if TYPE_CHECKING:
    from provenn.targets.running import Keep
    from provenn.targets.telling import Argument

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a request is answered. As text, a tree of steps; in a notebook, a picture.

    Parameters
    ----------
    what
        What was asked, in words.
    catalog
        The request as a catalog; None if some values are missing in it, which no catalog has.
    provided
        Each attribute that was asked for, and who provides it.
    created
        Catalogs that nobody had defined.
    columns
        The attributes of the result, in order.
    before
        The steps, as everything is defined.
    after
        The steps that are executed.
    applied
        The rules that made one of the other, in order.
    scene
        What was known.
    keep
        Which results are kept; None if nobody has said.
    words
        What things are called by whoever looks at it.
    covering
        The statements by which all sources have what is asked of them.
    """

    what: str
    catalog: Catalog | None
    provided: tuple[Provided, ...]
    created: tuple[Catalog, ...]
    columns: tuple[Attribute, ...]
    before: Step
    after: Step
    applied: tuple[Applied, ...]
    scene: Scene = field(repr=False)
    keep: Keep | None = None
    words: Words = field(default=DIGESTS, repr=False)
    covering: tuple[Statement, ...] = field(default=(), repr=False)

    @property
    def needed(self) -> frozenset[str]:
        """The identities of the attributes that were asked for, without the key."""
        return frozenset(one.identity for one in self.columns if not is_key(one.identity))

    @property
    def schema(self) -> Schema:
        """The attributes of the result."""
        return Schema(self.columns)

    @property
    def bases(self) -> tuple[Base, ...]:
        """The base catalogs whose files are read."""
        return tuple({one.base.digest: one.base for one in walk(self.after) if isinstance(one, Scan)}.values())

    @property
    def fragments(self) -> tuple[Fragment, ...]:
        """The fragments that are read."""
        return tuple({one.fragment.id: one.fragment for one in walk(self.after) if isinstance(one, Stored)}.values())

    @property
    def empty(self) -> bool:
        """Whether it is proved that there is no such source, so that nothing is computed."""
        return isinstance(self.after, Nothing)

    @property
    def most(self) -> int | None:
        """How many sources there are at most, if that is known."""
        return self.rows.high

    @property
    def rows(self) -> Rows:
        """How many sources there are: counted, or between bounds that hold, with a guess."""
        return Rows.counted(0) if self.empty else known_rows(self.scene, (self.before, self.after))

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the answer rests, by number: what people said, and data have not shown.

        Which these are is found out now.
        """
        from provenn.targets.leaning import declared_facts  # noqa: PLC0415 - it builds on plans

        word = self.words.word
        return tuple(replace(fact, statement=fact.statement.relabelled(word)) for fact in declared_facts(self))

    @property
    def calculations(self) -> tuple[Calculate, ...]:
        """The calculators that will be called."""
        return tuple(one for one in walk(self.after) if isinstance(one, Calculate))

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the result takes on trust of base files, a sentence each."""
        asked = [one.provider for one in self.provided] if self.catalog is None else [self.catalog]
        read = {one.id for one in self.fragments}
        stored = [one.catalog for one in self.scene.fragments if one.fragment.id in read]
        return caveats_of([*asked, *stored], self.words.word)

    # -- showing -------------------------------------------------------------------------------------------------

    @property
    def reasons(self) -> tuple[Argument, ...]:
        """Why the steps that are executed give what was asked: a rule, what it leans on, and the proof on demand."""
        from provenn.targets.telling import arguments  # noqa: PLC0415 - it builds on plans

        return arguments(self)

    def text(self, width: int = 120) -> str:
        """Return the steps as they are defined and as they are computed, as trees for a terminal."""
        from provenn.display.plan import plan_text  # noqa: PLC0415 - most plans are not looked at
        from provenn.targets.telling import picture  # noqa: PLC0415

        return plan_text(picture(self), width)

    def svg(self) -> str:
        """Draw the steps as they are defined beside those that are executed."""
        from provenn.display.plan import plan_svg  # noqa: PLC0415 - see above
        from provenn.targets.telling import picture  # noqa: PLC0415

        return plan_svg(picture(self))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from provenn.display.plan import PlanArgument, plan_html  # noqa: PLC0415 - see above
        from provenn.targets.telling import picture  # noqa: PLC0415

        said = [PlanArgument(one.because, tuple(map(str, one.statements)), one.proof) for one in self.reasons]
        return plan_html(picture(self), said)
