"""What facts and proofs must do, on every database."""

from itertools import count, pairwise

import pytest

from provenn.catalogs import RestrictSources, SelectSources
from provenn.definitions import catalog_store
from provenn.errors import ContradictionError, FactError, PopulationError, UnknownCatalogError, UnknownFactError
from provenn.formats.opening import open_database
from provenn.knowledge import proofs, stored_facts
from provenn.knowledge.consequences import FactOrigin
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.knowledge.stored_facts import find_all_facts, find_facts_about, find_facts_touching, read_closed_cone
from provenn.logic import disjoint, empty, equal, nonempty, overlapping, statement, subset
from tests.catalogs.samples import base

BASES = [base(f"base {number}") for number in range(5)]
A, B, C, D, E = (catalog.digest for catalog in BASES)
MET = RestrictSources(BASES[0], BASES[1])
BRIGHT = SelectSources.of(BASES[0], "vmag < 6")
GALAXIES = base("galaxies", {"pgc": "bigint"}, key="pgc", population="galaxy")


class FactsContract:
    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, *BASES, MET, BRIGHT, GALAXIES)
        return database

    @pytest.fixture
    def writing(self, filled):
        with filled.writing() as writing:
            yield writing

    # --- declaring and retracting ---

    def test_a_fact_keeps_its_statement_reason_who_and_when(self, filled):
        message = statement(f'disjoint("{A}", "{B}") and "{C}" < "{A}" & ~"{D}"')
        with filled.writing() as writing:
            result = declare_fact(writing, message, "declination ranges")
        with filled.reading() as reading:
            assert stored_facts.get_fact(reading, result.id) == result
            assert result == stored_facts.Fact(
                result.id, message, "declination ranges", "declared", "Ada", writing.when
            )
            assert result.holds

    def test_a_retracted_fact_is_kept_with_why_and_who_and_holds_no_more(self, place, filled):
        with filled.writing() as writing:
            result = declare_fact(writing, disjoint(A, B), "seen so")
        with open_database(place, who="Grace") as other, other.writing() as writing:
            gone = retract_fact(writing, result.id, "seen otherwise")
            assert not gone.holds
            assert (gone.retracted_by, gone.retracted_at) == ("Grace", writing.when)
            assert (gone.retracted_reason, gone.declared_by) == ("seen otherwise", "Ada")
            assert find_all_facts(writing) == ()
            assert find_all_facts(writing, retracted=True) == (gone,)
            assert find_facts_about(writing, A) == ()
            assert find_facts_about(writing, A, retracted=True) == (gone,)
            assert find_facts_touching(writing, [A]) == ()
            with pytest.raises(FactError, match=f"#{result.id} was already retracted by Grace"):
                retract_fact(writing, result.id, "again")

    def test_the_number_of_a_fact_is_never_used_again(self, writing):
        numbers = []
        for _ in range(3):
            numbers.append(declare_fact(writing, nonempty(A), "counted").id)
            retract_fact(writing, numbers[-1], "miscounted")
        assert numbers == sorted(set(numbers))

    def test_what_is_declared_already_is_not_declared_twice(self, writing):
        first = declare_fact(writing, nonempty(A), "counted")
        assert declare_fact(writing, nonempty(A), "counted again") == first
        observed = declare_fact(writing, nonempty(A), "counted by Spark", origin="observed")
        assert observed.origin == "observed"
        assert [fact.id for fact in find_all_facts(writing)] == [first.id, observed.id]

    def test_facts_are_found_by_the_catalogs_they_mention(self, writing):
        first, two = declare_fact(writing, disjoint(A, B), ""), declare_fact(writing, subset(C, A), "")
        assert find_facts_about(writing, A) == (first, two)
        assert find_facts_about(writing, B) == (first,)
        assert find_facts_about(writing, D) == ()
        assert find_facts_about(writing, MET.digest) == ()

    def test_a_contradiction_is_refused_with_the_minimal_conflict(self, filled):
        with filled.writing() as writing:
            declare_fact(writing, disjoint(A, B), "")
            declare_fact(writing, nonempty(C), "")
        with filled.writing() as writing:
            with pytest.raises(ContradictionError) as caught:
                declare_fact(writing, nonempty(MET.digest), "")
            assert set(caught.value.conflict.facts) == {
                disjoint(A, B),
                nonempty(MET.digest),
                *MET.facts(),
            }
            assert [str(fact.statement) for fact in find_all_facts(writing)] == [str(disjoint(A, B)), str(nonempty(C))]

    def test_no_catalogs_together_hold_every_object(self, writing):
        with pytest.raises(ContradictionError, match="outside"):
            declare_fact(writing, statement(f'~"{A}" <= "{B}"'), "")

    def test_catalogs_of_different_populations_are_not_compared(self, writing):
        with pytest.raises(PopulationError, match="galaxy, star"):
            declare_fact(writing, disjoint(A, GALAXIES.digest), "")

    def test_a_fact_is_about_catalogs_of_the_archive(self, writing):
        with pytest.raises(UnknownCatalogError, match="bright"):
            declare_fact(writing, subset("bright", A), "")
        with pytest.raises(FactError, match="mentions no catalog"):
            declare_fact(writing, statement("{} == {}"), "")
        assert find_all_facts(writing, retracted=True) == ()

    def test_a_fact_that_there_is_not_is_named(self, writing):
        for attempt in (lambda: stored_facts.get_fact(writing, 12_345), lambda: retract_fact(writing, 12_345, "")):
            with pytest.raises(UnknownFactError, match="#12345"):
                attempt()

    # --- what bears on a question ---

    def test_facts_reach_as_far_as_base_sets_are_linked_by_facts(self, writing):
        """A - B - C are linked, D - E are too; what is linked to neither is not read."""
        links = [declare_fact(writing, disjoint(element, other), "") for element, other in pairwise([A, B, C])]
        apart = declare_fact(writing, disjoint(D, E), "")
        for item in (A, B, C):
            assert list(find_facts_touching(writing, [item])) == links
        assert find_facts_touching(writing, [D]) == (apart,)
        assert find_facts_touching(writing, [GALAXIES.digest]) == ()
        assert find_facts_touching(writing, [A, E]) == (*links, apart)
        retract_fact(writing, links[1].id, "")
        assert find_facts_touching(writing, [A]) == (links[0],)
        assert find_facts_touching(writing, [C]) == ()

    def test_facts_about_descendants_bring_their_own_ancestors(self, writing):
        """nonempty(A & B) tells that A and B overlap, though neither A nor B depends on it."""
        fact = declare_fact(writing, nonempty(MET.digest), "")
        definitions, touching = read_closed_cone(writing, [A])
        assert {definition.digest for definition in definitions} == {A, B, MET.digest}
        assert touching == (fact,)

    def test_many_facts_on_one_base_are_read_at_once(self, filled):
        many = [SelectSources.of(BASES[0], f"vmag < {number}") for number in range(40)]
        with filled.writing() as writing:
            catalog_store.add_catalogs(writing, *many)
            for catalog in many:
                declare_fact(writing, nonempty(catalog.digest), "")
            definitions, touching = read_closed_cone(writing, [BRIGHT.digest])
            assert len(touching) == 40
            assert {definition.digest for definition in definitions} == {
                item.digest for item in (*many, BRIGHT, BASES[0])
            }

    # --- proofs ---

    @pytest.fixture
    def because(self, writing):
        """Two facts, and a proof of each kind of reason."""
        numbers = count()

        def keep(said, verdict, *used):
            reasons = [(fact.statement, FactOrigin(fact.origin, fact=fact.id)) for fact in used]
            reasons.append((subset(f"x {next(numbers)} \0", A), FactOrigin("criterion")))
            reasons.append((MET.facts()[0], FactOrigin("definition", catalog=MET.digest)))
            assert proofs.keep_proof(writing, said, verdict, reasons)
            return tuple(reasons)

        return keep

    def test_a_proof_is_recalled_as_it_was_kept(self, writing, because):
        fact = declare_fact(writing, disjoint(A, B), "")
        output = empty(MET.digest)
        assert proofs.recall_proof(writing, output) is None
        reasons = because(output, "holds", fact)
        assert proofs.recall_proof(writing, output) == proofs.StoredProof(
            output, "holds", reasons, writing.when, writing.who
        )
        assert proofs.recall_proof(writing, nonempty(MET.digest)) is None

    def test_the_first_proof_stays(self, writing, because):
        message = equal(A, A)
        reasons = because(message, "holds")
        because(message, "holds")
        assert proofs.recall_proof(writing, message).because == reasons

    def test_retracting_a_fact_forgets_what_was_proved_with_it_and_nothing_else(self, writing, because):
        first, two = declare_fact(writing, disjoint(A, B), ""), declare_fact(writing, subset(C, A), "")
        with_one, with_both, with_none = empty(MET.digest), disjoint(C, B), subset(BRIGHT.digest, A)
        because(with_one, "holds", first)
        because(with_both, "holds", first, two)
        because(with_none, "holds")
        retract_fact(writing, two.id, "")
        assert proofs.recall_proof(writing, with_one) is not None
        assert proofs.recall_proof(writing, with_both) is None
        retract_fact(writing, first.id, "")
        assert proofs.recall_proof(writing, with_one) is None
        assert proofs.recall_proof(writing, with_none) is not None

    def test_a_proof_from_a_fact_that_was_retracted_meanwhile_is_not_kept(self, writing):
        fact = declare_fact(writing, disjoint(A, B), "")
        retract_fact(writing, fact.id, "")
        output = empty(MET.digest)
        assert not proofs.keep_proof(writing, output, "holds", [(fact.statement, FactOrigin("declared", fact=fact.id))])
        assert proofs.recall_proof(writing, output) is None

    def test_the_opposite_of_what_overlaps_can_fail(self, writing, because):
        because(overlapping(A, B), "fails")
        assert proofs.recall_proof(writing, overlapping(A, B)).verdict == "fails"
