"""What provenn withstands: processes that are killed, races, damage, bad input, and many clients at once.

Run ``python -m benchmarks robustness``; ``python -m benchmarks.robustness --help`` tells how to make it longer.
Each line of the tables says how often something was tried, and how often it went wrong, which must be never. What is
tried, and what counts as wrong, is the business of the tests, which do the same with smaller numbers: `tests.crashes`,
`tests.races`, `tests.faults`, `tests.data.protocol`, `tests.database.histories`, `tests.soundness.test_checking`,
`tests.fuzz` and `tests.gate`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter

from sqlalchemy import Connection, Table, update

from benchmarks.archives import make_archive
from benchmarks.measure import show, show_load, shown
from benchmarks.web import Crowd, crowd, pages, serving
from provenn.archive import DATABASE
from provenn.formats.opening import open_database
from provenn.spark.engine import Engine
from tests import crashes, races, rot, sound
from tests.data.protocol import test_protocol
from tests.data.protocol.model import explore
from tests.database.histories.recording import recorded
from tests.database.histories.specifications import is_explained
from tests.faults import works
from tests.faults.supervisor import is_supported
from tests.faults.sweep import swept
from tests.fuzz import commands, criteria, files, requests, statements
from tests.gate import attacks
from tests.postgres import new_schema, postgres_server
from tests.soundness import test_checking as soundness
from tests.web.survey import make_survey

__all__ = ["Line", "main"]

SIZE = 10_000
CLIENTS = (50, 200)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table.

    Parameters
    ----------
    kind
        What was tried.
    tried
        How often.
    wrong
        What went wrong, in words, each time that something did.
    seconds
        How long all of it took.
    """

    kind: str
    tried: int
    wrong: tuple[str, ...] = ()
    seconds: float = 0.0


def killed(points: int, with_spark: int) -> Iterator[Line]:
    """Kill processes with SIGKILL at points of their work; look for all that they were told is done."""
    for name, work in crashes.WORKS.items():
        number = with_spark if work.spark else points
        if number:
            yield _line(f"killed: {name}", partial(_killed, name, number))


def failed(points: int) -> Iterator[Line]:
    """Let file calls of each operation fail, evenly spread: with errors, half done, and with death."""
    if not is_supported():
        print("no process can be supervised here: no file call fails", file=sys.stderr)
        return
    for name in works.WORKS:
        start = perf_counter()
        found = swept(name, points)
        kind = f"fail each I/O: {name}, {found.points} ways"
        yield Line(kind, found.struck, found.wrong, perf_counter() - start)


def modelled() -> Iterator[Line]:
    """Try every order of the steps of leases, pins, commits and gc."""
    for name, protocol in (test_protocol.SMALL | test_protocol.LARGE).items():
        start = perf_counter()
        explored = explore(protocol)
        wrong = (explored.broken.what,) if explored.broken else ()
        yield Line(f"model: {name}, states", explored.states, wrong, perf_counter() - start)


def remembered(seeds: int, folder: Path) -> Iterator[Line]:
    """Let processes use an archive while some are killed and cut off; explain what all of them saw."""
    folder.mkdir()
    with postgres_server() as server:
        for kind in ("SQLite", "PostgreSQL"):
            start, tried, wrong = perf_counter(), 0, list[str]()
            for seed in range(seeds):
                place = folder / f"{kind} {seed}"
                place.mkdir()
                where = str(place / DATABASE) if kind == "SQLite" else new_schema(server)
                open_database(where, create=True).close()
                histories = recorded(where, place, workers=4, rounds=60, seed=seed)
                tried += sum(map(len, histories.values()))
                wrong += [name for name, history in histories.items() if not is_explained(name, history)]
            yield Line(f"histories: {kind}, operations", tried, tuple(wrong), perf_counter() - start)


def raced(rounds: int, folder: Path) -> Iterator[Line]:
    """Let processes race on an archive in SQLite; count what they did."""
    for kind, workers in (("contradictions", 6), ("everything", 6), ("writers", 16)):
        place = folder / kind
        place.mkdir()
        open_database(place / DATABASE, create=True).close()
        start = perf_counter()
        found = races.raced(kind, place / DATABASE, place, workers=workers, rounds=rounds)
        wrong = [*found["wrong"], *(f"lost: {one}" for one in found["lost"]), *["busy"] * found["busy"]]
        yield Line(f"race: {kind}, {workers} processes", workers * rounds, tuple(wrong), perf_counter() - start)


