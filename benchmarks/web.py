"""The pages of an archive of 100 000 catalogs: what each takes, and what many browsers at once take.

Run ``python -m benchmarks.web``; ``--size 10000`` for a smaller one, ``--archive FOLDER`` for one that was made before.
The archive is that of `benchmarks.archives`, in SQLite.

The server is a process of its own. In the same process there is a page that does nothing: what it takes is the price of
asking at all, and what the others take is compared with it. One browser asks for all kinds of pages in turns, for
catalogs chosen at random; then many browsers ask at once. An answer other than a page is an error.

Many browsers ask in two ways. *All kinds*: each page of a kind and for catalogs drawn at random, so that hardly any
was asked for before: what computing costs. *Browsing*: what a team does. Half of the requests are for pages of
catalogs, the others for lists and searches, lineages, comparisons and statements, as `BROWSED` says; nine of ten go to
one of 200 addresses that the whole team looks at and that the server has computed before, the others to a catalog
drawn at random. The aim for pages a second is for these. The client is a few lines above a socket, so that it takes
little of the two cores that it shares with the server.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from random import Random
from statistics import median, quantiles
from subprocess import PIPE, Popen
from time import perf_counter, sleep
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import httpx

from benchmarks.archives import MEASURED, make_archive, name_of
from benchmarks.measure import Minimum, show, show_load, shown
from provenn.archive import DATABASE

__all__ = [
    "BARE",
    "Crowd",
    "Pages",
    "Server",
    "Took",
    "browsing",
    "crowd",
    "main",
    "measure_memory",
    "pages",
    "serving",
    "times",
    "wait_for_workers",
]

SIZE = 100_000
REQUESTS = 60
"""How many of each kind of page."""

CLIENTS = 50
MANY = 200
ASKED = 20
"""How many pages each of the clients asks for; of many, a quarter."""

WARMING = 2
"""How many before: the first fill what a server keeps at hand."""

PATIENCE = 120.0

WORKERS = 2
"""Worker processes of the server while many clients ask: one for each of two cores."""

REPEATED = 10_000
"""How many requests the memory of the server is looked at after, with ``--memory``."""

# What is promised.
MILLISECONDS = 300
"""At the median, for lists and comparisons."""

# The aims.
CATALOG = 100
"""Milliseconds at the median, for a page of a catalog."""

PAGES = 150
"""Pages a second for many clients, on two cores."""

BROWSED = {
    "the list": 3,
    "… by a text": 1,
    "… by an attribute": 1,
    "… by name": 1,
    "a catalog": 10,
    "its lineage": 2,
    "two compared": 1,
    "a statement": 1,
}
"""How often somebody who browses asks for each kind of page."""

SHARED = 200
SHARE = 0.9
"""How many addresses a team looks at together, and the share of requests that go to these."""

BARE = "a page that does nothing"
Pages = dict[str, Callable[[Random], str]]
"""Kinds of pages, and what makes the address of one, chosen at random."""


def pages(size: int) -> Pages:
    """Return the kinds of pages of an archive of this size."""

    def name(random: Random) -> str:
        return name_of(10 * random.randrange(max(1, size // 10)))

    def compared(random: Random, *fields: str) -> str:
        return "/compare?" + urlencode({field: name(random) for field in fields})

    return {
        BARE: lambda _: "/bare",
        "the list": lambda _: "/catalogs",
        "… by a text": lambda random: f"/catalogs?text={name(random)[:4]}",
        "… by an attribute": lambda random: f"/catalogs?attribute={random.choice([*MEASURED, 'sum_1', 'sum_7'])}",
        "… by name": lambda random: f"/catalogs?sort=name&page={random.randrange(1, 2 + size // 500)}",
        "… also without a name": lambda random: f"/catalogs?unnamed=true&page={random.randrange(1, 2 + size // 50)}",
        "a catalog": lambda random: f"/catalogs/{name(random)}",
        "its lineage": lambda random: f"/catalogs/{name(random)}/lineage",
        "two compared": lambda random: compared(random, "a", "b"),
        "three compared": lambda random: compared(random, "a", "b", "c"),
        "a statement": lambda random: "/compare?" + urlencode({"ask": f"{name(random)} <= {name(random)}"}),
    }


def browsing(size: int, together: int = SHARED) -> Pages:
    """Return what a team asks for that browses an archive of this size, as a single kind of page.

    Parameters
    ----------
    size
        The number of catalogs.
    together
        How many addresses the whole team looks at.
    """
    kinds = pages(size)

    def draw(random: Random) -> str:
        (kind,) = random.choices(list(BROWSED), list(BROWSED.values()))
        return kinds[kind](random)

    shared = [draw(random) for random in [Random(SHARED)] for _ in range(together)]
    return {"browsing": lambda random: random.choice(shared) if random.random() < SHARE else draw(random)}


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs: its address, and the number of its process."""

    address: str
    process: int

    def processor(self) -> float:
        """Return how many seconds of processors it has used so far, with its workers (Linux)."""
        stats = map(_read_stat, self._list_processes())
        return sum(int(fields[11]) + int(fields[12]) for fields in stats) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> float:
        """Return the megabytes in memory, with its workers (Linux)."""
        pages = sum(int(_read_stat(process)[21]) for process in self._list_processes())
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def _list_processes(self) -> list[int]:
        children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text().split()
        return [self.process, *map(int, children)]


