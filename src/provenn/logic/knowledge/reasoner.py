"""Whether some object can be in all of several sets at once, given the constraints: every question comes down to this.

Looked for first among the simulated objects, then by following the graph, then by the SAT solver, on the cone of the
question alone. Constraints join the solver only when an object that it found violates them: an object is in no base
set that it need not be in, so most constraints never matter to a question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import chain, product
from typing import Final

from provenn.logic.knowledge.budget import Clock
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, Graph
from provenn.logic.knowledge.sat import Solver
from provenn.logic.knowledge.simulation import GROUND, Simulation

__all__ = ["Reasoner"]

_LEARN_AT: Final = 64
_MADE_UP: Final = 16  # of how many literals an object is made up before the solver is asked


class Reasoner:
    """Answers whether objects are possible, and finds them.

    Parameters
    ----------
    graph
        The sets.
    largest_solver
        How many nodes the solver may know before it begins anew, so that questions about little stay quick.
    """

    def __init__(self, graph: Graph, largest_solver: int = 1_000) -> None:
        self.graph = graph
        self._largest_solver = largest_solver
        self.simulation = Simulation(graph)
        self.constraints: list[int] = []
        self.core: list[int] = []
        self._valid = 0
        self._valid_for = -1
        self._watching: dict[int, list[int]] = {}  # part -> constraints that an object in it may violate
        self._off_ground: list[int] = []  # constraints that an object in nothing violates
        self._impossible: set[tuple[int, ...]] = set()
        self._found: list[set[int]] = []
        self._solver = _new_solver()
        self._encoded: set[int] = set()
        self._imposed: set[int] = set()

    # -- constraints: literals that every object is in -----------------------------------------------------------

    def constrain(self, literal: int) -> None:
        """Let every object be in `literal`."""
        if literal == EVERYTHING:
            return
        self.constraints.append(literal)
        if not self.on_ground(literal):
            self._off_ground.append(literal)
            return
        for node in self._watched(literal):
            self._watching.setdefault(node, []).append(literal)

    def _watched(self, constraint: int) -> set[int]:
        """Return parts of which an object must be in at least one to violate the constraint.

        Of an intersection, that is found in one of the two: the one that was made later, which holds less.
        """
        left, right = self.graph.left, self.graph.right
        parts: set[int] = set()
        seen: set[int] = set()
        stack = [constraint ^ 1]
        while stack:
            literal = stack.pop()
            node = literal >> 1
            if right[node] == PART:
                parts.add(node)
            elif node not in seen:
                seen.add(node)
                one, two = left[node], right[node]
                if literal & 1:
                    stack += (one ^ 1, two ^ 1)
                else:
                    stack.append(one if self.on_ground(two) else two)
        return parts

    def on_ground(self, literal: int) -> bool:
        """Whether the object that is in no base set is in `literal`."""
        self.simulation.refresh()
        return bool(self.simulation.value(literal) & GROUND)

    def first_on_ground(self, literals: Iterable[tuple[str, int]]) -> str | None:
        """Return the first name of a literal that the object in no base set is in, or None."""
        self.simulation.refresh()
        values = self.simulation.values
        return next((name for name, literal in literals if (values[literal >> 1] ^ literal) & GROUND), None)

    # -- questions -----------------------------------------------------------------------------------------------

    def possible(self, *literals: int, clock: Clock | None = None) -> bool:
        """Whether some object can be in all the literals."""
        simulation = self.simulation
        values = simulation.values
        if len(values) != len(self.graph.left):
            simulation.refresh()
        seen = self._valid if self._valid_for == len(self.constraints) else self._revalidate()
        for literal in literals:
            value = values[literal >> 1]
            seen &= ~value if literal & 1 else value
        if seen:
            return True
        return self._possible_after_all(literals, clock)

    def _revalidate(self) -> int:
        """Recompute which simulated objects satisfy all constraints."""
        valid = self.simulation.everything
        for literal in self.constraints:
            valid &= self.simulation.value(literal)
        self._valid, self._valid_for = valid, len(self.constraints)
        return valid

    def _possible_after_all(self, literals: Sequence[int], clock: Clock | None) -> bool:
        key = tuple(sorted(set(literals)))
        if EMPTY in key or key in self._impossible:
            return False
        if len(key) <= 2 and self.graph.obviously_disjoint(key[0], key[-1]):
            self._impossible.add(key)
            return False
        return (len(key) <= _MADE_UP and self._made_up(key)) or self.find(key, clock) is not None

    def _made_up(self, literals: Sequence[int]) -> bool:
        """Whether an object put together from what each literal needs is in all of them."""
        graph = self.graph
        ways = [graph.made_up(literal) for literal in literals]
        for chosen in product(*ways) if len(literals) <= 2 else ([way[0] for way in ways], [way[-1] for way in ways]):
            parts = set().union(*chosen)
            values: dict[int, bool] = {}
            wanted = chain(literals, (graph.left[node] for node in parts))
            if all(graph.holds(literal, parts, values) for literal in wanted) and not self._violated(parts):
                return True
        return False

    def find(self, literals: Iterable[int], clock: Clock | None = None) -> set[int] | None:
        """Return the part nodes of some object that is in all the literals, or None (and see `core`)."""
        wanted = [literal for literal in literals if literal != EVERYTHING]
        if EMPTY in wanted:
            self.core = [EMPTY]
            return None
        if len(self._encoded) > self._largest_solver:
            self._solver.close()
            self._solver, self._encoded, self._imposed = _new_solver(), set(), set()
        solver = self._solver
        self._encode(wanted)
        while True:
            if not solver.solve(wanted, clock):
                self.core = solver.core()
                self._impossible.add(tuple(sorted(self.core)))
                self._impossible.add(tuple(sorted(set(wanted))))
                return None
            right = self.graph.right
            parts = {node for node in solver.true_variables() if right[node] == PART}
            violated = self._violated(parts)
            if not violated:
                self._remember(parts)
                return parts
            self._impose(violated)

    def _violated(self, parts: set[int]) -> list[int]:
        values: dict[int, bool] = {}
        candidates = dict.fromkeys(self._off_ground)
        for node in parts:
            candidates.update(dict.fromkeys(self._watching.get(node, ())))
        return [literal for literal in candidates if not self.graph.holds(literal, parts, values)]

    def _impose(self, violated: Sequence[int]) -> None:
        """Let the solver know of constraints, and of about as many as it knows already that may be violated next.

        So a long chain of constraints takes a few rounds, and what is far from the question still stays out.
        """
        most = 2 * (len(self._imposed) + len(violated))
        waiting = deque(violated)
        while waiting:
            literal = waiting.popleft()
            if literal not in self._imposed:
                self._imposed.add(literal)
                made_of = self._encode([literal])
                self._solver.add([[literal]])
                if len(self._imposed) < most:
                    waiting.extend(chain.from_iterable(self._watching.get(node, ()) for node in made_of))

    def _encode(self, literals: Sequence[int]) -> list[int]:
        """Let the solver know what literals are made of; return the nodes that it did not know."""
        left, right = self.graph.left, self.graph.right
        clauses: list[tuple[int, ...]] = []
        nodes = self.graph.cone(literals, self._encoded)
        for node in nodes:
            a, b, literal = left[node], right[node], 2 * node
            if b == PART:
                if a != EVERYTHING:
                    clauses.append((literal ^ 1, a))
            else:
                clauses += ((literal ^ 1, a), (literal ^ 1, b), (literal, a ^ 1, b ^ 1))
        self._solver.add(clauses)
        return nodes

    def _remember(self, parts: set[int]) -> None:
        self._found.append(parts)
        if len(self._found) >= max(_LEARN_AT, len(self.graph) >> 10):
            self.simulation.learn(self._found)
            self._found.clear()
            self._valid_for = -1


def _new_solver() -> Solver:
    solver = Solver()
    solver.add([[EVERYTHING]])
    return solver
