"""Projects: groups of people with shared names and facts.

The creator of a project is its owner and first member. Only the owner adds and removes members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, insert, select

from provenn.database.tables import members, projects
from provenn.errors import NotYoursError, ProjectError
from provenn.hints import Hint
from provenn.people import audit_log

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing

__all__ = ["Project", "add_member", "create_project", "list_projects", "remove_member", "require_project"]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Project:
    """A project with its name, owner, time of creation, and sorted members."""

    name: str
    owner: str
    created_at: datetime
    members: tuple[str, ...]


def create_project(writing: Writing, name: str) -> None:
    """Create a project with the writer as its owner and first member.

    Raises
    ------
    ProjectError
        If the name is unfit, or taken.
    """
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > _LONGEST:
        hint = f"use up to {_LONGEST} printable characters, without spaces at the ends"
        raise ProjectError(f"{name[:_LONGEST]!r} cannot name a project", hint=hint)
    if writing.connection.scalar(select(projects.c.name).where(projects.c.name == name)) is not None:
        raise ProjectError(f"the name {name} is taken", hint="choose another name for the project")
    writing.connection.execute(insert(projects), {"name": name, "owner": writing.who, "created_at": writing.when})
    writing.connection.execute(insert(members), {"project": name, "who": writing.who})
    audit_log.record_action(writing, "make project", name)


def add_member(writing: Writing, name: str, who: str) -> None:
    """Add a person to a project.

    Raises
    ------
    ProjectError
        If the viewer sees no such project, or the person's name is unfit.
    NotYoursError
        If the project belongs to another person.
    """
    project = _require_own_project(writing, name)
    if not who.strip() or not who.isprintable() or len(who) > _LONGEST:
        raise ProjectError(f"{who[:_LONGEST]!r} cannot name a person")
    if who not in project.members:
        writing.connection.execute(insert(members), {"project": name, "who": who})
        audit_log.record_action(writing, "add member", name, who)


def remove_member(writing: Writing, name: str, who: str) -> None:
    """Remove a person from a project.

    Raises
    ------
    ProjectError
        If the viewer sees no such project, or the person is not a member, or is the owner.
    NotYoursError
        If the project belongs to another person.
    """
    project = _require_own_project(writing, name)
    if who not in project.members:
        raise ProjectError(f"{who} is not a member of {name}", hint=f"its members are {', '.join(project.members)}")
    if who == project.owner:
        raise ProjectError(f"{who} owns {name} and cannot leave it")
    writing.connection.execute(delete(members).where(members.c.project == name, members.c.who == who))
    audit_log.record_action(writing, "remove member", name, who)


def list_projects(reading: Reading) -> Sequence[Project]:
    """Return the projects of the viewer, or all projects without a viewer, sorted by name."""
    query = select(projects.c.name, projects.c.owner, projects.c.created_at).order_by(projects.c.name)
    if reading.viewer is not None:
        own_projects = select(members.c.project).where(members.c.who == reading.viewer)
        query = query.where(projects.c.name.in_(own_projects))
    rows = reading.connection.execute(query).all()
    people: dict[str, list[str]] = {}
    for project, who in reading.connection.execute(select(members).order_by(members.c.who)):
        people.setdefault(project, []).append(who)
    return [Project(name, owner, at, tuple(people.get(name, ()))) for name, owner, at in rows]


_CREATE: Final = Hint("archive.new_project(…) creates it", command="create it: provenn project new NAME")


def require_project(reading: Reading, name: str) -> Project:
    """Return the project with a name: a project of the viewer, or any project without a viewer.

    Raises
    ------
    ProjectError
        If there is no such project.
    """
    known = {project.name: project for project in list_projects(reading)}
    if name not in known:
        hint = f"there are {', '.join(sorted(known))}" if known else _CREATE
        raise ProjectError(f"there is no project {name!r}", hint=hint)
    return known[name]


def _require_own_project(writing: Writing, name: str) -> Project:
    project = require_project(writing, name)
    if writing.viewer not in (None, project.owner):
        raise NotYoursError(
            f"the project {name} belongs to {project.owner}", hint="only its owner can change its members"
        )
    return project
