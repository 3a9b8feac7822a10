"""The core of the suite, run once more in a process whose Spark is elsewhere: pyspark uses one at a time."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CORE = ("tests/spark/test_core.py", "tests/spark/test_plain_plan.py")
"""Tests that hold wherever Spark runs: they use the fixture `engine`, and files that workers see too."""

ASKS_JAVA = "session_of_other_settings"
RANDOM = "random_lineages"


def run_core(url: str, *more: str, random: bool = False, **environment: str) -> None:
    """Run the core, and more tests, with the fixture `engine` on another Spark; random lineages too, if wanted."""
    chosen = f"not {ASKS_JAVA}" if random else f"not {ASKS_JAVA} and not {RANDOM}"
    options = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not campaign", "-k", chosen)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *CORE, *more],
        cwd=ROOT,
        env=os.environ | {"PROVENN_TEST_SPARK": url} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "skipped" not in done.stdout
