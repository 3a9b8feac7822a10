"""Opaque catalogs in an archive: rows, plans, stored data, relations, portable files."""

import io

import pytest

import provenn
from provenn.catalogs import OpaqueQuery, OpaqueSelection
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import KeyValuesError
from tests.archive.samples import write_parquet


def define(archive, name, catalog):
    """Give a catalog a name, as a query of a user does."""
    with archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, catalog)
        catalog_names.assign_name(writing, name, catalog.digest)
    return archive[name]


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey") as opened:
        opened.ingest("stars", write_parquet(tmp_path / "stars.parquet"), key="hip", population="star")
        yield opened


CONDITION = "parent.vmag <= (SELECT avg(vmag) FROM input_1 WHERE NOT isnan(vmag))"


def test_a_selection_is_proved_to_be_inside_its_parent_and_inside_itself_on_more(archive):
    stars = archive["stars"]
    bright = stars.select("vmag < 6", name="bright")
    some = define(archive, "some", OpaqueSelection.of(stars.definition, CONDITION, [stars.definition], "an average"))
    define(archive, "few", OpaqueSelection.of(bright.definition, CONDITION, [stars.definition]))
    assert archive.relate("some", "stars").summary == "subset"
    assert archive.prove("few == some & bright")
    assert not archive.prove("some == stars")
    frame = stars.to_pandas()
    expected = frame[frame.vmag <= frame.vmag.mean()]
    assert list(some.to_pandas().hip) == list(expected.hip)
    few = archive["few"].select("vmag < 100").to_pandas()
    assert list(few.hip) == list(expected[expected.vmag < 6].hip)
    assert "an average" in repr(some.definition.show_parameters())
    plan = " ".join(str(archive.target("some", ["vmag"]).plan()).split())
    assert "nothing is known of its condition" in plan


def test_stored_rows_of_a_query_serve_and_nothing_is_pushed_into_it(archive):
    stars = archive["stars"]
    text = "SELECT hip % 2 AS odd, count(*) AS n FROM input_1 GROUP BY 1"
    query = OpaqueQuery.of([stars.definition], text, [("odd", "bigint", True), ("n", "bigint", False)], reason="a test")
    counted = define(archive, "counted", query)
    rows = counted.to_pandas()
    assert rows.n.sum() == len(stars.to_pandas())
    assert set(rows.columns) == {"row", "copy", "odd", "n"}
    archive.target("counted", ["odd", "n"]).store()
    plan = str(archive.target("counted", ["n"], where="odd = 1").plan())
    assert "fragment #" in plan
    assert list(archive.target("counted", ["n"], where="odd = 1").to_pandas().n) == list(rows[rows.odd == 1].n)
    derived = counted.derive(twice="n * 2").to_pandas()
    assert list(derived.twice) == list(derived.n * 2)


def test_a_violated_key_is_an_error_and_nothing_is_stored(archive):
    stars = archive["stars"]
    query = OpaqueQuery.of([stars.definition], "SELECT 1 AS k FROM input_1", [("k", "int", False)], key="k")
    broken = define(archive, "broken", query)
    with pytest.raises(KeyValuesError, match="the key k occurs more than once"):
        broken.to_pandas()
    with pytest.raises(KeyValuesError, match="the key k occurs more than once"):
        archive.target("broken", ["k"]).store()


def test_definitions_travel_in_portable_files(archive, tmp_path):
    stars = archive["stars"]
    define(archive, "some", OpaqueSelection.of(stars.definition, CONDITION, [stars.definition], "an average"))
    file = io.BytesIO()
    archive.export_definitions(file)
    with provenn.open(tmp_path / "other") as other:
        other.import_definitions(io.BytesIO(file.getvalue()))
        assert other["some"].digest == archive["some"].digest
        assert archive.check(deep=True).sound
