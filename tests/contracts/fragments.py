"""What the registry of fragments must do, on every database."""

import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, select, update

from provenn.catalogs import KeepAttributes, SelectSources
from provenn.data import fragments, pins
from provenn.database.tables import fragment_attributes, fragment_facts
from provenn.database.tables import fragments as fragment_rows
from provenn.database.tables import pins as pin_rows
from provenn.definitions import catalog_store
from provenn.errors import CorruptArchiveError
from provenn.files.data_folder import StoredFile
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact, retract_fact
from provenn.logic import disjoint, nonempty
from tests.catalogs.samples import base, derived
from tests.waiting import wait_until

STARS, OTHERS = base(), base("others")
BRIGHT = SelectSources.of(STARS, "vmag < 6")
MAGNITUDES = KeepAttributes.of(BRIGHT, ["hip", "vmag"])
NEAR = derived(BRIGHT, dist_pc="1000 / plx")
KEY = STARS.schema.key[0].identity
VMAG, DISTANCE = STARS.schema["vmag"].identity, NEAR.schema["dist_pc"].identity
FILES = (StoredFile("part-0.parquet", 100, "a" * 64), StoredFile("part-1.parquet", 20, "b" * 64))


def register(writing, catalog=NEAR, columns=((KEY, "hip"), (DISTANCE, "dist_pc")), place="one", **options):
    chosen = {"rows": 7, "files": FILES[::-1], "seconds": 2.5, **options}
    return fragments.register(writing, catalog, columns, location=f"fragments/{place}", **chosen)


