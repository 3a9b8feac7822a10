"""The measurements of `benchmarks.quick` that have no better place: small sizes of what other benchmarks measure.

A measurement returns what it measured as `Minimum`, with the aim for the full size beside it.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.archives import make_archive
from benchmarks.measure import Minimum
from provenn.archive import DATABASE

__all__ = [
    "measure_commands",
    "measure_definitions",
    "measure_discovery",
    "measure_looks",
    "measure_pages",
    "measure_planning",
    "measure_questions",
    "measure_targets",
]

SIZE = 3_000
"""Catalogs of an archive."""

TOGETHER = 40
"""Addresses that a team of clients looks at together."""

SETS = 10_000
STARS = 40_000
SCENARIOS = ("selection then combine", "reuse whole", "empty by proof")
"""Some scenarios of `benchmarks.targets`: a chain, a fragment that serves, and nothing to compute."""


def measure_looks() -> list[Minimum]:
    """Measure the first rows and a count in a fresh process, against DuckDB."""
    from benchmarks import look  # noqa: PLC0415 - each measurement is a process of its own

    with TemporaryDirectory() as name:
        folder = Path(name)
        look.write_stars(folder)
        figures = []
        for question, contenders in look.list_contenders(0).items():
            seconds = {
                who: median(look.measure_cpu(folder, contenders[who]) for _ in range(3))
                for who in ("provenn, a look", "DuckDB")
            }
            own, peer = seconds.values()
            figures += [
                Minimum(f"{question}, a fresh process", own, 1, "CPU s", at_most=True),
                Minimum(f"{question}, against DuckDB", own / peer, 1 / 0.24, at_most=True),
            ]
    return figures


def measure_commands() -> list[Minimum]:
    """Measure the start of commands that compute nothing, against the imports that no command avoids."""
    from benchmarks import start_up  # noqa: PLC0415 - see above

    with TemporaryDirectory() as folder:
        start_up.make_small_archive(Path(folder))
        least = start_up.measure(["-c", start_up.UNAVOIDABLE], folder)
        figures = []
        for name, (arguments, _) in start_up.COMMANDS.items():
            seconds = start_up.measure(["-m", "provenn", *arguments], folder)
            figures += [
                Minimum(f"provenn {name}", seconds, start_up.get_aim(name), "CPU s", at_most=True),
                Minimum(f"provenn {name}, against unavoidable imports", seconds / least, start_up.RATIO, at_most=True),
            ]
    return figures


def measure_discovery() -> list[Minimum]:
    """Measure questions about all catalogs right after a definition, against building everything anew."""
    from benchmarks import discovery  # noqa: PLC0415 - see above
    from provenn.archive import open_archive  # noqa: PLC0415

    with TemporaryDirectory() as folder:
        digests = make_archive(Path(folder) / DATABASE, SIZE).digests
        with open_archive(folder) as archive:
            rows, ratios = discovery.measure(archive, digests, Random(1))
    figures = [
        Minimum(f"{row[0]}, right after a definition", float(row[2]), 0.1, "CPU s", at_most=True) for row in rows
    ]
    return [*figures, Minimum("… times faster than building anew", median(ratios), discovery.RATIO)]


def measure_pages() -> list[Minimum]:
    """Measure pages of a large archive, against a page that does nothing, and many clients at once."""
    from benchmarks import web  # noqa: PLC0415 - see above

    with TemporaryDirectory() as folder:
        make_archive(Path(folder) / DATABASE, SIZE)
        kinds, team = web.pages(SIZE), web.browsing(SIZE, TOGETHER)
        with web.serving(Path(folder), web.WORKERS) as server:
            web.wait_for_workers(server, web.WORKERS)
            took = web.times(server, {kind: kinds[kind] for kind in (web.BARE, "a catalog", "two compared")}, 5)
            first = web.crowd(server, team, web.CLIENTS, 4)
            browsed = web.crowd(server, team, web.CLIENTS, 10, seed=web.CLIENTS)
            again = web.crowd(server, team, web.CLIENTS, 10, seed=web.CLIENTS)
    page, bare = took["a catalog"], took[web.BARE]
    return [
        Minimum("a page of a catalog", page.median, web.CATALOG, "ms", at_most=True),
        Minimum(
            "… against a page that does nothing", page.processor_each / max(bare.processor_each, 1e-4), 10, at_most=True
        ),
        Minimum(f"{web.CLIENTS} clients, browsing", browsed.pages_per_second, web.PAGES, "pages/s"),
        Minimum(f"{web.CLIENTS} clients, the same pages again", again.pages_per_second, web.PAGES, "pages/s"),
        Minimum("errors", len(first.errors) + len(browsed.errors) + len(again.errors), 0, "", at_most=True),
    ]


def measure_planning() -> list[Minimum]:
    """Measure planning among many catalogs."""
    from benchmarks import targets  # noqa: PLC0415 - see above

    _, processor = targets.measure_planning(SIZE, 15)
    return [Minimum("planning a request", median(processor) * 1e3, 20, "CPU ms", at_most=True)]


def measure_targets() -> list[Minimum]:
    """Measure some scenarios, against the optimum written by hand and against plain Spark."""
    from benchmarks import targets  # noqa: PLC0415 - see above
    from benchmarks.scenarios import write_tables  # noqa: PLC0415
    from provenn.spark.engine import Engine  # noqa: PLC0415

    with TemporaryDirectory() as tables, Engine() as engine:
        write_tables(Path(tables), STARS)
        scenarios = [targets.measure(name, 3, engine.session, Path(tables)) for name in SCENARIOS]
    near = sum(scenario.near for scenario in scenarios)
    return [
        Minimum("scenarios within 1.1 x or 150 ms of the optimum", near, len(scenarios), ""),
        Minimum("gain over plain Spark, the least", min(scenario.gain for scenario in scenarios), 1),
    ]


def measure_questions() -> list[Minimum]:
    """Measure 1 000 questions about sets, against the peers that are installed."""
    from benchmarks import knowledge  # noqa: PLC0415 - see above
    from benchmarks.peers import PEERS, installed  # noqa: PLC0415

    races = knowledge.races(SETS, installed(PEERS), 5)
    figures = [
        Minimum(f"the best peer, from {race.start}", race.ratio, 1)
        for race in races
        if any(time is not None for time in race.peers.values())
    ]
    batches = [(race.start, race.ratio_to_batch) for race in races]
    return figures + [
        Minimum(f"ABC &fraig -y, from {start}", ratio, 1) for start, ratio in batches if ratio is not None
    ]


def measure_definitions() -> list[Minimum]:
    """Measure one more catalog in a large archive."""
    from benchmarks import archive_store  # noqa: PLC0415 - see above

    with TemporaryDirectory() as folder:
        place = Path(folder) / DATABASE
        made = make_archive(place, SIZE)
        seconds = archive_store.prepare_adding(place, made.digests)()
    return [Minimum("one more catalog", median(seconds) * 1e3, 3, "ms", at_most=True)]
