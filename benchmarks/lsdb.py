"""provenn and LSDB on the same folders in HATS, in turns in one run: cone, box, cross-match and join.

Run ``python -m benchmarks.lsdb``; ``--rows`` for fewer than ten million. LSDB runs in a process with its own packages
(`tests.hats.worker`), and with the pool of Dask that ``--pool`` names: ``threads``, or a number of processes. Both are
warm: programs and pools are started, catalogs are open, keys are verified, and a request of each kind was answered
before. No request comes twice, so that no answer is remembered. Both must find as many rows.

- cone, box: the rows, with all columns, in a DataFrame of pandas;
- cross-match: the number of pairs of nearest sources within about an arcsecond;
- join: a core and a layer by their key, and the number of rows with a condition on both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import provenn
from benchmarks.crossmatch import write_sides
from benchmarks.measure import Minimum, processor_time, show, show_load, shown
from provenn.sky import box, cone

__all__ = ["main"]

ROWS, REPEATS = 10_000_000, 5
PIXEL_ROWS, MARGIN = 1_000_000, 5.0
SHORT = 2
"""How often requests that take long are repeated at most."""

NOT_SLOWER = 1.0

Request = tuple[str, Mapping[str, float]]
Ask = Callable[[str, Mapping[str, float]], int]


def list_requests(repeats: int) -> list[Request]:
    """Return the requests, those of one kind after each other; the first of each kind is not measured."""
    turns = range(repeats + 1)
    requests: list[Request] = [("cone", {"ra": 10.0 + 50 * i, "dec": -40.0 + 12 * i, "radius": 1.0}) for i in turns]
    requests += [("cone", {"ra": 30.0 + 50 * i, "dec": -30.0 + 12 * i, "radius": 10.0}) for i in turns]
    requests += [("box", {"ra": 20.0 + 50 * i, "dec": -35.0 + 12 * i, "width": 5.0}) for i in turns]
    few = range(min(repeats, SHORT) + 1)
    requests += [("crossmatch", {"radius": 1.0 + i / 100}) for i in few]
    return requests + [("join", {"limit": -i / 100}) for i in few]


def write_folders(place: Path, rows: int) -> dict[str, str]:
    """Write a core, a layer of it, and another catalog with a margin, in HATS; return the folders by name."""
    write_sides(place, rows, rows)
    folders = {name: str(place / f"hats-{name}") for name in ("core", "layer", "other")}
    with provenn.open(place / "writer", progress=False) as archive:
        left, right = (archive.ingest(name, place / name, key="id", population=name) for name in ("left", "right"))
        left.write(folders["core"], format="hats", pixel_rows=PIXEL_ROWS)
        layer = left.derive(z="vmag + sin(id)").keep("z")
        layer.write(folders["layer"], format="hats", layer=folders["core"])
        right.write(folders["other"], format="hats", pixel_rows=PIXEL_ROWS, margin=MARGIN)
    return folders


@contextmanager
def ask_provenn(place: Path, folders: Mapping[str, str]) -> Iterator[Ask]:
    """Yield a function that answers requests with provenn."""
    with provenn.open(place / "archive", progress=False) as archive:
        whole = archive.ingest("whole", folders["core"], key="id", population="star", layers=[folders["layer"]])
        core = archive["whole core"]
        other = archive.ingest("other", folders["other"], key="id", population="other star")
        core.restrict(core.select("vmag < 0")).count()  # verifies the keys
        other.restrict(other.select("vmag < 0")).count()

        def answer(kind: str, given: Mapping[str, float]) -> int:
            match kind:
                case "cone":
                    return len(core.select(cone(given["ra"], given["dec"], given["radius"])).to_pandas())
                case "box":
                    ra, dec, width = given["ra"], given["dec"], given["width"]
                    return len(core.select(box(ra, ra + width, dec, dec + width)).to_pandas())
                case "crossmatch":
                    return core.crossmatch(other, given["radius"]).count()
                case _:
                    return whole.select(f"vmag - z < {given['limit']}").count()

        yield answer


@contextmanager
def ask_lsdb(folders: Mapping[str, str], pool: str) -> Iterator[Ask]:
    """Yield a function that answers requests with LSDB."""
    from tests.hats import real_lsdb  # noqa: PLC0415 - it installs LSDB

    environment = os.environ | {"PYTHONPATH": str(real_lsdb.find_lsdb()), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(Path(real_lsdb.__file__).with_name("worker.py")), pool]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as worker:
        stdin, stdout = worker.stdin, worker.stdout
        assert stdin is not None
        assert stdout is not None
        stdout.readline()

        def answer(kind: str, given: Mapping[str, float]) -> int:
            needed = {"cone": ["core"], "box": ["core"], "crossmatch": ["core", "other"], "join": ["core", "layer"]}
            arguments = {**{name: folders[name] for name in needed[kind]}, **given}
            stdin.write(json.dumps([kind, arguments]) + "\n")
            stdin.flush()
            return int(json.loads(stdout.readline()))

        try:
            yield answer
        finally:
            stdin.close()
            worker.wait()


def measure(
    asks: Mapping[str, Ask], requests: Sequence[Request]
) -> dict[str, dict[str, list[tuple[float, float, int]]]]:
    """Return seconds by the clock, seconds of processors and rows of each request, by kind and program.

    Raises
    ------
    AssertionError
        If the programs do not find as many rows.
    """
    taken: dict[str, dict[str, list[tuple[float, float, int]]]] = {}
    warm: set[str] = set()
    for kind, given in requests:
        label = f"cone of {given['radius']:g} degrees" if kind == "cone" else kind
        rows = {}
        for program, ask in asks.items():
            used, start = processor_time(), perf_counter()
            rows[program] = ask(kind, given)
            figures = perf_counter() - start, processor_time() - used, rows[program]
            if label in warm:
                taken.setdefault(label, {}).setdefault(program, []).append(figures)
        warm.add(label)
        assert len(set(rows.values())) == 1, f"{label} {given}: {rows}"
    return taken


def main(arguments: Sequence[str] = ()) -> int:
    """Measure; return 1 if LSDB was faster somewhere."""
    parser = ArgumentParser(prog="python -m benchmarks.lsdb", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="default: %(default)s")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="default: %(default)s")
    parser.add_argument("--pool", default="threads", help="threads, or a number of processes; default: %(default)s")
    parser.add_argument("--place", type=Path, help="a folder that keeps the catalogs for the next run")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.place) as temporary:
        place = options.place or Path(temporary)
        kept = place / "folders.json"
        if not kept.exists():
            kept.write_text(json.dumps(write_folders(place, options.rows)))
        folders: dict[str, Any] = json.loads(kept.read_text())
        with ask_provenn(Path(temporary), folders) as ours, ask_lsdb(folders, options.pool) as theirs:
            taken = measure({"provenn": ours, "LSDB": theirs}, list_requests(options.repeats))
    lines, minimums = [], []
    for label, programs in taken.items():
        clock = {program: median(figures[0] for figures in runs) for program, runs in programs.items()}
        used = {program: median(figures[1] for figures in runs) for program, runs in programs.items()}
        rows = median(figures[2] for figures in programs["provenn"])
        seconds = [shown(figure[program]) for figure in (clock, used) for program in ("provenn", "LSDB")]
        lines.append((label, shown(rows), *seconds))
        minimums.append(Minimum(f"LSDB : provenn, {label}", clock["LSDB"] / clock["provenn"], NOT_SLOWER))
    show(
        f"{shown(options.rows)} rows in HATS, LSDB with {options.pool}: the medians of {options.repeats} or {SHORT}",
        ("request", "rows", "provenn, seconds", "LSDB, seconds", "provenn, processor", "LSDB, processor"),
        lines,
    )
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
