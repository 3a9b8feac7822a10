"""The archive: verbs, names, odd names and case, searching, and that no row is ever read."""

import subprocess
import sys

import pyarrow as pa
import pytest
from pyarrow import csv, dataset, parquet

import provenn
from provenn import archive as room
from provenn.errors import (
    AttributeConflictError,
    AttributeNotFoundError,
    CatalogNameError,
    CriterionError,
    UnknownCatalogError,
)
from tests.archive.samples import STARS, write_parquet


def summary(archive, left, right):
    return archive.relate(left, right).summary


# --- verbs ---


def test_every_verb_defines_a_catalog_and_a_name_finds_it_again(archive, stars):
    bright = stars.select("vmag < 6", name="bright")
    made = {
        "both": bright.restrict("stars", name="both"),
        "faint": stars.exclude(bright, name="faint"),
        "few": stars.sample(0.5, seed=3, name="few"),
        "short": stars.keep("vmag", name="short"),
        "renamed": stars.rename(vmag="v", name="renamed"),
        "near": stars.derive(dist_pc="1000 / plx", name="near"),
        "all": stars.concat(bright, name="all"),
        "combined": bright.combine("near", "short", name="combined"),
    }
    for name, one in made.items():
        assert archive[name] == one
        assert archive[name].definition.kind == one.definition.kind
        assert archive[name].schema == one.schema
        assert name in archive
    assert made["short"].attributes == ("hip", "vmag")
    assert made["renamed"].attributes == ("hip", "v", "plx", "dec", "spect")
    assert made["combined"].dependencies == (bright, made["near"], made["short"])
    assert {name: summary(archive, name, "stars") for name in made} == {
        "both": "subset",
        "faint": "subset",
        "few": "subset",
        "short": "equal",
        "renamed": "equal",
        "near": "equal",
        "all": "equal",
        "combined": "subset",
    }
    assert summary(archive, "faint", "bright") == "disjoint"
    assert summary(archive, "few", "bright") == "unknown"
    assert summary(archive, stars.sample(0.2, seed=3), "few") == "subset"
    assert summary(archive, "combined", "both") == "equal"


def test_what_is_done_in_between_changes_no_selection(archive, stars):
    """Renaming, dropping, deriving, another order: provably the same sources."""
    plain = stars.select("vmag < 6").select("dec > 0")
    other = stars.derive(dist_pc="1000 / plx").select("dec > 0").rename(vmag="v").keep("v").select("v < 6")
    assert summary(archive, plain, other) == "equal"
    assert archive.prove(f"'{plain.digest}' == '{other.digest}'")
    assert summary(archive, stars.select("vmag < 5"), plain) == "unknown"
    assert summary(archive, stars.select("vmag < 5 AND dec > 1"), plain) == "subset"
    assert summary(archive, stars.select("NOT vmag < 6"), plain) == "disjoint"
    assert summary(archive, stars.select("(vmag < 6) IS NOT TRUE"), stars.exclude(stars.select("vmag < 6"))) == "equal"


def test_a_criterion_may_read_what_is_dropped_later(stars):
    assert stars.select("vmag < 6").keep("hip").attributes == ("hip",)
    with pytest.raises(CriterionError, match="vmag"):
        stars.keep("hip").select("vmag < 6")


# --- odd names, and upper and lower case ---


def test_odd_names_of_attributes_and_catalogs(archive, tmp_path):
    file = write_parquet(tmp_path / "odd.parquet", {"HD number": [1, 2], "B-V": [0.1, 0.2], "select": [1, 2]})
    odd = archive.ingest("my stars (2026)", file, key="HD number", population="HD star")
    blue = odd.select("`B-V` < 0.15 AND `select` = 1", name="blue & bright")
    renamed = blue.rename({"B-V": "b v", "select": "from"})
    derived = renamed.derive({"2 x B-V": "2 * `b v`"})
    assert derived.attributes == ("HD number", "b v", "from", "2 x B-V")
    (reason,) = archive.prove("'blue & bright' <= 'my stars (2026)'").reasons
    assert str(reason.statement) == ('"blue & bright" == "my stars (2026)" & "`B-V` < 0.15 AND `select` = 1"')
    assert archive.relate("blue & bright", derived).summary == "equal"


