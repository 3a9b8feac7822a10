"""A real astroquery, in a folder of its own: its packages for passwords have no place in the environment of provenn.

``make install`` runs this module, which installs astroquery. `run_program` runs a program with it.
"""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.separate_packages import install_apart
from tests.waiting import LIMIT

__all__ = ["find_astroquery", "run_program"]

VERSION = "0.4.11"
_REQUIREMENTS = Path(__file__).with_name("requirements.txt")


@cache
def find_astroquery() -> Path:
    """Return the folder of astroquery; install it where that has not been done."""
    return install_apart("astroquery", "some seconds", f"astroquery-{VERSION}", "astroquery/utils", _REQUIREMENTS)


def run_program(text: str) -> str:
    """Run a program of Python with astroquery; return what it prints."""
    environment = os.environ | {"PYTHONPATH": str(find_astroquery()), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment, check=False, capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


if __name__ == "__main__":
    find_astroquery()
