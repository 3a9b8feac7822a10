"""Taking over names, and their history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import insert, select

from provenn.errors import CatalogNameError
from provenn.store.importing.taking import Import, require_held, whose
from provenn.store.names import check_name
from provenn.store.portable import Line, moment, plain_text
from provenn.store.tables import (
    name_history,
    names,
)

__all__ = ["take_names"]


def take_names(taking: Import, lines: Sequence[Line]) -> int:
    """Take names over, with their history; return how many came."""
    execute = taking.writing.connection.execute
    called = {taking.prefix + line.text("name"): line for line in lines}
    taken = {
        row.name: row.catalog
        for row in execute(select(names.c.name, names.c.catalog).where(names.c.name.in_(list(called))))
    }
    known = set(
        taking.writing.connection.scalars(
            select(name_history.c.name).where(name_history.c.name.in_(list(called))).distinct()
        )
    )
    came = 0
    for name, line in called.items():
        with line.readable("name"):
            check_name(name)
        digest = line.optional("catalog")
        if digest is not None and taken.get(name, digest) != digest:
            raise CatalogNameError(
                f"{name} is the name of another catalog here", hint="put something before every name: --prefix"
            )
        if name in taken or (digest is None and name in known):
            continue
        came += 1
        changes = _changes(taking, line, name)
        while digest is None and changes and changes[-1]["catalog"] is not None:
            changes.pop()  # who exported it did not see how it ended: what is gone here has been deleted here
        if digest is not None:
            last = changes[-1] if changes else None
            if last is None or last["catalog"] != digest:
                raise line.wrong("its history does not end where it is")
            if taking.writing.viewer is not None:
                last["at"] = taking.writing.when  # since when a name is there decides what its owner may know
            row = {"name": name, "catalog": digest, "changed_at": last["at"], "changed_by": last["by"]}
            execute(insert(names), row | whose(taking, line, line.content))
        if changes:
            execute(insert(name_history), changes)
    return came


def _changes(taking: Import, line: Line, name: str) -> list[dict[str, Any]]:
    changes = []
    with line.readable("history"):
        for digest, at, by, owner, visibility, project in line.several("history"):
            owned = whose(taking, line, {"owner": owner, "visibility": visibility, "project": project})
            held = None if digest is None else plain_text(digest)
            said = {"name": name, "catalog": held, "at": moment(at), "by": taking.by(plain_text(by))}
            changes.append(said | owned)
    require_held(taking, line, {one["catalog"] for one in changes if one["catalog"] is not None})
    return changes
