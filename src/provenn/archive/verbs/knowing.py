"""What is known of catalogs: how they relate, what is proved, what people declare."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, replace

from provenn.archive import definitions, questions
from provenn.archive.comparison import Comparison
from provenn.archive.handle import Catalog
from provenn.archive.implications import Declared, Implied, implied
from provenn.archive.notices import notice_of_implications
from provenn.archive.proof import Proof
from provenn.archive.relation import Relation, Summary
from provenn.archive.verbs.held import Held, asked_by, digest_of
from provenn.archive.words import Vocabulary, as_statement, by_name, in_names, resolved
from provenn.errors import ArchiveBusyError
from provenn.logic import Knowledge, Statement
from provenn.store import catalog_store, declarations, facts, proofs, search
from provenn.store.facts import Fact
from provenn.store.search import Filter
from provenn.store.visibility import Visibility
from provenn.targets.doubts import refuse_by_counts

__all__ = ["Knowing"]


class Knowing(Held):
    """What is known of catalogs: how they relate, what is proved, what people declare."""

    def relate(self, left: Catalog | str, right: Catalog | str) -> Relation:
        """Return how two catalogs relate, proved from their lineage and what was declared."""
        with self._database.reading() as reading:
            digests = digest_of(reading, left), digest_of(reading, right)
            relation, found = questions.relate(reading, *digests, asked_by(digests, (left, right)))
        self._keep(found)
        return relation

    def compare(self, *which: Catalog | str) -> Comparison:
        """Return what is known of two or three catalogs together: what is possible, each region, each pair, and why.

        Raises
        ------
        ComparisonError
            If they are fewer, or more.
        PopulationError
            If they are of different populations.
        """
        with self._database.reading() as reading:
            digests = [digest_of(reading, one) for one in which]
            comparison, found = questions.compare(reading, digests, asked_by(digests, which))
        self._keep(found)
        return comparison

    def relations(self, which: Catalog | str, others: Iterable[Catalog | str]) -> Sequence[tuple[Catalog, Summary]]:
        """Return how a catalog relates to each of several others, as `relate` sums it up, without the reasons."""
        asked = (which, *others)
        with self._database.reading() as reading:
            digests = [digest_of(reading, one) for one in asked]
            found = questions.summaries(reading, digests[0], digests[1:], asked_by(digests, asked))
        return [(self._handle(digest), found[digest]) for digest in digests[1:]]

    def prove(
        self, question: str | Statement, *, given: Collection[str | Statement] = (), budget: float | None = None
    ) -> Proof:
        """Return whether a statement about catalogs holds; names in it are those of catalogs.

        Parameters
        ----------
        question
            The statement.
        given
            Facts to hold true besides, for this question only.
        budget
            Seconds after which to stop looking for a proof; then it is unknown.
        """
        with self._database.reading() as reading:
            (said, *supposed), asked = resolved(reading, [question, *given])
            proof, found = questions.judge(reading, said, asked, supposed, budget)
        self._keep(found)
        return replace(proof, statement=as_statement(question))

    def _keep(self, found: Collection[questions.Found]) -> None:
        """Keep what was proved, where that is possible: the answer is as good without."""
        if found and not self._database.read_only:
            with suppress(ArchiveBusyError), self._database.writing() as writing:
                for one in found:
                    proofs.keep(writing, one.said, one.verdict, one.because)

    def declare(
        self,
        said: str | Statement,
        *,
        reason: str = "",
        visibility: Visibility = "public",
        project: str | None = None,
    ) -> Declared:
        """Hold a statement about catalogs true from now on.

        What it newly implies for catalogs with names is told: a declaration that empties one, or makes two of them
        equal, is allowed, and seldom meant. It is a `ProvennWarning`, too.

        Parameters
        ----------
        said
            What holds.
        reason
            Why.
        visibility
            In whose proofs it is used: ``"private"``, in yours; ``"project"``, in those of the members of a project;
            ``"public"``, in those of everybody who sees the catalogs.
        project
            The project.

        Raises
        ------
        ContradictionError
            If it contradicts what you can know, counts included. It carries the minimal conflict, and nothing is
            declared.
        VisibilityError, ProjectError
            If there is no such visibility, or no such project.
        """
        with self._database.writing() as writing:
            (plain,), asked = resolved(writing, [said])
            latest = facts.latest(writing)
            with questions.in_words(writing, asked):
                fact = declarations.declare(writing, plain, reason, visibility=visibility, project=project)
                refuse_by_counts(writing, fact)
            new = implied(writing, [fact]) if fact.id > latest else Implied()
            told = Vocabulary.of(writing, plain.labels, asked).told(fact)
        values = {one.name: getattr(told, one.name) for one in fields(told)}
        declared = Declared(**values, empties=new.empties, equates=new.equates, complete=new.complete)
        self._workshop.notices.tell(notice_of_implications(f"by {declared.words}", new, [declared]))
        return declared

    def retract(self, number: int, *, reason: str = "") -> Fact:
        """Take a fact back that you declared. Every proof that used it is forgotten; `unproved` lists what needs it."""
        with self._database.writing() as writing:
            return in_names(writing, [declarations.retract(writing, number, reason)])[0]

    def facts(self, which: Catalog | str | None = None, *, retracted: bool = False) -> Sequence[Fact]:
        """Return the facts declared or observed about a catalog, or all there are, with names in their statements."""
        with self._database.reading() as reading:
            if which is None:
                return in_names(reading, facts.all_facts(reading, retracted=retracted))
            return in_names(reading, facts.facts_about(reading, digest_of(reading, which), retracted=retracted))

    def unproved(self) -> list[Catalog]:
        """Return the concatenations that need their members to be disjoint, if that is not known any more."""
        with self._database.reading() as reading:
            which = Filter(kind="ConcatSources")
            digests = [one.digest for one in search.search(reading, which, most=search.matches(reading, which))]
            made = catalog_store.get_all(reading, digests) if digests else {}
            return [self._handle(one) for one in definitions.disjointly_concatenated(reading, made.values())]

    def same_sources(self, which: Catalog | str, *, by_construction: bool = False) -> list[Catalog]:
        """Return the other catalogs that are proved to have the same sources.

        Parameters
        ----------
        which
            The catalog.
        by_construction
            Only those of which it is seen without a proof: quick in an archive of any size.
        """
        if not by_construction:
            return self._found(which, Knowledge.equal_to)
        with self._database.reading() as reading:
            found = by_name(reading, catalog_store.same_extent(reading, digest_of(reading, which)))
        return [self._handle(digest) for digest in found]

    def covering(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that are proved to have all its sources."""
        return self._found(which, Knowledge.supersets_of)

    def inside(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs all of whose sources it is proved to have."""
        return self._found(which, Knowledge.subsets_of)

    def apart_from(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that are proved to share no source with it."""
        return self._found(which, Knowledge.disjoint_from)

    def _found(self, which: Catalog | str, relation: Callable[[Knowledge, str], list[str]]) -> list[Catalog]:
        with self._database.reading() as reading:
            found = by_name(reading, questions.look_up(reading, self._everything, digest_of(reading, which), relation))
        return [self._handle(digest) for digest in found]
