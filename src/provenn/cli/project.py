"""``provenn project``: people who share names and facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table, write_text

if TYPE_CHECKING:
    from provenn.archive import Archive

__all__ = ["add_member", "list_projects", "new_project", "remove_member"]

_Project = Annotated[str, typer.Argument(metavar="PROJECT", help="The name of the project.", show_default=False)]
_Person = Annotated[str, typer.Argument(metavar="PERSON", help="The person, as in PROVENN_USER.", show_default=False)]


def new_project(project: _Project, *, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """Create a project; you become its owner and first member.

    Try:

    - `provenn project new pulsars`
    """
    with open_archive_at(archive_path) as archive:
        archive.new_project(project)
        _write_project(archive, project, as_json)


def add_member(
    project: _Project, person: _Person, *, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False
) -> None:
    """Add a person to your project.

    Try:

    - `provenn project add pulsars jocelyn`
    """
    with open_archive_at(archive_path) as archive:
        archive.add_member(project, person)
        _write_project(archive, project, as_json)


def remove_member(
    project: _Project, person: _Person, *, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False
) -> None:
    """Remove a person from your project.

    Try:

    - `provenn project remove pulsars jocelyn`
    """
    with open_archive_at(archive_path) as archive:
        archive.remove_member(project, person)
        _write_project(archive, project, as_json)


def list_projects(*, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """List the projects, with their owners and members.

    Try:

    - `provenn project ls`
    """
    with open_archive_at(archive_path) as archive:
        projects = [_project_data(archive, project.name) for project in archive.projects()]
        if as_json:
            write_json(projects)
        elif not projects:
            write_nothing("no projects", "provenn project new NAME creates a project")
        else:
            rows = [(project["name"], project["owner"], ", ".join(project["members"])) for project in projects]
            write_table(("project", "owner", "members"), rows)


def _project_data(archive: Archive, project: str) -> dict[str, Any]:
    """Return a project with owner and members as JSON data."""
    (listed,) = (candidate for candidate in archive.projects() if candidate.name == project)
    return {"name": listed.name, "owner": listed.owner, "members": list(listed.members)}


def _write_project(archive: Archive, project: str, as_json: bool) -> None:
    """Write a project with owner and members."""
    data = _project_data(archive, project)
    if as_json:
        write_json(data)
    else:
        write_text(f"{data['name']} of {data['owner']}: {', '.join(data['members'])}")
