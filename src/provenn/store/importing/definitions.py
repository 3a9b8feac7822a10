"""Taking over definitions: catalogs are made anew."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from sqlalchemy import delete, select, update

from provenn.catalogs import Base, Catalog
from provenn.catalogs.lineage import restore
from provenn.store import catalog_store
from provenn.store.cones import in_batches
from provenn.store.importing.taking import Import, held, insert_missing, require_held
from provenn.store.portable import Line, moment, plain_text
from provenn.store.tables import (
    bases,
    catalogs,
    definers,
)

__all__ = ["take_definitions"]

_REMEMBERED = 20_000
"""How many catalogs are kept in memory, for those that are made from them."""


def take_definitions(taking: Import, lines: Sequence[Line]) -> int:
    """Make catalogs anew, which must have the digests that are said; return how many came."""
    new = {digest: line for line in lines if (digest := line.text("digest"))}
    if len(new) < len(lines):
        raise lines[0].wrong("it, or one of those after it, occurs twice")
    _remember(taking, new)
    for digest, line in new.items():
        made = [taking.made[one] for one in _dependencies(taking, line)]
        with line.readable("definition"):
            catalog = restore(line.text("kind"), line.mapping("parameters"), _notes(line), made)
            if catalog.digest != digest:
                raise line.wrong("its digest is not that of what it says")
        taking.made[digest] = catalog
    there = held(taking.writing, new)
    for digest in there:
        _require_same_contents(taking, new[digest], taking.made[digest])
    fresh = {digest: line for digest, line in new.items() if digest not in there}
    catalog_store.add(taking.everything, *(taking.made[digest] for digest in fresh))
    _record_creation(taking, fresh.values())
    _record_definers(taking, lines, fresh)
    return len(fresh)


def _require_same_contents(taking: Import, line: Line, catalog: Catalog) -> None:
    """Refuse a base catalog of an older format whose files hold something else here: its digest does not tell."""
    if isinstance(catalog, Base) and catalog.files.contents:
        query = select(bases.c.content).where(bases.c.catalog == catalog.digest)
        if taking.writing.connection.scalar(query) not in ("", catalog.files.content):
            raise line.wrong("the files of this base catalog hold something else here; ingest them again")


def _remember(taking: Import, new: Collection[str]) -> None:
    if len(taking.made) + len(new) > _REMEMBERED:
        taking.made.clear()


def _dependencies(taking: Import, line: Line) -> list[str]:
    found: list[str] = line.get("dependencies", lambda several: [plain_text(one) for one in several])
    missing = [one for one in found if one not in taking.made]
    if missing:
        require_held(taking, line, missing)
        taking.made |= catalog_store.get_all(taking.everything, missing)
    return found


def _created(line: Line) -> list[tuple[Any, str]]:
    with line.readable("created"):
        return [(moment(at), plain_text(who)) for at, who in line.several("created")]


def _record_creation(taking: Import, lines: Iterable[Line]) -> None:
    """Say of new catalogs who made them when, and of their files who last saw them when: as it is said in the file."""
    execute = taking.writing.connection.execute
    for line in lines:
        digest, created = line.text("digest"), _created(line)
        if not created:
            raise line.wrong("nobody has made it")
        (at, who), *_ = created
        made = {"created_at": at, "created_by": taking.by(who)}
        execute(update(catalogs).where(catalogs.c.digest == digest).values(made))
        if isinstance(taking.made[digest], Base):
            with line.readable("seen"):
                at, who = line.several("seen")
                seen = {"seen_at": moment(at), "seen_by": taking.by(plain_text(who))}
            execute(update(bases).where(bases.c.catalog == digest).values(seen))


def _record_definers(taking: Import, lines: Iterable[Line], fresh: Collection[str]) -> None:
    """Record who defined catalogs, as the file says; a confined importer can speak for nobody else."""
    writing, table = taking.writing, definers
    writing.connection.execute(delete(table).where(table.c.catalog.in_(list(fresh))))
    rows: dict[Any, dict[str, Any]] = {}
    for line in lines:
        digest, runs_of = line.text("digest"), _computed_by(line)
        for at, who in reversed(_created(line)):
            key = (digest, taking.by(who))
            defined = who not in runs_of or rows.get(key, {}).get("defined", False)
            rows[key] = {"catalog": digest, "who": taking.by(who), "at": at, "defined": defined}
    insert_missing(writing, table, ("catalog", "who"), rows)
    _confirm(taking, {key for key, row in rows.items() if row["defined"]})


def _confirm(taking: Import, defined: Collection[tuple[str, str]]) -> None:
    """Let catalogs that only runs needed here be definitions, where the file says that somebody defined them."""
    execute, table = taking.writing.connection.execute, definers
    query = select(table.c.catalog, table.c.who).where(~table.c.defined)
    for batch in in_batches({digest for digest, _ in defined}):
        for digest, who in execute(query.where(table.c.catalog.in_(batch))).all():
            if (digest, who) in defined:
                said = (table.c.catalog == digest, table.c.who == who)
                execute(update(table).where(*said).values(defined=True))


def _computed_by(line: Line) -> frozenset[str]:
    """Return for whose runs alone the exporting archive held a catalog; older files do not tell."""
    if "computed_by" not in line.content:
        return frozenset()
    with line.readable("computed_by"):
        return frozenset(map(plain_text, line.several("computed_by")))


def _notes(line: Line) -> dict[str, Any]:
    """Return the notes of a definition, which no digest vouches for: texts, texts by name, a number of rows."""
    notes = line.mapping("notes")
    for key, value in notes.items():
        texts = value.values() if isinstance(value, dict) and key not in ("text", "location") else [value]
        counted = key == "row_count" and (value is None or (type(value) is int and value >= 0))
        if not counted and not all(isinstance(one, str) for one in texts):
            raise line.wrong(f"its {key} is not as it should be")
    return notes
