"""A plan: what was asked, what would be computed literally, what is computed instead, and why that is the same."""

from __future__ import annotations

from dataclasses import dataclass, field

from provenn.catalogs import Attribute, Base, Catalog, Schema
from provenn.store.fragments import Fragment
from provenn.targets.costs import rows
from provenn.targets.providers import Provided
from provenn.targets.rewriting import Applied
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Nothing, Scan, Step, Stored, walk

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a request is answered.

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

    @property
    def needed(self) -> frozenset[str]:
        """The identities of the attributes that were asked for, without the key."""
        return frozenset(one.identity for one in self.columns if not one.identity.startswith("key:"))

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
        if self.empty:
            return 0
        known = [rows(self.scene, one) for one in walk(self.after) if isinstance(one, Scan | Stored)]
        return int(sum(number for number, _ in known)) if all(sure for _, sure in known) else None

    @property
    def calculations(self) -> tuple[Calculate, ...]:
        """The calculators that will be called."""
        return tuple(one for one in walk(self.after) if isinstance(one, Calculate))
