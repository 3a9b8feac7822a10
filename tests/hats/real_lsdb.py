"""A real LSDB with the library of HATS, in a folder of its own: it needs a newer pandas than provenn does.

``make install`` runs this module, which installs LSDB. `run_lsdb` runs a function of `tests.hats.judge` there.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.separate_packages import install_apart

VERSION = "0.11.1"
_FOLDER = f"lsdb-{VERSION}-2"
"""The number after the version changes with the requirements."""

_REQUIREMENTS = Path(__file__).with_name("requirements.txt")


@cache
def find_lsdb() -> Path:
    """Return the folder of LSDB; install it where that has not been done."""
    return install_apart("LSDB", "a minute", _FOLDER, "lsdb/catalog", _REQUIREMENTS)


def run_lsdb(**questions: Any) -> dict[str, Any]:
    """Ask the judge questions, each a name of a function and its arguments; return the answers by question."""
    environment = os.environ | {"PYTHONPATH": str(find_lsdb()), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, Path(__file__).with_name("judge.py")]
    done = subprocess.run(
        command, env=environment, input=json.dumps(questions), check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    find_lsdb()
