"""What killed test runs leave in memory is removed; what belongs to living processes, or to nobody known, is not."""

import subprocess
import sys

from provenn.processes import make_process_mark
from tests.leftovers import remove_leftovers


def test_only_folders_of_processes_that_have_ended_are_removed(tmp_path):
    code = "from provenn.processes import make_process_mark; print(make_process_mark())"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    gone = [tmp_path / f"provenn-tests-{kind}{ended}" for kind in ("", "crashes-x-")]
    kept = [tmp_path / f"provenn-tests-{make_process_mark()}", tmp_path / "provenn-tests-12345", tmp_path / ended]
    for folder in (*gone, *kept):
        (folder / "inside").mkdir(parents=True)
    assert remove_leftovers(tmp_path) == gone
    assert sorted(tmp_path.iterdir()) == sorted(kept)
