"""``provenn project``: people who share names and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_table, write_text

if TYPE_CHECKING:
    from provenn.archive import Archive

__all__ = ["add_member", "list_projects", "new_project", "remove_member"]

_Project = Annotated[str, typer.Argument(metavar="PROJECT", help="Its name.", show_default=False)]
_Person = Annotated[str, typer.Argument(metavar="PERSON", help="As PROVENN_USER says it.", show_default=False)]


def new_project(project: _Project, *, archive: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """Make a project, of which you are the owner and the first member.

    Try:

    - `provenn project new pulsars`
    """
    with opened(archive, as_json) as found:
        found.new_project(project)
        _write(found, project, as_json)


def add_member(
    project: _Project, person: _Person, *, archive: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False
) -> None:
    """Make somebody a member of a project of yours.

    Try:

    - `provenn project add pulsars jocelyn`
    """
    with opened(archive, as_json) as found:
        found.add_member(project, person)
        _write(found, project, as_json)


def remove_member(
    project: _Project, person: _Person, *, archive: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False
) -> None:
    """Make somebody a member of a project of yours no more.

    Try:

    - `provenn project remove pulsars jocelyn`
    """
    with opened(archive, as_json) as found:
        found.remove_member(project, person)
        _write(found, project, as_json)


def list_projects(*, archive: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """List the projects, with their owners and members.

    Try:

    - `provenn project ls`
    """
    with opened(archive, as_json) as found:
        told = [_data(found, one.name) for one in found.projects()]
        if as_json:
            write_json(told)
        else:
            rows = [(one["name"], one["owner"], ", ".join(one["members"])) for one in told]
            write_table(("project", "owner", "members"), rows)


def _data(archive: Archive, project: str) -> dict[str, Any]:
    (one,) = (each for each in archive.projects() if each.name == project)
    return {"name": one.name, "owner": one.owner, "members": list(one.members)}


def _write(archive: Archive, project: str, as_json: bool) -> None:
    told = _data(archive, project)
    if as_json:
        write_json(told)
    else:
        write_text(f"{told['name']} of {told['owner']}: {', '.join(told['members'])}")
