"""Importing names with their history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, select

from provenn.database.tables import (
    name_history,
    names,
)
from provenn.definitions.catalog_names import check_name
from provenn.errors import CatalogNameError
from provenn.hints import Hint
from provenn.people.visibility import is_visible_name
from provenn.transfer.importing.taking import ImportSession, read_ownership, require_held
from provenn.transfer.portable_files import Line, parse_moment, parse_text

__all__ = ["take_names"]


def take_names(session: ImportSession, lines: Sequence[Line]) -> int:
    """Import names with their history; return the number of new names."""
    execute = session.writing.connection.execute
    lines_by_name = {session.prefix + line.get_text("name"): line for line in lines}
    current = {
        row.name: row.catalog
        for row in execute(select(names.c.name, names.c.catalog).where(names.c.name.in_(list(lines_by_name))))
    }
    earlier_names = set(
        session.writing.connection.scalars(
            select(name_history.c.name).where(name_history.c.name.in_(list(lines_by_name))).distinct()
        )
    )
    visibilities = select(names.c.name, names.c.visibility, names.c.project)
    visible_names = {
        row.name: (row.visibility, row.project)
        for row in execute(visibilities.where(names.c.name.in_(list(lines_by_name)), is_visible_name(session.writing)))
    }
    new_count = 0
    new_rows: list[dict[str, Any]] = []
    history: list[dict[str, Any]] = []
    for name, line in lines_by_name.items():
        with line.report_errors("name"):
            check_name(name)
        digest = line.get_optional_text("catalog")
        if digest is not None and current.get(name, digest) != digest:
            raise CatalogNameError(
                f"{name} already names another catalog in this archive",
                hint=Hint(
                    'put a prefix before every name: prefix="…"',
                    command="put a prefix before every name: --prefix TEXT",
                ),
            )
        if name in current or (digest is None and name in earlier_names):
            if digest is not None and name in visible_names:
                _note_unchanged(session, line, name, *visible_names[name])
            continue
        new_count += 1
        changes = _read_history(session, line, name)
        while digest is None and changes and changes[-1]["catalog"] is not None:
            changes.pop()  # the exporter did not see the rest of the history, which ends with a deletion
        if digest is not None:
            last = changes[-1] if changes else None
            if last is None or last["catalog"] != digest:
                raise line.make_error("its history does not end at its catalog")
            if session.writing.viewer is not None:
                last["at"] = session.writing.when  # the age of a name decides what its owner may know
            row = {"name": name, "catalog": digest, "changed_at": last["at"], "changed_by": last["by"]}
            new_rows.append(row | read_ownership(session, line, line.content))
        history += changes
    if new_rows:
        execute(insert(names), new_rows)
    if history:
        execute(insert(name_history), history)
    return new_count


def _note_unchanged(session: ImportSession, line: Line, name: str, visibility: str, project: str | None) -> None:
    """Note that an existing name keeps its visibility, if the visibility in the file differs."""
    ownership = read_ownership(session, line, line.content)
    if (ownership["visibility"], ownership["project"]) != (visibility, project):
        current, imported = (
            " ".join(filter(None, words))
            for words in ((visibility, project), (ownership["visibility"], ownership["project"]))
        )
        session.unchanged.append(f"the name {name} is {current} here and {imported} in the file; it is unchanged")


def _read_history(session: ImportSession, line: Line, name: str) -> list[dict[str, Any]]:
    """Return the rows of a name's history."""
    changes = []
    with line.report_errors("history"):
        for digest, at, by, owner, visibility, project in line.get_list("history"):
            ownership = read_ownership(session, line, {"owner": owner, "visibility": visibility, "project": project})
            catalog = None if digest is None else parse_text(digest)
            change = {
                "name": name,
                "catalog": catalog,
                "at": parse_moment(at),
                "by": session.choose_author(parse_text(by)),
            }
            changes.append(change | ownership)
    require_held(session, line, {change["catalog"] for change in changes if change["catalog"] is not None})
    return changes
