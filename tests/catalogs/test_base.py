"""Base catalogs: keys, populations, identity of files and attributes."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn.catalogs import Base, Files, Population, SelectSources, restore
from provenn.criteria import parse_type
from provenn.errors import AttributeNotFoundError, FilesChangedError, KeyColumnsError, PopulationError
from tests.catalogs.samples import base


@pytest.fixture
def stars(tmp_path: Path) -> Path:
    path = tmp_path / "hip.parquet"
    fields = [
        pa.field("hip", pa.int32()),
        pa.field("vmag", pa.float64(), nullable=False, metadata={"unit": "mag"}),
        pa.field("spectrum", pa.list_(pa.float32())),
    ]
    parquet.write_table(pa.table({"hip": [1, 2], "vmag": [1.0, 2.0], "spectrum": [[], []]}, pa.schema(fields)), path)
    return path


def test_a_base_has_the_columns_of_its_files_and_identities_of_its_own(stars: Path):
    catalog = Base.of(Files.at(stars), key="HIP", population="star")
    assert catalog.population == Population("star", (parse_type("int"),))
    assert catalog.schema.names == ("hip", "vmag", "spectrum")
    assert [attribute.identity for attribute in catalog.schema.attributes] == [
        "key:star:0",
        f"{catalog.digest}:vmag",
        f"{catalog.digest}:spectrum",
    ]
    assert catalog.schema["vmag"].unit == "mag"
    assert [attribute.nullable for attribute in catalog.schema.attributes] == [False, False, True]
    assert catalog.extent.labels == (catalog.digest,)
    assert catalog.files.row_count == 2


def test_where_the_files_lie_is_not_identity(stars: Path, tmp_path: Path):
    item = Base.of(Files.at(stars), key="hip", population="star")
    stars.rename(tmp_path / "moved.parquet")
    moved = item.moved(tmp_path / "moved.parquet")
    assert moved == item
    assert moved.files.location != item.files.location
    assert Base.of(Files.at(tmp_path / "moved.parquet"), key="hip", population="star") == item
    (tmp_path / "other.parquet").write_bytes((tmp_path / "moved.parquet").read_bytes())
    assert Base.of(Files.at(tmp_path / "other.parquet"), key="hip", population="star") == item


def test_changed_files_are_another_base_with_other_attributes(stars: Path):
    catalog = Base.of(Files.at(stars), key="hip", population="star")
    parquet.write_table(pa.table({"hip": [1, 2, 3], "vmag": [1.0, 2.0, 3.0]}), stars)
    with pytest.raises(FilesChangedError):
        catalog.files.check()
    new = Base.of(Files.at(stars), key="hip", population=Population("star", (parse_type("bigint"),)))
    assert new != catalog
    assert new.schema["vmag"].identity != catalog.schema["vmag"].identity


def test_key_population_options_and_schema_are_identity(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("hip,hd\n1,2\n")
    bases = [
        Base.of(Files.at(path), key="hip", population="star"),
        Base.of(Files.at(path), key="hd", population="star"),
        Base.of(Files.at(path), key=["hip", "hd"], population="star"),
        Base.of(Files.at(path), key="hip", population="galaxy"),
        Base.of(Files.at(path, schema={"hd": "int"}), key="hip", population="star"),
        Base.of(Files.at(path, options={"nullValue": "2"}), key="hip", population="star"),
    ]
    assert len(set(bases)) == len(bases)


def test_a_base_is_restored_with_all_that_was_known_of_its_files(stars: Path):
    catalog = Base.of(Files.at(stars), key="hip", population="star")
    again = restore("Base", catalog.parameters(), catalog.notes(), ())
    assert (again, again.schema, again.files) == (catalog, catalog.schema, catalog.files)
    again.files.check()


def test_a_narrower_key_is_read_in_the_type_of_the_population(stars: Path):
    wide = Population("star", (parse_type("bigint"),))
    catalog = Base.of(Files.at(stars), key="hip", population=wide)
    assert catalog.schema["hip"].type == parse_type("bigint")
    assert catalog.population == base().population


@pytest.mark.parametrize(
    ("key", "error", "problem"),
    [
        ("hipp", AttributeNotFoundError, "did you mean hip"),
        ([], KeyColumnsError, "star has no key"),
        (["hip", "HIP"], KeyColumnsError, "the key column hip is named twice"),
        ("spectrum", KeyColumnsError, "spectrum has the type array<float>, whose values cannot be compared"),
    ],
)
def test_what_cannot_be_a_key_is_refused(stars: Path, key: object, error: type[Exception], problem: str):
    with pytest.raises(error, match=problem):
        Base.of(Files.at(stars), key=key, population="star")


@pytest.mark.parametrize("kinds", [("string",), ("tinyint",), ("int", "int")])
def test_a_key_must_fit_the_population(stars: Path, kinds: tuple[str, ...]):
    population = Population("star", tuple(map(parse_type, kinds)))
    with pytest.raises(KeyColumnsError, match=r"cannot be \(hip int\)") as caught:
        Base.of(Files.at(stars), key="hip", population=population)
    assert "another population" in caught.value.hint


def test_a_population_needs_a_name(stars: Path):
    with pytest.raises(PopulationError):
        Base.of(Files.at(stars), key="hip", population="")


def test_the_key_is_never_null_so_its_criteria_split_all_sources():
    catalog = base()
    low, high = SelectSources.of(catalog, "hip < 5"), SelectSources.of(catalog, "hip >= 5")
    assert high.extent == catalog.extent - low.extent
    assert SelectSources.of(catalog, "hip IS NOT NULL").extent == catalog.extent
