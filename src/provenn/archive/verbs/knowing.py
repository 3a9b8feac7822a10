"""Methods of an archive about knowledge: how catalogs relate, proofs, and declared facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.archive.bounds import Bounds
    from provenn.archive.comparison import Comparison
    from provenn.archive.handle import Catalog
    from provenn.archive.implications import Declared
    from provenn.archive.listed_facts import ListedFact
    from provenn.archive.overlaps import Overlap
    from provenn.archive.proof import Proof
    from provenn.archive.relation import Relation, Summary
    from provenn.knowledge.stored_facts import Fact
    from provenn.logic import Statement
    from provenn.logic.knowledge.set_index import SetRelation
    from provenn.logic.terms import Term
    from provenn.people.visibility import Visibility
    from provenn.targets.engine_choice import EngineChoice

__all__ = ["Knowing"]


class Knowing(ArchivePart):
    """Methods of an archive about knowledge: how catalogs relate, proofs, and declared facts."""

    def overlap(self, left: Catalog | str, right: Catalog | str, *, engine: EngineChoice = "auto") -> Overlap:
        """Count the sources that two catalogs share, and those of one alone, and remember what was observed.

        Afterwards `relate` knows how the catalogs relate. Known counts are not made again.

        Parameters
        ----------
        left, right
            The catalogs.
        engine
            As for `Catalog.to_arrow`.
        """
        from provenn.archive.overlaps import count_overlap  # noqa: PLC0415 - a command starts without it

        first, second = ((catalog.definition, catalog.name) for catalog in (self.catalog(left), self.catalog(right)))
        return count_overlap(self.context, first, second, engine=engine)

    def relate(self, left: Catalog | str, right: Catalog | str, *, why: bool = False) -> Relation:
        """Return how two catalogs relate, proved from their lineage and declared facts.

        Parameters
        ----------
        left, right
            The catalogs.
        why
            Whether to look for the closest statements that are proved, and for possible rows that only one of the
            catalogs would hold.
        """
        from provenn.archive import proved_answers  # noqa: PLC0415 - a command starts without it

        return proved_answers.ask_relation(self.context, left, right, why=why)

    def compare(self, *which: Catalog | str, why: bool = False) -> Comparison:
        """Return all knowledge about two or three catalogs together: possible worlds, regions, pairs, and reasons.

        Parameters
        ----------
        which
            The catalogs.
        why
            Whether to look for witnesses, as `relate` does.

        Raises
        ------
        ComparisonError
            If there are fewer or more catalogs.
        PopulationError
            If the catalogs belong to different populations.
        """
        from provenn.archive import proved_answers  # noqa: PLC0415 - a command starts without it

        return proved_answers.ask_comparison(self.context, which, why=why)

    def relations(self, which: Catalog | str, others: Iterable[Catalog | str]) -> Sequence[tuple[Catalog, Summary]]:
        """Return how a catalog relates to several other catalogs, summarized as by `relate`, without reasons."""
        from provenn.archive import proved_answers  # noqa: PLC0415 - a command starts without it

        summaries = self.context.read(proved_answers.summarize_relations, (which, *others))
        return [(self._make_handle(digest), summary) for digest, summary in summaries]

    def prove(
        self,
        question: str | Statement,
        *,
        given: Collection[str | Statement] = (),
        budget: float | None = None,
        why: bool = False,
    ) -> Proof:
        """Return whether a statement about catalogs holds; names in the statement are names of catalogs.

        Parameters
        ----------
        question
            The statement.
        given
            Additional facts, assumed for this question only.
        budget
            The seconds after which the search for a proof stops; the verdict is then unknown.
        why
            Whether to look, where the statement is not proved, for the closest statements that are proved, and for
            possible rows with which it would be false.
        """
        from provenn.archive import proved_answers  # noqa: PLC0415 - a command starts without it

        return proved_answers.ask_proof(self.context, question, given, budget, why=why)

    def bounds(self, which: Catalog | str | Term) -> Bounds:
        """Return the least and the most sources that a catalog or an expression can have, without reading data.

        Parameters
        ----------
        which
            A catalog, or an expression such as ``"A & B - C"``; names in it are names of catalogs.

        Raises
        ------
        ContradictionError
            If counts contradict facts. The error carries the minimal conflict.
        StatementError, UnknownCatalogError, PopulationError
            If the expression is invalid, names no catalog, or catalogs of different populations.
        """
        from provenn.archive import bounding  # noqa: PLC0415 - most questions neither count nor declare

        return self.context.read(bounding.bound_sources, which)

    def declare(
        self,
        said: str | Statement,
        *,
        reason: str = "",
        visibility: Visibility = "public",
        project: str | None = None,
    ) -> Declared:
        """Declare a statement about catalogs, which holds from now on.

        A declaration that newly empties a named catalog, or makes two named catalogs equal, is allowed, but seldom
        intended: the result lists these implications, and a `ProvennWarning` is issued. A `ProvennWarning` is also
        issued if the statement was declared before with another reason or visibility: the fact stays unchanged, and
        the audit log keeps the new reason.

        Parameters
        ----------
        said
            The statement.
        reason
            The reason for it.
        visibility
            The people whose proofs use the fact: ``"private"``, only you; ``"project"``, the members of a project;
            ``"public"``, all people with access to the catalogs.
        project
            The project.

        Raises
        ------
        ContradictionError
            If the statement contradicts facts or counts visible to you. The error carries the minimal conflict, and
            nothing is declared.
        VisibilityError, ProjectError
            If the visibility or the project does not exist.
        """
        from provenn.archive import declaring  # noqa: PLC0415 - see above

        return declaring.declare_statement(self.context, said, reason, visibility=visibility, project=project)

    def retract(self, number: int, *, reason: str = "") -> Fact:
        """Retract a fact that you declared; proofs that used it are forgotten. `unproved` lists affected catalogs."""
        from provenn.archive import declaring  # noqa: PLC0415 - see above

        return self.context.write(declaring.retract_fact, number, reason)

    def facts(self, which: Catalog | str | None = None, *, retracted: bool = False) -> Sequence[ListedFact]:
        """Return the facts about a catalog, or all facts, declared or observed, with names in their statements.

        A declared fact stays with the version that it was declared on. If the name is on a newer version, `outdated`
        says so, and `again` is the statement to declare for that version, unless it is proved.
        """
        from provenn.archive import declaring  # noqa: PLC0415 - see above

        return self.context.read(declaring.list_facts, which, retracted=retracted)

    def unproved(self) -> list[Catalog]:
        """Return the concatenations that need disjoint members, but whose members are not known disjoint any more."""
        from provenn.archive.concatenations import list_unproved_concatenations  # noqa: PLC0415 - a command starts without it

        return [self._make_handle(definition) for definition in self.context.read(list_unproved_concatenations)]

    def same_sources(self, which: Catalog | str, *, by_construction: bool = False) -> list[Catalog]:
        """Return the other catalogs with provably the same sources.

        Parameters
        ----------
        which
            The catalog.
        by_construction
            Only catalogs with the same sources by construction, without a proof: quick in an archive of any size.
        """
        from provenn.archive import proved_answers  # noqa: PLC0415 - a command starts without it

        if not by_construction:
            return self._look_up_related(which, "equal_to")
        return [self._make_handle(digest) for digest in self.context.read(proved_answers.find_same_extent, which)]

    def covering(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that provably contain all sources of a catalog."""
        return self._look_up_related(which, "supersets_of")

    def inside(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that provably lie inside a catalog."""
        return self._look_up_related(which, "subsets_of")

    def apart_from(self, which: Catalog | str) -> list[Catalog]:
        """Return the other catalogs that provably share no source with a catalog."""
        return self._look_up_related(which, "disjoint_from")

    def _look_up_related(self, which: Catalog | str, relation: SetRelation) -> list[Catalog]:
        """Return the catalogs in a relation to a catalog, sorted by name."""
        from provenn.archive import proved_answers  # noqa: PLC0415 - a command starts without it

        return self._make_handles(proved_answers.find_related(self.context, which, relation))
