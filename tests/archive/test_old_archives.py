"""Archives of format 0005 and older, in which base files are known by metadata: unverified until they are read."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.catalogs import Base, Files
from provenn.data import changed_files
from provenn.data.given_tables import keep_table
from provenn.definitions import catalog_names, catalog_store
from provenn.errors import FileError, FilesChangedError, KeyValuesError
from provenn.files.file_records import encode_files, restore_files
from provenn.formats.migrations import migrate_format
from provenn.formats.opening import open_database
from provenn.knowledge import verified_keys
from tests.archive.corrections import corrected, first_release, rewrite_in_place, write
from tests.spark.conftest import engine

__all__ = ["engine"]

UNVERIFIED = "stars: its files are identified only by size, time and footer, until all bytes are read"


def make_old(folder: Path, base: Base, *, verified: int | None = None) -> None:
    """Make an archive of format 0005 with one base catalog, ``stars``; its key was verified, if that is said."""
    with open_database(folder / "provenn.sqlite", create=True, who="ada") as database, database.writing() as writing:
        catalog_store.add_catalogs(writing, base)
        catalog_names.assign_name(writing, "stars", base.digest)
        if verified is not None:
            verified_keys.record_verification(writing, base.digest, verified)
    migrate_format(folder / "provenn.sqlite", "0005", lose=True)


def old_base(path: Path) -> Base:
    return Base.of(Files.at(path).in_old_terms(), key="hip", population="star")


@pytest.fixture
def dr1(tmp_path) -> Path:
    return write(tmp_path / "dr1.parquet", first_release())


@pytest.fixture
def dr2(tmp_path) -> Path:
    """A correction with the same size and footer."""
    return write(tmp_path / "dr2.parquet", corrected(first_release()))


@pytest.fixture
def archive(tmp_path, dr1) -> Iterator[provenn.Archive]:
    make_old(tmp_path / "survey", old_base(dr1), verified=5_000)
    with provenn.open(tmp_path / "survey", progress=False, who="ada") as opened:
        yield opened


@pytest.fixture
def untouched(monkeypatch):
    """Lets files be taken for older than the archive, which they are not by a minute."""
    monkeypatch.setattr(changed_files, "_CLOCKS", timedelta(minutes=-10))


def ingest(archive: provenn.Archive, path: Path, name: str = "stars", **options) -> provenn.Catalog:
    return archive.ingest(name, path, key="hip", population="star", **options)


def test_the_digest_of_an_old_base_is_what_it_was(tmp_path):
    """As version 0.1 made it of this file."""
    path = tmp_path / "stars.csv"
    path.write_text("hip,vmag\n1,2.5\n2,7.0\n")
    os.utime(path, ns=(10**18, 10**18))
    assert Files.at(path).in_old_terms().digest == "d126da3af984985949f5db7e5d230ea576672a6cbd6d67fecc3316c631035de6"
    assert old_base(path).digest == "4f527074aaf705f7798f161c3b96faf77517e08c3b3c090a56664261665aba30"


def test_everything_that_rests_on_an_old_base_says_so(archive):
    archive["stars"].select("vmag < 3", name="bright")
    assert archive.relate("bright", "stars").caveats == (UNVERIFIED,)
    assert UNVERIFIED in str(archive.relate("bright", "stars"))
    assert archive.prove("bright <= stars").caveats == (UNVERIFIED,)
    assert archive.prove("bright <= stars").caveats == (UNVERIFIED,), "also when the proof was found before"
    assert archive.prove("nonempty(bright)").caveats == (UNVERIFIED,)
    assert archive.compare("bright", "stars").caveats == (UNVERIFIED,)
    assert archive.describe("bright").caveats == (UNVERIFIED,)
    assert UNVERIFIED in str(archive["bright"].plan())


def test_the_first_check_of_every_byte_makes_it_known_by_content(archive, dr1, dr2):
    assert archive.check().sound
    assert archive.describe("stars").caveats == (UNVERIFIED,)
    assert archive.check(deep=True).sound
    (line,) = archive.describe("stars").caveats
    assert "may have changed before all bytes were read" in line
    assert "all bytes" in archive.describe("stars").known_by
    rewrite_in_place(dr1, dr2.read_bytes())
    assert not archive.check(deep=True).sound


@pytest.mark.usefixtures("untouched")
def test_files_that_did_not_change_since_they_were_ingested_are_taken_for_what_they_were(archive):
    archive.check(deep=True)
    assert archive.describe("stars").caveats == ()
    with archive.context.database.reading() as reading:
        digest = archive["stars"].digest
        assert verified_keys.find_verified_counts(reading, [digest]) == {digest: 5_000}


def test_what_was_verified_before_is_verified_again_if_files_may_have_changed(archive):
    archive.check(deep=True)
    with archive.context.database.reading() as reading:
        assert verified_keys.find_verified_counts(reading, [archive["stars"].digest]) == {}


def test_a_duplicate_behind_a_key_that_an_old_archive_verified_is_found(engine, tmp_path):
    stars, doubled = write(tmp_path / "stars.parquet", first_release(), use_dictionary=False), first_release()
    doubled["hip"][17] = doubled["hip"][18]
    make_old(tmp_path / "survey", old_base(stars), verified=5_000)
    rewrite_in_place(stars, write(tmp_path / "other.parquet", doubled, use_dictionary=False).read_bytes())
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False) as archive, pytest.raises(KeyValuesError):
        archive["stars"].to_pandas()


def test_data_that_are_used_are_read_and_a_later_correction_is_noticed(engine, tmp_path, dr1, dr2):
    make_old(tmp_path / "survey", old_base(dr1))
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False) as archive:
        stars = archive["stars"]
        assert len(stars.to_pandas()) == 5_000
        rewrite_in_place(dr1, dr2.read_bytes())
        for catalog in (stars, archive["stars"]):
            with pytest.raises(FilesChangedError):
                catalog.to_pandas()


def test_files_that_are_ingested_again_are_the_old_base(archive, dr1):
    digest = archive["stars"].digest
    assert ingest(archive, dr1).digest == digest
    assert ingest(archive, dr1).digest == digest, "known by content now"
    assert ingest(archive, dr1, "other").digest == digest
    assert archive["stars"].definition.files.basis == "content"


def test_a_correction_is_never_taken_for_the_old_base(archive, dr1, dr2):
    digest = archive["stars"].digest
    dr2_catalog = ingest(archive, dr2, "dr2")
    assert dr2_catalog.digest != digest
    assert archive.relate("stars", "dr2").summary == "unknown"
    dr1.unlink()
    assert ingest(archive, dr2, "dr2").digest == dr2_catalog.digest


def test_copies_and_moved_files_of_the_old_base_are_the_old_base(archive, dr1, tmp_path):
    digest = archive["stars"].digest
    copy = tmp_path / "copy.parquet"
    copy.write_bytes(dr1.read_bytes())
    assert ingest(archive, copy, "copied").digest == digest
    dr1.unlink()
    moved = ingest(archive, copy)
    assert (moved.digest, moved.definition.files.location) == (digest, str(copy))
    moved.definition.files.check()


@pytest.mark.parametrize(("name", "same"), [("stars", True), ("other", False)])
def test_of_files_that_are_gone_the_name_tells_whether_these_are_the_same(tmp_path, dr1, name, same):
    make_old(tmp_path / "survey", old_base(dr1))
    moved = dr1.rename(tmp_path / "moved.parquet")
    with provenn.open(tmp_path / "survey", who="ada") as archive:
        assert (ingest(archive, moved, name).digest == archive["stars"].digest) == same


def test_a_table_that_was_given_is_found_again(tmp_path):
    table = pa.table({"hip": [1, 2]})
    with (
        provenn.open(tmp_path / "survey", who="ada") as archive,
        keep_table(archive.context.database, archive.context.workshop.folder, table) as files,
    ):
        old = archive.context.workshop._in_old_terms(files)
        given = Path(archive.context.workshop.folder.location, "given")
        (given / files.digest).rename(given / old.digest)
        archive.define(Base.of(old, key="hip", population="star"), "stars")
    migrate_format(tmp_path / "survey" / "provenn.sqlite", "0005", lose=True)
    with provenn.open(tmp_path / "survey", who="ada") as archive:
        digest = archive["stars"].digest
        assert archive.ingest("stars", table, key="hip", population="star").digest == digest
        assert archive["stars"].definition.files.basis == "content"
        assert archive.check(deep=True).sound


def test_what_is_known_of_contents_goes_along_with_definitions(archive, dr1, dr2, tmp_path):
    archive.check(deep=True)
    archive.export_definitions(tmp_path / "all.provenn")
    with provenn.open(tmp_path / "new", who="ada") as new:
        new.import_definitions(tmp_path / "all.provenn")
        assert new["stars"].definition.files.contents == archive["stars"].definition.files.contents
        rewrite_in_place(dr1, dr2.read_bytes())
        with pytest.raises(FilesChangedError):
            new["stars"].definition.files.check()


def test_definitions_of_other_contents_under_the_same_digest_are_refused(archive, dr1, dr2, tmp_path):
    archive.check(deep=True)
    archive.export_definitions(tmp_path / "all.provenn")
    rewrite_in_place(dr1, dr2.read_bytes())
    make_old(tmp_path / "other", old_base(dr1))
    with provenn.open(tmp_path / "other", who="ada") as other:
        other.check(deep=True)
        assert other["stars"].digest == archive["stars"].digest
        with pytest.raises(FileError, match="have a different content here"):
            other.import_definitions(tmp_path / "all.provenn")


def test_contents_that_somebody_made_up_are_not_believed_where_the_digest_tells(tmp_path):
    parquet.write_table(pa.table({"hip": [1]}), tmp_path / "a.parquet")
    files = Files.at(tmp_path / "a.parquet")
    identity, notes = encode_files(files)
    forged = notes | {"contents": {"a.parquet": "blake3:" + "0" * 64}}
    assert restore_files(identity, forged) == files
    forged |= {"fingerprints": {"a.parquet": "0" * 64}}
    assert restore_files(identity, forged).contents == ()


def test_a_csv_file_of_an_old_archive_is_known_by_content_and_not_by_its_time_any_more(tmp_path):
    path = tmp_path / "stars.csv"
    path.write_text("hip\n1\n")
    make_old(tmp_path / "survey", old_base(path))
    with provenn.open(tmp_path / "survey", who="ada") as archive:
        old = archive["stars"].digest
        archive.check(deep=True)
        os.utime(path, ns=(1, 1))
        assert archive.check().problems == ()
        assert ingest(archive, path).digest == archive["stars"].digest == old


def test_a_new_version_by_content_can_be_made_of_the_same_files(archive, dr1):
    """For those who do not trust what was counted and stored before."""
    old = archive["stars"].digest
    new = ingest(archive, dr1, trust="content", rebuild=True)
    assert new.digest != old
    assert archive.describe("stars").caveats == ()
