"""What people call on a catalog from habit is answered with what to call; wrong values are no raw errors."""

import pytest
from pyspark.sql.connect import functions as connect

import provenn
from provenn.archive import habits
from provenn.errors import (
    ArchiveError,
    ArgumentsError,
    CatalogNameError,
    DefinitionError,
    KeyColumnsError,
    TypeNameError,
)
from tests.archive.samples import write_parquet


def test_methods_of_other_libraries_name_the_method_to_call(stars):
    with pytest.raises(AttributeError, match=r'use select\("plx > 10"\)'):
        stars.filter("plx > 10")
    with pytest.raises(AttributeError, match=r"use to_pandas\(\)"):
        stars.toPandas()
    with pytest.raises(AttributeError, match="did you mean select"):
        stars.selct("plx > 10")
    assert not hasattr(stars, "__len__")
    assert not hasattr(stars, "filter")


def test_every_suggested_member_exists():
    members = {text.partition("(")[0].split(" ")[0] for text in habits._HABITS.values()}
    assert [member for member in members if not hasattr(provenn.Catalog, member)] == []
    assert [name for name in habits._HABITS if hasattr(provenn.Catalog, name)] == []


def test_an_attribute_is_not_a_member(stars):
    with pytest.raises(AttributeError, match=r'keep\("plx"\)\.to_pandas\(\)\["plx"\]'):
        _ = stars.plx
    with pytest.raises(AttributeError, match="did you mean plx"):
        _ = stars.plxx
    assert list(stars.keep("plx").to_pandas()["plx"].isna()).count(True) < 6


def test_a_catalog_without_a_name_is_called_by_its_definition(stars):
    stars.named("stars")
    assert stars.plan().what == "stars"
    bright = stars.select("vmag < 6")
    assert bright.plan().what == "stars where vmag < 6"
    assert bright.select("plx > 3").plan().what == "stars where vmag < 6 where plx > 3"
    assert bright.named("bright").plan().what == "bright"


def test_a_catalog_has_no_items(stars):
    with pytest.raises(ArgumentsError, match=r'keep\("plx"\)\.to_pandas\(\)\["plx"\]'):
        stars["plx"]
    with pytest.raises(ArgumentsError, match=r'keep\("hip", "plx"\) has these attributes'):
        stars[["hip", "plx"]]
    with pytest.raises(ArgumentsError, match="did you mean plx"):
        stars["plxx"]
    with pytest.raises(TypeError, match="not iterable"):
        list(stars)


def test_a_column_of_spark_is_no_criterion(stars):
    with pytest.raises(DefinitionError, match=r"expected a criterion, got Column") as raised:
        stars.select(connect.col("plx") > 10)
    assert "SQL text" in raised.value.hint


def test_a_file_is_not_an_archive(tmp_path):
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(ArchiveError, match="is a file, and an archive is a folder"):
        provenn.open(tmp_path / "file.txt")


def test_a_name_is_a_text(stars):
    with pytest.raises(CatalogNameError, match="expected a name for the catalog, got 5"):
        stars.select("plx > 10", name=5)


def test_rows_without_a_key_cannot_join_a_population_with_a_key(archive, stars, tmp_path):
    with pytest.raises(KeyColumnsError) as raised:
        archive.ingest("rows", write_parquet(tmp_path / "rows.parquet"), key=None, population=stars.population)
    assert "name the key columns" in raised.value.hint


def test_an_attribute_called_name_is_renamed_by_a_mapping(stars):
    named = stars.rename(vmag="name")
    with pytest.raises(DefinitionError) as raised:
        named.rename(name="customer_name")
    assert '.rename({"name": "customer_name"})' in raised.value.hint
    assert "customer_name" in named.rename({"name": "customer_name"}).attributes
    assert stars.archive.search("customer_name") == []


def test_types_of_numpy_lead_to_types_of_spark(archive, stars, tmp_path):
    (tmp_path / "stars.csv").write_text("id,x\n1,2.5\n")
    with pytest.raises(TypeNameError) as raised:
        archive.ingest("c", tmp_path / "stars.csv", key="id", population="row", schema={"id": "int64", "x": "float64"})
    assert raised.value.hint == "did you mean bigint?"
    for text in ("CAST(plx AS float64)", "float64(plx)"):
        with pytest.raises(provenn.errors.CriterionError) as refused:
            stars.derive(x=text)
        assert refused.value.hint == "did you mean double?"


def test_orc_asks_for_the_columns_of_the_file(archive, tmp_path):
    (tmp_path / "stars.orc").write_bytes(b"ORC")
    with pytest.raises(provenn.errors.BaseFilesError, match="orc files are not known without a schema") as raised:
        archive.ingest("o", tmp_path / "stars.orc", key="id", population="star")
    assert "hip" not in raised.value.hint
