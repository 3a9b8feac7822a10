"""The search for a possible world in which the facts hold and a formula too; finding none is a proof.

A world is a collection of objects. What is claimed to be empty forbids every object a literal, and what is claimed to
be inhabited asks for one object each; since objects do not disturb one another, each is looked for on its own. Where
formulas leave a choice between claims, a SAT solver proposes one and the objects that turn out to be impossible are
handed back to it as a reason against (as in "lazy" SMT: Sebastiani, "Lazy satisfiability modulo theories", 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from provenn.logic.knowledge.budget import Clock
from provenn.logic.knowledge.formulas import Formula, Inhabited, Some, conjuncts
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.sat import Solver

__all__ = ["Claims", "Search", "justified", "split"]


@dataclass(slots=True)
class Claims:
    """Literals that are claimed to be empty, and literals that are claimed to be inhabited."""

    empty: list[int] = field(default_factory=list)
    inhabited: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Search:
    """The search among the worlds that the facts allow.

    Parameters
    ----------
    reasoner
        Knows which objects the constraints allow.
    inhabited
        The literals that the facts claim to be inhabited.
    choices
        The formulas among the facts.
    open_universe
        Whether some object is in no set at all.
    """

    reasoner: Reasoner
    inhabited: Sequence[int]
    choices: Sequence[Formula]
    open_universe: bool

    def claims(self, wanted: Sequence[Formula], clock: Clock | None = None) -> Claims | None:
        """Return claims that make the formulas true and that some world with the facts bears out, or None."""
        certain, choices = split([*wanted, *self.choices])
        if not choices:
            return certain if self.refused(certain, clock) is None else None
        found = self.conflict([*wanted, *self.choices], clock)
        return found if isinstance(found, Claims) else None

    def conflict(self, formulas: Sequence[Formula], clock: Clock | None = None) -> list[int] | Claims:
        """Return the numbers of formulas that cannot all be true, or if they can, claims that make them so."""
        with _Proposals(formulas) as proposals:
            while (proposed := proposals.next(clock)) is not None:
                reason = self.refused(proposed, clock)
                if reason is None:
                    return proposed
                proposals.exclude(reason)
            return proposals.blamed()

    def refused(self, claims: Claims, clock: Clock | None = None) -> Claims | None:
        """Return None if a world with the facts bears out the claims, otherwise claims of these that none does."""
        reasoner = self.reasoner
        forbidden = [literal ^ 1 for literal in claims.empty]
        if self.open_universe:
            for literal in claims.empty:
                if reasoner.on_ground(literal):
                    return Claims(empty=[literal])
        for literal in claims.inhabited:
            if not reasoner.possible(literal, *forbidden, clock=clock):
                core = self._core(literal, forbidden, clock)
                return Claims([one ^ 1 for one in core if one != literal], [literal])
        if forbidden:
            for literal in self.inhabited:
                if not reasoner.possible(literal, *forbidden, clock=clock):
                    core = self._core(literal, forbidden, clock)
                    return Claims([one ^ 1 for one in core if one != literal])
        return None

    def _core(self, literal: int, forbidden: list[int], clock: Clock | None) -> list[int]:
        found = self.reasoner.find([literal, *forbidden], clock)
        return [literal, *forbidden] if found is not None else self.reasoner.core

    def objects(self, claims: Claims) -> list[set[int]]:
        """Return the objects of a world that bears out the claims, each by the part nodes it is in."""
        forbidden = [literal ^ 1 for literal in claims.empty]
        objects: list[set[int]] = [set()] if self.open_universe else []
        for literal in dict.fromkeys([*claims.inhabited, *self.inhabited]):
            if not any(self.reasoner.graph.holds(literal, parts, {}) for parts in objects):
                found = self.reasoner.find([literal, *forbidden])
                if found is not None:
                    objects.append(found)
        return objects


def split(formulas: Iterable[Formula]) -> tuple[Claims, list[Formula]]:
    """Part the formulas into claims that must hold and formulas that leave a choice."""
    certain = Claims()
    choices: list[Formula] = []
    for one in formulas:
        for part in conjuncts(one):
            if not isinstance(part, Inhabited):
                choices.append(part)
            elif part.holds:
                certain.inhabited.append(part.literal)
            else:
                certain.empty.append(part.literal)
    return certain, choices


def justified(formulas: Iterable[Formula], given: Claims) -> Claims:
    """Return those of the given claims that are enough to make formulas true which all of them make true."""
    inhabited, empty = set(given.inhabited), set(given.empty)

    def true(one: Formula) -> bool:
        if isinstance(one, Inhabited):
            return one.literal in (inhabited if one.holds else empty)
        return (any if isinstance(one, Some) else all)(map(true, one.parts))

    needed: dict[Inhabited, None] = {}
    stack = list(formulas)
    while stack:
        one = stack.pop()
        if isinstance(one, Inhabited):
            needed[one] = None
        elif isinstance(one, Some):
            stack.append(next(filter(true, one.parts)))
        else:
            stack.extend(one.parts)
    claims, _ = split(needed)
    return claims


class _Proposals:
    """Choices of claims that satisfy formulas: models of the formulas with one variable for each literal claimed.

    The variable says that the literal is empty. A solver makes variables false where it can, and that is well here:
    what is inhabited does not stand in the way of anything else.
    """

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._solver = Solver()
        self._claimed: dict[int, int] = {}  # graph literal -> variable
        self._count = 0
        self._formulas = formulas
        self._names = [self._encode(one) for one in formulas]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.close()

    def next(self, clock: Clock | None) -> Claims | None:
        """Return the next proposal, no more than it takes; or None when all were excluded, and see `blamed`."""
        if not self._solver.solve(self._names, clock):
            return None
        true = self._solver.true_variables()
        proposed = Claims()
        for literal, variable in self._claimed.items():
            (proposed.empty if variable in true else proposed.inhabited).append(literal)
        return justified(self._formulas, proposed)

    def exclude(self, reason: Claims) -> None:
        """Propose nothing again that contains these claims."""
        against = [self._claim(literal, holds=True) for literal in reason.empty]
        against += [self._claim(literal, holds=False) for literal in reason.inhabited]
        self._solver.add([against])

    def blamed(self) -> list[int]:
        """Return the numbers of formulas because of which there is no proposal."""
        core = set(self._solver.core())
        return [number for number, name in enumerate(self._names) if name in core]

    def _variable(self) -> int:
        self._count += 1
        return self._count

    def _claim(self, literal: int, *, holds: bool) -> int:
        if literal not in self._claimed:
            self._claimed[literal] = self._variable()
        return 2 * self._claimed[literal] + holds

    def _encode(self, one: Formula) -> int:
        """Return a solver literal that implies the formula."""
        if isinstance(one, Inhabited):
            return self._claim(one.literal, holds=one.holds)
        name = 2 * self._variable()
        parts = [self._encode(part) for part in one.parts]
        if isinstance(one, Some):
            self._solver.add([[name ^ 1, *parts]])
        else:
            self._solver.add([name ^ 1, part] for part in parts)
        return name
