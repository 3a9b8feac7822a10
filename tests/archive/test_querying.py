"""Queries as catalogs of an archive: names, tables that are given, remarks, and what other people see."""

import pytest

import provenn
from provenn.errors import CatalogNameError, ProvennWarning, QueryError, UnknownCatalogError
from tests.archive.samples import dump, write_parquet

SELECT_ALL = "SELECT * FROM TABLE"


def test_a_query_is_related_to_what_verbs_define(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    asked = archive.sql("SELECT hip, 2 * vmag AS double FROM stars WHERE NOT vmag >= 6", name="asked")
    assert archive.relate(asked, bright).summary == "equal"
    assert archive.relate(archive.sql("SELECT hip FROM bright WHERE plx > 10"), "asked").summary == "subset"
    assert set(asked.definition.schema.names) == {"hip", "double"}


@pytest.mark.usefixtures("stars")
def test_the_key_is_kept_also_where_it_is_not_selected(archive):
    assert set(archive.sql("SELECT vmag FROM stars").definition.schema.names) == {"hip", "vmag"}


def test_all_columns_of_a_selection_are_the_selection_itself(archive, stars):
    assert archive.sql("SELECT * FROM stars WHERE vmag < 6").digest == stars.select("vmag < 6").digest
    assert archive.sql("SELECT * FROM stars").digest == stars.digest


@pytest.mark.parametrize("written", ["stars", "STARS", "Stars", "`stars`", "`STARS`"])
def test_names_are_found_in_any_case(archive, stars, written):
    assert archive.sql(SELECT_ALL.replace("TABLE", written)).digest == stars.digest


def test_names_that_differ_in_case_alone_must_be_written_as_they_are(archive, stars):
    bright = stars.select("vmag < 6", name="Bright")
    faint = stars.select("vmag >= 6", name="BRIGHT")
    assert archive.sql("SELECT * FROM `Bright`").digest == bright.digest
    assert archive.sql("SELECT * FROM `BRIGHT`").digest == faint.digest
    with pytest.raises((UnknownCatalogError, QueryError), match=r"may be any of (Bright, BRIGHT|BRIGHT, Bright)"):
        archive.sql("SELECT * FROM bright")


@pytest.mark.parametrize("name", ["my stars", "stars-2026", "étoiles", "select", "a.b"])
def test_odd_names_are_written_in_backquotes(archive, stars, name):
    odd = stars.select("vmag < 6", name=name)
    assert archive.sql(SELECT_ALL.replace("TABLE", f"`{name}`")).digest == odd.digest


def test_tables_that_are_given_come_before_names(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    tables = {"db.public.stars": bright, "stars": "bright"}
    assert archive.sql("SELECT * FROM stars", tables=tables).digest == bright.digest
    assert archive.sql('SELECT * FROM "db"."public"."stars"', dialect="postgres", tables=tables).digest == bright.digest
    with pytest.raises(UnknownCatalogError):
        archive.sql("SELECT * FROM stars", tables={"stars": "brihgt"})


@pytest.mark.usefixtures("stars")
def test_an_unknown_table_and_an_unknown_column_are_told_with_their_place(archive):
    with pytest.raises((UnknownCatalogError, QueryError), match="strs") as told:
        archive.sql("SELECT *\nFROM strs")
    assert "did you mean stars" in str(told.value)
    with pytest.raises(QueryError, match="there is no column vmg") as told:
        archive.sql("SELECT hip,\n  vmg FROM stars")
    assert (told.value.line, told.value.column) == (2, 3)
    assert told.value.hint == "did you mean vmag?"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        ";",
        "DROP TABLE stars",
        "DELETE FROM stars",
        "SELECT 1; DROP TABLE stars",
        "INSERT INTO stars SELECT 1",
    ],
)
@pytest.mark.usefixtures("stars")
def test_what_is_no_query_changes_nothing(archive, text):
    before = dump(archive)
    with pytest.raises(QueryError) as told:
        archive.sql(text, name="new")
    assert told.value.hint
    assert dump(archive) == before


@pytest.mark.usefixtures("stars")
def test_an_unknown_dialect_is_told_with_the_known_ones(archive):
    with pytest.raises(QueryError, match="'duckbd' is not a known dialect") as told:
        archive.sql("SELECT * FROM stars", dialect="duckbd")
    assert told.value.hint == "did you mean duckdb?"


