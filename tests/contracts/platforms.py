"""What is kept apart by platform, on every database: fragments, counts, observed facts, and proofs that cite them."""

from dataclasses import replace

import pytest

from provenn.catalogs import RestrictSources, SelectSources
from provenn.data import fragments
from provenn.database.platform import Platform
from provenn.definitions import catalog_store
from provenn.files.data_folder import StoredFile
from provenn.knowledge import counts, proofs
from provenn.knowledge.consequences import FactOrigin
from provenn.knowledge.observations import observe_fact
from provenn.knowledge.recorded_platforms import describe_platform
from provenn.knowledge.stored_facts import find_all_facts
from provenn.logic import disjoint, empty, nonempty
from tests.catalogs.samples import base, derived

STARS = base()
WRITTEN = derived(STARS, words="string(vmag)")
LONG = SelectSources.of(WRITTEN, "length(words) > 5")
NEAR = SelectSources.of(STARS, "sin(plx) < 0.5")
BRIGHT = SelectSources.of(STARS, "vmag < 6")
KEY, VMAG = STARS.schema.key[0].identity, STARS.schema["vmag"].identity
FILES = (StoredFile("part-0.parquet", 100, "a" * 64),)

OLD, NEW, APPLE = Platform("17", "Linux amd64"), Platform("25", "Linux amd64"), Platform("25", "Mac OS X aarch64")


class PlatformsContract:
    @pytest.fixture
    def on(self, database):
        """The archive as it is seen on a platform."""
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, LONG, NEAR, BRIGHT, RestrictSources(LONG, BRIGHT))
        return lambda platform: replace(database, platform=lambda: platform)

    def register(self, on, platform, catalog):
        with on(platform).writing() as writing:
            columns = [(KEY, "hip"), (VMAG, "vmag")]
            place = f"fragments/{catalog.digest[:8]}-{platform.java}"
            return fragments.register(writing, catalog, columns, location=place, rows=7, files=FILES, seconds=1.0)

    @pytest.mark.parametrize(
        ("catalog", "recorded", "served"),
        [
            (LONG, "Java 17", [OLD]),
            (RestrictSources(LONG, BRIGHT), "Java 17", [OLD]),
            (NEAR, "Linux amd64", [OLD, NEW]),
            (SelectSources.of(WRITTEN, "cbrt(plx) < 0.5"), "Java 17, Linux amd64", [OLD]),
            (BRIGHT, None, [OLD, NEW, APPLE, Platform()]),
        ],
        ids=["a selection by text", "made from such", "a sine", "a cube root", "an ordinary one"],
    )
    def test_a_fragment_serves_on_its_platform_alone(self, on, catalog, recorded, served):
        with on(OLD).writing() as writing:
            catalog_store.add_catalogs(writing, catalog)
        stored = self.register(on, OLD, catalog)
        assert stored.platform == recorded
        for platform in (OLD, NEW, APPLE, Platform()):
            with on(platform).reading() as reading:
                by_extent = fragments.find_by_extent(reading, catalog.extent.digest)
                elsewhere = fragments.find_by_attributes(reading, [VMAG], elsewhere=True)
            assert (by_extent, elsewhere) == (((stored,), ()) if platform in served else ((), (stored,)))

    def test_what_is_computed_on_an_unknown_platform_serves_nowhere(self, on):
        stored = self.register(on, Platform(), LONG)
        assert stored.platform == "unknown"
        for platform in (OLD, Platform()):
            with on(platform).reading() as reading:
                assert fragments.find_by_extent(reading, LONG.extent.digest) == ()

    def test_each_platform_counts_for_itself(self, on):
        for platform, rows in ((OLD, 7), (NEW, 8)):
            with on(platform).writing() as writing:
                assert counts.find_counts(writing, [LONG.digest]) == {}
                counts.record_count(writing, LONG.digest, rows, describe_platform(writing, LONG))
                assert counts.find_counts(writing, [LONG.digest]) == {LONG.digest: rows}
                assert counts.find_latest_counts(writing, "star", 5) == {LONG.digest: rows}

    def test_what_data_show_is_known_on_the_platform_where_they_were_seen(self, on):
        """Otherwise two Javas would contradict each other, and the archive would be inconsistent."""
        with on(OLD).writing() as writing:
            seen = observe_fact(writing, empty(LONG.digest), "0 sources counted").fact
        with on(NEW).writing() as writing:
            assert find_all_facts(writing) == ()
            other = observe_fact(writing, nonempty(LONG.digest), "1 source counted").fact
        for platform, fact in ((OLD, seen), (NEW, other)):
            with on(platform).reading() as reading:
                assert find_all_facts(reading) == (fact,)

    def test_a_proof_that_cites_such_a_fact_is_not_recalled_elsewhere(self, on):
        statement = disjoint(LONG.digest, BRIGHT.digest)
        with on(OLD).writing() as writing:
            seen = observe_fact(writing, empty(LONG.digest), "0 sources counted").fact
            assert proofs.keep_proof(
                writing, statement, "holds", [(seen.statement, FactOrigin("observed", fact=seen.id))]
            )
            assert proofs.recall_proof(writing, statement) is not None
        with on(NEW).reading() as reading:
            assert proofs.recall_proof(reading, statement) is None
