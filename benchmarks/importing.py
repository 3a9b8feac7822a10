"""An import of 100 000 definitions: how long others who write wait for it, against writing the bare rows.

Run ``python -m benchmarks importing``; ``python -m benchmarks.importing --size 10000`` for a smaller one. The archive,
that of `benchmarks.archives`, is exported to a portable file and imported into an empty archive in SQLite. The file is
read, and all catalogs are made anew and checked, without a lock. Others wait while the import holds the lock for
writing: the longest time is what they wait for at most. For comparison the same file is imported in one transaction,
and the same rows are inserted into the same tables by the driver alone, in one transaction, without a check.

All times are those of the processor: others who use the machine do not count.
"""

from __future__ import annotations

import sqlite3
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.archives import make_archive
from benchmarks.measure import Minimum, show, shown
from provenn.database.tables import metadata
from provenn.database.transactions import Database, Writing
from provenn.formats.opening import open_database
from provenn.transfer.exporting import export_archive
from provenn.transfer.importing import stage_file, take_over, write_in_batches

__all__ = ["main"]

SIZE = 100_000

# What is promised.
RATIO = 3
"""How many times longer than inserting the bare rows others wait at most for one transaction."""


@dataclass(frozen=True, slots=True)
class MeasuredDatabase(Database):
    """A database that notes how long each transaction that writes takes, in seconds of the processor."""

    locks: list[float] = field(default_factory=list)

    @contextmanager
    def writing(self, *, patience: float | None = None) -> Iterator[Writing]:
        """Begin a writing transaction."""
        began = process_time()
        with Database.writing(self, patience=patience) as writing:
            yield writing
        self.locks.append(process_time() - began)


@dataclass(frozen=True, slots=True)
class Measured:
    """What an import took, in seconds of the processor.

    Parameters
    ----------
    reading
        Reading and checking the file.
    publishing
        The transaction that publishes the import.
    others
        All other transactions.
    """

    reading: float
    publishing: float
    others: tuple[float, ...]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and return whether what is promised is reached."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE)
    size = parser.parse_args(arguments or []).size
    with TemporaryDirectory() as folder:
        content = exported(Path(folder), size)
        batched = imported(Path(folder) / "import.sqlite", content)
        at_once = imported(Path(folder) / "at_once.sqlite", content, in_batches=False)
        bare = inserted(Path(folder) / "import.sqlite", Path(folder) / "bare.sqlite")
    longest = max(batched.publishing, *batched.others)
    parts = [
        ("reading and checking the file: nobody waits", batched.reading),
        ("the longest transaction: others who write wait", longest),
        ("the longest but the last, which publishes", max(batched.others)),
        (f"all {len(batched.others) + 1} transactions", batched.publishing + sum(batched.others)),
        ("one transaction, if all is written in one", at_once.publishing),
        ("the bare rows, inserted by the driver", bare),
    ]
    title = f"an import of {size:,} definitions".replace(",", " ")
    rows = [(part, shown(seconds), f"{seconds / bare:.2f}") for part, seconds in parts]
    show(title, ("part", "s", "ratio to the bare rows"), rows)
    promised = Minimum("waiting for an import, against inserting the bare rows", longest / bare, RATIO, at_most=True)
    show("Minimums", ("what", "measured", "minimum", ""), [promised.row()])
    return 0 if promised.reached else 1


def exported(folder: Path, size: int) -> bytes:
    """Return a portable file of an archive of so many catalogs."""
    make_archive(folder / "source.sqlite", size)
    file = BytesIO()
    with open_database(folder / "source.sqlite") as database, database.reading() as reading:
        export_archive(reading, file)
    return file.getvalue()


def imported(path: Path, content: bytes, *, in_batches: bool = True) -> Measured:
    """Import a portable file into a new archive, in batches or in one transaction; return what that takes."""
    with open_database(path, create=True) as opened:
        database = MeasuredDatabase(**{one.name: getattr(opened, one.name) for one in fields(Database)})
        began = process_time()
        staged = stage_file(database.reading, BytesIO(content), "the file", None)
        reading = process_time() - began
        with write_in_batches(database, staged) if in_batches else nullcontext() as written:
            with database.writing() as writing:
                take_over(writing, staged, written=written)
            publishing = database.locks.pop()
        return Measured(reading, publishing, tuple(database.locks))


def inserted(source: Path, path: Path) -> float:
    """Insert all rows of an archive into the tables of a new one, in one transaction; return the seconds."""
    open_database(path, create=True).close()
    with sqlite3.connect(source) as here:
        names = [table.name for table in metadata.sorted_tables if table.name != "settings"]
        tables = {name: here.execute(f"SELECT * FROM {name}").fetchall() for name in names}  # noqa: S608 - ours
    here.close()
    there = sqlite3.connect(path, isolation_level=None)
    began = process_time()
    there.execute("BEGIN IMMEDIATE")
    for name, rows in tables.items():
        if rows:
            there.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' for _ in rows[0])})", rows)  # noqa: S608
    there.execute("COMMIT")
    seconds = process_time() - began
    there.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
