"""Knowledge: the consequences of facts about any number of sets.

The meaning is the same as the conjunction of all facts as a `Relationship`, exact and complete, without its hypercubes.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from provenn import display
from provenn.errors import ContradictionError, LabelError, UnknownLabelError
from provenn.logic.knowledge.budget import Budget, Clock, RanOutError
from provenn.logic.knowledge.classification import Classification, classify_literals
from provenn.logic.knowledge.explanation import Explanation, find_explanation
from provenn.logic.knowledge.facts import FactBase
from provenn.logic.knowledge.formulas import Formula, Inhabited, build_formula, iterate_conjuncts, negate
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.label_table import LabelTable
from provenn.logic.knowledge.lineage import Lineage
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Claims, WorldSearch, select_justified
from provenn.logic.knowledge.theory import Refutation, Theory, TheoryCheck
from provenn.logic.knowledge.verdict import Verdict
from provenn.logic.knowledge.worlds import World
from provenn.logic.parser import statement
from provenn.logic.relationship import Relationship
from provenn.logic.statements import And, Not, Or, Property, SetComparison, Statement, empty, nonempty
from provenn.logic.terms import Op, Term, chain, check_label, nothing, term

__all__ = ["Fact", "Knowledge"]

Fact = Statement | Relationship | str
_MOST_RESOLUTIONS = 64
_STATEMENT_CLASSES = frozenset({And, SetComparison, Not, Or, Property})


class Knowledge:
    """Facts about sets, and their consequences.

    Parameters
    ----------
    facts
        Statements (also as text), relationships, lineages; or a single `Lineage`. The order affects only the speed.
    open_universe
        Whether some object is always outside all sets, including sets without any fact.
    theory
        What is known of some sets beyond the facts: which combinations of them no object has. The answers are the same
        as if the facts included these combinations, as far as the theory finds them in a bounded search.

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

    def __init__(
        self, facts: Iterable[Fact | Lineage] = (), *, open_universe: bool = True, theory: Theory | None = None
    ) -> None:
        self._open = open_universe
        self._theory = theory
        graph = SetGraph()
        self._labels = LabelTable(graph)
        self._base = FactBase(self._labels, graph)
        self._reasoner = Reasoner(graph)
        self._guests: dict[str, int] = {}  # labels in questions, but not in facts
        self._fitting_constraints = 0  # the number of constraints checked to allow an object outside all base sets
        self._grounded_labels = 0  # the number of equated labels checked to hold no object outside all base sets
        self._confirmed_literals = 0  # the number of inhabited literals checked to be possible
        self._resolutions: list[list[int]] = []  # resolutions of the choices, each as literals of every object
        self._settled = False
        self._conflict_about: tuple[str, ...] | None = None
        self._take_facts(facts)
        if theory is not None:
            self._base.mention(theory.labels)
            self._reasoner.consult(TheoryCheck(theory, self._base.graph, self._base.labels))

    # -- adding -------------------------------------------------------------------------------------------------

    def add(self, *facts: Fact | Lineage) -> None:
        """Add facts. Earlier proofs stay valid."""
        self._take_facts(facts)

    def extend(self, facts: Iterable[Fact], theory: Theory | None = None) -> Knowledge:
        """Return knowledge with further facts; this knowledge stays as it is, and may be extended again.

        The answers are the same as those of `Knowledge` made from all facts, but what was found for the facts of this
        knowledge (the graph, simulated objects, proofs) is copied. Questions to this knowledge must not be asked in
        another thread meanwhile.

        Parameters
        ----------
        facts
            The further facts.
        theory
            A theory that refutes at least as much as the present one, for example because it knows more sets; by
            default the present one.
        """
        extended = Knowledge(open_universe=self._open)
        extended._base = base = self._base.copy()
        if base.table is not None:  # as in every knowledge
            extended._labels = base.table
        extended._reasoner = self._reasoner.copy(base.graph)
        extended._take_facts(facts)
        known_theory = theory if theory is not None else self._theory
        if known_theory is not None:
            refuted = {} if self._reasoner.check is None else self._reasoner.check.refutations
            extended._consult_theory(known_theory, refuted)
        return extended

    def replace_theory(self, theory: Theory) -> None:
        """Replace the theory by one that refutes at least as much, for example because it knows more sets."""
        self._consult_theory(theory, {} if self._reasoner.check is None else self._reasoner.check.refutations)

    def _consult_theory(self, theory: Theory, refuted: Mapping[int, Refutation]) -> None:
        """Ask a theory from now on; the given refutations are constraints already."""
        self._theory = theory
        self._base.mention(theory.labels)
        check = TheoryCheck(theory, self._base.graph, self._base.labels)
        check.refutations.update(refuted)
        self._reasoner.consult(check)
        self._confirmed_literals = 0
        self._settled = False

    def _take_facts(self, facts: Iterable[Fact | Lineage]) -> None:
        if isinstance(facts, str | Statement | Relationship) or not isinstance(facts, Iterable | Lineage):
            raise LabelError(f"expected a list of facts, got {facts!r}", hint="put it in a list")
        base = self._base
        before = len(base.constraints)
        batch: Sequence[Any] = facts if isinstance(facts, Lineage) else tuple(facts)
        if isinstance(batch, Lineage) or all(map(_STATEMENT_CLASSES.__contains__, map(type, batch))):
            base.take(batch)
        else:
            statements = [_read_fact(fact) for fact in batch if not isinstance(fact, Lineage)]
            for fact in batch:
                if isinstance(fact, Lineage):
                    base.take(fact)
            base.take(statements)
            base.mention(label for fact in batch if isinstance(fact, Relationship) for label in fact.labels)
        for literal, _ in base.constraints[before:]:
            self._reasoner.constrain(literal)
        if len(base.constraints) > before:
            self._confirmed_literals = 0
        if self._guests:
            self._guests = {label: literal for label, literal in self._guests.items() if label not in base.labels}
        self._settled = False
        self._resolutions = []
        self._search = WorldSearch(
            self._reasoner,
            [literal for literal, _ in base.inhabited],
            [choice for choice, _ in base.choices],
            self._open,
        )

    @property
    def facts(self) -> Sequence[Statement]:
        """The facts, in the order in which they were added."""
        return self._base.facts

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the facts."""
        return tuple(self._base.labels)

    @property
    def open_universe(self) -> bool:
        """Whether some object is always outside all sets."""
        return self._open

    @property
    def theory(self) -> Theory | None:
        """What is known of some sets beyond the facts."""
        return self._theory

    def __repr__(self) -> str:
        return f"<Knowledge of {len(self._base.labels)} sets from {len(self.facts)} facts>"

    def _repr_html_(self) -> str:
        sets, total = len(self._base.labels), len(self.facts)
        return display.knowledge_html(map(str, self.facts), sets=sets, total=total, open_universe=self._open)

    # -- consistency ---------------------------------------------------------------------------------------------

    @property
    def consistent(self) -> bool:
        """Whether all facts can hold at once."""
        self._check(None)
        return self._conflict_about is None

    def conflict(self) -> Explanation | None:
        """Return a minimal set of facts that contradict each other, or None if the facts are consistent."""
        self._check(None)
        if self._conflict_about is None:
            return None
        return self._explain(self._conflict_about, None)

    def _settle(self, clock: Clock | None = None) -> None:
        if not self._settled:
            self._check(clock)
        if self._conflict_about is not None:
            conflict = self.conflict()
            raise ContradictionError(conflict)

    def _check(self, clock: Clock | None) -> None:
        if self._settled or self._conflict_about is not None:
            return
        self._conflict_about = self._find_contradictory_labels(clock)
        self._settled = True

    def _find_contradictory_labels(self, clock: Clock | None) -> tuple[str, ...] | None:
        """Return the labels of a contradiction among the facts, or None if the facts are consistent."""
        base, reasoner = self._base, self._reasoner
        if self._open:
            for literal, number in base.constraints[self._fitting_constraints :]:
                if not reasoner.on_ground(literal):
                    return base.facts[number].labels
            self._fitting_constraints = len(base.constraints)
            # All other labels are parts, or made by & | - ^ from earlier labels: without the object if these are.
            equated = base.equated[self._grounded_labels :]
            label = reasoner.first_on_ground([(label, base.labels[label]) for label in equated])
            if label is not None:
                return (label,)
            self._grounded_labels = len(base.equated)
            if not reasoner.allows_ground():
                return ()
        for literal, number in base.inhabited[self._confirmed_literals :]:
            if not reasoner.possible(literal, clock=clock):
                return base.facts[number].labels
        self._confirmed_literals = len(base.inhabited)
        if base.choices:
            claims = self._search.find_claims((), clock)
            if claims is None:
                return tuple(base.labels)
            self._resolutions = [[literal ^ 1 for literal in claims.empty]]
        return None

    # -- asking --------------------------------------------------------------------------------------------------

    def entails(self, question: Fact) -> bool:
        """Return whether the question is true in every world that satisfies the facts.

        Raises
        ------
        ContradictionError
            If the facts contradict each other: they prove nothing.
        """
        if not self._settled or self._conflict_about is not None:
            self._settle()
        conclusion = question if isinstance(question, Statement) else _read_fact(question)
        if not self._base.choices:
            quick = self._compare_labels(conclusion)
            if quick is not None:
                return quick
        return self._proves(conclusion, None)

    def _compare_labels(self, question: Statement) -> bool | None:
        """Answer the most common questions, about two known labels, on a fast path; return None for any other."""
        labels, possible = self._labels, self._reasoner.possible
        entries = labels.entries
        if type(question) is SetComparison:
            left, right = question.left.postfix, question.right.postfix
            if len(left) == 1 == len(right):
                a, b = entries.get(left[0]), entries.get(right[0])  # type: ignore[arg-type] # {} is no key
                if type(a) is not int or a < 0:
                    a = labels.get(left[0])  # type: ignore[arg-type]
                if type(b) is not int or b < 0:
                    b = labels.get(right[0])  # type: ignore[arg-type]
                if a is not None and b is not None:
                    match question.operator:
                        case "==":
                            return a == b or not (possible(a, b ^ 1) or possible(a ^ 1, b))
                        case "<=":
                            return a == b or not possible(a, b ^ 1)
                        case ">=":
                            return a == b or not possible(a ^ 1, b)
        elif type(question) is Property and question.name == "disjoint" and len(question.arguments) == 2:
            a, b = (labels.get(argument.label) if argument.label else None for argument in question.arguments)
            if a is not None and b is not None:
                return not possible(a, b)
        return None

    def _proves(self, question: Statement, clock: Clock | None) -> bool:
        return all(
            self._search.find_claims([negate(part)], clock) is None
            for part in iterate_conjuncts(build_formula(question, self.find_literal))
        )

    def judge(self, question: Fact, budget: Budget | float | None = None) -> Verdict:
        """Return whether the question holds, fails, or is unknown, within a budget.

        Parameters
        ----------
        question
            A statement or a relationship.
        budget
            Seconds, or a `Budget`. If the budget runs out, the answer is "unknown", with that reason.
        """
        conclusion = _read_fact(question)
        limit = budget if isinstance(budget, Budget) else Budget(seconds=budget)
        clock = None if limit == Budget() else Clock(limit)
        try:
            self._settle(clock)
            if self._proves(conclusion, clock):
                return Verdict("holds", "it is true in every world that the facts allow")
            if self._proves(Not(conclusion), clock):
                return Verdict("fails", "it is false in every world that the facts allow")
        except RanOutError:
            return Verdict("unknown", f"the budget of {limit} ran out")
        return Verdict("unknown", "it is true in some worlds that the facts allow, and false in others")

    def explain(self, question: Fact) -> Explanation | None:
        """Return a minimal set of facts that implies the question, or None if the facts do not imply it."""
        conclusion = _read_fact(question)
        if not self.entails(conclusion):
            return None
        return self._explain(conclusion.labels, conclusion)

    def _explain(self, about: Iterable[str], conclusion: Statement | None) -> Explanation:
        check = self._reasoner.check
        return find_explanation(
            self._base,
            about,
            conclusion,
            open_universe=self._open,
            theory=self._theory,
            refutations=() if check is None else check.refutations.values(),
        )

    def counterexample(self, question: Fact) -> World | None:
        """Return a world that satisfies the facts and not the question, or None if no such world exists."""
        self._settle()
        conclusion = _read_fact(question)
        claims = self._search.find_claims([build_formula(conclusion, self.find_literal, holds=False)])
        if claims is None:
            return None
        names = [
            *self._base.labels.items(),
            *((label, self._guests[label]) for label in conclusion.labels if label in self._guests),
        ]
        holds = self._base.graph.holds
        regions = set()
        for parts in self._search.objects(claims):
            values: dict[int, bool] = {}
            regions.add(frozenset(label for label, literal in names if holds(literal, parts, values)))
        return World(frozenset(regions))

    def find_literal(self, region: Term) -> int:
        """Return the literal of a term of a question; a label without facts is an unconstrained set."""
        labels = self._base.labels
        for token in region.postfix:
            if isinstance(token, str) and token not in labels and token not in self._guests:
                self._guests[token] = self._base.graph.part(EVERYTHING)
        return self._base.graph.run(region.postfix, ChainMap(labels, self._guests) if self._guests else labels)

    def open_search(self) -> WorldSearch:
        """Return the search among the worlds allowed by the facts: for modules that ask more than statements can.

        Raises
        ------
        ContradictionError
            If the facts contradict each other.
        """
        self._settle()
        return self._search

    def list_inhabited(self) -> list[tuple[int, Statement]]:
        """Return the literals that facts claim to be inhabited, each with its fact."""
        return [(literal, self._base.facts[number]) for literal, number in self._base.inhabited]

    def list_choices(self) -> list[Statement]:
        """Return the facts that leave a choice."""
        return [self._base.facts[number] for _, number in self._base.choices]

    # -- looking up ----------------------------------------------------------------------------------------------

    def relationship(self, *labels: str) -> Relationship:
        """Return the relationship of some sets: all hypercubes allowed by the facts.

        The result is exact: it equals the conjunction of all facts as relationships, with all other sets removed.
        """
        self._settle()
        literals = [self._find_known_literal(label) for label in labels]
        if len(set(labels)) != len(labels):
            raise LabelError(f"a set is named twice in {', '.join(labels)}")
        cells = list(product((0, 1), repeat=len(labels)))
        result = Relationship.contradiction(*labels)
        beyond: list[Formula] = []  # each resolution of the choices must allow more than the earlier resolutions
        while (claims := self._search.find_claims(beyond)) is not None:
            projection = self._project_claims(select_justified(self._search.choices, claims), literals, cells, labels)
            result |= Relationship.of(projection, labels=labels)
            if not self._search.choices:
                break
            beyond.append(build_formula(projection, self.find_literal, holds=False))
        return result

    def _project_claims(
        self, claims: Claims, literals: list[int], cells: list[tuple[int, ...]], labels: Sequence[str]
    ) -> Statement:
        """Return the consequences of claims and facts for some literals alone."""
        possible, forbidden = self._reasoner.possible, [literal ^ 1 for literal in claims.empty]

        def find_reached_cells(inhabited: int) -> frozenset[tuple[int, ...]]:
            return frozenset(
                cell
                for cell in cells
                if possible(
                    inhabited,
                    *forbidden,
                    *(literal ^ 1 ^ inside for literal, inside in zip(literals, cell, strict=True)),
                )
            )

        allowed = find_reached_cells(EVERYTHING)
        witnesses = {find_reached_cells(literal) for literal in [*claims.inhabited, *self._search.inhabited]}
        if self._open:
            witnesses.add(frozenset({(0,) * len(labels)}))
        emptiness = [empty(_build_region(labels, [cell for cell in cells if cell not in allowed]))]
        return And.of(
            *emptiness, *(nonempty(_build_region(labels, sorted(reached_cells))) for reached_cells in witnesses)
        )

    def equal_to(self, label: str) -> list[str]:
        """Return the labels of the sets equal to a set, sorted, without the set itself."""
        literal = self._find_known_literal(label)
        inside, around = self._build_apart_test(literal ^ 1), self._build_apart_test(literal)
        return self._find_labels(lambda other: inside(other) and around(other ^ 1), label)

    def subsets_of(self, label: str) -> list[str]:
        """Return the labels of the sets inside a set, sorted, with equal and empty sets, without the set itself."""
        return self._find_labels(self._build_apart_test(self._find_known_literal(label) ^ 1), label)

    def supersets_of(self, label: str) -> list[str]:
        """Return the labels of the sets that contain a set, sorted, with equal sets, without the set itself."""
        around = self._build_apart_test(self._find_known_literal(label))
        return self._find_labels(lambda other: around(other ^ 1), label)

    def disjoint_from(self, label: str) -> list[str]:
        """Return the labels of the sets disjoint from a set, sorted, with empty sets, without the set itself."""
        return self._find_labels(self._build_apart_test(self._find_known_literal(label)), label)

    def classify(self) -> Classification:
        """Return the classes of equal sets, and the classes directly above each class."""
        self._settle()
        return classify_literals(self._base.labels, self._reasoner, self._are_apart, next(iter(self._resolutions), ()))

    def _are_apart(self, literal: int, other: int, *, learn: bool = False) -> bool:
        """Return whether the facts imply that two literals are disjoint; `learn` is that of `Reasoner.possible`."""
        possible = self._reasoner.possible
        if not possible(literal, other, learn=learn):
            return True
        if not self._base.choices or any(possible(literal, other, *resolution) for resolution in self._resolutions):
            return False
        claims = self._search.find_claims([Inhabited(self._base.graph.meet(literal, other), holds=True)])
        if claims is None:
            return True
        resolution = [empty_literal ^ 1 for empty_literal in select_justified(self._search.choices, claims).empty]
        self._resolutions = [resolution, *self._resolutions[: _MOST_RESOLUTIONS - 1]]
        return False

    def _build_apart_test(self, literal: int) -> Callable[[int], bool]:
        """Return a function that decides whether the facts imply that a literal is disjoint from the given literal.

        A single pass over the graph decides most tests, since many will follow.
        """
        self._base.build_sets()
        disjoint = self._base.graph.show_disjoint(literal, self._reasoner.partners)
        return lambda other: bool(disjoint[other]) or self._are_apart(literal, other, learn=True)

    def _find_labels(self, test: Callable[[int], bool], without: str) -> list[str]:
        self._settle()
        answers: dict[int, bool] = {}
        labels = []
        for label, literal in self._base.labels.items():
            if literal not in answers:
                answers[literal] = test(literal)
            if answers[literal] and label != without:
                labels.append(label)
        return sorted(labels)

    def _find_known_literal(self, label: str) -> int:
        literal = self._base.labels.get(check_label(label))
        if literal is None:
            raise UnknownLabelError(label, self._base.labels)
        return literal


def _read_fact(fact: Fact) -> Statement:
    if isinstance(fact, Statement):
        return fact
    if isinstance(fact, str):
        return statement(fact)
    if isinstance(fact, Relationship):
        return fact.to_statement()
    raise LabelError(f"expected a fact (a statement, its text, or a relationship), got {fact!r}")


def _build_region(labels: Sequence[str], cells: Iterable[tuple[int, ...]]) -> Term:
    """Return the union of Venn regions, each given by flags: whether it is inside the set of each label."""
    if not labels:
        return ~nothing if any(True for _ in cells) else nothing
    regions = tuple(
        chain(
            Op.AND, tuple(term(label) if inside else ~term(label) for label, inside in zip(labels, cell, strict=True))
        )
        for cell in cells
    )
    return chain(Op.OR, regions) if regions else nothing