def _read_stat(process: int) -> list[str]:
    """Return the fields of a process behind its name: proc(5)."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


@contextmanager
def serving(folder: Path, workers: int = 0) -> Iterator[Server]:
    """Serve an archive from a process of its own, with some workers."""
    command = [sys.executable, "-m", "benchmarks.web", "--serve", str(folder), "--workers", str(workers)]
    process = Popen(command, stdout=PIPE, text=True)
    with process, process.stdout as out:  # type: ignore[union-attr] # there is one, it was asked for
        try:
            address = out.readline().strip()
            if not address:
                raise RuntimeError("the server did not start")
            yield Server(address, process.pid)
        finally:
            process.terminate()


def serve(folder: Path, workers: int) -> None:
    """Serve an archive as `provenn serve` does, and a page that does nothing; print the address."""
    from fastapi import FastAPI  # noqa: PLC0415 - the process that asks does without it
    from fastapi.responses import HTMLResponse  # noqa: PLC0415

    import provenn  # noqa: PLC0415
    from provenn.web import create_app, serving  # noqa: PLC0415

    def with_bare(*arguments: Any, **options: Any) -> FastAPI:
        app = create_app(*arguments, **options)
        app.add_api_route("/bare", lambda: HTMLResponse("<!doctype html><title>bare</title>"), response_model=None)
        return app

    with (
        provenn.open(folder, create=False, progress=False) as archive,
        mock.patch.object(serving, "create_app", with_bare),
    ):
        limits = serving.ServerLimits(workers=workers)
        serving.serve(archive, port=0, limits=limits, ready=lambda address: print(address.rstrip("/"), flush=True))


@dataclass(slots=True)
class Took:
    """What pages of a kind took: seconds for each, and seconds of the server's processors for all of them."""

    seconds: list[float] = field(default_factory=list)
    processor: float = 0.0

    @property
    def median(self) -> float:
        """Milliseconds."""
        return median(self.seconds) * 1e3

    @property
    def processor_each(self) -> float:
        """Milliseconds of a processor for a page."""
        return self.processor / len(self.seconds) * 1e3

    def row(self, kind: str, bare: Took) -> tuple[str, ...]:
        """The row of a table."""
        figures = (self.median, _late(self.seconds) * 1e3, self.processor_each)
        return (kind, *map(shown, figures), f"{self.median / bare.median:.0f} x")


def times(server: Server, kinds: Pages, requests: int, seed: int = 3) -> dict[str, Took]:
    """Return what each kind of page took, asked for in turns."""
    random = Random(seed)
    took = {kind: Took() for kind in kinds}
    with httpx.Client(base_url=server.address, timeout=PATIENCE) as client:
        for number in range(WARMING + requests):
            for kind, path in kinds.items():
                asked = path(random)
                start, used = perf_counter(), server.processor()
                answer = client.get(asked)
                seconds = perf_counter() - start
                if answer.status_code != HTTPStatus.OK:
                    raise RuntimeError(f"{asked} was answered with {answer.status_code}: {answer.text[:2000]}")
                if number >= WARMING:
                    took[kind].seconds.append(seconds)
                    took[kind].processor += server.processor() - used
    return took


