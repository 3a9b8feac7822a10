"""Definitions of others with right digests, that hold a set or a type which does not follow from their words."""

import io
from pathlib import Path

import pytest

import provenn
from provenn.catalogs import Base, Files
from provenn.criteria import Type
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import DefinitionError, FileError
from provenn.spark.engine import Engine
from tests.archive.samples import write_parquet
from tests.gate.lies import INJECTED, LIES, lying_expression, lying_selection
from tests.gate.portable_files import portable_file


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return Base.of(Files.at(write_parquet(tmp_path / "stars.parquet")), key="hip", population="star")


@pytest.mark.parametrize("lie", LIES)
def test_a_definition_that_nobody_could_make_is_not_taken_over(tmp_path: Path, base: Base, lie: str):
    evil = LIES[lie](base)
    with provenn.open(tmp_path / "victim") as archive:
        with pytest.raises(FileError, match=r"line 3, a definition"):
            archive.import_definitions(io.BytesIO(portable_file(evil)))
        assert archive.matches() == 0


def test_a_false_proof_does_not_come_with_a_file(tmp_path: Path, base: Base):
    """Otherwise what is stored of few sources would be served as all that there are of many."""
    with provenn.open(tmp_path / "victim") as archive:
        stars = archive.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")
        stars.select("vmag < 6", name="bright")
        with pytest.raises(FileError, match="its set is not that of its criterion"):
            archive.import_definitions(io.BytesIO(portable_file(lying_selection(base))))


def define(archive, catalog) -> None:
    """Put a catalog into the database as nobody can who uses provenn."""
    with archive.context.database.writing() as writing:
        catalog_store.add_catalogs(writing, catalog)
        catalog_names.assign_name(writing, "evil", catalog.digest)


@pytest.mark.parametrize("lie", ["set", "type", "SQL as type", "NULL"])
def test_a_deep_check_finds_a_lie_in_the_database(tmp_path: Path, base: Base, lie: str):
    with provenn.open(tmp_path / "theirs") as archive:
        define(archive, LIES[lie](base))
        assert archive.check().sound
        assert [problem for problem in archive.check(deep=True).problems if problem.where.startswith("catalog ")]


def follow_references(stars, bright):
    """A catalog of each class that follows references; a star is its own partner."""
    groups = stars.group("hip", population="object", mean="avg(vmag)", mags="collect(vmag ORDER BY plx)")
    looked_up = [
        stars.lookup(bright, on="hip", attributes=["vmag"], missing=missing, prefix="bright_")
        for missing in ("error", "null", "drop")
    ]
    first = stars.first(by="hip", order="vmag DESC, plx", n=2)
    return (
        *looked_up,
        stars.having(bright, on="hip"),
        stars.without(bright, on="hip"),
        groups,
        first,
        groups.explode("mags"),
    )


@pytest.mark.usefixtures("base")
def test_what_provenn_defines_is_consistent(tmp_path: Path):
    with provenn.open(tmp_path / "mine") as archive:
        stars = archive.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")
        bright = stars.select("vmag < 6 OR plx IS NULL", name="bright")
        near = stars.derive(dist="1000 / plx").rename(vmag="v").select("dist < 10 AND v BETWEEN 1 AND 3")
        mixed = stars.select("vmag < 2").concat(stars.select("vmag > 3")).keep("hip", "vmag").select("vmag + 1 < 5")
        own = (bright, near, mixed, bright.sample(0.5, seed=3), bright.restrict(near), bright.exclude(near))
        for catalog in (*own, *follow_references(stars, bright)):
            with archive.context.database.reading() as reading:
                catalog_store.get_catalog(reading, catalog.digest).check_consistency()
        assert archive.check(deep=True).sound


def test_sql_in_the_place_of_a_type_is_not_run(tmp_path: Path, base: Base):
    """The archive of the attacker is opened as it is."""
    name = f"provenn.{tmp_path.name}"
    evil = lying_expression(base, type=Type(INJECTED.format(name=name)))
    with Engine("local[2]", brief=True) as engine, provenn.open(tmp_path / "theirs", spark=engine.session) as archive:
        define(archive, evil)
        for use in (archive["evil"].head, lambda: archive.target("evil", ["z"]).to_pandas()):
            with pytest.raises(DefinitionError, match="though it is called a"):
                use()
        assert engine.session._jvm.java.lang.System.getProperty(name) is None
