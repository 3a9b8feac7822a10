"""Search a possible world that satisfies the facts and a formula; finding none is a proof.

A world is a collection of objects. A claim of emptiness forbids a literal to every object, and a claim of inhabitation
requires an object. Since objects are independent of each other, each object is searched separately. Where formulas
leave a choice between claims, a SAT solver proposes claims, and impossible objects are returned to the solver as a
reason against the proposal (as in "lazy" SMT: Sebastiani, "Lazy satisfiability modulo theories", 2007).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from provenn import deadline
from provenn.logic.knowledge.budget import Clock
from provenn.logic.knowledge.formulas import Disjunction, Formula, Inhabited, iterate_conjuncts
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.sat import Solver

__all__ = ["Claims", "WorldSearch", "select_justified", "split_formulas"]


@dataclass(slots=True)
class Claims:
    """Literals claimed to be empty, and literals claimed to be inhabited."""

    empty: list[int] = field(default_factory=list)
    inhabited: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WorldSearch:
    """The search among the worlds allowed by the facts.

    Parameters
    ----------
    reasoner
        The reasoner with the constraints on objects.
    inhabited
        The literals claimed to be inhabited by the facts.
    choices
        The formulas with choices among the facts.
    open_universe
        Whether some object is in no set.
    """

    reasoner: Reasoner
    inhabited: Sequence[int]
    choices: Sequence[Formula]
    open_universe: bool

    def find_claims(self, wanted: Sequence[Formula], clock: Clock | None = None) -> Claims | None:
        """Return claims that make the formulas true in some world with the facts, or None if no world exists."""
        certain, choices = split_formulas([*wanted, *self.choices])
        if not choices:
            return certain if self.find_refusal(certain, clock) is None else None
        result = self.conflict([*wanted, *self.choices], clock)
        return result if isinstance(result, Claims) else None

    def conflict(self, formulas: Sequence[Formula], clock: Clock | None = None) -> list[int] | Claims:
        """Return the numbers of formulas that cannot all be true; if all can be true, claims that make them true."""
        with _Proposals(formulas) as proposals:
            while (proposal := proposals.next(clock)) is not None:
                deadline.check()
                reason = self.find_refusal(proposal, clock)
                if reason is None:
                    return proposal
                proposals.exclude(reason)
            return proposals.list_blamed()

    def iterate_resolutions(self, most: int) -> Iterator[Claims]:
        """Yield up to `most` possible resolutions of the facts with choices; every world agrees with one of all.

        Without choices, the only resolution claims nothing.
        """
        if not self.choices:
            yield Claims()
            return
        with _Proposals(self.choices) as proposals:
            yielded = 0
            while yielded < most and (proposal := proposals.next(None)) is not None:
                deadline.check()
                reason = self.find_refusal(proposal)
                if reason is None:
                    yielded += 1
                    yield proposal
                # Worlds with all claims of this resolution are done; others lack one of its claims.
                proposals.exclude(proposal if reason is None else reason)

    def find_refusal(self, claims: Claims, clock: Clock | None = None) -> Claims | None:
        """Return a subset of the claims that no world with the facts satisfies, or None if a world satisfies all."""
        reasoner = self.reasoner
        forbidden = [literal ^ 1 for literal in claims.empty]
        if self.open_universe:
            if not reasoner.allows_ground():
                return Claims()
            for literal in claims.empty:
                if reasoner.on_ground(literal):
                    return Claims(empty=[literal])
        for literal in claims.inhabited:
            if not reasoner.possible(literal, *forbidden, clock=clock):
                core = self._find_core(literal, forbidden, clock)
                return Claims([core_literal ^ 1 for core_literal in core if core_literal != literal], [literal])
        if forbidden:
            for literal in self.inhabited:
                if not reasoner.possible(literal, *forbidden, clock=clock):
                    core = self._find_core(literal, forbidden, clock)
                    return Claims([core_literal ^ 1 for core_literal in core if core_literal != literal])
        return None

    def _find_core(self, literal: int, forbidden: list[int], clock: Clock | None) -> list[int]:
        parts = self.reasoner.find([literal, *forbidden], clock)
        return [literal, *forbidden] if parts is not None else self.reasoner.core

    def objects(self, claims: Claims) -> list[set[int]]:
        """Return the objects of a world that satisfies the claims, each as a set of part nodes."""
        forbidden = [literal ^ 1 for literal in claims.empty]
        objects: list[set[int]] = [set()] if self.open_universe else []
        for literal in dict.fromkeys([*claims.inhabited, *self.inhabited]):
            if not any(self.reasoner.graph.holds(literal, parts, {}) for parts in objects):
                new_object = self.reasoner.find([literal, *forbidden], whole=True)
                if new_object is not None:
                    objects.append(new_object)
        return objects


def split_formulas(formulas: Iterable[Formula]) -> tuple[Claims, list[Formula]]:
    """Split formulas into claims that must hold and formulas that leave a choice."""
    certain = Claims()
    choices: list[Formula] = []
    for formula in formulas:
        for part in iterate_conjuncts(formula):
            if not isinstance(part, Inhabited):
                choices.append(part)
            elif part.holds:
                certain.inhabited.append(part.literal)
            else:
                certain.empty.append(part.literal)
    return certain, choices


def select_justified(formulas: Iterable[Formula], claims: Claims) -> Claims:
    """Return enough of the claims to make the formulas true; all claims together make the formulas true."""
    inhabited, empty = set(claims.inhabited), set(claims.empty)

    def is_true(formula: Formula) -> bool:
        if isinstance(formula, Inhabited):
            return formula.literal in (inhabited if formula.holds else empty)
        return (any if isinstance(formula, Disjunction) else all)(map(is_true, formula.parts))

    needed: dict[Inhabited, None] = {}
    stack = list(formulas)
    while stack:
        formula = stack.pop()
        if isinstance(formula, Inhabited):
            needed[formula] = None
        elif isinstance(formula, Disjunction):
            stack.append(next(filter(is_true, formula.parts)))
        else:
            stack.extend(formula.parts)
    justified, _ = split_formulas(needed)
    return justified


class _Proposals:
    """Choices of claims that satisfy formulas: models of the formulas with a variable for each claimed literal.

    A true variable claims that the literal is empty. A solver makes variables false where it can, and this suits the
    search: an inhabited literal excludes no other claim.
    """

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._solver = Solver()
        self._variables: dict[int, int] = {}  # graph literal -> variable
        self._count = 0
        self._formulas = formulas
        self._formula_literals = [self._encode(formula) for formula in formulas]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._solver.close()

    def next(self, clock: Clock | None) -> Claims | None:
        """Return the next proposal with only necessary claims, or None if all are excluded (then see `list_blamed`)."""
        if not self._solver.solve(self._formula_literals, clock):
            return None
        true_variables = self._solver.true_variables()
        proposal = Claims()
        for literal, variable in self._variables.items():
            (proposal.empty if variable in true_variables else proposal.inhabited).append(literal)
        return select_justified(self._formulas, proposal)

    def exclude(self, reason: Claims) -> None:
        """Exclude all proposals that contain these claims."""
        against = [self._encode_claim(literal, holds=True) for literal in reason.empty]
        against += [self._encode_claim(literal, holds=False) for literal in reason.inhabited]
        if not against:  # every proposal contains no claims
            variable = 2 * self._add_variable()
            self._solver.add([[variable], [variable ^ 1]])
        self._solver.add([against])

    def list_blamed(self) -> list[int]:
        """Return the numbers of the formulas that exclude every proposal."""
        core = set(self._solver.core())
        return [number for number, literal in enumerate(self._formula_literals) if literal in core]

    def _add_variable(self) -> int:
        self._count += 1
        return self._count

    def _encode_claim(self, literal: int, *, holds: bool) -> int:
        if literal not in self._variables:
            self._variables[literal] = self._add_variable()
        return 2 * self._variables[literal] + holds

    def _encode(self, formula: Formula) -> int:
        """Return a solver literal that implies the formula."""
        if isinstance(formula, Inhabited):
            return self._encode_claim(formula.literal, holds=formula.holds)
        formula_literal = 2 * self._add_variable()
        parts = [self._encode(part) for part in formula.parts]
        if isinstance(formula, Disjunction):
            self._solver.add([[formula_literal ^ 1, *parts]])
        else:
            self._solver.add([formula_literal ^ 1, part] for part in parts)
        return formula_literal