@pytest.mark.usefixtures("stars")
def test_a_name_that_is_taken_is_refused(archive):
    with pytest.raises(CatalogNameError):
        archive.sql("SELECT * FROM stars WHERE vmag < 6", name="stars")


def test_order_and_limit_at_the_end_are_no_part_of_a_catalog(archive, stars):
    bright = stars.select("vmag < 6")
    assert archive.sql("SELECT * FROM stars WHERE vmag < 6 ORDER BY vmag LIMIT 3 OFFSET 1").digest == bright.digest


def test_order_by_what_is_not_selected_is_no_part_of_a_catalog_either(archive, stars):
    asked = archive.sql("SELECT hip, vmag FROM stars ORDER BY plx + 1 DESC LIMIT 3")
    assert asked.digest == stars.keep("vmag").digest


def test_a_limit_of_zero_inside_is_empty(archive, stars):
    nothing = archive.sql("SELECT * FROM (SELECT * FROM stars LIMIT 0) AS none", name="nothing")
    assert archive.prove("empty(nothing)")
    assert archive.relate(nothing, stars.select("vmag < 6")).summary != "unknown"


@pytest.mark.usefixtures("stars")
def test_a_remark_is_a_notice(archive):
    with pytest.warns(ProvennWarning, match="latest: LIMIT: the key decides"):
        archive.sql("SELECT * FROM (SELECT * FROM stars ORDER BY vmag LIMIT 3) AS first", name="latest")


def test_notices_go_to_the_listener(tmp_path):
    notices = []
    with provenn.open(tmp_path / "survey", notify=notices.append) as archive:
        archive.ingest("stars", write_parquet(tmp_path / "stars.parquet"), key="hip", population="star")
        archive.sql("SELECT * FROM (SELECT * FROM stars ORDER BY vmag LIMIT 3) AS first")
    assert [(notice.kind, str(notice).partition(":")[0]) for notice in notices] == [("not understood", "the query")]


def test_who_sees_a_part_of_the_archive_queries_that_part_alone(stars, tmp_path):
    """Neither a hint nor an error tells the names of others."""
    stars.select("vmag < 6").named("secret", visibility="private")
    with provenn.open(tmp_path / "survey", who="eve", confined=True) as hers:
        assert hers.sql("SELECT * FROM STARS").digest == stars.digest
        errors = []
        for written in ("secret", "SECRET", "`secret`", "secre", "nothing"):
            with pytest.raises((UnknownCatalogError, QueryError)) as told:
                hers.sql(SELECT_ALL.replace("TABLE", written))
            assert "did you mean" not in str(told.value)
            errors.append(type(told.value))
        assert len(set(errors)) == 1, "a name of others is like a name of nobody"


def test_names_of_others_do_not_make_a_name_ambiguous(stars, tmp_path):
    stars.select("vmag < 6").named("Bright", visibility="private")
    with provenn.open(tmp_path / "survey", who="eve", confined=True) as hers:
        own = hers["stars"].select("vmag < 3", name="BRIGHT")
        assert hers.sql("SELECT * FROM bright").digest == own.digest


def test_windows_tags_and_aggregates_of_all_rows_are_computed_and_reused(archive, stars):
    ranked = archive.sql("SELECT hip, rank() OVER (ORDER BY vmag) AS place FROM stars WHERE plx > 0", name="ranked")
    assert archive.relate(ranked, stars.select("plx > 0")).summary == "equal"
    places = ranked.to_pandas()["place"].tolist()
    assert min(places) == 1
    best = archive.sql("SELECT hip, place FROM ranked WHERE place <= 2")
    assert archive.relate(best, ranked).summary == "subset"
    assert "fragment" in str(best.plan())
    assert sorted(best.to_pandas()["place"]) == sorted(place for place in places if place <= 2)
    tagged = archive.sql("SELECT 'all' AS tag, hip FROM stars UNION ALL SELECT 'ranked', hip FROM ranked")
    counted = archive.sql("SELECT count(*) AS n, max(hip) AS m FROM stars WHERE vmag < -100")
    assert len(tagged.to_pandas()) == len(stars.to_pandas()) + len(places)
    assert counted.to_pandas()[["n"]].values.tolist() == [[0]]
    assert counted.to_pandas()["m"].isna().all()
