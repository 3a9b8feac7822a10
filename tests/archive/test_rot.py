"""A bit that flips in any stored file never becomes a value: it is noticed, and what can be is computed again."""

import logging
import os
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import provenn
from provenn.data import given_tables
from provenn.errors import FilesChangedError, ProvennError
from provenn.spark import settings
from tests.rot import RECOVERED, Damaged, files_of, read, rotting, try_backups, try_flips
from tests.spark.conftest import engine

__all__ = ["engine"]

MANY = int(os.environ.get("PROVENN_FLIPS", "20"))
"""How many bits are flipped in files of each kind in campaigns."""

some_and_many = pytest.mark.parametrize("flips", [1, pytest.param(MANY, marks=pytest.mark.campaign)])


@pytest.fixture(scope="module")
def made(engine, tmp_path_factory):
    return Damaged.at(tmp_path_factory.mktemp("rot") / "place", engine.session)


@pytest.fixture
def damaged(made):
    yield made
    made.restore()


def spoil(path: Path, at: int, length: int = 8) -> None:
    """Overwrite some bytes in the middle of a file."""
    content = bytearray(path.read_bytes())
    content[at : at + length] = bytes(255 - one for one in content[at : at + length])
    path.write_bytes(content)


@some_and_many
@pytest.mark.parametrize("kind", ["fragment", "table", "conversion", "MOC"])
def test_a_flipped_bit_is_found_and_never_read(damaged, kind, flips):
    tally = try_flips(damaged, kind, flips)
    assert tally.wrong == []
    assert tally.tried == flips
    if kind in RECOVERED:
        assert tally.outcomes["right"] == flips


@some_and_many
def test_a_flipped_bit_of_a_base_file_is_found_although_the_file_system_says_nothing(damaged, flips):
    assert try_flips(damaged, "base", flips, reading=False).wrong == []
    spoil(files_of(damaged.folder, "base")[0], 200)
    with damaged.opened() as archive, pytest.raises(FilesChangedError):
        read(archive, "base")


def test_pages_are_compared_by_the_reader_itself(engine, damaged):
    """Sizes and footers do not tell: without the checksums of pages, another value would be read."""
    (path,) = files_of(damaged.folder, "table")
    spoil(path, 300)
    reader = engine.session.read.options(**settings.OWN_FILES)
    with pytest.raises(Exception, match="CRC checksum verification failed"):
        reader.parquet(str(path)).collect()
    assert engine.session.conf.get("parquet.page.verify-checksum.enabled") == "true"


def test_a_damaged_fragment_is_dropped_and_its_values_are_computed(damaged, caplog):
    truth = damaged.truth["fragment"]
    with damaged.opened() as archive:
        (before,) = archive.fragments("distant")
    for path in files_of(damaged.folder, "fragment"):
        spoil(path, 100)
    with caplog.at_level(logging.WARNING), rotting(), damaged.opened() as archive:
        assert read(archive, "fragment") == truth
        (dropped,) = [stored.fragment for stored in archive.fragments("distant", dropped=True)]
        assert dropped.id == before.fragment.id
        assert "differs from the bytes that were written" in dropped.dropped_reason
        assert f"fragment #{dropped.id} is no longer used" in caplog.text
        assert archive.check(deep=True).sound
        archive.store("distant")
        assert [stored.fragment.id for stored in archive.fragments("distant")] != [before.fragment.id]
        assert read(archive, "fragment") == truth


def test_whatever_asks_for_a_damaged_fragment_gets_the_right_answer(damaged, tmp_path):
    asked = {
        "count": lambda catalog: catalog.select("twice > 100").count(),
        "head": lambda catalog: len(catalog.head(10**6)),
        "write": lambda catalog: catalog.write(tmp_path / "out.parquet", overwrite=True).rows,
        "store": lambda catalog: catalog.select("twice > 100").store().fragment.rows,
    }
    for name, ask in asked.items():
        with damaged.opened() as archive:
            expected = ask(archive["distant"])
        damaged.restore()
        for path in files_of(damaged.folder, "fragment"):
            spoil(path, 100, 2000)
        with rotting(), damaged.opened() as archive:
            assert ask(archive["distant"]) == expected, name
        damaged.restore()


def test_repair_computes_anew_what_can_be_and_tells_what_depends_on_the_rest(damaged):
    with damaged.opened() as archive:
        archive["given"].select("hip < 100", name="first hundred")
    for kind in ("fragment", "conversion", "table"):
        spoil(files_of(damaged.folder, kind)[0], 150)
    with rotting(), damaged.opened() as archive:
        told = archive.check(deep=True, repair=True)
        assert not told.sound
        assert {one.remedy for one in told.mended if one.state == "damage"} == {"compute"}
        (lost,) = [problem for problem in told.problems if problem.state == "damage"]
        assert lost.remedy == "restore"
        assert "given: the table given/" in lost.what
        assert "what depends on it: first hundred" in lost.what
        assert files_of(damaged.folder, "conversion") == []
        assert read(archive, "conversion")
        given_tables._SEALS.clear()
        for name in ("given", "first hundred"):
            with pytest.raises(ProvennError):
                archive[name].to_arrow()


