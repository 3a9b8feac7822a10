"""Answers of views in memory: a view that was answered is not computed again while the archive stays as it was.

An answer belongs to a viewer: another viewer computes an answer of their own. A memory of views holds what views
return, for all sessions of a viewer. Rendered pages contain the secrets of sessions: they are remembered by their
identity (`answer_unchanged`), which contains the account with its session.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from hashlib import blake2b
from inspect import Parameter, signature
from time import monotonic
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from sqlalchemy.exc import DBAPIError

from provenn._version import __version__
from provenn.archive import Archive
from provenn.data.planning_state import read_shown_state
from provenn.database.changes import ChangeDetector
from provenn.database.platform import Platform
from provenn.database.transactions import Reading
from provenn.web.accounts import get_current_account

__all__ = [
    "PageMemory",
    "Remembering",
    "StateReader",
    "ViewAnswer",
    "ViewMemory",
    "answer_unchanged",
    "list_remembered_paths",
    "mark_remembered",
    "remember_view",
]

_MOST: Final = 2_000
_MOST_CHARACTERS: Final = 50_000_000
"""The number of answers in a memory, and of characters that describe them."""

_MOST_PAGE_CHARACTERS: Final = 30_000_000
"""The number of characters of rendered pages in a memory."""

_MOST_STATES: Final = 200
"""The number of states of parts of the archive in a memory: one or two for each viewer."""

_REMEMBERED: Final[set[Callable[..., Any]]] = set()
_REQUEST: Final = "remembering_request"
"""The name of the parameter with the request: no view has one of this name."""


@dataclass(frozen=True, slots=True)
class StateReader:
    """Reads states of parts of the archive; what all requests of a viewer share is read once after each change.

    Parameters
    ----------
    reading
        The transaction.
    recall
        Returns the state that a function reads for the viewer of the transaction; by default it is read.
    """

    reading: Reading
    recall: Callable[[Callable[[Reading], Hashable], Reading], Hashable] = lambda read, reading: read(reading)

    def read(self, read_part: Callable[[Reading], Hashable]) -> Hashable:
        """Return the state that a function reads, which depends on nothing but the transaction and its viewer."""
        return self.recall(read_part, self.reading)


def _read_all_shown(states: StateReader, _options: Mapping[str, Any]) -> Hashable:
    return states.read(read_shown_state)


@dataclass(frozen=True, slots=True)
class Remembering:
    """How the answers of a view are remembered.

    Parameters
    ----------
    seconds
        The age after which an answer is computed again: for views that also look at files. None for any age.
    watch_outside
        Returns a function for such views: it returns a value that changes whenever the files may have changed, or None
        if that cannot be told. As long as the value stays, an answer is as good as new.
    read_state
        Returns a value that changes whenever the answer to a request may change. By default it changes with everything
        that pages show, and stays if the archive only records what a page would find again; see `read_shown_state`.
    """

    seconds: float | None = None
    watch_outside: Callable[[Archive, Mapping[str, Any]], Callable[[], Hashable | None]] | None = None
    read_state: Callable[[StateReader, Mapping[str, Any]], Hashable] = _read_all_shown


@dataclass(frozen=True, slots=True)
class ViewAnswer:
    """The answer of a view.

    Parameters
    ----------
    content
        What the view returned.
    digest
        The digest of the content.
    characters
        The number of characters that describe the content.
    """

    content: Any
    digest: str
    characters: int

    @classmethod
    def of(cls, content: object) -> ViewAnswer:
        """Return the content of a view as an answer."""
        text = repr(content).encode("utf-8", "surrogatepass")
        return cls(content, blake2b(text, digest_size=16).hexdigest(), len(text))


@dataclass(frozen=True, slots=True)
class _Kept:
    answer: ViewAnswer
    database_state: str
    view_state: Hashable
    checked_at: float
    read_outside: Callable[[], Hashable | None]
    outside: Hashable | None
    platforms: frozenset[Platform]


class ViewMemory:
    """The answers of views, by viewer; the answers used longest ago are forgotten first.

    Parameters
    ----------
    archive
        The archive, as the operator of the server sees it.
    """

    def __init__(self, archive: Archive) -> None:
        self._changes = ChangeDetector(archive.context.database)
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._characters = 0
        self._states: OrderedDict[Hashable, tuple[str, Hashable]] = OrderedDict()

    def answer(
        self, archive: Archive, view: Callable[..., Any], options: Mapping[str, Any], how: Remembering
    ) -> ViewAnswer:
        """Return the answer of a view for the viewer of an archive, from memory if it is still valid."""
        database = archive.context.database
        key = (database.viewer, database.who, view.__module__, view.__name__, tuple(sorted(options.items())))
        state = self._read_state()  # before the transaction, which then sees this state or a later one
        kept = self._find(key, how)
        if kept is not None and kept.platforms and kept.platforms != {database.platform()}:
            kept = None  # Spark runs, or runs on another Java, since the answer was computed
        if kept is not None and kept.database_state == state:
            return kept.answer
        with database.at_one_moment() as moment:
            watch = _watch_nothing if how.watch_outside is None else how.watch_outside(archive, options)
            outside = watch()  # before the view, which then sees these files or later ones
            with database.reading() as reading:
                view_state = how.read_state(self._make_reader(reading, state), options)
            if kept is not None and state is not None and kept.view_state == view_state:
                self._keep(key, replace(kept, database_state=state))
                return kept.answer
            answer = ViewAnswer.of(view(archive=archive, **options))
        is_repeatable = getattr(answer.content, "is_repeatable", True)
        if state is not None and is_repeatable and not moment.is_over:
            platforms = frozenset(moment.platforms)
            self._keep(key, _Kept(answer, state, view_state, monotonic(), watch, outside, platforms))
        return answer

    def close(self) -> None:
        """Forget all answers."""
        self._changes.close()
        with self._lock:
            self._kept.clear()
            self._states.clear()
            self._characters = 0

    def __len__(self) -> int:
        return len(self._kept)

    def _read_state(self) -> str | None:
        try:
            return self._changes.read_state()
        except (DBAPIError, OSError):
            return None  # the view says what is wrong

    def _make_reader(self, reading: Reading, database_state: str | None) -> StateReader:
        """Return the reader of states for a transaction that began after the database was in some state.

        A part is recalled only if it was read in that very state. If an answer is kept with it, although the answer was
        read in a later state, the next request finds the database changed, and compares again. A part of a later state
        would never be compared again with an answer that is older.
        """

        def recall(read_part: Callable[[Reading], Hashable], reading: Reading) -> Hashable:
            key = (read_part, reading.viewer, reading.who)
            with self._lock:
                earlier_state, part = self._states.get(key, (None, None))
            if database_state is not None and earlier_state == database_state:
                return part
            part = read_part(reading)
            if database_state is not None and self._read_state() == database_state:
                with self._lock:
                    self._states[key] = database_state, part
                    self._states.move_to_end(key)
                    while len(self._states) > _MOST_STATES:
                        self._states.popitem(last=False)
            return part

        return StateReader(reading, recall)

    def _find(self, key: Hashable, how: Remembering) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(key)
            if kept is None:
                return None
            self._kept.move_to_end(key)
        if how.seconds is None or monotonic() - kept.checked_at <= how.seconds:
            return kept
        now = monotonic()
        if kept.outside is None or kept.read_outside() != kept.outside:
            return None
        checked = replace(kept, checked_at=now)
        self._keep(key, checked)
        return checked

    def _keep(self, key: Hashable, kept: _Kept) -> None:
        with self._lock:
            self._forget(key)
            self._kept[key] = kept
            self._characters += kept.answer.characters
            while len(self._kept) > _MOST or self._characters > _MOST_CHARACTERS:
                self._forget(next(iter(self._kept)))

    def _forget(self, key: Hashable) -> None:
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._characters -= kept.answer.characters


class PageMemory:
    """The texts of rendered pages, by the identity of the page; those used longest ago are forgotten first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._characters = 0

    def recall(self, identity: str, render: Callable[[], str]) -> str:
        """Return the text of a page; render it if it is not remembered.

        Parameters
        ----------
        identity
            The ``ETag`` of the page: pages with the same content, account, address and template have the same.
        render
            Renders the page.
        """
        with self._lock:
            text = self._texts.get(identity)
            if text is not None:
                self._texts.move_to_end(identity)
                return text
        text = render()
        with self._lock:
            self._characters += len(text) - len(self._texts.pop(identity, ""))
            self._texts[identity] = text
            while self._characters > _MOST_PAGE_CHARACTERS or len(self._texts) > _MOST:
                self._characters -= len(self._texts.popitem(last=False)[1])
        return text

    def clear(self) -> None:
        """Forget all pages."""
        with self._lock:
            self._texts.clear()
            self._characters = 0

    def __len__(self) -> int:
        return len(self._texts)


