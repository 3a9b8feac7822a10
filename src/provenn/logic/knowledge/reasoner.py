"""Decide whether some object can be in several sets at once, given the constraints: every question reduces to this.

The search starts among the simulated objects, then follows the graph, then asks the SAT solver about the cone of the
question alone. A constraint is added to the solver only if an object found by the solver violates the constraint: an
object is in no base set without need, so most constraints never matter to a question. A theory, if there is one, is
asked before an object is accepted, and its refutations become constraints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, product
from typing import Any, Final, Protocol

from provenn import deadline
from provenn.logic.knowledge.budget import Clock
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.sat import Solver
from provenn.logic.knowledge.signatures import Signatures
from provenn.logic.knowledge.simulation import GROUND, Simulation
from provenn.logic.knowledge.theory import TheoryCheck

__all__ = ["Reasoner"]

_LEARN_AT: Final = 64
_LEARN_FIRST_AT: Final = 4  # an early question is like those that follow, and its object answers them
_LEARN_CHECKED_AT: Final = 4  # an object that a theory accepts is rare among simulated ones
_MADE_UP: Final = 16  # the most literals for which an object is invented before the solver is asked
_MOST_WITNESSES: Final = 2  # the most simulated objects that a theory is asked about before the solver is asked
_SPACIOUS: Final = 3  # how many times the size of its first question a solver may get
_MOST_QUESTIONS: Final = 200  # the most questions that a large solver answers
_MOST_REFUTATIONS: Final = 500  # the most refutations for one object; then the object is accepted, which proves less


class ObjectCompletion(Protocol):
    """Completes objects that a theory accepts to objects that it accepts in all its sets."""

    @property
    def certain(self) -> int:
        """The simulated objects that the theory accepts in all its sets, as bits."""

    def complete(self, reasoner: Reasoner, parts: set[int], literals: Sequence[int]) -> object | None:
        """Change an object that is in some literals, if it can be completed; return a note on it, otherwise None."""

    def note(self, first: int, rows: Sequence[Any]) -> None:
        """Take the notes on objects that are simulated now, from a number on."""


class Reasoner:
    """Decides whether objects are possible, and finds objects.

    Parameters
    ----------
    graph
        The sets.
    largest_solver
        The most nodes of a solver before a new solver replaces it, so that questions about few sets stay fast. If a
        question needs more nodes, its solver is kept for a while: the next questions are probably as large.
    simulation
        The simulated objects; by default new ones.
    """

    def __init__(
        self, graph: SetGraph, largest_solver: int = 1_000, simulation: Simulation | Signatures | None = None
    ) -> None:
        self.graph = graph
        self._largest_solver = largest_solver
        self.simulation = Simulation(graph) if simulation is None else simulation
        self.constraints: list[int] = []
        self.core: list[int] = []
        self._valid = 0
        self._valid_for = -1
        self._watching: dict[int, list[int]] = {}  # part -> constraints that an object in this part may violate
        self._off_ground: list[int] = []  # constraints that an object in no set violates
        self._impossible: set[tuple[int, ...]] = set()
        self.partners: dict[int, set[int]] = {}  # proved to be disjoint; an empty literal is its own partner
        self._found_objects: list[set[int]] = []
        self._learn_at = _LEARN_FIRST_AT
        self._solver = _new_solver()
        self._most_nodes = largest_solver  # of the current solver
        self._questions = 0  # that the current solver answered
        self._encoded: set[int] = set()
        self._imposed: set[int] = set()
        self.check: TheoryCheck | None = None
        self.completion: ObjectCompletion | None = None
        self._notes: list[object | None] = []  # on the found objects

    def copy(self, graph: SetGraph) -> Reasoner:
        """Return a reasoner with the same constraints and proofs for a copy of the graph.

        Its solver is new, and it has no theory yet: `consult` gives it one.
        """
        if not isinstance(self.simulation, Simulation):
            raise TypeError("only a reasoner with simulated objects of its own can be copied")
        reasoner = Reasoner(graph, self._largest_solver, self.simulation.copy(graph))
        reasoner.constraints = self.constraints.copy()
        reasoner._valid, reasoner._valid_for = self._valid, self._valid_for
        reasoner._watching = {part: [*literals] for part, literals in self._watching.items()}
        reasoner._off_ground = self._off_ground.copy()
        reasoner._impossible = self._impossible.copy()
        reasoner.partners = {literal: {*others} for literal, others in self.partners.items()}
        return reasoner

    # -- constraints: literals that every object is in -----------------------------------------------------------

    def constrain(self, literal: int) -> None:
        """Add the constraint that every object is in `literal`."""
        if literal == EVERYTHING:
            return
        if self.check is not None and literal not in self.check.refutations:
            self.check.note_constraint(literal)
        self.constraints.append(literal)
        if not self.on_ground(literal):
            self._off_ground.append(literal)
            return
        for node in self._find_watched_parts(literal):
            self._watching.setdefault(node, []).append(literal)

    def _find_watched_parts(self, constraint: int) -> set[int]:
        """Return parts such that every object violating the constraint is in at least one of them.

        For an intersection, the parts of a single operand suffice: the operand created later, because it holds fewer
        objects; but not a union, which has many parts, if the other operand is none.
        """
        left, right = self.graph.left, self.graph.right
        parts: set[int] = set()
        visited: set[int] = set()
        stack = [constraint ^ 1]
        while stack:
            literal = stack.pop()
            node = literal >> 1
            if right[node] == PART:
                parts.add(node)
            elif node not in visited:
                visited.add(node)
                left_literal, right_literal = left[node], right[node]
                if literal & 1:
                    stack += (left_literal ^ 1, right_literal ^ 1)
                else:
                    may_be_left = not left_literal & 1 and right_literal & 1 and not self.on_ground(left_literal)
                    stack.append(left_literal if may_be_left or self.on_ground(right_literal) else right_literal)
        return parts

    def on_ground(self, literal: int) -> bool:
        """Return whether the object outside all base sets is in `literal`."""
        self.simulation.refresh()
        return bool(self.simulation.value(literal) & GROUND)

    def first_on_ground(self, literals: Iterable[tuple[str, int]]) -> str | None:
        """Return the first name whose literal has the object outside all base sets, or None."""
        self.simulation.refresh()
        values = self.simulation.values
        return next((name for name, literal in literals if (values[literal >> 1] ^ literal) & GROUND), None)

    # -- a theory ------------------------------------------------------------------------------------------------

    def consult(self, check: TheoryCheck) -> None:
        """Ask a theory about every object from now on."""
        self.check = check
        for literal in self.constraints:
            if literal not in check.refutations:
                check.note_constraint(literal)

    def refute(self, parts: set[int], literals: Iterable[int] | None = None) -> int | None:
        """Return a new constraint that an object violates, or None if the theory accepts the object.

        The theory is asked about the sets that matter to some literals, or without literals about all its sets.
        """
        if self.check is None:
            return None
        labels = self.check.all_labels if literals is None else self.check.find_relevant_labels(literals)
        refuted = self.check.refute_object(parts, labels) if labels else None
        if refuted is not None:
            self._constrain_further(refuted)
        return refuted

    def allows_ground(self) -> bool:
        """Return whether the theory, if there is one, accepts the object outside all base sets."""
        if self.check is None:
            return True
        return self.check.refutations.keys().isdisjoint(self._off_ground) and self.refute(set()) is None

    def is_refuted(self, values: Sequence[int], place: int) -> bool:
        """Return whether the theory refutes an object: a bit in the value of each node that holds the object."""
        return self.check is not None and self._refute_bit(self.check, values, place, self.check.all_labels) is not None

    def _refute_bit(
        self, check: TheoryCheck, values: Sequence[int] | Signatures, place: int, labels: Iterable[str]
    ) -> int | None:
        """Return a new constraint that an object violates; the object is a bit in the value of each of its nodes."""
        refuted = check.refute(lambda literal: bool((values[literal >> 1] >> place ^ literal) & 1), labels)
        if refuted is not None:
            self._constrain_further(refuted)
        return refuted

    def _is_witnessed(self, check: TheoryCheck, witnesses: int, literals: Sequence[int]) -> bool:
        """Return whether the theory accepts one of the first simulated objects of a question."""
        labels = check.find_relevant_labels(literals)
        if not labels:
            return True
        for _ in range(_MOST_WITNESSES):
            if not witnesses:
                return False
            place = witnesses.bit_length() - 1  # an object that was found for another question, if there is one
            refuted = self._refute_bit(check, self.simulation.values, place, labels)
            if refuted is None:
                return True
            witnesses &= self.simulation.value(refuted)
        return False

    def _constrain_further(self, literal: int) -> None:
        """Add a constraint, and keep the simulated objects that satisfy all constraints known."""
        is_known = self._valid_for == len(self.constraints)
        self.constrain(literal)
        self.simulation.refresh()
        if is_known:
            self._valid, self._valid_for = self._valid & self.simulation.value(literal), len(self.constraints)

    # -- questions -----------------------------------------------------------------------------------------------

    def possible(self, *literals: int, clock: Clock | None = None, learn: bool = False) -> bool:
        """Return whether some object can be in all the literals.

        Parameters
        ----------
        literals
            The literals.
        clock
            The budget.
        learn
            Whether an object invented for the answer is simulated from now on. This pays for questions about all sets:
            the object of a set answers the same question about many other sets, and the next such questions.
        """
        return self.has_witness(*literals) or self._is_possible_beyond_simulation(literals, clock, learn=learn)

    def has_witness(self, *literals: int) -> bool:
        """Return whether some simulated object is in all the literals; if not, another object may be."""
        simulation = self.simulation
        values = simulation.values
        if len(values) != len(self.graph.left):
            simulation.refresh()
        witnesses = self.find_valid_objects()
        for literal in literals:
            value = values[literal >> 1]
            witnesses &= ~value if literal & 1 else value
        return bool(witnesses) and (self.check is None or self._is_witnessed(self.check, witnesses, literals))

    def find_valid_objects(self) -> int:
        """Return the simulated objects that satisfy all constraints."""
        if self._valid_for == len(self.constraints):
            return self._valid
        valid = self.simulation.everything
        for literal in self.constraints:
            valid &= self.simulation.value(literal)
        self._valid, self._valid_for = valid, len(self.constraints)
        return valid

    def find_certain_objects(self) -> int:
        """Return the simulated objects that satisfy all constraints, and that no theory refutes in any set."""
        valid = self.find_valid_objects()
        if self.check is None:
            return valid
        return 0 if self.completion is None else valid & self.completion.certain

    def note_changed_objects(self) -> None:
        """Note that simulated objects were changed."""
        self._valid_for = -1

    def _is_possible_beyond_simulation(self, literals: Sequence[int], clock: Clock | None, *, learn: bool) -> bool:
        deadline.check()
        key = tuple(sorted(set(literals)))
        if EMPTY in key or key in self._impossible:
            return False
        if len(key) <= 2 and self.graph.obviously_disjoint(key[0], key[-1]):
            self._note_impossible(key)
            return False
        return (len(key) <= _MADE_UP and self._can_invent(key, learn=learn)) or self.find(key, clock) is not None

    def _can_invent(self, literals: Sequence[int], *, learn: bool) -> bool:
        """Return whether an object invented from the needs of each literal is in all literals."""
        graph = self.graph
        inventions = [graph.invent_objects(literal) for literal in literals]
        for chosen in (
            product(*inventions)
            if len(literals) <= 2
            else ([objects[0] for objects in inventions], [objects[-1] for objects in inventions])
        ):
            parts = set().union(*chosen)
            values: dict[int, bool] = {}
            wanted = chain(literals, (graph.left[node] for node in parts))
            if (
                all(graph.holds(literal, parts, values) for literal in wanted)
                and not self.find_violated(parts)
                and self.refute(parts, literals) is None
            ):
                if learn:
                    self._remember(parts, literals)
                return True
        return False

    def find(self, literals: Iterable[int], clock: Clock | None = None, *, whole: bool = False) -> set[int] | None:
        """Return the part nodes of an object in all the literals, or None (then see `core`).

        Parameters
        ----------
        literals
            The literals.
        clock
            The budget.
        whole
            Whether a theory accepts the object in all sets; otherwise, in the sets that matter to these literals.
        """
        wanted = [literal for literal in literals if literal != EVERYTHING]
        if EMPTY in wanted:
            self.core = [EMPTY]
            return None
        self._renew_solver()
        solver = self._solver
        self._encode(wanted)
        refutations_left = _MOST_REFUTATIONS
        while True:
            if not solver.solve(wanted, clock):
                self.core = solver.core()
                self._note_impossible(tuple(sorted(self.core)))
                self._note_impossible(tuple(sorted(set(wanted))))
                return None
            right = self.graph.right
            parts = {node for node in solver.true_variables() if right[node] == PART}
            violated = self.find_violated(parts)
            if not violated and refutations_left:
                refuted = self.refute(parts, None if whole else wanted)
                violated = [] if refuted is None else [refuted]
                refutations_left -= 1
            if not violated:
                self._remember(parts, wanted)
                return parts
            self._impose(violated)

    def _note_impossible(self, literals: tuple[int, ...]) -> None:
        """Note that no object is in all of some literals: no constraint is ever removed."""
        self._impossible.add(literals)
        if 0 < len(literals) <= 2:
            first, last = literals[0], literals[-1]
            self.partners.setdefault(first, set()).add(last)
            self.partners.setdefault(last, set()).add(first)

    def _renew_solver(self) -> None:
        """Replace the solver if it is too large for the next question.

        A solver that was too large for its first question already would be replaced before every question, and
        questions about many sets would take as long as building a solver for all of them.
        """
        if self._questions == 1:
            self._most_nodes = max(self._largest_solver, _SPACIOUS * len(self._encoded))
        is_old = self._questions >= _MOST_QUESTIONS and len(self._encoded) > self._largest_solver
        if is_old or len(self._encoded) > self._most_nodes:
            self._solver.close()
            self._solver, self._encoded, self._imposed = _new_solver(), set(), set()
            self._most_nodes, self._questions = self._largest_solver, 0
        self._questions += 1

    def find_violated(self, parts: set[int]) -> list[int]:
        """Return the constraints that an object, a set of part nodes, violates."""
        values: dict[int, bool] = {}
        candidates = dict.fromkeys(self._off_ground)
        for node in parts:
            candidates.update(dict.fromkeys(self._watching.get(node, ())))
        return [literal for literal in candidates if not self.graph.holds(literal, parts, values)]

    def _impose(self, violated: Sequence[int]) -> None:
        """Add violated constraints to the solver, and about as many again that may be violated next.

        So a long chain of constraints takes a few rounds, and constraints far from the question stay out.
        """
        most_constraints = 2 * (len(self._imposed) + len(violated))
        waiting = deque(violated)
        while waiting:
            literal = waiting.popleft()
            if literal not in self._imposed:
                self._imposed.add(literal)
                new_nodes = self._encode([literal])
                self._solver.add([[literal]])
                if len(self._imposed) < most_constraints:
                    waiting.extend(chain.from_iterable(self._watching.get(node, ()) for node in new_nodes))

    def _encode(self, literals: Sequence[int]) -> list[int]:
        """Add the cone of literals to the solver; return the nodes that are new to the solver."""
        nodes = self.graph.cone(literals, self._encoded)
        self._solver.add(self.graph.clauses(nodes))
        return nodes

    def _remember(self, parts: set[int], literals: Sequence[int]) -> None:
        if self.completion is not None:
            parts = set(parts)
            self._notes.append(self.completion.complete(self, parts, literals))
        self._found_objects.append(parts)
        least = self._learn_at if self.check is None else _LEARN_CHECKED_AT
        if len(self._found_objects) >= max(least, len(self.graph) >> 10):
            self.learn_found()

    def learn_found(self) -> bool:
        """Simulate the objects found since the last time; return whether there were any."""
        if not self._found_objects:
            return False
        first = self.simulation.everything.bit_length()
        self.simulation.learn(self._found_objects)
        if self.completion is not None and self.simulation.everything.bit_length() > first:
            self.completion.note(first, self._notes)
        self._found_objects.clear()
        self._notes.clear()
        self._learn_at = min(2 * self._learn_at, _LEARN_AT)
        self._valid_for = -1
        return True


def _new_solver() -> Solver:
    solver = Solver()
    solver.add([[EVERYTHING]])
    return solver
