"""The core of the suite, run once more in a process whose Spark is elsewhere: pyspark uses one at a time."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CORE = ("tests/spark/test_core.py", "tests/spark/test_compile.py")
"""Tests that hold wherever Spark runs: they use the fixture `engine`, and files that workers see too."""

LEFT_OUT = "not session_of_other_settings and not sql]"
"""But for what asks Java itself, and random lineages that others include."""


def run_core(url: str, *more: str, **environment: str) -> None:
    """Run the core, and more tests, with the fixture `engine` on another Spark."""
    options = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not campaign", "-k", LEFT_OUT)
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
