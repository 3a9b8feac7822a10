"""Run the benchmarks: ``python -m benchmarks [NAME…]``.

A benchmark is a module of this folder with a function ``main``, which prints what it measured and returns an exit
status: 0, or nothing, if it met what it promises.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def benchmarks() -> dict[str, Callable[[], Any]]:
    """The benchmarks there are, by name."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.stem.startswith("__"):
            main = getattr(import_module(f"benchmarks.{path.stem}"), "main", None)
            if main is not None:
                found[path.stem] = main
    return found


def run(names: list[str]) -> int:
    """Run the benchmarks named, or all; return the worst exit status."""
    known = benchmarks()
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    worst = 0
    for name in names or known:
        worst = max(worst, known[name]() or 0)
    return worst


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
