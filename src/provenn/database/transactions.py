"""The transactions for all reading and writing in an archive's database."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from provenn.database import clock, fences, operations
from provenn.database.damaged_values import find_damage
from provenn.database.database_errors import explain_failure, is_unreachable
from provenn.database.engines import (
    READING,
    make_writing_options,
)
from provenn.database.moments import MOMENTS, ReadMoment, end_moment, find_moment
from provenn.database.platform import FindPlatform, get_unknown_platform
from provenn.errors import (
    ArchiveBusyError,
    ArchiveError,
    ArchiveUnreachableError,
    CorruptArchiveError,
    OutcomeUnknownError,
    ProvennError,
    ReadOnlyArchiveError,
)
from provenn.hints import Hint

if TYPE_CHECKING:
    from provenn.database.fences import Fence
    from provenn.database.operations import ServerTransaction
    from provenn.files.data_folder import DataFolder

__all__ = ["INSISTENCE", "PATIENCE", "Database", "Reading", "Writing"]

PATIENCE = 30.0
"""Seconds for which a writing transaction waits for others."""

INSISTENCE = 3600.0
"""Seconds for which a computed result waits until it can be registered."""

_AT_ONCE = 0.5
"""Seconds that count as no wait: most writing transactions are shorter."""

_STILL_BUSY = 10.0
"""Seconds for which a busy archive is assumed to stay busy: meanwhile a note does not wait at all."""

_PAUSES = (0.1, 0.4, 1.5)
"""Seconds between attempts to reach a server."""

_LOG = logging.getLogger(__name__)

_BUSY: WeakKeyDictionary[Engine, float] = WeakKeyDictionary()
"""When `Database.note` last found a database busy."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading transaction, with a constant view of the archive during concurrent writes.

    Parameters
    ----------
    connection
        The connection to the database.
    viewer
        The person for whom the transaction reads: anything hidden from this person does not exist in it. None sees
        everything.
    who
        The person asking. A private fact serves only the proofs of its owner, even if others see the fact.
    platform
        Finds the platform on which data are computed.
    """

    connection: Connection
    viewer: str | None = field(default=None, kw_only=True)
    who: str = field(default="", kw_only=True)
    platform: FindPlatform = field(default=get_unknown_platform, kw_only=True)


@dataclass(frozen=True, slots=True)
class Writing(Reading):
    """A writing transaction, alone and atomic: everything is written or, after any failure, nothing.

    Parameters
    ----------
    connection, viewer
        As for `Reading`.
    who, when, via
        The person, the time (UTC, by the archive's clock) and the interface ("python", "cli" or "http") that are
        recorded with every change.
    folder
        The folder of the archive's data, if it is known.
    """

    who: str
    when: datetime
    via: str = field(default="python", kw_only=True)
    folder: DataFolder | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Database:
    """The database of an open archive.

    Parameters
    ----------
    engine
        SQLAlchemy's engine.
    place
        The location of the database, for messages.
    read_only
        Whether the database can only be read.
    who
        The person recorded with every change.
    viewer
        The person for whom the database is read: anything hidden from this person does not exist. None sees everything.
    via
        The interface in use: "python", "cli" or "http".
    folder
        The folder of the archive's data, if it is known.
    fence
        The archive that was opened and its format: no other is read or written. None allows any archive.
    patience
        Seconds to wait for another process that writes, or for a server.
    platform
        Finds the platform on which data are computed.
    """

    engine: Engine
    place: str
    read_only: bool
    who: str
    viewer: str | None = None
    via: str = "python"
    folder: DataFolder | None = None
    fence: Fence | None = None
    patience: float = PATIENCE
    platform: FindPlatform = get_unknown_platform

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Begin a reading transaction, or go on with the transaction of `at_one_moment`.

        Raises
        ------
        ArchiveChangedError
            If the archive was upgraded or replaced since it was opened.
        ArchiveError
            If the database fails.
        """
        moment = find_moment(self.engine)
        if moment is not None:
            platform = moment.watch(self.platform)
            with self._explain_failures():
                yield Reading(moment.connection, viewer=self.viewer, who=self.who, platform=platform)
            return
        with self._explain_failures(), self._connect() as connection:
            connection.execution_options(**READING[self.engine.dialect.name])
            with connection.begin():
                if self.fence is not None:
                    fences.check_fence(connection, self.fence, self.place)
                yield Reading(connection, viewer=self.viewer, who=self.who, platform=self.platform)

    @contextmanager
    def at_one_moment(self) -> Iterator[ReadMoment]:
        """Let all reading transactions of this thread within the block be one: they see the same state of the archive.

        The transactions of other viewers share the connection, not the view: each reads for its own viewer. The first
        write of the thread ends the moment, so that the thread reads what it has written.
        """
        inner = find_moment(self.engine)
        if inner is not None:
            yield inner
            return
        outer = MOMENTS.current
        with self.reading() as reading:
            MOMENTS.current = ReadMoment(self.engine, reading.connection)
            try:
                yield MOMENTS.current
            finally:
                MOMENTS.current = outer

    @contextmanager
    def writing(self, *, patience: float | None = None) -> Iterator[Writing]:
        """Begin a writing transaction, after waiting for earlier writing transactions.

        Parameters
        ----------
        patience
            Seconds to wait for others; by default the `patience` of this database.

        Raises
        ------
        ReadOnlyArchiveError
            If the archive can only be read.
        ArchiveBusyError
            If another process writes for too long.
        ArchiveChangedError
            If the archive was upgraded or replaced since it was opened.
        OutcomeUnknownError
            If the connection to a server was lost during the commit, and the server cannot be asked whether
            everything was written, or nothing.
        ArchiveError
            If the database fails, at the beginning or at the commit, or cannot hold a text or number. Then nothing is
            written.
        """
        if self.read_only:
            raise ReadOnlyArchiveError(
                f"the archive {self.place} is read-only", hint="copy it, or ask its owner for access"
            )
        end_moment(self.engine)
        operation, is_committing = None, False
        with self._explain_failures():
            try:
                with self._connect() as connection:
                    connection.execution_options(**make_writing_options(patience))
                    with connection.begin():
                        now = self._check_fence(connection)
                        if self.fence is not None and self.engine.dialect.name == "postgresql":
                            operation = operations.begin_operation(connection, now, self.who, self.via)
                        yield self._make_writing(connection, now)
                        is_committing = True
            except DBAPIError as failure:
                if operation is None or not is_committing or not is_unreachable(failure):
                    raise
                if not self._was_committed(operation):
                    raise

    def _make_writing(self, connection: Connection, now: datetime) -> Writing:
        return Writing(
            connection,
            self.who,
            now,
            viewer=self.viewer,
            via=self.via,
            folder=self.folder,
            platform=self.platform,
        )

    def note(self, record: Callable[[Writing], T]) -> T | None:
        """Write a note if the archive is free at once; otherwise skip the note without waiting or failing.

        A note makes later questions faster, or records earlier ones, while a caller reads.

        Parameters
        ----------
        record
            Writes the note. The note may be lost even if `record` was called.

        Returns
        -------
        T or None
            The result of `record`; None if the archive is busy, or cannot be written.
        """
        if self.read_only:
            return None
        was_busy = time.monotonic() - _BUSY.get(self.engine, -_STILL_BUSY) < _STILL_BUSY
        try:
            with self.writing(patience=0.0 if was_busy else _AT_ONCE) as writing:
                return record(writing)
        except ArchiveBusyError:
            if not was_busy:
                _BUSY[self.engine] = time.monotonic()
        except ArchiveError as failure:
            _LOG.debug("the note was not written: %s", failure)
        return None

    def insist(self, record: Callable[[Writing], T]) -> T:
        """Write an expensive result, however busy the archive is.

        Attempts continue for `INSISTENCE` seconds, however busy the archive is and however often a server goes away.

        Parameters
        ----------
        record
            Writes the result. It is called again, in a new transaction, if a server was lost; so it must not repeat
            work that the archive already holds.

        Raises
        ------
        ArchiveBusyError
            If another process kept writing for the whole time.
        ArchiveError
            If the database fails otherwise, as for `writing`.
        """
        until, pauses = time.monotonic() + INSISTENCE, iter(_PAUSES)
        while True:
            try:
                with self.writing() as writing:
                    return record(writing)
            except (ArchiveBusyError, ArchiveUnreachableError, OutcomeUnknownError):
                if time.monotonic() >= until:
                    raise
                _LOG.warning("the archive %s cannot be written now; trying again, nothing is lost", self.place)
                time.sleep(next(pauses, _PAUSES[-1]))

    def _check_fence(self, connection: Connection) -> datetime:
        """Check the fence, if any, and return the current time by the archive's clock."""
        if self.fence is None:
            return clock.now(connection)
        return fences.check_fence(connection, self.fence, self.place)

    def _was_committed(self, operation: ServerTransaction) -> bool:
        """Find out, on a new connection, whether a transaction with a lost connection was committed.

        The transaction holds the lock for writing until its end. So once this method has the lock, the transaction has
        ended.
        """
        until = time.monotonic() + self.patience
        while True:
            try:
                with self.engine.connect() as connection:
                    with connection.begin():
                        operations.end_session(connection, operation)
                    left = max(until - time.monotonic(), _AT_ONCE)
                    connection.execution_options(**make_writing_options(left))
                    with connection.begin():
                        return operations.is_committed(connection, operation.id)
            except DBAPIError as failure:
                if time.monotonic() >= until:
                    raise OutcomeUnknownError(
                        f"the connection to the archive {self.place} was lost at the end of the transaction: it "
                        "is unknown whether the change was made",
                        operation=operation.id,
                        hint=Hint(
                            f'check later: archive.operation("{operation.id}")\nor repeat it: nothing is done twice',
                            command=f"check later: provenn operation {operation.id}\n"
                            "or repeat it: nothing is done twice",
                        ),
                    ) from failure
                time.sleep(_PAUSES[0])

    @contextmanager
    def _explain_failures(self) -> Iterator[None]:
        """Turn failures of the database in the body into errors for the user."""
        try:
            yield
        except (IntegrityError, ProvennError):
            raise  # not a failure of the database: the written values, or the question, are wrong
        except (DataError, OverflowError) as error:
            message = str(error.orig if isinstance(error, DataError) else error).split("\n")[0]
            raise ArchiveError(f"the archive cannot store this value: {message}") from error
        except UnicodeEncodeError as error:
            characters = ascii(error.object[error.start : error.end])
            raise ArchiveError(f"expected text, got {characters}", hint="use valid Unicode text") from error
        except DBAPIError as failure:
            raise explain_failure(failure, self.place) from failure
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            with self._connect() as connection:
                damage = find_damage(connection)
            if damage is None:
                raise
            raise CorruptArchiveError(damage) from error

    def _connect(self) -> Connection:
        """Connect; retry after short pauses if the server is just restarting, since nothing has been done yet."""
        for pause in _PAUSES:
            try:
                return self.engine.connect()
            except DBAPIError as failure:
                if not is_unreachable(failure):
                    raise
                time.sleep(pause)
        return self.engine.connect()

    def close(self) -> None:
        """Close all connections to the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
