"""Many honest clients of a server with tokens, with and without one that is hostile: what the others notice of it.

Run ``python -m benchmarks hostile``; ``python -m benchmarks.hostile --help`` tells how to make it shorter or longer.

The server is a process of its own, started as `provenn serve --tokens` does, with the limits it has by default. Every
client is a person of their own, with a token and an address of this machine of their own (``127.x.y.z``), and asks for
pages of all kinds, one after the other. In every second round there is one more:

- a person with a token of the role reader who asks, all the time and with 45 requests at once, for criteria that are
  short to write and long to work out, and hangs up on some of them;
- a stranger who opens 1 005 connections and says nothing, and opens again those that are closed.

What is measured is a ratio in one run: the median of what the others wait for a page, in rounds with and without. It
must not double, and nobody of them may be given an error.
"""

from __future__ import annotations

import asyncio
import resource
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median
from subprocess import PIPE, Popen
from time import perf_counter
from urllib.parse import urlencode

import httpx

import provenn
from benchmarks.archives import MEASURED, make_archive, name_of
from benchmarks.measure import Minimum, show, show_load, shown
from benchmarks.web import BARE, PATIENCE, Server, pages
from provenn.archive import DATABASE
from provenn.archive.tokens import issue_token

__all__ = ["Round", "heavy_requests", "main", "measure", "serving_people"]

SIZE = 10_000
CLIENTS = 200
ASKED = 5
ROUNDS = 3
HEAVY = 45
SOCKETS = 1005
RATIO = 2.0
"""What the median of the honest with the hostile may be at most, compared with that without."""