def test_names_of_attributes_are_matched_in_their_own_case_first_and_then_in_any(archive, stars, tmp_path):
    assert stars.select("VMAG < 6") == stars.select("vmag < 6")
    assert stars.keep("VMag").attributes == ("hip", "vmag")
    file = write_parquet(tmp_path / "case.parquet", {"id": [1], "Mag": [1.0], "mag": [2.0]})
    cased = archive.ingest("cased", file, key="ID", population="thing")
    assert cased.select("Mag < 2") != cased.select("mag < 2")
    with pytest.raises(CriterionError, match="Mag or mag"):
        cased.select("MAG < 2")
    with pytest.raises(AttributeNotFoundError, match="Mag or mag"):
        cased.keep("MAG")


def test_names_of_catalogs_are_told_apart_by_case(archive, stars):
    archive.name(stars, "Stars")
    assert stars.names == ("Stars", "stars")
    assert "STARS" not in archive
    with pytest.raises(UnknownCatalogError, match="did you mean"):
        archive["STArs"]


# --- names ---


def test_names_move_and_are_deleted_and_their_history_is_kept(archive, stars):
    bright, brighter = stars.select("vmag < 6", name="bright"), stars.select("vmag < 5")
    with pytest.raises(CatalogNameError, match="bright already names"):
        stars.select("vmag < 4", name="bright")
    archive.name(brighter, "bright", move=True)
    assert archive["bright"] == brighter
    assert bright.names == ()
    archive.delete_name("bright")
    assert "bright" not in archive
    assert archive[brighter.digest] == brighter, "deleting a name deletes no catalog"
    bright.named("bright")
    log = [(change.catalog, change.by) for change in archive.log("bright")]
    assert log == [(bright.digest, "ada"), (None, "ada"), (brighter.digest, "ada"), (bright.digest, "ada")]
    for lost in (archive.log, archive.delete_name, archive.catalog):
        with pytest.raises(UnknownCatalogError, match="did you mean bright"):
            lost("brihgt")


def test_an_answer_is_in_the_names_of_the_question(archive, stars):
    stars.select("vmag < 6", name="zeta").named("alpha").named("bright")
    relation = archive.relate("zeta", "stars")
    assert (relation.left, relation.right) == ("zeta", "stars")
    assert str(relation.reasons[0].statement) == 'zeta == stars & "vmag < 6"'
    assert str(archive.prove("bright == zeta").statement) == "bright == zeta"
    assert archive.prove("bright == zeta")
    assert archive["zeta"].name == "alpha", "unasked, the first"


def test_search_finds_by_name_and_by_wording_the_newest_first(archive, stars):
    stars.select("vmag < 6", name="bright")
    near = stars.derive(dist_pc="1000 / plx")
    assert [one.names for one in archive.search("BRIGHT")] == [("bright",)]
    assert [one.digest for one in archive.search("1000 / plx")] == [near.digest]
    assert {one.names for one in archive.search(named=True)} == {("stars",), ("bright",)}
    assert len(archive.search()) == 3
    assert len(archive.search(most=2)) == 2
    assert archive.search(kind="Base", population="star")[0].created_by == "ada"
    assert archive.search(population="galaxy") == []


# --- what is not read ---


