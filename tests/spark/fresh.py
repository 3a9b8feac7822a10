"""Code in a fresh Python, with a Spark and a cache of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def run(code: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run some code; variables of the environment may be set, or removed by an empty text."""
    variables = {name: value for name, value in (os.environ | environment).items() if value or name not in environment}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=variables,
    )