def damaged(number: int, folder: Path) -> Iterator[Line]:
    """Change an archive behind its back; see that `check` finds it."""
    folder.mkdir()
    sound.make_archive(folder)
    told = [pair for pair in soundness.COLUMNS if ".".join(pair) not in soundness.REMARKS]
    chosen = told if number >= len(told) else Random(0).sample(told, number)
    yield _found("damage: a value in the database", folder, [partial(_change_value, *pair) for pair in chosen])
    yield _found("damage: a stored file", folder, [partial(_change_file, Random(seed)) for seed in range(number)])


def rotted(flips: int, folder: Path) -> Iterator[Line]:
    """Flip bits of files of every kind, unseen by the file system; read them, check them, and back them up."""
    folder.mkdir()
    with Engine("local[2]", brief=True) as engine:
        damaged = rot.Damaged.at(folder / "rot", engine.session)
        for kind in rot.KINDS:
            start = perf_counter()
            tally = rot.try_flips(damaged, kind, flips, reading=kind != "base")
            yield Line(f"damage: a bit of a {kind}", tally.tried, tuple(tally.wrong), perf_counter() - start)
        start = perf_counter()
        tally = rot.try_backups(damaged, flips)
        yield Line("damage: a bit of what is backed up", tally.tried, tuple(tally.wrong), perf_counter() - start)


def given(cases: int, folder: Path) -> Iterator[Line]:
    """Give every reader random and spoiled input: it is to be taken or refused, soon."""
    folder.mkdir()
    made = folder / "made"
    make_survey(made).close()
    yield _line("input: statements", lambda: statements.try_statements(cases).cases)
    yield _line("input: criteria", lambda: criteria.try_criteria(cases).cases)
    yield _line("input: expressions", lambda: criteria.try_expressions(cases).cases)
    yield _line("input: files to import", lambda: files.try_files(files.exported(made), folder, cases).cases)
    with commands.prompt(made, folder / "prompt"):
        yield _line("input: commands", lambda: commands.try_commands(cases).cases)
    with requests.opened(made) as client:
        yield _line("input: requests by OpenAPI", lambda: requests.try_operations(client, made, cases).cases)
        yield _line("input: any requests", lambda: requests.try_anything(client, made, cases).cases)


def attacked(most: int, folder: Path) -> Iterator[Line]:
    """Bring in what an attacker would: code, formats, options, small files that become large, and lies."""
    folder.mkdir()
    yield _line("attack: foreign calculators", lambda: attacks.try_code(folder / "code", most))
    yield _line("attack: formats and options", lambda: attacks.try_formats(folder / "formats", most))
    yield _line("attack: bombs", lambda: attacks.try_bombs(folder / "bombs", most))
    yield _line("attack: definitions that lie", lambda: attacks.try_lies(folder / "lies", most))