@dataclass(frozen=True, slots=True)
class Crowd:
    """What many clients at once took.

    Parameters
    ----------
    clients
        How many.
    seconds
        From the first question to the last answer.
    took
        What each answer took, in seconds; those that came.
    errors
        What went wrong, in words.
    processor
        Seconds of the server's processors.
    """

    clients: int
    seconds: float
    took: list[float]
    errors: list[str]
    processor: float = 0.0

    @property
    def pages_per_second(self) -> float:
        """Pages a second, errors included."""
        return (len(self.took) + len(self.errors)) / self.seconds

    def row(self, what: str = "") -> tuple[str, ...]:
        """The row of a table."""
        asked = len(self.took) + len(self.errors)
        each = self.processor / asked * 1e3
        figures = (self.pages_per_second, each, median(self.took) * 1e3, _late(self.took) * 1e3)
        return (f"{self.clients} clients{what}", str(asked), *map(shown, figures), str(len(self.errors)))


def crowd(
    server: Server, kinds: Pages, clients: int, asked: int, *, seed: int = 0, tags: dict[str, str] | None = None
) -> Crowd:
    """Return what it takes when many clients, each with a connection of its own, ask for pages of all kinds at once.

    Parameters
    ----------
    server, kinds, clients, asked, seed
        The server; the kinds of pages; the number of clients, and how many pages each asks for; which pages.
    tags
        The ``ETag`` of each address that the clients have; what they get is added. None if they keep no pages.
    """
    paths = [path for kind, path in kinds.items() if kind != BARE]
    took: list[float] = []
    errors: list[str] = []

    async def one(number: int) -> None:
        random = Random(seed + number)
        connection = _Connection(server.address)
        for _ in range(asked):
            path = random.choice(paths)(random)
            start = perf_counter()
            try:
                async with asyncio.timeout(PATIENCE):
                    status, tag = await connection.get(path, None if tags is None else tags.get(path))
            except (OSError, EOFError, TimeoutError) as error:
                errors.append(f"{path}: {error!r}")
                connection.close()
                continue
            if status in (HTTPStatus.OK, HTTPStatus.NOT_MODIFIED):
                took.append(perf_counter() - start)
            else:
                errors.append(f"{path}: {status}")
            if tags is not None and tag:
                tags[path] = tag
        connection.close()

    async def everyone() -> None:
        await asyncio.gather(*map(one, range(clients)))

    start, used = perf_counter(), server.processor()
    asyncio.run(everyone())
    return Crowd(clients, perf_counter() - start, took, errors, server.processor() - used)


