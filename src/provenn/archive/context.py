"""The context of an archive: everything needed of an archive by the functions of this room, without the facade."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Protocol, TypeVar

from provenn.database.transactions import Database, Reading, Writing
from provenn.errors import NotYoursError

if TYPE_CHECKING:
    from provenn.archive.batching import DefinitionBatch
    from provenn.archive.knowledge_cache import KnowledgeCache
    from provenn.archive.workshop import Workshop

__all__ = ["Context", "HasContext", "Later"]

P = ParamSpec("P")
T = TypeVar("T")

Later = Callable[[Database, Callable[[Writing], None]], None]
"""A function that schedules a write for later; see `provenn.archive.Archive.deferring`."""


@dataclass(frozen=True, slots=True)
class Context:
    """The database, the workshop, and the cached knowledge of an archive, as seen by a person.

    Parameters
    ----------
    database
        The metadata of the archive, with the person and the viewer.
    workshop
        The place where data are computed, with the listeners for progress and notices.
    knowledge
        The cached knowledge about whole populations.
    later
        Schedules writes that only speed up later questions; None if these are written at once.
    batch
        The batch in which definitions wait; None if they are written at once.
    """

    database: Database
    workshop: Workshop
    knowledge: KnowledgeCache
    later: Later | None = None
    batch: DefinitionBatch | None = None

    @property
    def full_database(self) -> Database:
        """The database without the limits of a viewer, for tokens, quotas and the audit log."""
        return replace(self.database, viewer=None)

    def read(self, question: Callable[Concatenate[Reading, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a function in a reading transaction."""
        with self.database.reading() as reading:
            return question(reading, *arguments, **options)

    def write(self, change: Callable[Concatenate[Writing, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        """Call a function in a writing transaction."""
        with self.database.writing() as writing:
            return change(writing, *arguments, **options)

    def require_full_view(self, does: str) -> None:
        """Raise `NotYoursError` unless the viewer sees the whole archive; `does` names the refused action."""
        if self.database.viewer is not None:
            raise NotYoursError(
                f"only an administrator of the archive {does}", hint="ask an administrator of the archive"
            )


class HasContext(Protocol):
    """An archive, for the modules of this room below the facade."""

    @property
    def context(self) -> Context:
        """The context of the archive."""
