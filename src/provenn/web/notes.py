"""Notes of the actions of people, written in the background: no request waits for another writer of the archive.

A note is retried while the archive is busy. If the server is killed, unwritten notes are lost: logins and uses of
tokens, never the result of a request.

After every commit the server asks whether its pages are still what they were (`provenn.web.remembering`). So what can
wait, waits: proofs that a page has found and uses of tokens are written with the next other note, or after a minute.
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

_PATIENCE: Final = 60.0
"""Seconds that a note which can wait does wait for others."""


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
        self._patient: deque[Errand] = deque()
        self._waiting_for_all = 0
        self._writing = 0
        self._closing = False
        self._thread: threading.Thread | None = None

    def note_use(self, token: Token) -> None:
        """Note the use of a token, with the next other note."""
        self._add_patient(make_errand(self._archive, lambda writing: tokens.record_token_use(writing, token)))

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
        """Schedule a write to a database in the name of its person, which can wait; see `provenn.archive.Archive`."""
        self._add_patient(Errand(database, act, monotonic()))

    def flush(self, seconds: float) -> bool:
        """Wait at most some seconds until all notes are written; return whether they are."""
        with self._changed:
            self._waiting_for_all += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(
                    lambda: not self._errands and not self._patient and not self._writing, seconds
                )
            finally:
                self._waiting_for_all -= 1

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
        self._add(errand, self._errands)

    # -- inside --------------------------------------------------------------------------------------------------

    def _add_patient(self, errand: Errand) -> None:
        """Schedule an errand that can wait for others."""
        self._add(errand, self._patient)

    def _add(self, errand: Errand, errands: deque[Errand]) -> None:
        if errand.database.read_only:
            return
        with self._changed:
            if len(errands) >= _MOST:
                errands.popleft()
                _LOG.warning("a note was lost: %d notes are waiting, because the archive is busy", _MOST)
            errands.append(errand)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="notes", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._is_due():
                    self._changed.wait(self._find_pause())
                batch = [*self._errands, *self._patient]
                if not batch:
                    self._thread = None
                    return
                self._errands.clear()
                self._patient.clear()
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

    def _is_due(self) -> bool:
        """Whether the notes are to be written now."""
        is_asked = self._closing or bool(self._errands) or (self._waiting_for_all > 0 and bool(self._patient))
        return is_asked or (bool(self._patient) and monotonic() - self._patient[0].since >= _PATIENCE)

    def _find_pause(self) -> float | None:
        """Return the seconds until the oldest patient note is to be written; None if there is none."""
        return max(0.0, self._patient[0].since + _PATIENCE - monotonic()) if self._patient else None
