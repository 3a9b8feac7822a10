"""The core of the suite, run once more in a process whose Spark is elsewhere: pyspark uses one at a time."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CORE = "tests/spark/test_core.py"
PLAIN = "tests/spark/test_plain_plan.py"
"""Tests that hold wherever Spark runs: they use the fixture `engine`, and files that workers see too."""

CHOSEN = (
    f"{PLAIN}::test_a_combination_has_the_attributes_of_all_members_for_the_sources_of_all",
    f"{PLAIN}::test_samples_nest_have_about_their_size_and_commute_with_selections",
)
"""Catalogs whose rows travel between workers, and are chosen by a hash; those of the others stay where they are read,
or travel in the same way."""

WORKERS = (
    f"{CORE}::test_its_session_has_the_settings_that_meaning_depends_on",
    f"{CORE}::test_joins_and_groups_over_several_partitions",
    f"{CORE}::test_values_survive_parquet",
    f"{CORE}::test_python_runs_on_the_workers_with_provenn_at_hand",
    f"{CORE}::test_what_a_calculator_raises_arrives_as_it_was[collect]",
)
"""Tests of the core in which workers, wherever they are, do what the process of the driver does elsewhere."""

ASKS_JAVA = "session_of_other_settings"


def run_core(url: str, *more: str, core: tuple[str, ...] = (CORE,), whole: bool = False, **environment: str) -> None:
    """Run the core, and more tests, with the fixture `engine` on another Spark: all catalogs, or those `CHOSEN`."""
    options = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not campaign", "-k", f"not {ASKS_JAVA}")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *core, *((PLAIN,) if whole else CHOSEN), *more],
        cwd=ROOT,
        env=os.environ | {"PROVENN_TEST_SPARK": url} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert "skipped" not in done.stdout
