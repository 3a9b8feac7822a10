"""Run the benchmarks: ``python -m benchmarks [NAME…]``, or ``python -m benchmarks query_pairs FILE…``.

A benchmark is a module of this folder with a function ``main``, which prints what it measured and returns an exit
status: 0, or nothing, if it met what it promises.
"""

import sys
from importlib import import_module
from pathlib import Path


def run(names: list[str]) -> int:
    """Run the benchmarks named, or all there are; return the worst exit status."""
    if names[:1] == ["query_pairs"]:
        return int(import_module("benchmarks.query_pairs").main(*names[1:]))
    known = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    worst = 0
    for name in names or known:
        main = getattr(import_module(f"benchmarks.{name}"), "main", None)
        if main is not None:
            worst = max(worst, main() or 0)
    return worst


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
