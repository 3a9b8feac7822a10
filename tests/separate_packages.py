"""Programs for tests in folders of their own: they need other versions of packages than provenn does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

_INSTALLING = Path(__file__).parents[1] / "supply_chain" / "installing.py"


def install_apart(name: str, duration: str, folder: str, proof: str, requirements: Path) -> Path:
    """Return the folder of a program beside the environment; install the program where that has not been done.

    Parameters
    ----------
    name, duration
        The program, and how long the installation takes, in words.
    folder
        The name of the folder, with the version.
    proof
        A part of the folder that an installed program has.
    requirements
        The file that pins all its packages.
    """
    place = Path(sys.prefix) / folder
    if not (place / proof).exists():
        made = place.with_name(f"{folder}-{os.getpid()}")
        install = [sys.executable, _INSTALLING, f"{name}, for tests", duration, "--no-deps", "--target", made]
        subprocess.run([*install, "-r", requirements], check=True)
        try:
            made.rename(place)
        except OSError:  # another process was quicker
            shutil.rmtree(made)
    return place