class _Connection:
    """A connection to a server, kept for the next request; answers state their length, or are chunked."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.partition("://")[2].partition(":")
        self._port = int(port)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str, tag: str | None) -> tuple[int, str]:
        """Ask for a page; return the status and the ``ETag``."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self._streams
        lines = [f"GET {path} HTTP/1.1", f"Host: {self._host}:{self._port}"]
        lines += [f"If-None-Match: {tag}"] if tag else []
        writer.write("\r\n".join([*lines, "", ""]).encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        status = int(head[0].split()[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        if "chunked" in headers.get("transfer-encoding", ""):
            while length := int(await reader.readline(), 16):
                await reader.readexactly(length + 2)
            await reader.readline()
        elif status != HTTPStatus.NOT_MODIFIED:
            await reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return status, headers.get("etag", "")

    def close(self) -> None:
        """Hang up; the next request opens another connection."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def wait_for_workers(server: Server, workers: int) -> None:
    """Wait until the workers of a server have used what they need to start."""
    used = -1.0
    while workers and server.processor() - used > 0.01:
        used = server.processor()
        sleep(1)


def measure_memory(server: Server, kinds: Pages, requests: int) -> list[tuple[str, str]]:
    """Return the megabytes of a server after each tenth of some requests."""
    rows = [("0", shown(server.memory()))]
    clients = 10
    for tenth in range(1, 11):
        crowd(server, kinds, clients, requests // (10 * clients), seed=1000 * tenth)
        rows.append((shown(tenth * requests // 10), shown(server.memory())))
    return rows


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if a page is late, or one of the clients is given an error."""
    parser = ArgumentParser(description="what the pages of a large archive take")
    parser.add_argument("--size", type=int, default=SIZE, help="how many catalogs")
    parser.add_argument("--archive", type=Path, metavar="FOLDER", help="one of that size, made by benchmarks.archives")
    parser.add_argument("--requests", type=int, default=REQUESTS, help="how many of each kind of page")
    parser.add_argument("--clients", type=int, nargs="*", default=[CLIENTS, MANY], help="how many at once")
    parser.add_argument("--asked", type=int, default=ASKED, help="how many pages each of the clients asks for")
    parser.add_argument("--workers", type=int, default=WORKERS, help="worker processes, while many ask at once")
    parser.add_argument("--memory", action="store_true", help=f"also the memory over {REPEATED} requests")
    parser.add_argument("--serve", type=Path, metavar="FOLDER", help="only serve an archive")
    options = parser.parse_args(list(arguments))
    if options.serve:
        serve(options.serve, options.workers)
        return 0
    kinds, team = pages(options.size), browsing(options.size)
    with nullcontext(options.archive) if options.archive else tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not options.archive:
            make_archive(folder / DATABASE, options.size)
        with serving(folder) as server:
            took = times(server, kinds, options.requests)
        with serving(folder, options.workers) as server:
            wait_for_workers(server, options.workers)
            crowds = []
            for clients in options.clients:
                asked = options.asked if clients <= CLIENTS else -(-options.asked // 4)
                crowds.append((", pages of all kinds", crowd(server, kinds, clients, asked)))
                tags: dict[str, str] = {}
                crowd(server, team, clients, asked)  # the first looks of a team are among the pages of all kinds
                crowds.append((", browsing", crowd(server, team, clients, asked, seed=clients, tags=tags)))
                crowds.append((", the same pages again", crowd(server, team, clients, asked, seed=clients)))
                crowds.append((", pages they have", crowd(server, team, clients, asked, seed=clients, tags=tags)))
            memory = measure_memory(server, team, REPEATED) if options.memory else []
    show(
        f"{shown(options.size)} catalogs, {options.requests} pages of each kind",
        ("page", "median, ms", "95 %, ms", "processor, ms", "median : nothing"),
        (one.row(kind, took[BARE]) for kind, one in took.items()),
    )
    show(
        f"Many at once, {options.workers} workers",
        ("who", "pages", "pages/s", "processor, ms", "median, ms", "95 %, ms", "errors"),
        (many.row(again) for again, many in crowds),
    )
    if memory:
        show("The memory of the server and its workers", ("requests", "MB"), memory)
    promised = [kind for kind in kinds if "list" in kind or "…" in kind or "compared" in kind]
    minimums = [
        *(Minimum(kind, took[kind].median, MILLISECONDS, "ms", at_most=True) for kind in promised),
        *(
            Minimum(f"{many.clients} clients{again}", len(many.errors), 0, "errors", at_most=True)
            for again, many in crowds
            if many.clients <= CLIENTS
        ),
    ]
    aims = [
        Minimum("a catalog", took["a catalog"].median, CATALOG, "ms", at_most=True),
        *(
            Minimum(f"{many.clients} clients{again}", many.pages_per_second, PAGES, "pages/s")
            for again, many in crowds
            if "browsing" in again
        ),
    ]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    show("Aims", ("what", "measured", "aim", ""), (aim.row() for aim in aims))
    for told in dict.fromkeys(error for _, many in crowds for error in many.errors[:5]):
        print(told)
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


def _late(took: Sequence[float]) -> float:
    """Return what 95 of 100 stay below."""
    return quantiles(took, n=20, method="inclusive")[-1] if len(took) > 1 else took[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
