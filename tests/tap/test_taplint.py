"""STILTS finds no error in the TAP service, in any stage that applies."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest

import provenn
from provenn.web.serving import ServerLimits
from tests.programs import program
from tests.tap.conftest import fill_archive
from tests.waiting import LIMIT
from tests.web.running import running

STAGES = "TMV TME TMS TMC CPV CAP AVV QGE QPO QAS UWS MDQ UPL EXA"
"""All stages but those of data models that the archive does not have (ObsCore, ObsLocTAP)."""


@pytest.fixture(scope="module")
def address(engine, tmp_path_factory) -> Iterator[str]:
    """The address of a service for catalogs that can all be computed: the validator queries every table."""
    folder = tmp_path_factory.mktemp("taplint") / "survey"
    master = engine.session.sparkContext.master
    with provenn.open(folder, who="ada", progress=False, notify=False, spark=master) as archive:
        fill_archive(archive)
        with running(archive, limits=ServerLimits(seconds=LIMIT)) as server:
            yield f"{server}tap"


def test_taplint_finds_no_error(address):
    result = subprocess.run(
        [program("stilts"), "taplint", f"tapurl={address}", f"stages={STAGES}", "maxtable=20"],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        env={name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"},
    )
    problems = [line for line in result.stdout.splitlines() if re.match(r"[EF]-", line)]
    assert not problems
    assert re.search(r"Totals: Errors: 0; .*Failures: 0", result.stdout), result.stdout[-2000:] + result.stderr
    for stage in STAGES.split():
        assert f"Section {stage}:" in result.stdout