def _watch_nothing() -> None:
    """Tell nothing about files."""


def remember_view(view: Callable[..., Any], how: Remembering | None) -> Callable[..., ViewAnswer]:
    """Return a view that gives a `ViewAnswer`; if answers are remembered, a single transaction asks the database.

    Parameters
    ----------
    view
        The view. If its answers are remembered, it has a parameter ``archive``, and all others are hashable.
    how
        How answers are remembered; None to compute each answer.
    """
    if how is None:

        @wraps(view)
        def compute_view(**options: Any) -> ViewAnswer:  # noqa: ANN401 - the parameters of the request
            return ViewAnswer.of(view(**options))

        return compute_view

    @wraps(view)
    def recall_view(archive: Archive, **options: Any) -> ViewAnswer:  # noqa: ANN401 - the parameters of the request
        request: Request = options.pop(_REQUEST)
        memory: ViewMemory = request.app.state.memory
        return memory.answer(archive, view, options, how)

    known = signature(view)
    parameters = [*known.parameters.values(), Parameter(_REQUEST, Parameter.KEYWORD_ONLY, annotation=Request)]
    recall_view.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined] # FastAPI reads it
    return recall_view


def answer_unchanged(
    request: Request, answer: ViewAnswer, template: str = ""
) -> tuple[dict[str, str], Response | None]:
    """Return the headers that identify an answer, and the answer 304 if the client has it already.

    The identity of a page contains the account: a page is never taken for the page of another person, or session.

    Parameters
    ----------
    request
        The request.
    answer
        The answer of the view.
    template
        The template of a page; empty for JSON.
    """
    account = get_current_account()
    parts = (answer.digest, repr(account), template, __version__, str(request.scope["path"]), request.url.query)
    tag = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    headers = {"ETag": f'W/"{tag}"', "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    asked = {text.strip() for text in request.headers.get("if-none-match", "").split(",")}
    return headers, Response(status_code=304, headers=headers) if headers["ETag"] in asked else None


def mark_remembered(*endpoints: Callable[..., Any]) -> None:
    """Mark the functions of pages whose answers depend on the archive and the viewer alone."""
    _REMEMBERED.update(endpoints)


def list_remembered_paths(routers: Iterable[APIRouter]) -> tuple[re.Pattern[str], ...]:
    """Return the paths of the marked pages of some routers."""
    routes = (route for router in routers for route in router.routes if isinstance(route, APIRoute))
    return tuple(route.path_regex for route in routes if route.endpoint in _REMEMBERED)
