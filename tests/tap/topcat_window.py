"""TOPCAT's TAP window with the service of the tests, under Xvfb: its picture in the docs, and what it shows.

``python -m tests.tap.topcat_window`` draws ``docs/pictures/topcat.png`` anew; it needs TOPCAT and Xvfb (`make
astronomy`), and a JDK.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import provenn
from provenn.web.serving import ServerLimits
from tests.programs import program
from tests.tap.conftest import fill_archive
from tests.waiting import LIMIT
from tests.web.running import running

__all__ = ["PICTURE", "show_window"]

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "topcat.png"
QUERY = """\
SELECT TOP 100 hip, ra, "dec", vmag FROM stars
WHERE 1 = CONTAINS(POINT(ra, "dec"), CIRCLE(10, 20, 30))
ORDER BY vmag"""
_CLASSES = "/usr/share/java/starlink-topcat.jar"
_SCREEN = "-screen 0 1300x1000x24"


def show_window(address: str, picture: Path) -> list[str]:
    """Run a query in TOPCAT's TAP window, and write a picture of the window.

    Returns
    -------
    list
        A line for each table in the window, and the number of rows that TOPCAT loaded.
    """
    java = [program("javac").removesuffix("c"), "-cp", _CLASSES, str(Path(__file__).with_name("TopcatWindow.java"))]
    done = subprocess.run(
        [program("xvfb-run"), "-a", "-s", _SCREEN, *java, address, QUERY, "stars", str(picture)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        env={name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [line for line in done.stdout.splitlines() if line.startswith(("table: ", "rows: "))]


def main() -> None:
    """Draw the picture of the docs."""
    with TemporaryDirectory() as folder, provenn.open(Path(folder) / "survey", progress=False, notify=False) as archive:
        fill_archive(archive)
        with running(archive, limits=ServerLimits(seconds=LIMIT)) as address:
            sys.stdout.write("\n".join([*show_window(f"{address}tap", PICTURE), ""]))


if __name__ == "__main__":
    sys.exit(main())
