"""Files of others, used as their receiver uses them: import, then ask for rows. Nothing is run, written or unpacked.

Nothing here knows how that is kept: only the archive, its files and its commands are used.
"""

import gzip
import io
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.catalogs import Base, DeriveAttributes, Files, PythonCalculator
from provenn.demo import motion
from provenn.errors import ProvennError
from tests.archive.samples import write_parquet
from tests.catalogs.calculators import example
from tests.gate.portable_files import portable_file
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.fixture(autouse=True)
def _configuration(tmp_path, monkeypatch):
    (tmp_path / "configuration").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    monkeypatch.delenv("PROVENN_CALCULATORS", raising=False)


def take_over(folder: Path, session: object, content: bytes) -> None:
    """Import a portable file and ask for the rows of what it brings."""
    with provenn.open(folder / "victim", spark=session, progress=False) as archive:
        archive.import_definitions(io.BytesIO(content))
        archive["evil"].head()


def evil_calculator(module: Path, function: str, **parameters: object) -> PythonCalculator:
    """Return a calculator that names something of a module, with the hash that this module has."""
    good = PythonCalculator.of(
        example.photo_z, inputs=["vmag"], outputs={"z": "double"}, parameters=parameters, kind="pandas"
    )
    return replace(good, function=function, source=sha256(module.read_bytes()).hexdigest())


TOOLS = """
import subprocess
import pandas as pd

class Shell:
    @staticmethod
    def run(batch, command):
        subprocess.run(command, shell=True)
        return batch.assign(z=1.0)[["z"]]
"""


@pytest.mark.parametrize("name", ["pd.DataFrame.eval", "Shell.run"])
def test_a_calculator_of_a_portable_file_does_not_reach_through_an_allowed_module(
    tmp_path: Path, engine, monkeypatch: pytest.MonkeyPatch, name: str
):
    """The module is allowed, for the sake of its functions; what it imports and the methods of its classes are not."""
    module = tmp_path / "foreign_tools.py"
    module.write_text(TOOLS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert CliRunner().invoke(cli.app, ["allow", "foreign_tools"]).exit_code == 0
    marker = tmp_path / "marker"
    command = f"touch {marker}"
    parameters = {
        "pd.DataFrame.eval": {"expr": f"z = @pd.io.common.os.system({command!r}) + vmag"},
        "Shell.run": {"command": command},
    }
    evil = evil_calculator(module, f"foreign_tools:{name}", **parameters[name])
    base = Base.of(Files.at(write_parquet(tmp_path / "stars.parquet")), key="hip", population="star")
    refusal = None
    try:
        take_over(tmp_path, engine.session, portable_file(DeriveAttributes(base, evil)))
    except ProvennError as error:
        refusal = error
    assert not marker.exists(), "a shell command was run"
    assert refusal is not None


def test_what_the_demo_registers_is_not_allowed_for_good(tmp_path: Path):
    """The demo hands over a function of provenn; archives of others cannot use that afterwards."""
    columns = {name: [1.0, 2.0] for name in motion.INPUTS}
    with provenn.open(tmp_path / "demo", progress=False) as archive:
        path = write_parquet(tmp_path / "stars.parquet", {"hip": [1, 2], **columns})
        archive.ingest("stars", path, key="hip", population="star")
        archive.calculator("motion", motion.motion, inputs=motion.INPUTS, outputs=motion.OUTPUTS)
    listed = CliRunner().invoke(cli.app, ["allow"])
    assert listed.exit_code == 0
    assert "provenn.demo" not in listed.output


def test_a_base_of_a_portable_file_has_no_driver_of_a_database_write_a_file(tmp_path: Path, engine):
    """Derby comes with Spark; a statement for the beginning of a session would have it write a file."""
    marker = tmp_path / "marker"
    options = {
        "url": f"jdbc:derby:memory:{tmp_path.name};create=true",
        "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
        "query": 'SELECT CAST(1 AS BIGINT) AS "hip" FROM SYSIBM.SYSDUMMY1',
        "sessioninitstatement": f"CALL SYSCS_UTIL.SYSCS_EXPORT_QUERY('VALUES 1', '{marker}', null, null, null)",
    }
    (tmp_path / "stars.csv").write_text("hip\n1\n2\n", encoding="utf-8")
    base = Base.of(Files.at(tmp_path / "stars.csv"), key="hip", population="star")
    evil = replace(base, files=replace(base.files, format="jdbc", options=tuple(sorted(options.items()))))
    refusal = None
    try:
        take_over(tmp_path, engine.session, portable_file(evil))
    except ProvennError as error:
        refusal = error
    assert not marker.exists(), "a file was written"
    assert refusal is not None


def test_a_small_votable_that_would_become_large_is_refused(tmp_path: Path, engine):
    """300 kB that unpack to 300 MB: in proportion as 3 MB that unpack to 2.9 GB."""
    head = '<VOTABLE version="1.3"><RESOURCE><TABLE><FIELD name="id" datatype="long"/>'
    path = tmp_path / "bomb.vot.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(f"{head}<DATA><TABLEDATA><TR><TD>1</TD></TR>".encode())
        for _ in range(300):
            file.write(b" " * 10**6)
        file.write(b"</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>")
    assert path.stat().st_size < 400_000
    with provenn.open(tmp_path / "victim", spark=engine.session, progress=False) as archive:
        bomb = archive.ingest("bomb", path, key="id", population="star")
        with pytest.raises(ProvennError, match="unpacks to more than"):
            bomb.head()