def test_a_damaged_table_comes_back_when_the_same_table_is_ingested_again(damaged):
    truth = damaged.truth["table"]
    (path,) = files_of(damaged.folder, "table")
    whole, table = path.read_bytes(), pq.read_table(path)
    spoil(path, 150)
    with rotting(), damaged.opened() as archive:
        assert not archive.check(deep=True).sound
        archive.ingest("given", table, key="hip", population="given star")
        assert path.read_bytes() == whole
        assert archive.check(deep=True).sound
        assert read(archive, "table") == truth


def test_a_damaged_seal_decides_nothing_and_is_written_again(damaged):
    truth = damaged.truth["table"]
    (seal,) = files_of(damaged.folder, "seal")
    whole = seal.read_bytes()
    for harm in (lambda: spoil(seal, 3), seal.unlink):
        harm()
        with rotting(), damaged.opened() as archive:
            assert read(archive, "table") == truth
        assert seal.read_bytes() == whole


def test_who_can_only_read_computes_without_what_is_damaged(damaged, monkeypatch):
    truth = damaged.truth["fragment"]
    for path in files_of(damaged.folder, "fragment"):
        spoil(path, 100)
    monkeypatch.setattr("provenn.database.connecting.is_sqlite_read_only", lambda _path: True)
    with rotting(), damaged.opened() as archive:
        assert archive.context.database.read_only
        assert read(archive, "fragment") == truth
        assert len(archive.fragments("distant")) == 1, "nobody could drop it"


def test_conversions_of_older_versions_are_not_read_and_told(damaged):
    truth = damaged.truth["conversion"]
    (path,) = files_of(damaged.folder, "conversion")
    old = path.with_name(f"{'0' * 64}.parquet")
    shutil.copy(path, old)
    with damaged.opened() as archive:
        assert read(archive, "conversion") == truth
        (told,) = [problem for problem in archive.check().problems if old.name in problem.where]
        assert told.state == "leftover"
        assert "without a digest" in told.what
        archive.check(repair=True)
        assert not old.exists()
        assert path.exists()


# --- backups ---


@some_and_many
def test_a_flipped_bit_is_never_backed_up(damaged, flips):
    tally = try_backups(damaged, flips)
    assert tally.wrong == []
    assert tally.tried == flips


def test_a_backup_of_damaged_data_fails_and_says_what_is_damaged(damaged, tmp_path):
    with damaged.opened() as archive:
        archive.backup(tmp_path / "whole", data=True)
    for number, kind in enumerate(("fragment", "table", "MOC")):
        damaged.restore()
        spoil(files_of(damaged.folder, kind)[0], 120)
        with rotting(), damaged.opened() as archive:
            with pytest.raises(ProvennError, match="nothing was copied, because data of the archive") as caught:
                archive.backup(tmp_path / "copy", data=True)
            assert {"fragment": "fragment #", "table": "the table given/", "MOC": "MOC "}[kind] in caught.value.message
            assert not (tmp_path / "copy").exists()
            copied = archive.backup(tmp_path / f"copy {number}", data=True, skip_damaged=True)
            assert len(copied.left_out) + len(copied.missing) == 1
        with provenn.open(tmp_path / f"copy {number}", spark=damaged.spark, progress=False) as copy:
            assert copy.check(deep=True).sound == (kind == "fragment"), "what only the archive had is missing"


def test_a_backup_lists_what_it_holds_and_check_compares_it(damaged, tmp_path):
    with damaged.opened() as archive:
        archive.backup(tmp_path / "copy", data=True)
    store = tmp_path / "copy" / "store"
    with provenn.open(tmp_path / "copy", spark=damaged.spark, progress=False) as copy:
        assert copy.check(deep=True).sound
        table = next(store.glob("given/*/table.parquet"))
        whole = table.read_bytes()
        spoil(table, 150)
        told = [str(problem) for problem in copy.check(deep=True).problems if problem.state == "damage"]
        assert any("backup of" in one and "differ from the bytes that were copied" in one for one in told)
        table.write_bytes(whole)
        spoil(store / "_backup.json", 20)
        assert "was changed after it was written" in str(copy.check())
        (store / "_backup.json").unlink()
        assert copy.check(deep=True).sound
