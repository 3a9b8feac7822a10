"""Methods of an archive about people: projects, the audit log, and operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.database.operations import CommittedTransaction
    from provenn.people.audit_log import AuditedAction
    from provenn.people.projects import Project

__all__ = ["Sharing"]


class Sharing(ArchivePart):
    """Methods of an archive about people: projects, the audit log, and operations."""

    def projects(self) -> Sequence[Project]:
        """Return your projects with their members; all projects, if you see the whole archive."""
        from provenn.people import projects  # noqa: PLC0415 - a command starts without it

        return self.context.read(projects.list_projects)

    def new_project(self, name: str) -> None:
        """Create a project; you are its owner and first member."""
        from provenn.people import projects  # noqa: PLC0415 - a command starts without it

        self.context.write(projects.create_project, name)

    def add_member(self, project: str, who: str) -> None:
        """Add a person to a project of yours: the person then sees everything shared with the project."""
        from provenn.people import projects  # noqa: PLC0415 - a command starts without it

        self.context.write(projects.add_member, project, who)

    def remove_member(self, project: str, who: str) -> None:
        """Remove a person from a project of yours."""
        from provenn.people import projects  # noqa: PLC0415 - a command starts without it

        self.context.write(projects.remove_member, project, who)

    def audit(self, *, most: int = 100, action: str | None = None) -> Sequence[AuditedAction]:
        """Return entries of the audit log (person, action, time, origin), the latest first; `action` selects entries.

        Raises
        ------
        NotYoursError
            If you do not see the whole archive.
        """
        from provenn.people import audit_log  # noqa: PLC0415 - a command starts without it

        self.context.require_full_view("reads the audit log")
        return self.context.read(audit_log.find_recent_actions, most, action=action)

    def audit_head(self) -> str | None:
        """Return the newest entry of the audit log as ``NUMBER:DIGEST``, or None; keep it elsewhere for `check`.

        Its digest covers all earlier entries, so a changed or removed entry is noticed.

        Raises
        ------
        NotYoursError
            If you do not see everything.
        """
        from provenn.people import audit_log  # noqa: PLC0415 - a command starts without it

        self.context.require_full_view("reads the audit log")
        head = self.context.read(audit_log.read_audit_head)
        return None if head is None else str(head)

    def operation(self, number: str) -> CommittedTransaction | None:
        """Return an operation with an unknown outcome, with its time and person; None if it was not committed.

        The call waits until all current write transactions have ended. On SQLite no operation has an id.

        Parameters
        ----------
        number
            The id from the error.

        Raises
        ------
        ArchiveError
            If no operation has this id.
        """
        from provenn.database import operations  # noqa: PLC0415 - a command starts without it

        with self.context.database.writing() as writing:
            return operations.find_operation(writing.connection, number)
