"""A function of a script serves targets; in another archive, or for another person, it runs only once it is allowed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.catalogs import PythonCalculator
from provenn.errors import CalculatorError
from provenn.spark.engine import Engine
from provenn.spark.pipeline import Pipeline
from tests.archive.samples import write_parquet
from tests.spark.conftest import engine

__all__ = ["engine"]

SCRIPT = """
from pathlib import Path

import provenn

TRACE = str(Path("ran").absolute())


def thrice(batch):
    Path(TRACE).touch()
    return batch.assign(thrice=batch["plx"] * 3)[["thrice"]]


with provenn.open("survey", who="ada", progress=False) as archive:
    stars = archive.ingest("stars", "stars.parquet", key="hip", population="star")
    archive.calculator("thrice", thrice, inputs=["plx"], outputs={"thrice": "double"})
    archive.default_visibility = "public"
    archive.export_definitions("all.provenn")
"""


@pytest.fixture(scope="module")
def registered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a script has registered its function; the script is gone.

    That the process of such a function computes with it is tested in a notebook, by `test_kernel`.
    """
    folder = tmp_path_factory.mktemp("script")
    write_parquet(folder / "stars.parquet")
    (folder / "survey_script.py").write_text(SCRIPT)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "of_ada")}
    command = [sys.executable, "survey_script.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (folder / "ran").exists(), "registering a function does not run it"
    (folder / "survey_script.py").unlink()
    return folder


@pytest.fixture
def script(registered: Path) -> Path:
    """The folder, as if the function had never run."""
    (registered / "ran").unlink(missing_ok=True)
    return registered


def computed(archive: provenn.Archive, engine: Engine) -> list[float]:
    """The attribute of the script, on the Spark of all tests."""
    archive.context.workshop._pipeline = Pipeline(archive.context.database, archive.context.workshop.folder, engine)
    try:
        found = archive.target("stars", ["thrice"], where="plx > 50", keep="never").to_pandas()
    finally:
        archive.context.workshop._pipeline = None
    return found["thrice"].tolist()


def command(*words: str) -> str:
    """What a command says."""
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize("how", ["shared", "imported"])
def test_a_function_of_a_script_runs_for_others_once_they_allow_its_hash(script, engine, monkeypatch, tmp_path, how):
    monkeypatch.chdir(script)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "of_bob"))
    monkeypatch.setenv("PROVENN_CALCULATORS", "*")  # which stands for all modules, and for no captured source
    place = script / "survey" if how == "shared" else tmp_path / "other"
    with provenn.open(place, who="bob", progress=False) as archive:
        if how == "imported":
            archive.import_definitions("all.provenn")
        calculator = archive.find_calculator("thrice")
        assert isinstance(calculator, PythonCalculator)
        with pytest.raises(CalculatorError, match="code that you have not allowed to run") as caught:
            computed(archive, engine)
        told = command("calculators", "--code", "--archive", str(place))
        assert calculator.code in told
        assert not (script / "ran").exists(), "to import, list, plan and refuse it runs none of it"
        assert caught.value.hint.endswith(f"provenn allow {calculator.permit}")
        command("allow", calculator.permit)
        assert computed(archive, engine) == [300.0]
        assert (script / "ran").exists()
        command("allow", "--forbid", calculator.permit)
        with pytest.raises(CalculatorError, match="code that you have not allowed to run"):
            computed(archive, engine)


def test_whoever_registered_it_may_run_it_in_later_processes(script, engine, monkeypatch):
    """Registering it notes its hash in the configuration of whoever does."""
    monkeypatch.chdir(script)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(script / "of_ada"))
    with provenn.open(script / "survey", who="ada", progress=False) as archive:
        assert computed(archive, engine) == [300.0]