class FragmentsContract:
    @pytest.fixture
    def filled(self, database):
        with database.writing() as writing:
            catalog_store.add_catalogs(writing, NEAR, MAGNITUDES, OTHERS)
        return database

    def test_a_fragment_comes_back_as_it_was_registered(self, filled):
        with filled.writing() as writing:
            fact = declare_fact(writing, nonempty(STARS.digest), "seen")
            result = register(writing, facts=[fact.id])
        assert result == fragments.Fragment(
            result.id,
            NEAR.digest,
            "star",
            NEAR.extent.digest,
            ((KEY, "hip"), (DISTANCE, "dist_pc")),
            "fragments/one",
            7,
            120,
            FILES,
            2.5,
            writing.when,
            "Ada",
            writing.when,
            0,
            (fact.id,),
        )
        assert result.is_usable
        assert result.identities == {KEY, DISTANCE}
        with filled.reading() as reading:
            assert fragments.get(reading, result.id) == result
            assert fragments.is_registered(reading, result.location)
            assert not fragments.is_registered(reading, "fragments/other")
            with pytest.raises(KeyError):
                fragments.get(reading, result.id + 1)

    def test_a_fragment_is_found_by_attribute_and_by_extent(self, filled):
        with filled.writing() as writing:
            near = register(writing)
            bright = register(writing, MAGNITUDES, [(KEY, "hip"), (VMAG, "v")], "two")
        with filled.reading() as reading:
            assert fragments.find_by_attributes(reading, [DISTANCE]) == (near,)
            assert fragments.find_by_attributes(reading, [VMAG]) == (bright,)
            assert fragments.find_by_attributes(reading, [KEY]) == (near, bright)
            assert fragments.find_by_attributes(reading, [DISTANCE, VMAG]) == (near, bright)
            assert fragments.find_by_attributes(reading, ["nothing"]) == fragments.find_by_attributes(reading, []) == ()
            assert fragments.find_by_extent(reading, BRIGHT.extent.digest) == (near, bright), (
                "both have the sources of BRIGHT"
            )
            assert fragments.find_by_extent(reading, STARS.extent.digest) == ()
            assert fragments.all_fragments(reading) == (near, bright)

    def test_a_dropped_fragment_is_remembered_with_who_and_why_and_found_no_more(self, place, filled):
        with filled.writing() as writing:
            result = register(writing)
        with open_database(place, who="Grace") as other, other.writing() as later:
            assert fragments.drop(later, result.id, "damaged")
            assert not fragments.drop(later, result.id, "again"), "once is enough"
        with filled.writing() as writing:
            (gone,) = fragments.all_fragments(writing, dropped=True)
            assert (gone.dropped_by, gone.dropped_at, gone.dropped_reason) == ("Grace", later.when, "damaged")
            assert not gone.is_usable
            assert gone.removed_at is None
            assert fragments.all_fragments(writing) == fragments.find_by_attributes(writing, [DISTANCE]) == ()
            assert fragments.find_by_extent(writing, NEAR.extent.digest) == ()
            fragments.record_removal(writing, result.id)
            assert fragments.get(writing, result.id).removed_at == writing.when

    def test_a_fragment_that_leans_on_a_retracted_fact_is_unusable_and_says_which(self, filled):
        with filled.writing() as writing:
            first, two = (
                declare_fact(writing, disjoint(STARS.digest, OTHERS.digest), ""),
                declare_fact(writing, nonempty(STARS.digest), ""),
            )
            leaning, free = register(writing, facts=[two.id, first.id]), register(writing, place="free")
            assert leaning.facts == (first.id, two.id)
            retract_fact(writing, first.id, "seen otherwise")
            assert fragments.all_fragments(writing) == fragments.find_by_attributes(writing, [DISTANCE]) == (free,)
            result = fragments.get(writing, leaning.id)
            assert (result.retracted, result.is_usable) == ((first.id,), False)
            assert fragments.all_fragments(writing, dropped=True) == (result, free)

    def test_uses_are_counted(self, filled):
        with filled.writing() as writing:
            first, two = register(writing), register(writing, place="two")
        for _ in range(2):
            with filled.writing() as later:
                fragments.record_use(later, [first.id])
        with filled.reading() as reading:
            assert fragments.get(reading, first.id).uses == 2
            assert fragments.get(reading, first.id).used_at == later.when
            assert fragments.get(reading, two.id) == two

    @pytest.mark.parametrize(
        "damage",
        [
            update(fragment_rows).values(rows=8),
            update(fragment_rows).values(location="elsewhere"),
            update(fragment_rows).values(files='[["part-0.parquet",100,""]]'),
            update(fragment_rows).values(files="["),
            update(fragment_rows).values(extent=STARS.extent.digest),
            update(fragment_attributes).values(column="hip"),
            update(fragment_attributes).where(fragment_attributes.c.position == 1).values(identity=VMAG),
            delete(fragment_attributes).where(fragment_attributes.c.position == 1),
            delete(fragment_facts),
        ],
        ids=str,
    )
    def test_a_row_that_was_changed_is_named(self, filled, damage):
        with filled.writing() as writing:
            result = register(writing, facts=[declare_fact(writing, nonempty(STARS.digest), "").id])
            writing.connection.execute(damage)
        with filled.reading() as reading, pytest.raises(CorruptArchiveError, match=f"fragment #{result.id} "):
            fragments.all_fragments(reading, dropped=True)

    # --- pins ---

    def places(self, database, when=None):
        with database.reading() as reading:
            return pins.find_pinned_places(reading, when or datetime.now(UTC))

    def test_what_is_pinned_is_held_until_the_end_and_by_each_holder(self, filled):
        with filled.writing() as writing:
            first, two = register(writing), register(writing, place="two")
        with fragments.pin_fragments(filled, [first.id, two.id]) as usable:
            assert usable == {first.id, two.id}
            with fragments.pin_fragments(filled, [first.id]):
                assert self.places(filled) == {first.location, two.location}
            assert self.places(filled) == {first.location, two.location}
        assert self.places(filled) == set()

    def test_what_fails_is_pinned_no_more(self, filled):
        with pytest.raises(ZeroDivisionError), pins.hold_places(filled, "_temporary/x"):
            raise ZeroDivisionError
        assert self.places(filled) == set()

    def test_what_was_dropped_before_cannot_be_pinned(self, filled):
        with filled.writing() as writing:
            first, two = register(writing), register(writing, place="two")
            fragments.drop(writing, first.id, "")
        with fragments.pin_fragments(filled, [first.id, two.id]) as usable:
            assert usable == {two.id}
            assert self.places(filled) == {two.location}

    def test_who_can_only_read_is_told_what_is_usable(self, place, filled):
        with filled.writing() as writing:
            item = register(writing)
        with open_database(place, read_only=True) as reader, fragments.pin_fragments(reader, [item.id]) as usable:
            assert usable == {item.id}
            assert self.places(filled) == set()

    def test_a_pin_of_a_process_that_died_expires(self, filled):
        with filled.writing() as writing:
            pins.pin_places(writing, ["fragments/one"])
        assert self.places(filled) == {"fragments/one"}
        assert self.places(filled, writing.when + pins.LIFETIME) == set()
        with filled.writing() as later:
            pins.forget_expired(later)
            assert pins.find_pinned_places(later, later.when) == {"fragments/one"}
            later.connection.execute(update(pin_rows).values(expires_at=later.when))
            pins.forget_expired(later)
            assert later.connection.execute(select(pin_rows)).all() == []

    def test_a_pin_is_renewed_while_its_process_lives(self, filled):
        with ExitStack() as stack:
            stack.enter_context(pins.hold_places(filled, "_temporary/x", lifetime=timedelta(seconds=0.4)))
            before = datetime.now(UTC)
            later = before + timedelta(seconds=0.8)
            wait_until(lambda: self.places(filled, later) == {"_temporary/x"}, "it is renewed")
        assert not [item for item in threading.enumerate() if item.name.startswith("renewing")]
