"""A file that is being taken over, and what all that comes with it needs."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Table, insert, select, tuple_

from provenn.catalogs import Catalog
from provenn.store.cones import in_batches
from provenn.store.database import Writing
from provenn.store.portable import Line
from provenn.store.tables import catalogs
from provenn.store.visibility import check_visibility, seen

__all__ = ["Import", "held", "insert_missing", "require_held", "whose"]


@dataclass(slots=True)
class Import:
    """A file being taken over."""

    writing: Writing
    prefix: str
    made: dict[str, Catalog] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)

    @property
    def everything(self) -> Writing:
        """The transaction, of somebody who sees everything: what is there is there, whoever imports."""
        return replace(self.writing, viewer=None)

    def by(self, said: str) -> str:
        """Return who is recorded: as the file says; but who is confined can speak for nobody else."""
        return said if self.writing.viewer is None else self.writing.who


def held(writing: Writing, digests: Collection[str]) -> set[str]:
    """Return those of some digests whose catalogs are there, whoever sees them."""
    query = select(catalogs.c.digest)
    return {
        digest
        for batch in in_batches(digests)
        for digest in writing.connection.scalars(query.where(catalogs.c.digest.in_(batch)))
    }


def require_held(taking: Import, line: Line, digests: Collection[str]) -> None:
    """Refuse digests of catalogs that there are not, as far as who imports may know."""
    missing = set(digests) - seen(taking.writing, held(taking.writing, digests))
    if missing:
        raise line.wrong(f"there is no catalog {min(missing)[:64]!r}")


def insert_missing(writing: Writing, table: Table, key: tuple[str, ...], rows: dict[Any, dict[str, Any]]) -> int:
    """Insert the rows that are not there; return how many these are."""
    columns = [table.c[one] for one in key]
    query = select(*columns).where(tuple_(*columns).in_(list(rows)))
    there = {tuple(row) for row in writing.connection.execute(query)} if rows else set()
    missing = [row for one, row in rows.items() if one not in there]
    if missing:
        writing.connection.execute(insert(table), missing)
    return len(missing)


def whose(taking: Import, line: Line, said: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return to whom something belongs, and who sees it."""
    with line.readable("visibility"):
        owned = Line(line.number, line.kind, said)
        visibility, project = owned.text("visibility"), owned.optional("project")
        check_visibility(visibility, project)
        return {"owner": taking.by(owned.text("owner")), "visibility": visibility, "project": project}