def loaded(asked: int, size: int, folder: Path) -> list[Crowd]:
    """Have many clients ask for pages at once."""
    folder.mkdir()
    make_archive(folder / DATABASE, size)
    with serving(folder) as address:
        return [crowd(address, pages(size), clients, max(1, asked * CLIENTS[0] // clients)) for clients in CLIENTS]


def main(arguments: Sequence[str] = ()) -> int:
    """Try everything, print tables, and return 1 if anything went wrong."""
    parser = ArgumentParser(description="what provenn withstands")
    parser.add_argument("--points", type=int, default=30, help="at how many points each kind of work is killed")
    parser.add_argument("--with-spark", type=int, default=2, help="the same, of work that starts a Spark")
    parser.add_argument("--faults", type=int, default=50, help="how many file calls of each operation fail")
    parser.add_argument("--histories", type=int, default=2, help="how many are recorded on each kind of database")
    parser.add_argument("--model", type=int, default=1, help="0 for no model of leases and gc")
    parser.add_argument("--rounds", type=int, default=60, help="of races; 0 for none, here and below")
    parser.add_argument("--damages", type=int, default=100, help="how many of each kind")
    parser.add_argument("--flips", type=int, default=20, help="how many bits of each kind of file, with a Spark")
    parser.add_argument("--cases", type=int, default=500, help="of input to each reader")
    parser.add_argument("--attacks", type=int, default=1000, help="how many of each kind, at most")
    parser.add_argument("--asked", type=int, default=8, help="how many pages each of 50 clients asks for")
    parser.add_argument("--size", type=int, default=SIZE, help="of the archive that clients look at")
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lines = list(_told(killed(options.points, options.with_spark)))
        if options.faults:
            lines += _told(failed(options.faults))
        if options.model:
            lines += _told(modelled())
        if options.histories:
            lines += _told(remembered(options.histories, folder / "histories"))
        if options.rounds:
            lines += _told(raced(options.rounds, folder))
        if options.damages:
            lines += _told(damaged(options.damages, folder / "damaged"))
        if options.flips:
            lines += _told(rotted(options.flips, folder / "rotted"))
        if options.cases:
            lines += _told(given(options.cases, folder / "given"))
        if options.attacks:
            lines += _told(attacked(options.attacks, folder / "attacked"))
        crowds = loaded(options.asked, options.size, folder / "loaded") if options.asked else []
    show(
        "What was tried, and what went wrong",
        ("what", "tried", "wrong", "seconds"),
        ((one.kind, shown_count(one.tried), str(len(one.wrong)), shown(one.seconds)) for one in lines),
    )
    if crowds:
        show(
            f"Many at once, pages of all kinds, of {shown(options.size)} catalogs",
            ("who", "pages", "pages/s", "median, ms", "95 %, ms", "errors"),
            (one.row() for one in crowds),
        )
    wrong = [f"{one.kind}: {said}" for one in lines for said in one.wrong]
    wrong += [said for one in crowds for said in one.errors]
    for said in wrong[:50]:
        print(said, file=sys.stderr)
    show_load()
    return int(bool(wrong))


def shown_count(number: int) -> str:
    """Return a count, in groups of three digits.

    >>> shown_count(12345)
    '12 345'
    """
    return f"{number:,}".replace(",", " ")


def _told(lines: Iterator[Line]) -> Iterator[Line]:
    """Tell of each line as it comes: all of them take long."""
    for line in lines:
        print(f"{line.kind}: tried {line.tried}, wrong {len(line.wrong)}", file=sys.stderr, flush=True)
        yield line


def _line(kind: str, attempt: Callable[[], int]) -> Line:
    """Try something that returns how often it was tried, or raises what went wrong."""
    start = perf_counter()
    try:
        return Line(kind, attempt(), (), perf_counter() - start)
    except Exception as error:
        return Line(kind, 1, (f"{type(error).__name__}: {error}"[-2000:],), perf_counter() - start)


def _killed(name: str, points: int) -> int:
    """Return how many processes were killed; those that were done before are not among them."""
    killed: int = crashes.tried(name, points).killed
    return killed


def _found(kind: str, whole: Path, harms: Sequence[Callable[[Path], str]]) -> Line:
    """Do each harm to a copy of an archive; what `check` does not find is wrong."""
    start = perf_counter()
    missed = []
    before = set(soundness.looked(whole, deep=True))
    copy = whole.with_name("copy")
    for harm in harms:
        shutil.copytree(whole, copy)
        said = harm(copy)
        if not set(soundness.looked(copy, deep=True)) - before:
            missed.append(f"not found: {said}")
        shutil.rmtree(copy)
    return Line(kind, len(harms), tuple(missed), perf_counter() - start)


def _change_value(table: str, column: str, folder: Path) -> str:
    def change(connection: Connection, rows: Table) -> None:
        row = soundness.one_row(connection, rows, column)
        values = {column: soundness.other(rows.c[column], row[column])}
        connection.execute(update(rows).where(*soundness.is_row(rows, row)).values(values))

    soundness.tampered(folder, table, change)
    return f"{table}.{column}"


def _change_file(random: Random, folder: Path) -> str:
    """Flip a bit anywhere in a stored file, cut it, or delete it."""
    path = random.choice(soundness.parts(folder))
    content = bytearray(path.read_bytes())
    at = random.randrange(len(content))
    match random.choice(["flip", "flip", "flip", "cut", "delete"]):
        case "flip":
            content[at] ^= 1 << random.randrange(8)
            path.write_bytes(content)
        case "cut":
            path.write_bytes(content[:at])
        case _:
            path.unlink()
    return f"{path.name}, byte {at} of {len(content)}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
