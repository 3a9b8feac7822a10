"""Code of calculators runs in the workers of Spark, and never in the process that starts it."""

from pathlib import Path

import pytest

import provenn
from provenn.errors import EngineError
from tests.archive.samples import write_parquet
from tests.spark.fresh import run

PACKAGE = """
import os
with open({log!r}, "a") as file:
    file.write(f"{{os.getpid()}}\\n")
"""

MODULE = (
    PACKAGE
    + """
import json
def variables(batch):
    return batch.assign(variables=json.dumps([os.getpid(), dict(os.environ)]))[["variables"]]
"""
)


@pytest.fixture
def package(tmp_path) -> Path:
    """Make a folder with stars, and with a package of calculators that notes which processes import it."""
    folder = tmp_path / "noted_calculators"
    folder.mkdir()
    log = str(tmp_path / "imports")
    (folder / "__init__.py").write_text(PACKAGE.format(log=log))
    (folder / "sky.py").write_text(MODULE.format(log=log))
    write_parquet(tmp_path / "stars.parquet")
    return tmp_path


LOOK_AROUND = """
import json, os, sys
from pathlib import Path

import pytest

import provenn
from provenn.errors import EngineError

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
with provenn.open(folder / "survey", calculators_environment=["SWIRE_*"], spark="local[1]") as archive:
    stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
    archive.calculator("sky", "noted_calculators.sky:variables", inputs=["hip"], outputs={"variables": "string"})
    worker, variables = json.loads(stars.derive("sky").to_pandas()["variables"][0])
    assert variables["SWIRE_DATA"] == "/data/swire"
    assert "GITHUB_TOKEN" not in variables
    assert not [name for name in sys.modules if name.startswith("noted_calculators")]
    assert set(map(int, (folder / "imports").read_text().split())) == {worker}
    assert worker != os.getpid()
    assert "GITHUB_TOKEN" in os.environ, "the process itself keeps what it has"
    with (
        provenn.open(folder / "other", calculators_environment=["LSST_*"]) as other,
        pytest.raises(EngineError, match=r"already runs Spark, and its calculators do not get LSST_\\*"),
    ):
        other.ingest("stars", folder / "stars.parquet", key="hip", population="star", verify=True)
    assert stars.derive("sky").count() == 6, "who came second changes nothing for the first"
    if os.geteuid() == 0:  # only root can run processes as somebody else
        os.environ["PROVENN_CALCULATORS_AS"] = "nobody"
        with (
            provenn.open(folder / "another") as another,
            pytest.raises(EngineError, match="already runs Spark, so it cannot run calculators as nobody"),
        ):
            another.ingest("stars", folder / "stars.parquet", key="hip", population="star", verify=True)
"""


def test_only_workers_import_calculators_and_get_what_is_named_and_do_not_change_their_user(package):
    variables = {"SWIRE_DATA": "/data/swire", "GITHUB_TOKEN": "x", "PROVENN_CALCULATORS_ENVIRONMENT": ""}
    done = run(LOOK_AROUND, package, **variables)
    assert done.returncode == 0, done.stderr


def test_bad_options_are_told_when_an_archive_is_opened(tmp_path):
    with pytest.raises(EngineError, match="unknown system user 'no-such-user'"):
        provenn.open(tmp_path / "survey", calculators_as="no-such-user")
    with pytest.raises(EngineError, match="calculators do not get PGPASSWORD"):
        provenn.open(tmp_path / "survey", calculators_environment=["PGPASSWORD"])
