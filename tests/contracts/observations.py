"""What counts, verified keys and other observations must do, on every database."""

import pytest
from sqlalchemy import update

from provenn.catalogs import RestrictSources, SelectSources
from provenn.data import run_records
from provenn.database import settings
from provenn.database.tables import counts as count_rows
from provenn.database.tables import verifications as verification_rows
from provenn.definitions import catalog_store
from provenn.errors import ContradictionError, CorruptArchiveError, UnknownCatalogError
from provenn.knowledge import counts, verified_keys
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.observations import observe_fact
from provenn.knowledge.stored_facts import find_all_facts, get_fact
from provenn.logic import disjoint, empty, equal, nonempty, subset
from tests.catalogs.samples import base

BASES = [base(f"base {number}") for number in range(3)]
A, B, C = (catalog.digest for catalog in BASES)
MET = RestrictSources(BASES[0], BASES[1])
BRIGHT = SelectSources.of(BASES[0], "vmag < 6")
IMPOSSIBLE = SelectSources.of(BASES[0], "vmag < 6 AND vmag > 7")


class ObservationsContract:
    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, *BASES, MET, BRIGHT, IMPOSSIBLE)
        return database

    @pytest.fixture
    def writing(self, filled):
        with filled.writing() as writing:
            yield writing

    # --- observations against declarations ---

    def test_an_observation_is_a_fact_of_its_own_origin(self, writing):
        seen = observe_fact(writing, nonempty(A), "118 218 rows read")
        assert seen.suspended == ()
        assert find_all_facts(writing) == (seen.fact,)
        assert (seen.fact.statement, seen.fact.origin, seen.fact.reason) == (
            nonempty(A),
            "observed",
            "118 218 rows read",
        )
        assert observe_fact(writing, nonempty(A), "read again").fact == seen.fact

    def test_an_observation_suspends_the_declaration_that_it_contradicts_and_no_other(self, filled):
        with filled.writing() as writing:
            wrong = declare_fact(writing, disjoint(A, B), "declination ranges")
            innocent = declare_fact(writing, disjoint(A, C), "declination ranges")
        with filled.writing() as writing:
            seen = observe_fact(writing, nonempty(MET.digest), "12 rows")
        assert [fact.id for fact in seen.suspended] == [wrong.id]
        with filled.reading() as reading:
            assert find_all_facts(reading) == (innocent, seen.fact)
            gone = get_fact(reading, wrong.id)
            assert gone == seen.suspended[0]
            assert gone.retracted_reason == "suspended: contradicted by observation: 12 rows"

    def test_several_conflicts_are_resolved_one_after_the_other(self, writing):
        """Each of three declarations alone contradicts the observation."""
        wrong = [
            declare_fact(writing, statement, "")
            for statement in (empty(A), disjoint(A, B), subset(A, C), disjoint(B, C))
        ]
        seen = observe_fact(writing, nonempty(MET.digest), "seen")
        assert {fact.id for fact in seen.suspended} == {wrong[0].id, wrong[1].id, wrong[2].id, wrong[3].id}
        assert find_all_facts(writing) == (seen.fact,)

    def test_what_contradicts_definitions_or_other_observations_is_refused_and_nothing_is_suspended(self, writing):
        declared = declare_fact(writing, equal(A, BRIGHT.digest), "all are bright")
        with pytest.raises(ContradictionError):
            observe_fact(writing, nonempty(IMPOSSIBLE.digest), "seen")
        seen = observe_fact(writing, empty(A), "0 rows")
        with pytest.raises(ContradictionError):
            observe_fact(writing, nonempty(BRIGHT.digest), "1 row")
        assert find_all_facts(writing, retracted=True) == (declared, seen.fact)

    def test_what_is_suspended_is_restored_when_the_rest_cannot_fit(self, writing):
        """A conflict with a declaration is found first, then one with an observation: all stays as it was."""
        for statement in (empty(B), disjoint(A, B), empty(MET.digest)):
            declare_fact(writing, statement, "")
        observe_fact(writing, empty(A), "0 rows")
        before = find_all_facts(writing, retracted=True)
        with pytest.raises(ContradictionError):
            observe_fact(writing, nonempty(MET.digest), "seen")
        assert find_all_facts(writing, retracted=True) == before

    # --- verified keys ---

    def test_a_verified_key_makes_a_fact_that_proofs_can_cite(self, writing):
        assert verified_keys.find_verified_counts(writing, [A, B]) == {}
        seen = verified_keys.record_verification(writing, A, 118_218)
        assert verified_keys.find_verified_counts(writing, [A, B]) == {A: 118_218}
        assert seen.fact.statement == nonempty(A)
        assert seen.fact.reason == "118,218 rows read: the key hip is unique and never NULL"
        assert verified_keys.record_verification(writing, A, 118_218) == seen

    def test_a_base_without_rows_is_observed_to_be_empty(self, writing):
        declared = declare_fact(writing, nonempty(A), "surely")
        seen = verified_keys.record_verification(writing, A, 0)
        assert seen.fact.statement == empty(A)
        assert [fact.id for fact in seen.suspended] == [declared.id]

    def test_another_number_of_rows_than_before_is_damage(self, writing):
        verified_keys.record_verification(writing, A, 5)
        counts.record_count(writing, BRIGHT.digest, 3)
        with pytest.raises(CorruptArchiveError, match="had 5 rows, and now 6"):
            verified_keys.record_verification(writing, A, 6)
        with pytest.raises(CorruptArchiveError, match="had 3 rows, and now 2"):
            counts.record_count(writing, BRIGHT.digest, 2)

    def test_what_the_archive_does_not_hold_cannot_be_verified(self, filled):
        for record in (verified_keys.record_verification, counts.record_count):
            with pytest.raises(Exception) as caught, filled.writing() as writing:
                record(writing, "f" * 64, 1)
            assert isinstance(caught.value, UnknownCatalogError) or "foreign key" in str(caught.value).lower()

    # --- counts ---

    def test_counts_are_known_by_catalog(self, writing):
        counts.record_count(writing, A, 10**12)
        counts.record_count(writing, BRIGHT.digest, 0)
        counts.record_count(writing, BRIGHT.digest, 0)
        assert counts.find_counts(writing, [A, B, BRIGHT.digest]) == {A: 10**12, BRIGHT.digest: 0}
        assert counts.find_counts(writing, []) == {}

    def test_counts_are_found_by_population_number_and_extent(self, writing):
        counts.record_count(writing, A, 5)
        counts.record_count(writing, BRIGHT.digest, 3)
        assert counts.find_latest_counts(writing, BRIGHT.population.name, 10) == {A: 5, BRIGHT.digest: 3}
        assert counts.find_latest_counts(writing, BRIGHT.population.name, 10, rows=3) == {BRIGHT.digest: 3}
        assert len(counts.find_latest_counts(writing, BRIGHT.population.name, 1)) == 1
        assert counts.find_latest_counts(writing, "nobody", 10) == {}
        assert counts.find_counts_by_extent(writing, [BRIGHT.extent.digest, "f" * 64]) == {BRIGHT.extent.digest: 3}

    def test_a_number_that_was_changed_is_named(self, writing):
        counts.record_count(writing, A, 5)
        verified_keys.record_verification(writing, A, 5)
        writing.connection.execute(update(count_rows).values(rows=6))
        writing.connection.execute(update(verification_rows).values(rows=6))
        with pytest.raises(CorruptArchiveError, match=A):
            counts.find_counts(writing, [A])
        with pytest.raises(CorruptArchiveError, match=A):
            verified_keys.find_verified_counts(writing, [A])

    # --- settings and runs ---

    def test_a_setting_is_changed_and_forgotten(self, writing):
        assert settings.read_setting(writing, settings.STORE) is None
        for value in ("data", "s3a://bucket/survey"):
            settings.change_setting(writing, settings.STORE, value)
            assert settings.read_setting(writing, settings.STORE) == value
        assert settings.forget_setting(writing, settings.STORE)
        assert not settings.forget_setting(writing, settings.STORE)
        assert settings.read_setting(writing, settings.STORE) is None

    def test_runs_are_recorded_from_beginning_to_end(self, filled):
        with filled.writing() as first:
            item = run_records.begin_run(first, "bright: hip, dist_pc", catalog=BRIGHT.digest)
        with filled.writing() as second:
            two = run_records.begin_run(second, "a target")
            run_records.end_run(second, item, "done", seconds=1.5, rows=3, reused=["b", "a"], computed=["c"])
        with filled.reading() as reading:
            latest, earlier = run_records.find_recent_runs(reading)
            assert run_records.find_recent_runs(reading, most=1) == [latest]
        assert latest == run_records.Run(two, None, "a target", "Ada", second.when)
        assert earlier == run_records.Run(
            *(item, BRIGHT.digest, "bright: hip, dist_pc", "Ada", first.when, second.when, "done", 1.5, 3),
            reused=("a", "b"),
            computed=("c",),
        )

    def test_a_run_tells_what_it_read_and_what_attributes_were_called(self, filled):
        with filled.writing() as writing:
            number = run_records.begin_run(writing, "x", catalog="f" * 64)
            read = {"fragments": [7, 3], "saved": 12.5}
            run_records.end_run(
                writing, number, "done", seconds=1, reused={"b": "vmag", "a": "plx"}, computed={"c": "d"}, **read
            )
            (run,) = run_records.find_recent_runs(writing)
            assert run.catalog is None, "the archive does not hold it"
            assert (run.reused, run.computed) == (("a", "b"), ("c",))
            assert run.names == {"a": "plx", "b": "vmag", "c": "d"}
            assert (run.fragments, run.saved) == ((3, 7), 12.5)

    def test_the_runs_of_one_catalog(self, filled):
        with filled.writing() as writing:
            numbers = [run_records.begin_run(writing, "x", catalog=digest) for digest in (A, BRIGHT.digest, None, A)]
            assert [run.id for run in run_records.find_recent_runs(writing, catalog=A)] == [numbers[3], numbers[0]]
            assert [run.id for run in run_records.find_recent_runs(writing, 1, catalog=A)] == [numbers[3]]
            assert run_records.find_recent_runs(writing, catalog=B) == []
