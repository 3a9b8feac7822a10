"""The quotas of people: limits, current usage, and the counting of downloads."""

import threading
from collections.abc import Callable, Collection
from datetime import date
from itertools import count
from time import monotonic
from typing import Final

from starlette.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

from provenn.archive import Archive
from provenn.archive.errands import make_errand
from provenn.archive.quotas import QuotaKind, Usage, list_usage, today
from provenn.database.transactions import Writing
from provenn.errors import QuotaError
from provenn.people import quotas
from provenn.sizes import format_size
from provenn.web.notes import Notes

__all__ = ["CountedFile", "Quotas"]

_SECONDS: Final = 5.0
"""Seconds for which the limits set by the owner are cached."""

_MOST: Final = 10_000

_PATIENCE: Final = 0.5
"""Seconds for which a question waits for the outcome of a download count that is being committed."""


class Quotas:
    """The limits and the usage of people.

    Parameters
    ----------
    archive
        The archive with the quotas, without a restricted view.
    notes
        Writes the counts of downloads in the background.
    """

    def __init__(self, archive: Archive, notes: Notes) -> None:
        self._archive = archive
        self._notes = notes
        self._lock = threading.Lock()
        self._settled = threading.Condition(self._lock)
        self._cached_limits: dict[str, tuple[float, dict[QuotaKind, int]]] = {}
        self._numbers = count()
        self._unwritten: dict[int, tuple[str, date, int]] = {}
        self._in_doubt: set[int] = set()

    def limit(self, who: str, kind: QuotaKind) -> int | None:
        """Return the limit of a person, or None; the limit may be some seconds old."""
        with self._lock:
            cached_at, limits = self._cached_limits.get(who, (-_SECONDS, {}))
        if monotonic() - cached_at >= _SECONDS:
            limits = {usage.kind: usage.limit for usage in list_usage(self._archive, who) if usage.limit is not None}
            with self._lock:
                if len(self._cached_limits) >= _MOST:
                    self._cached_limits.clear()
                self._cached_limits[who] = monotonic(), limits
        return limits.get(kind)

    def list_usage(self, who: str) -> tuple[Usage, ...]:
        """Return the limit and the usage of a person for every kind of quota.

        A download that is being written is in the memory of the server, in the database, or in both. The download is
        counted once if the write ends within `_PATIENCE` seconds, and otherwise twice rather than not at all.
        """
        day, until = today(), monotonic() + _PATIENCE
        while True:
            unwritten = self._find_unwritten(who, day)
            usages = list_usage(self._archive, who, day)
            # A download that is still unwritten now was not in the database when the database was read.
            if self._are_unwritten(unwritten) or monotonic() >= until:
                break
            self._wait_until_settled(unwritten, until)
        unwritten_size = sum(unwritten.values())
        return tuple(
            Usage(usage.kind, usage.what, usage.limit, (usage.used or 0) + unwritten_size)
            if usage.kind == "downloads"
            else usage
            for usage in usages
        )

    def check_download(self, who: str, size: int) -> None:
        """Refuse a download beyond the daily quota of a person.

        Raises
        ------
        QuotaError
            If the download exceeds the quota.
        """
        (usage,) = (usage for usage in self.list_usage(who) if usage.kind == "downloads")
        if usage.limit is not None and (usage.used or 0) + size > usage.limit:
            raise QuotaError(
                f"you may download {format_size(usage.limit)} a day, "
                f"and have downloaded {format_size(usage.used or 0)}: this is {format_size(size)} more",
                hint="wait until tomorrow (UTC), or ask the owner of the archive for more",
            )

    def count_download(self, who: str, size: int) -> None:
        """Count a download of a person. The download counts at once, and is written in the background."""
        day, number = today(), next(self._numbers)
        with self._lock:
            self._unwritten[number] = who, day, size

        def write(writing: Writing) -> None:
            with self._lock:
                self._in_doubt.add(number)
            quotas.add_download(writing, who, day, size)

        def settle(committed: bool) -> None:
            with self._settled:
                self._in_doubt.discard(number)
                if committed:
                    del self._unwritten[number]
                self._settled.notify_all()

        self._notes.add(make_errand(self._archive, write, who=who, settle=settle))

    def _find_unwritten(self, who: str, day: date) -> dict[int, int]:
        """Return, by number, the sizes of a person's downloads on a day that may be missing in the database."""
        with self._lock:
            return {
                number: size for number, (person, when, size) in self._unwritten.items() if (person, when) == (who, day)
            }

    def _are_unwritten(self, numbers: Collection[int]) -> bool:
        """Return whether no transaction has written any of the downloads or is about to commit them."""
        with self._lock:
            return all(number in self._unwritten and number not in self._in_doubt for number in numbers)

    def _wait_until_settled(self, numbers: Collection[int], until: float) -> None:
        with self._settled:
            self._settled.wait_for(lambda: self._in_doubt.isdisjoint(numbers), max(0.0, until - monotonic()))


class CountedFile(FileResponse):
    """A download that reports the number of sent bytes at its end.

    Attributes
    ----------
    report_size
        Called with the number of sent bytes.
    """

    report_size: Callable[[int], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        size = 0

        async def send_counted(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            await send(message)

        try:
            await super().__call__(scope, receive, send_counted)
        finally:
            self.report_size(size)
