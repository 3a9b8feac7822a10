"""Notes of the actions of people, written in the background: no request waits for another writer of the archive.

A note is retried while the archive is busy. If the server is killed, unwritten notes are lost: logins and uses of
tokens, never the result of a request.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final

from provenn.archive import Archive
from provenn.archive.errands import Errand, make_errand, run_errands
from provenn.database.transactions import Database, Writing
from provenn.people import audit_log, tokens
from provenn.people.tokens import Token

__all__ = ["Notes"]

_LOG = logging.getLogger("provenn.web")
_MOST: Final = 10_000
_PAUSE: Final = 0.1
"""Seconds between two batches; each batch is written in one transaction."""


class Notes:
    """A background writer of notes to an archive.

    Parameters
    ----------
    archive
        The archive.
    """

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._changed = threading.Condition()
        self._errands: deque[Errand] = deque()
        self._writing = 0
        self._closing = False
        self._thread: threading.Thread | None = None

    def note_use(self, token: Token) -> None:
        """Note the use of a token."""
        self.add(make_errand(self._archive, lambda writing: tokens.record_token_use(writing, token)))

    def note_deed(
        self, action: str, subject: str, detail: str = "", *, who: str, archive: Archive | None = None
    ) -> None:
        """Note an action of a person for the audit log.

        Parameters
        ----------
        action, subject, detail
            As for `provenn.people.audit_log.record_action`.
        who
            The person.
        archive
            The archive through which the person acted; it records the interface. By default the server's archive.
        """

        def record(writing: Writing) -> None:
            audit_log.record_action(writing, action, subject, detail)

        self.add(make_errand(archive or self._archive, record, who=who))

    def defer(self, database: Database, act: Callable[[Writing], None]) -> None:
        """Schedule a write to a database in the name of its person; see `provenn.archive.Archive`."""
        self.add(Errand(database, act, monotonic()))

    def flush(self, seconds: float) -> bool:
        """Wait at most some seconds until all notes are written; return whether they are."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._errands and not self._writing, seconds)

    def close(self, seconds: float = 5.0) -> None:
        """Write the remaining notes within some seconds, and stop."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def add(self, errand: Errand) -> None:
        """Schedule an errand; an errand for a read-only archive is dropped."""
        if errand.database.read_only:
            return
        with self._changed:
            if len(self._errands) >= _MOST:
                self._errands.popleft()
                _LOG.warning("a note was lost: %d notes are waiting, because the archive is busy", _MOST)
            self._errands.append(errand)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="notes", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    # -- inside --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._errands) or self._closing)
                if not self._errands:
                    self._thread = None
                    return
                batch = list(self._errands)
                self._errands.clear()
                self._writing = len(batch)
            left = run_errands(self._archive, batch)
            with self._changed:
                self._errands.extendleft(reversed(left))
                self._writing = 0
                self._changed.notify_all()
                if self._closing and left:
                    self._thread = None
                    return
                self._changed.wait_for(lambda: self._closing, _PAUSE)