def heavy_requests(size: int, random: Random) -> list[str]:
    """Return requests that are short to write: criteria that double in size with every bracket, and long statements."""
    column = MEASURED[2]
    nullif = between = case = column
    truth = f"{column} < 1"
    for number in range(18):
        nullif = f"nullif({nullif}, {number})"
    for number in range(14):
        between = f"({truth}) BETWEEN ({column} > {number}) AND (({between}) > {number})"
        case = f"CASE WHEN {column} > {number} THEN {case} ELSE -{column} END"
    criteria = [f"{nullif} < 6", f"({between}) = true", f"{case} < 6"]
    names = [name_of(10 * random.randrange(max(1, size // 10))) for _ in range(24)]
    asked = " or ".join(f"({one} & {other} <= {names[0]})" for one, other in pairwise(names))
    targets = [
        "/target?" + urlencode({"sources": names[0], "attributes": column, "where": text[:2000]}) for text in criteria
    ]
    return [*targets, "/compare?" + urlencode({"ask": asked[:2000]})]


@dataclass(slots=True)
class Round:
    """What the honest clients waited for their pages, in seconds; what went wrong; and what the hostile was told."""

    hostile: bool
    took: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def row(self) -> tuple[str, ...]:
        """The row of a table."""
        told = ", ".join(f"{count} × {what}" for what, count in self.told.most_common())
        figures = (len(self.took) / self.seconds, median(self.took) * 1e3)
        kind = "with the hostile" if self.hostile else "without"
        return (kind, str(len(self.took)), *map(shown, figures), str(len(self.errors)), told)


@contextmanager
def serving_people(folder: Path) -> Iterator[Server]:
    """Serve an archive to people with tokens, from a process of its own."""
    command = [sys.executable, "-m", "provenn", "serve", "--tokens", "--port", "0", "--json", "--archive", str(folder)]
    process = Popen(command, stdout=PIPE, text=True)
    with process, process.stdout as out:  # type: ignore[union-attr] # there is one, it was asked for
        try:
            line = out.readline()
            if not line:
                raise RuntimeError("the server did not start")
            yield Server(line.partition('"address": "')[2].partition('"')[0].rstrip("/"), process.pid)
        finally:
            process.terminate()


def measure(server: Server, secrets: Sequence[str], size: int, asked: int, *, hostile: bool) -> Round:
    """Return what the honest clients noticed in one round; the last of the secrets is that of the hostile one."""
    result = Round(hostile)
    kinds = [path for kind, path in pages(size).items() if kind != BARE]

    async def ask_honestly(number: int, secret: str) -> None:
        random = Random(number)
        transport = httpx.AsyncHTTPTransport(local_address=f"127.1.{number // 250}.{1 + number % 250}")
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(
            base_url=server.address, timeout=PATIENCE, transport=transport, headers=headers
        ) as client:
            for _ in range(asked):
                path = random.choice(kinds)(random)
                start = perf_counter()
                try:
                    answer = await client.get(path)
                except httpx.HTTPError as error:
                    result.errors.append(f"{path}: {error!r}")
                    continue
                if answer.status_code == HTTPStatus.OK:
                    result.took.append(perf_counter() - start)
                else:
                    result.errors.append(f"{path}: {answer.status_code}")

    async def run() -> None:
        honest = [ask_honestly(number, secret) for number, secret in enumerate(secrets[:-1])]
        if not hostile:
            await asyncio.gather(*honest)
            return
        attack = asyncio.create_task(_attack(server, secrets[-1], size, result.told))
        flood = asyncio.create_task(_flood(server, result.told))
        await asyncio.sleep(3)  # until all of it is under way
        try:
            start = perf_counter()
            await asyncio.gather(*honest)
            result.seconds = perf_counter() - start
        finally:
            for task in (attack, flood):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    start = perf_counter()
    asyncio.run(run())
    result.seconds = result.seconds or perf_counter() - start
    return result


async def _attack(server: Server, secret: str, size: int, told: Counter[str]) -> None:
    """Ask for heavy pages, 45 at once, for ever; hang up on every third of them."""
    headers = {"Authorization": f"Bearer {secret}"}
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    transport = httpx.AsyncHTTPTransport(local_address="127.0.0.66", limits=limits)

    async def ask(number: int) -> None:
        random = Random(number)
        paths = heavy_requests(size, random)
        while True:
            try:
                seconds = 1.0 if random.random() < 1 / 3 else PATIENCE
                answer = await client.get(random.choice(paths), timeout=seconds)
                told[str(answer.status_code)] += 1
            except httpx.TimeoutException:
                told["hung up"] += 1
            except httpx.HTTPError:
                told["closed"] += 1
                await asyncio.sleep(0.05)

    async with httpx.AsyncClient(base_url=server.address, transport=transport, headers=headers) as client:
        await asyncio.gather(*map(ask, range(HEAVY)))


async def _flood(server: Server, told: Counter[str]) -> None:
    """Hold connections on which nothing is said; open those again that are closed."""
    place = httpx.URL(server.address)

    async def hold() -> None:
        while True:
            try:
                reader, writer = await asyncio.open_connection(place.host, place.port, local_addr=("127.0.0.67", 0))
            except OSError:
                told["idle socket refused"] += 1
            else:
                try:
                    with suppress(OSError):
                        await reader.read()
                    told["idle socket closed"] += 1
                finally:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()
            await asyncio.sleep(5)  # as a server that refuses says

    await asyncio.gather(*(hold() for _ in range(SOCKETS)))


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, print tables, and return 1 if the others' median doubles, or one of them is given an error."""
    parser = ArgumentParser(description="what many clients notice of one that is hostile")
    parser.add_argument("--size", type=int, default=SIZE, help="how many catalogs")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="how many, the hostile one included")
    parser.add_argument("--asked", type=int, default=ASKED, help="how many pages each of them asks for in a round")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how many, with and without")
    options = parser.parse_args(list(arguments))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make_archive(folder / DATABASE, options.size)
        with provenn.open(folder, create=False, progress=False) as archive:
            secrets = [issue_token(archive, f"person {number}", "reader")[1] for number in range(options.clients)]
        with serving_people(folder) as server:
            measure(server, secrets, options.size, 1, hostile=False)  # the first fill what a server keeps at hand
            rounds = [
                measure(server, secrets, options.size, options.asked, hostile=hostile)
                for _ in range(options.rounds)
                for hostile in (False, True)
            ]
    show(
        f"{options.clients} clients, {shown(options.size)} catalogs",
        ("round", "pages", "pages/s", "median, ms", "errors", "the hostile was told"),
        (one.row() for one in rounds),
    )
    medians = [
        median(second for one in rounds if one.hostile == is_so for second in one.took) for is_so in (False, True)
    ]
    errors = [error for one in rounds for error in one.errors]
    minimums = [
        Minimum("median with the hostile : without", medians[1] / medians[0], RATIO, "x", at_most=True),
        Minimum("errors of the others", len(errors), 0, "errors", at_most=True),
    ]
    show("Minimums", ("what", "measured", "minimum", ""), (minimum.row() for minimum in minimums))
    for error in errors[:10]:
        print(error)
    show_load()
    return int(not all(minimum.reached for minimum in minimums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
