"""A real dbt with DuckDB, in a folder of its own: it needs older packages than provenn does.

``make install`` runs this module, which installs dbt. dbt-core 1.12 cannot be installed from a registry alone: one of
its packages downloads itself from elsewhere. 1.11 writes the same version of manifests.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.separate_packages import install_apart

VERSION = "1.11.16"
PROJECT = Path(__file__).parent / "project"
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")


@cache
def find_dbt() -> Path:
    """Return the folder of dbt; install it where that has not been done."""
    return install_apart("dbt", "half a minute", f"dbt-core-{VERSION}", "dbt/cli", _REQUIREMENTS)


def run_dbt(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run dbt in the folder of a project, and return what became of it."""
    quiet = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DO_NOT_TRACK": "1", "DBT_USE_COLORS": "false"}
    environment = os.environ | quiet | {"PYTHONPATH": str(find_dbt()), "DBT_PROFILES_DIR": str(folder)}
    command = [sys.executable, "-m", "dbt.cli.main", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def copy_project(folder: Path) -> Path:
    """Copy the project of the tests to a folder, with the table of events that it reads as a source."""
    import duckdb  # noqa: PLC0415 - every process imports all test files

    shutil.copytree(PROJECT, folder)
    with duckdb.connect(folder / "shop.duckdb") as connection:
        connection.execute(
            "CREATE TABLE events AS SELECT * FROM (VALUES (1::BIGINT, 1::INTEGER, 'visit', 3.5::DOUBLE), "
            "(2, 1, 'click', 0.1), (3, 2, NULL, 9.0)) AS t(event_id, customer_id, kind, seconds)"
        )
    return folder


if __name__ == "__main__":
    find_dbt()