def test_no_row_is_read_but_keys_and_a_sample_and_pyspark_is_not_imported(archive, tmp_path, monkeypatch):
    """Whatever could read data fails, but for what looks at the first keys and a few rows; the rest knows enough."""
    file = write_parquet(tmp_path / "stars.parquet")
    (tmp_path / "more").mkdir()
    write_parquet(tmp_path / "more" / "stars.parquet", more=[1] * 6)

    before = set(sys.modules)  # other tests of this process may have computed something

    def forbidden(*_, **__):
        raise AssertionError("data were read")

    for reader, methods in {
        parquet: ["read_table", "read_pandas"],
        csv: ["read_csv"],
        dataset: ["dataset"],
    }.items():
        for method in methods:
            monkeypatch.setattr(reader, method, forbidden)

    class Metadata(parquet.ParquetFile):
        read = read_row_groups = scan_contents = forbidden

        def iter_batches(self, batch_size, columns):
            assert columns == ["hip"], "the key"
            return super().iter_batches(batch_size, columns=columns)

    monkeypatch.setattr(parquet, "ParquetFile", Metadata)
    stars = archive.ingest("stars", file, key="hip", population="star")
    archive.ingest("more", tmp_path / "more", key="hip", population="star")
    bright = stars.select("vmag < 6", name="bright").derive(dist_pc="1000 / plx")
    assert summary(archive, bright, stars) == "subset"
    archive.declare("disjoint(stars, more)")
    assert archive.prove("disjoint(bright, more)")
    assert archive.same_sources("bright") == [bright]
    assert "vmag" in str(archive.describe("bright"))
    assert not {"pyspark", "py4j"} & (set(sys.modules) - before)


def test_importing_the_facade_needs_neither_spark_nor_sql_nor_arrow():
    slow = {"pyspark", "py4j", "pyarrow", "pandas", "sqlglot", "alembic", "typer", "rich"}
    code = "import sys, provenn; provenn.open; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not slow & set(done.stdout.split())


# --- the room itself ---


def test_the_package_offers_what_the_room_has():
    assert provenn.Archive is room.Archive
    assert provenn.Catalog is room.Catalog
    assert provenn.open is room.open_archive
    with pytest.raises(AttributeError, match="no attribute 'opne'"):
        provenn.opne  # noqa: B018


def test_a_handle_shows_what_it_is(archive, stars):
    assert repr(stars) == "<Catalog stars: Base of star, 5 attributes>"
    assert repr(stars.select("vmag < 6"))[:9] == "<Catalog "
    assert {stars: 1}[archive["stars"]] == 1
    assert stars != archive
    assert stars.attributes == tuple(STARS)


def test_attributes_of_one_name_and_different_identity_do_not_mix(archive, stars, tmp_path):
    other = archive.ingest(
        "other", write_parquet(tmp_path / "o.parquet", {"hip": [1], "vmag": [2.0]}), key="hip", population="star"
    )
    with pytest.raises(AttributeConflictError, match=r'rename\(vmag="vmag_2"\)'):
        stars.combine(other)
    both = stars.combine(other.rename(vmag="vmag_2"))
    assert both.attributes == (*STARS, "vmag_2")
    assert summary(archive, both, other) == "subset"
    with pytest.raises(AttributeConflictError):
        stars.derive(vmag="2 * vmag")


def test_units_and_descriptions_come_with_the_files(archive, tmp_path):
    said = {"unit": "mag", "description": "V magnitude", "ucd": "phot.mag"}
    field = pa.field("vmag", pa.float64(), metadata=said)
    table = pa.table([[1], [2.0]], schema=pa.schema([pa.field("hip", pa.int64(), nullable=False), field]))
    parquet.write_table(table, tmp_path / "u.parquet")
    stars = archive.ingest("units", tmp_path / "u.parquet", key="hip", population="star").rename(vmag="v")
    assert {key: getattr(stars.schema["v"], key) for key in said} == said
    assert "v    double, in mag, UCD phot.mag: V magnitude" in str(stars)


def test_csv_needs_no_more_than_types_where_they_are_not_seen(archive, tmp_path):
    (tmp_path / "s.csv").write_text("hip,name,seen\n1,Sirius,\n2,Vega,\n")
    typed = archive.ingest("s", tmp_path / "s.csv", key="hip", population="star", schema={"seen": "date"})
    assert [str(one.type) for one in typed.schema.values()] == ["bigint", "string", "date"]
    assert typed.select("seen < DATE '2026-01-01'")
