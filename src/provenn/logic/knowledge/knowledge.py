"""Knowledge: what follows from facts about any number of sets.

The same meaning as the conjunction of all facts as a `Relationship`, exact and complete, without its hypercubes.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from itertools import islice, product
from typing import Any

from provenn import display
from provenn.errors import ContradictionError, LabelError, UnknownLabelError
from provenn.logic.knowledge.budget import Budget, Clock, RanOutError
from provenn.logic.knowledge.classification import Classification, classify
from provenn.logic.knowledge.explanation import Explanation, explanation
from provenn.logic.knowledge.facts import FactBase
from provenn.logic.knowledge.formulas import Formula, Inhabited, conjuncts, formula, negated
from provenn.logic.knowledge.graph import EVERYTHING
from provenn.logic.knowledge.lineage import Lineage
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Claims, Search, justified
from provenn.logic.knowledge.verdict import Verdict
from provenn.logic.knowledge.worlds import World
from provenn.logic.parser import statement
from provenn.logic.relationship import Relationship
from provenn.logic.statements import And, Comparison, Not, Or, Property, Statement, empty, nonempty
from provenn.logic.terms import Op, Term, chain, check_label, nothing, term

__all__ = ["Fact", "Knowledge"]

Fact = Statement | Relationship | str
_MOST_WAYS = 64
_STATEMENTS = frozenset({And, Comparison, Not, Or, Property})


class Knowledge:
    """Facts about sets, and what follows from them.

    Parameters
    ----------
    facts
        Statements (also as text), relationships, lineages; or one `Lineage`. Their order matters only for speed.
    open_universe
        Whether there is always an object outside all sets, those that no fact mentions included.

    Examples
    --------
    >>> k = Knowledge(["B <= A", "C == A", "D == B & C"])
    >>> k.entails("B == D")
    True
    >>> print(k.explain("B == D"))
    B == D, because
      B <= A
      C == A
      D == B & C
    """

    def __init__(self, facts: Iterable[Fact | Lineage] = (), *, open_universe: bool = True) -> None:
        self._open = open_universe
        self._base = FactBase()
        self._reasoner = Reasoner(self._base.graph)
        self._guests: dict[str, int] = {}  # labels of questions that no fact mentions
        self._fitting = 0  # how many constraints were seen to allow an object outside all base sets
        self._grounded = 0  # how many labels were seen to hold nothing outside all base sets
        self._confirmed = 0  # how many inhabited literals were seen to be possible
        self._ways: list[list[int]] = []  # ways to follow the choices among the facts, as literals every object is in
        self._settled = False
        self._conflict_about: tuple[str, ...] | None = None
        self._take(facts)

    # -- telling -------------------------------------------------------------------------------------------------

    def add(self, *facts: Fact | Lineage) -> None:
        """Add facts. What was proved stays proved."""
        self._take(facts)

    def _take(self, facts: Iterable[Fact | Lineage]) -> None:
        if isinstance(facts, str | Statement | Relationship):
            raise LabelError(f"facts come together, not {facts!r} alone", hint="put it in a list")
        base = self._base
        before = len(base.constraints)
        given: Sequence[Any] = facts if isinstance(facts, Lineage) else tuple(facts)
        if isinstance(given, Lineage) or all(map(_STATEMENTS.__contains__, map(type, given))):
            base.take(given)
        else:
            stated = [_as_fact(fact) for fact in given if not isinstance(fact, Lineage)]
            for fact in given:
                if isinstance(fact, Lineage):
                    base.take(fact)
            base.take(stated)
            base.mention(label for fact in given if isinstance(fact, Relationship) for label in fact.labels)
        for literal, _ in base.constraints[before:]:
            self._reasoner.constrain(literal)
        if len(base.constraints) > before:
            self._confirmed = 0
        if self._guests:
            self._guests = {label: one for label, one in self._guests.items() if label not in base.labels}
        self._settled = False
        self._ways = []
        self._search = Search(
            self._reasoner,
            [literal for literal, _ in base.inhabited],
            [choice for choice, _ in base.choices],
            self._open,
        )

    @property
    def facts(self) -> Sequence[Statement]:
        """The facts, in the order they were given."""
        return self._base.facts

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that the facts mention."""
        return tuple(self._base.labels)

    @property
    def open_universe(self) -> bool:
        """Whether there is always an object outside all sets."""
        return self._open

    def __repr__(self) -> str:
        return f"<Knowledge of {len(self._base.labels)} sets from {len(self.facts)} facts>"

    def _repr_html_(self) -> str:
        sets, total = len(self._base.labels), len(self.facts)
        return display.knowledge_html(map(str, self.facts), sets=sets, total=total, open_universe=self._open)

    # -- consistency ---------------------------------------------------------------------------------------------

    @property
    def consistent(self) -> bool:
        """Whether the facts can all hold at once."""
        self._check(None)
        return self._conflict_about is None

    def conflict(self) -> Explanation | None:
        """Return a minimal set of facts that contradict each other, or None if there is none."""
        self._check(None)
        if self._conflict_about is None:
            return None
        return explanation(self._base, self._conflict_about, None, open_universe=self._open)

    def _settle(self, clock: Clock | None = None) -> None:
        if not self._settled:
            self._check(clock)
        if self._conflict_about is not None:
            conflict = self.conflict()
            raise ContradictionError(conflict)

    def _check(self, clock: Clock | None) -> None:
        if self._settled or self._conflict_about is not None:
            return
        self._conflict_about = self._contradictory_labels(clock)
        self._settled = True

    def _contradictory_labels(self, clock: Clock | None) -> tuple[str, ...] | None:
        """Return the labels of something that cannot be as the facts say, or None if all can."""
        base, reasoner = self._base, self._reasoner
        if self._open:
            for literal, number in base.constraints[self._fitting :]:
                if not reasoner.on_ground(literal):
                    return base.facts[number].labels
            self._fitting = len(base.constraints)
            label = reasoner.first_on_ground(islice(base.labels.items(), self._grounded, None))
            if label is not None:
                return (label,)
            self._grounded = len(base.labels)
        for literal, number in base.inhabited[self._confirmed :]:
            if not reasoner.possible(literal, clock=clock):
                return base.facts[number].labels
        self._confirmed = len(base.inhabited)
        if base.choices:
            claims = self._search.claims((), clock)
            if claims is None:
                return tuple(base.labels)
            self._ways = [[literal ^ 1 for literal in claims.empty]]
        return None

    # -- asking --------------------------------------------------------------------------------------------------

    def entails(self, question: Fact) -> bool:
        """Whether the question is true in every world in which the facts are.

        Raises
        ------
        ContradictionError
            If the facts contradict each other: they prove nothing.
        """
        if not self._settled or self._conflict_about is not None:
            self._settle()
        said = question if isinstance(question, Statement) else _as_fact(question)
        if not self._base.choices:
            quick = self._compare_labels(said)
            if quick is not None:
                return quick
        return self._proves(said, None)

    def _compare_labels(self, said: Statement) -> bool | None:
        """Answer the commonest questions, about two labels that are known, without detours; None for any other."""
        labels, possible = self._base.labels, self._reasoner.possible
        if type(said) is Comparison:
            left, right = said.left.postfix, said.right.postfix
            if len(left) == 1 == len(right):
                a, b = labels.get(left[0]), labels.get(right[0])  # type: ignore[arg-type] # {} is just not found
                if a is not None and b is not None:
                    match said.operator:
                        case "==":
                            return a == b or not (possible(a, b ^ 1) or possible(a ^ 1, b))
                        case "<=":
                            return a == b or not possible(a, b ^ 1)
                        case ">=":
                            return a == b or not possible(a ^ 1, b)
        elif type(said) is Property and said.name == "disjoint" and len(said.arguments) == 2:
            a, b = (labels.get(one.label) if one.label else None for one in said.arguments)
            if a is not None and b is not None:
                return not possible(a, b)
        return None

    def _proves(self, said: Statement, clock: Clock | None) -> bool:
        return all(
            self._search.claims([negated(part)], clock) is None for part in conjuncts(formula(said, self._literal))
        )

    def judge(self, question: Fact, budget: Budget | float | None = None) -> Verdict:
        """Say whether the question holds, fails, or is unknown, within a budget.

        Parameters
        ----------
        question
            A statement or a relationship.
        budget
            Seconds, or a `Budget`. Running out is the answer "unknown", with that reason.
        """
        said = _as_fact(question)
        limit = budget if isinstance(budget, Budget) else Budget(seconds=budget)
        clock = None if limit == Budget() else Clock(limit)
        try:
            self._settle(clock)
            if self._proves(said, clock):
                return Verdict("holds", "it is true in every world that the facts allow")
            if self._proves(Not(said), clock):
                return Verdict("fails", "it is false in every world that the facts allow")
        except RanOutError:
            return Verdict("unknown", f"the budget of {limit} ran out")
        return Verdict("unknown", "it is true in some worlds that the facts allow, and false in others")

    def explain(self, question: Fact) -> Explanation | None:
        """Return a minimal set of facts from which the question follows, or None if it does not follow."""
        said = _as_fact(question)
        if not self.entails(said):
            return None
        return explanation(self._base, said.labels, said, open_universe=self._open)

    def counterexample(self, question: Fact) -> World | None:
        """Return a world in which the facts are true and the question is not, or None if there is none."""
        self._settle()
        said = _as_fact(question)
        claims = self._search.claims([formula(said, self._literal, holds=False)])
        if claims is None:
            return None
        names = [
            *self._base.labels.items(),
            *((one, self._guests[one]) for one in said.labels if one in self._guests),
        ]
        holds = self._base.graph.holds
        regions = set()
        for parts in self._search.objects(claims):
            values: dict[int, bool] = {}
            regions.add(frozenset(label for label, literal in names if holds(literal, parts, values)))
        return World(frozenset(regions))

    def _literal(self, one: Term) -> int:
        """Return the literal of a term of a question; a label that no fact mentions is an unconstrained set."""
        labels = self._base.labels
        for token in one.postfix:
            if isinstance(token, str) and token not in labels and token not in self._guests:
                self._guests[token] = self._base.graph.part(EVERYTHING)
        return self._base.graph.run(one.postfix, ChainMap(labels, self._guests) if self._guests else labels)

    # -- looking up ----------------------------------------------------------------------------------------------

    def relationship(self, *labels: str) -> Relationship:
        """Return all hypercubes between some sets that the facts allow.

        Exact: it equals the conjunction of all facts as relationships, with all other sets removed.
        """
        self._settle()
        literals = [self._known(label) for label in labels]
        if len(set(labels)) != len(labels):
            raise LabelError(f"a set is named twice in {', '.join(labels)}")
        cells = list(product((0, 1), repeat=len(labels)))
        result = Relationship.contradiction(*labels)
        beyond: list[Formula] = []  # each way in which the facts can be true must allow more than those before it
        while (claims := self._search.claims(beyond)) is not None:
            said = self._projected(justified(self._search.choices, claims), literals, cells, labels)
            result |= Relationship.of(said, labels=labels)
            if not self._search.choices:
                break
            beyond.append(formula(said, self._literal, holds=False))
        return result

    def _projected(
        self, claims: Claims, literals: list[int], cells: list[tuple[int, ...]], labels: Sequence[str]
    ) -> Statement:
        """Return what claims, together with the facts, say of some literals alone."""
        possible, forbidden = self._reasoner.possible, [literal ^ 1 for literal in claims.empty]

        def reached(inhabited: int) -> frozenset[tuple[int, ...]]:
            return frozenset(
                cell
                for cell in cells
                if possible(
                    inhabited, *forbidden, *(one ^ 1 ^ inside for one, inside in zip(literals, cell, strict=True))
                )
            )

        allowed = reached(EVERYTHING)
        witnesses = {reached(literal) for literal in [*claims.inhabited, *self._search.inhabited]}
        if self._open:
            witnesses.add(frozenset({(0,) * len(labels)}))
        said = [empty(_region(labels, [cell for cell in cells if cell not in allowed]))]
        return And.of(*said, *(nonempty(_region(labels, sorted(one))) for one in witnesses))

    def equal_to(self, label: str) -> list[str]:
        """Return the labels of the sets that are equal to one, sorted, without itself."""
        one = self._known(label)
        inside, around = self._apart_from(one ^ 1), self._apart_from(one)
        return self._labels_where(lambda other: inside(other) and around(other ^ 1), label)

    def subsets_of(self, label: str) -> list[str]:
        """Return the labels of the sets inside one, sorted, with equal and empty sets, without itself."""
        return self._labels_where(self._apart_from(self._known(label) ^ 1), label)

    def supersets_of(self, label: str) -> list[str]:
        """Return the labels of the sets that contain one, sorted, with equal sets, without itself."""
        around = self._apart_from(self._known(label))
        return self._labels_where(lambda other: around(other ^ 1), label)

    def disjoint_from(self, label: str) -> list[str]:
        """Return the labels of the sets that share no object with one, sorted, with empty sets, without itself."""
        return self._labels_where(self._apart_from(self._known(label)), label)

    def classify(self) -> Classification:
        """Return the classes of equal sets, and the classes directly above each."""
        self._settle()
        return classify(self._base.labels, self._reasoner, self._apart, next(iter(self._ways), ()))

    def _apart(self, one: int, other: int) -> bool:
        """Whether the facts imply that two literals have nothing in common."""
        possible = self._reasoner.possible
        if not possible(one, other):
            return True
        if not self._base.choices or any(possible(one, other, *way) for way in self._ways):
            return False
        claims = self._search.claims([Inhabited(self._base.graph.meet(one, other), holds=True)])
        if claims is None:
            return True
        way = [literal ^ 1 for literal in justified(self._search.choices, claims).empty]
        self._ways = [way, *self._ways[: _MOST_WAYS - 1]]
        return False

    def _apart_from(self, one: int) -> Callable[[int], bool]:
        """Return the test whether the facts imply that a literal has nothing in common with one.

        What that one is made of is looked at once, all of it, since many tests will follow.
        """
        graph = self._base.graph
        around = graph.conjuncts(one, 2 * len(graph))
        return lambda other: other ^ 1 in around or self._apart(one, other)

    def _labels_where(self, test: Callable[[int], bool], without: str) -> list[str]:
        self._settle()
        answers: dict[int, bool] = {}
        found = []
        for label, literal in self._base.labels.items():
            if literal not in answers:
                answers[literal] = test(literal)
            if answers[literal] and label != without:
                found.append(label)
        return sorted(found)

    def _known(self, label: str) -> int:
        literal = self._base.labels.get(check_label(label))
        if literal is None:
            raise UnknownLabelError(label, self._base.labels)
        return literal


def _as_fact(fact: Fact) -> Statement:
    if isinstance(fact, Statement):
        return fact
    if isinstance(fact, str):
        return statement(fact)
    if isinstance(fact, Relationship):
        return fact.to_statement()
    raise LabelError(f"a fact is a statement, text of one, or a relationship, not {fact!r}")


def _region(labels: Sequence[str], cells: Iterable[tuple[int, ...]]) -> Term:
    """Return the union of Venn regions, each given by whether it is inside the labels' sets."""
    if not labels:
        return ~nothing if any(True for _ in cells) else nothing
    regions = tuple(
        chain(
            Op.AND, tuple(term(label) if inside else ~term(label) for label, inside in zip(labels, cell, strict=True))
        )
        for cell in cells
    )
    return chain(Op.OR, regions) if regions else nothing
