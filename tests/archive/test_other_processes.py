"""What other processes do to an archive that is open here: import, upgrade, be killed."""

import signal
import sqlite3
import subprocess
import sys
from io import BytesIO

import pytest

import provenn
from provenn.database.tables import VERSION_TABLE
from provenn.errors import ProvennError
from tests.archive.samples import write_parquet


class Watched(BytesIO):
    """A file that does something when it is read."""

    def __init__(self, content, work):
        super().__init__(content)
        self.work = work

    def read(self, size=-1):
        self.work()
        return super().read(size)


def test_others_write_while_a_file_is_imported(archive, stars, tmp_path):
    """Another process declares something whenever the import reads on in its file."""
    for number in range(50):
        stars.select(f"vmag < {number}", name=f"limit{number}")
    archive.export_definitions(tmp_path / "all.provenn")
    with provenn.open(tmp_path / "new", progress=False) as target, provenn.open(tmp_path / "new") as other:
        given = write_parquet(tmp_path / "given.parquet")
        other.ingest("mine", given, key="hip", population="of mine")
        written = []

        def write():
            if len(written) < 3:
                written.append(other.declare("nonempty(mine)" if not written else f"nonempty(mine{len(written)})"))
                other["mine"].select(f"vmag > {len(written)}", name=f"mine{len(written)}")

        came = target.import_definitions(Watched((tmp_path / "all.provenn").read_bytes(), write))
        assert written
        assert came.new["definition"] > 50


def test_nothing_is_written_to_an_archive_that_another_process_upgraded(archive, stars, tmp_path):
    stars.select("vmag < 6", name="bright")
    with sqlite3.connect(tmp_path / "survey" / "provenn.sqlite") as database:
        database.execute(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")  # noqa: S608 - a constant
    with pytest.raises(ProvennError, match="9999"):
        archive.declare("nonempty(bright)", reason="seen")
    with sqlite3.connect(tmp_path / "survey" / "provenn.sqlite") as database:
        assert database.execute("SELECT count(*) FROM facts").fetchone() == (0,)


WRITER = """
import os, signal, sys
import provenn
from provenn.spark import writing
from provenn.spark.engine import Engine
writing.publish = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
with Engine("local[1]", brief=True) as engine, provenn.open(sys.argv[1], spark=engine.session) as archive:
    archive["stars"].write(sys.argv[2])
"""


@pytest.mark.campaign
@pytest.mark.usefixtures("stars")
def test_what_a_killed_process_left_beside_an_export_is_garbage(archive, tmp_path):
    """With a Spark of its own; without one, it is tested in `tests/data/test_leftovers.py`."""
    place = tmp_path / "exports"
    place.mkdir()
    command = [sys.executable, "-c", WRITER, tmp_path / "survey", place / "out.parquet"]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=False).returncode == -signal.SIGKILL
    (left,) = place.iterdir()
    assert left.name.startswith(".provenn-writing-")
    archive.collect_garbage()
    assert list(place.iterdir()) == []
