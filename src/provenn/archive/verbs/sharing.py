"""People: the projects they share, and what they did."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.archive.verbs.held import Held
from provenn.store import audit, projects
from provenn.store.audit import Done
from provenn.store.projects import Project

__all__ = ["Sharing"]


class Sharing(Held):
    """People: the projects they share, and what they did."""

    def projects(self) -> Sequence[Project]:
        """Return your projects, with their members; all there are, if you see everything."""
        with self._database.reading() as reading:
            return projects.listing(reading)

    def new_project(self, name: str) -> None:
        """Make a project, of which you are the owner and the first member."""
        with self._database.writing() as writing:
            projects.create(writing, name)

    def add_member(self, project: str, who: str) -> None:
        """Make somebody a member of a project of yours: then that person sees what the project sees."""
        with self._database.writing() as writing:
            projects.add(writing, project, who)

    def remove_member(self, project: str, who: str) -> None:
        """Make somebody a member of a project of yours no more."""
        with self._database.writing() as writing:
            projects.remove(writing, project, who)

    def audit(self, *, most: int = 100, action: str | None = None) -> Sequence[Done]:
        """Return who did what, when and from where, the latest first; only what is told so, if an action is given.

        Raises
        ------
        NotYoursError
            If you do not see everything.
        """
        self._need_everything("reads the audit log")
        with self._database.reading() as reading:
            return audit.recent(reading, most, action=action)
