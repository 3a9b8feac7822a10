"""What a calculator finds in the environment of its worker, when a command of provenn computes it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import provenn
from tests.archive.samples import write_parquet
from tests.isolation import hostile

ROOT = Path(__file__).parents[2]
PASSWORD = "zq7-Krypton-ninety"  # noqa: S105 - of no server


@pytest.mark.campaign  # `test_hostile_calculators` has the same variable among others, on a server
def test_a_calculator_does_not_get_the_password_of_the_database(tmp_path: Path):
    with provenn.open(tmp_path / "survey", progress=False) as archive:
        stars = archive.ingest("stars", write_parquet(tmp_path / "stars.parquet"), key="hip", population="star")
        report = archive.calculator(
            "report",
            hostile.report,
            inputs=["hip"],
            outputs={"report": "string"},
            parameters={"backwards": PASSWORD[::-1]},
        )
        stars.derive(report).keep("hip", "report", name="reported")
    command = ["head", "reported", "--most", "1", "--json", "--archive", str(tmp_path / "survey")]
    done = subprocess.run(
        [sys.executable, "-m", "provenn", *command, "--spark", "local[1]"],
        env=os.environ | {"PGPASSWORD": PASSWORD, "PYTHONPATH": str(ROOT), "PROVENN_CALCULATORS": "tests"},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(json.loads(done.stdout)["rows"][0][1])
    assert "PGPASSWORD" not in answer["environment"]
    assert "the variable PGPASSWORD" not in answer["places"]
