"""Kill a process at every few statements of a migration, down and up, and look at what it leaves.

A program of its own, since it forks: ``python -m tests.formats.migrations_killed PLACE EVERY``.
"""

import os
import signal
import sys

from sqlalchemy import Engine, event, inspect

from provenn.database.connecting import open_unchecked_database
from provenn.database.tables import VERSION
from provenn.formats.migrations import migrate_format
from tests.data.processes import forked


def die(place: str, to: str, statement: int) -> None:
    """Migrate, but end before a statement is sent; the last one to end before is the commit."""
    sent = 0

    def note(*_: object) -> None:
        nonlocal sent
        sent += 1
        if sent > statement:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", note)
    event.listen(Engine, "commit", note)
    migrate_format(place, to, lose=True)


def tables(place: str) -> tuple[str, int]:
    """Return the format of an archive, and how many tables and columns it has."""
    output = migrate_format(place, VERSION, dry_run=True)
    with open_unchecked_database(place) as database, database.reading() as reading:
        looking = inspect(reading.connection)
        return output.before, sum(1 + len(looking.get_columns(name)) for name in looking.get_table_names())


def main(place: str, every: int) -> None:
    """Go down, then up, each killed again and again until it gets through, before each so many statements."""
    seen = dict([tables(place)])
    for to, before in (("0001", VERSION), (VERSION, "0001")):
        survived, statement, kills = False, 0, 0
        while not survived:
            _, status = os.waitpid(forked(die, place, to, statement), 0)
            survived = status == 0
            assert survived or (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL)
            version, size = tables(place)
            assert version == (to if survived else before)
            assert seen.setdefault(version, size) == size, "something in between"
            statement += every
            kills += not survived
        assert kills > 3, "there were not many statements to die before"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
