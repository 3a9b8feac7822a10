"""Projects: people who share names and facts. Who makes one is its owner and a member, and says who else is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, insert, select

from provenn.errors import NotYoursError, ProjectError
from provenn.store import audit
from provenn.store.database import Reading, Writing
from provenn.store.tables import members, projects

__all__ = ["Project", "add", "create", "listing", "remove", "require"]

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its name, its owner, when it was made, and its members, sorted."""

    name: str
    owner: str
    created_at: datetime
    members: tuple[str, ...]


def create(writing: Writing, name: str) -> None:
    """Make a project, whose owner and first member is who writes.

    Raises
    ------
    ProjectError
        If the name is unfit, or taken.
    """
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > _LONGEST:
        hint = f"a name is up to {_LONGEST} printable characters, with no space at its ends"
        raise ProjectError(f"{name[:_LONGEST]!r} cannot name a project", hint=hint)
    if writing.connection.scalar(select(projects.c.name).where(projects.c.name == name)) is not None:
        raise ProjectError(f"the name {name} is taken", hint="choose another name for the project")
    writing.connection.execute(insert(projects), {"name": name, "owner": writing.who, "created_at": writing.when})
    writing.connection.execute(insert(members), {"project": name, "who": writing.who})
    audit.record(writing, "make project", name)


def add(writing: Writing, name: str, who: str) -> None:
    """Make somebody a member of a project.

    Raises
    ------
    ProjectError
        If there is no such project, or nobody can be called so.
    NotYoursError
        If it is not the project of who writes.
    """
    project = _own(writing, name)
    if not who.strip() or not who.isprintable() or len(who) > _LONGEST:
        raise ProjectError(f"nobody is called {who[:_LONGEST]!r}")
    if who not in project.members:
        writing.connection.execute(insert(members), {"project": name, "who": who})
        audit.record(writing, "add member", name, who)


def remove(writing: Writing, name: str, who: str) -> None:
    """Make somebody a member of a project no more.

    Raises
    ------
    ProjectError
        If there is no such project or no such member, or it is the owner.
    NotYoursError
        If it is not the project of who writes.
    """
    project = _own(writing, name)
    if who not in project.members:
        raise ProjectError(f"{who} is no member of {name}", hint=f"its members are {', '.join(project.members)}")
    if who == project.owner:
        raise ProjectError(f"{who} owns {name}, and stays a member of it")
    writing.connection.execute(delete(members).where(members.c.project == name, members.c.who == who))
    audit.record(writing, "remove member", name, who)


def listing(reading: Reading) -> Sequence[Project]:
    """Return the projects of the viewer, or all, sorted by name."""
    query = select(projects.c.name, projects.c.owner, projects.c.created_at).order_by(projects.c.name)
    if reading.viewer is not None:
        own = select(members.c.project).where(members.c.who == reading.viewer)
        query = query.where(projects.c.name.in_(own))
    found = reading.connection.execute(query).all()
    people: dict[str, list[str]] = {}
    for project, who in reading.connection.execute(select(members).order_by(members.c.who)):
        people.setdefault(project, []).append(who)
    return [Project(name, owner, at, tuple(people.get(name, ()))) for name, owner, at in found]


def require(reading: Reading, name: str) -> Project:
    """Return a project of the viewer, or any.

    Raises
    ------
    ProjectError
        If there is none.
    """
    known = {one.name: one for one in listing(reading)}
    if name not in known:
        there = f"there are {', '.join(sorted(known))}" if known else "make it: provenn project new NAME"
        raise ProjectError(f"there is no project {name!r}", hint=there)
    return known[name]


def _own(writing: Writing, name: str) -> Project:
    project = require(writing, name)
    if writing.viewer not in (None, project.owner):
        raise NotYoursError(f"the project {name} belongs to {project.owner}", hint="only its owner changes its members")
    return project
