"""What is kept apart by platform; and what becomes of what older versions stored."""

from sqlalchemy import select

from provenn.catalogs import SelectSources
from provenn.database.tables import counts as count_rows
from provenn.database.tables import facts
from provenn.definitions import catalog_store
from provenn.formats.migrations import migrate_format
from provenn.formats.opening import open_database
from provenn.knowledge import counts
from provenn.knowledge.observations import observe_fact
from provenn.logic import nonempty
from tests.catalogs.samples import base, derived
from tests.contracts.platforms import PlatformsContract
from tests.database.databases import InPostgreSQL, InSQLite, Opened

STARS = base()
BRIGHT = SelectSources.of(STARS, "vmag < 6")
LONG = SelectSources.of(derived(STARS, words="string(vmag)"), "length(words) > 5")
BELOW = SelectSources.of(LONG, "plx > 1")


class TestSQLite(InSQLite, Opened, PlatformsContract):
    pass


class TestPostgreSQL(InPostgreSQL, Opened, PlatformsContract):
    pass


def test_what_an_older_version_stored_is_of_an_unknown_platform_where_java_may_show(tmp_path):
    file = tmp_path / "archive.db"
    with open_database(file, create=True) as database, database.writing() as writing:
        catalog_store.add_catalogs(writing, BRIGHT, BELOW)
        for catalog in (BRIGHT, LONG, BELOW):
            counts.record_count(writing, catalog.digest, 3)
        observe_fact(writing, nonempty(BRIGHT.digest), "3 sources")
    assert migrate_format(file, "0007").lost == ()
    with open_database(file) as database, database.reading() as reading:
        query = select(count_rows.c.catalog, count_rows.c.platform)
        result = dict(map(tuple, reading.connection.execute(query)))
        assert result == {BRIGHT.digest: None, LONG.digest: "unknown", BELOW.digest: "unknown"}
        assert counts.find_counts(reading, result) == {BRIGHT.digest: 3}
        assert reading.connection.scalars(select(facts.c.platform)).all() == [None]


def test_an_older_format_ends_what_holds_on_one_platform(tmp_path):
    file = tmp_path / "archive.db"
    with open_database(file, create=True) as database, database.writing() as writing:
        catalog_store.add_catalogs(writing, BELOW)
        counts.record_count(writing, LONG.digest, 3, "Java 17")
        observe_fact(writing, nonempty(LONG.digest), "3 sources")
    output = migrate_format(file, "0007", lose=True)
    assert output.lost == ("1 × fact of one platform: it would be retracted", "1 × count of one platform")
    with open_database(file) as database, database.reading() as reading:
        assert counts.find_counts(reading, [LONG.digest]) == {}
        assert reading.connection.scalars(select(facts.c.retracted_reason)).all() == ["observed on unknown"]
