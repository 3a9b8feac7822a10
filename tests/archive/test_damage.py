"""Damage that nobody but the bytes can tell of, as the owner of an archive meets it: check, read, back up.

A byte is changed and the times of the file are put back, as if the disk had done it.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.table import Table
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.errors import ProvennError
from tests.spark.conftest import engine

__all__ = ["engine"]

NUMBERS = np.arange(500, dtype=np.int64)
COLUMNS = {"id": NUMBERS, "flux": NUMBERS / 7}


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory, engine) -> Path:
    """An archive with a table from memory, a converted FITS file and a base file; all were read once."""
    folder = tmp_path_factory.mktemp("damage")
    Table(COLUMNS).write(folder / "flux.fits")
    pq.write_table(pa.table(COLUMNS), folder / "base.parquet")
    with provenn.open(folder / "survey", spark=engine.session, progress=False) as archive:
        archive.ingest("given", pa.table(COLUMNS), key="id", population="given")
        archive.ingest("converted", folder / "flux.fits", key="id", population="converted")
        archive.ingest("base", folder / "base.parquet", key="id", population="base")
        for name in ("given", "converted", "base"):
            assert len(archive[name].to_pandas()) == len(NUMBERS)
    return folder / "survey"


def file_of(survey: Path, kind: str) -> Path:
    """Return the file that an archive reads for a kind of base catalog."""
    patterns = {"given": "store/given/**/*.parquet", "converted": "store/converted/**/*.parquet"}
    if kind == "base":
        return survey.parent / "base.parquet"
    (path,) = survey.glob(patterns[kind])
    return path


@contextmanager
def spoiled(path: Path) -> Iterator[None]:
    """Change a byte in the middle of the pages of a file, and put the times back; the file is whole afterwards."""
    times, whole = path.stat(), path.read_bytes()
    content = bytearray(whole)
    content[len(content) // 3] ^= 0x10
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    yield
    path.write_bytes(whole)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize("kind", ["given", "converted", "base"])
def test_a_deep_check_compares_every_byte(survey: Path, kind: str):
    command = ["check", "--deep", "--archive", str(survey)]
    assert CliRunner().invoke(cli.app, command).exit_code == 0
    with spoiled(file_of(survey, kind)):
        done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 1, done.output


@pytest.mark.parametrize("kind", ["given", "converted"])
def test_damaged_data_are_never_read_as_other_values(survey: Path, engine, kind: str):
    """Those that can be made again give the right values; a table from memory is an error."""
    with spoiled(file_of(survey, kind)), provenn.open(survey, spark=engine.session, progress=False) as archive:
        if kind == "given":
            with pytest.raises(ProvennError):
                archive[kind].to_pandas()
        else:
            frame = archive[kind].to_pandas().sort_values("id")
            assert frame["flux"].tolist() == COLUMNS["flux"].tolist()


def test_damaged_data_are_not_backed_up(survey: Path, tmp_path: Path):
    with (
        spoiled(file_of(survey, "given")),
        provenn.open(survey, progress=False) as archive,
        pytest.raises(ProvennError),
    ):
        archive.backup(tmp_path / "copy", data=True)
    assert not (tmp_path / "copy").exists()


def test_all_data_are_on_the_disk_before_they_are_referred_to(tmp_path: Path, engine, monkeypatch: pytest.MonkeyPatch):
    """A table from memory, a conversion, a fragment, and copies of them in a backup."""
    flushed = set()
    fsync = os.fsync

    def note(descriptor):
        fsync(descriptor)
        flushed.add(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", note)
    Table(COLUMNS).write(tmp_path / "flux.fits")
    with provenn.open(tmp_path / "survey", spark=engine.session, progress=False) as archive:
        given = archive.ingest("given", pa.table(COLUMNS), key="id", population="given")
        archive.ingest("converted", tmp_path / "flux.fits", key="id", population="converted").head()
        given.derive(twice="2 * flux", name="derived").store()
        archive.backup(tmp_path / "copy", data=True)
    files = {*(tmp_path / "survey/store").rglob("*.parquet"), *(tmp_path / "copy/store").rglob("*.parquet")}
    assert len({path.relative_to(tmp_path).parts[2] for path in files}) == 3, "tables, conversions and fragments"
    assert {str(path.relative_to(tmp_path)) for path in files if path.stat().st_ino not in flushed} == set()


def test_a_changed_entry_of_the_audit_log_is_noticed(tmp_path: Path):
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as archive:
        archive.ingest("given", pa.table(COLUMNS), key="id", population="given")
        archive.declare("nonempty(given)", reason="seen")
    command = ["check", "--archive", str(tmp_path / "survey")]
    assert CliRunner().invoke(cli.app, command).exit_code == 0
    with sqlite3.connect(tmp_path / "survey" / "provenn.sqlite") as database:
        changed = database.execute("UPDATE audit SET who = 'eve' WHERE action = 'declare'").rowcount
    assert changed == 1
    done = CliRunner().invoke(cli.app, command)
    assert done.exit_code == 1, done.output
