"""Small files that would become large are refused, in words; files that compress well are not."""

import gzip
import io
from pathlib import Path

import pytest
from astropy.table import Table
from typer.testing import CliRunner

from provenn import cli
from provenn.catalogs import Base, Files
from provenn.errors import ExpansionError
from provenn.files.data_folder import DataFolder
from provenn.gate import expansion, permits
from provenn.gate.expansion import ALWAYS_ALLOWED, USUAL_FACTOR, BoundedStream, check_claim, limit_unpacked_size
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from provenn.spark.tables.converting import convert_files
from tests.gate.bombs import BOMBS, refuse_bomb


@pytest.fixture(autouse=True)
def configuration(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))


@pytest.mark.parametrize("name", BOMBS)
def test_no_bomb_goes_off(name: str, tmp_path: Path):
    assert "Error: " in refuse_bomb(name, tmp_path)


def test_the_bound_is_in_proportion_and_the_owner_raises_it():
    assert limit_unpacked_size(0) == ALWAYS_ALLOWED
    assert limit_unpacked_size(ALWAYS_ALLOWED) == USUAL_FACTOR * ALWAYS_ALLOWED
    with pytest.raises(ExpansionError) as caught:
        check_claim(2000 * 10**9, 10**9, "it")
    assert "provenn allow expansion:2000" in caught.value.hint
    assert CliRunner().invoke(cli.app, ["allow", "expansion:2000"]).exit_code == 0
    check_claim(2000 * 10**9, 10**9, "it")
    permits.allow("expansion:5")  # the most that is allowed counts
    check_claim(2000 * 10**9, 10**9, "it")


def test_a_stream_gives_what_it_holds_up_to_its_bound(monkeypatch):
    monkeypatch.setattr(expansion, "ALWAYS_ALLOWED", 1000)
    assert BoundedStream(io.BytesIO(bytes(1000)), 1, "it").read() == bytes(1000)
    buffered = io.BufferedReader(BoundedStream(io.BytesIO(b"a\n" * 500), 1, "it"))
    assert len(list(buffered)) == 500
    for read in (lambda item: item.read(), lambda element: [element.read(7) for _ in range(200)]):
        with pytest.raises(ExpansionError, match=r"it unpacks to more than 1\.0 kB, though the file has 1 B"):
            read(BoundedStream(io.BytesIO(bytes(1001)), 1, "it"))


def test_tables_that_compress_well_are_read(tmp_path: Path):
    """A column of zeros is a table, too: what is small when it is unpacked is read, however much smaller it was."""
    path = tmp_path / "a.vot"
    Table({"id": range(100_000), "zero": [0.0] * 100_000}).write(path, format="votable")
    packed = tmp_path / "b.vot.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    convert_files(Files.at(packed), DataFolder.of(tmp_path / "data"))


@pytest.fixture(scope="module")
def engine():
    with Engine("local[2]", brief=True) as item:
        yield item


def test_small_files_that_spark_would_unpack_are_measured_before(tmp_path: Path, engine, monkeypatch):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id\n" + b"".join(b"%d\n" % number for number in range(100_000))))
    base = Base.of(Files.at(path), key="id", population="star")
    assert read_base(engine, base, DataFolder.of(tmp_path / "data")).count() == 100_000
    path.write_bytes(gzip.compress(b"id\n1\n" + b"\n" * 10**6))
    base = Base.of(Files.at(path), key="id", population="star")
    monkeypatch.setattr(expansion, "ALWAYS_ALLOWED", 1000)
    with pytest.raises(ExpansionError, match=r"a\.csv\.gz unpacks to more than"):
        read_base(engine, base, DataFolder.of(tmp_path / "data"))
