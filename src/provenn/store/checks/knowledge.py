"""Names, facts and proofs: what people said of catalogs, and what was found to follow."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

from sqlalchemy import delete, insert, select

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.lineage import cone
from provenn.errors import ProvennError
from provenn.logic import Knowledge, Statement, statement
from provenn.store import proofs
from provenn.store.checks import Problem
from provenn.store.database import Reading, Writing
from provenn.store.facts import closed_cone, fact_digest
from provenn.store.knowledge import Origin, knowledge_of
from provenn.store.tables import catalogs, fact_bases, fact_catalogs, facts, name_history, projects, proof_facts
from provenn.store.tables import names as name_rows
from provenn.store.tables import proofs as proof_rows

__all__ = ["consistency", "fact_problems", "name_problems", "proof_problems"]

_VISIBLE = ("private", "project", "public")


def name_problems(reading: Reading) -> Iterator[Problem]:
    """Look at all names: each is where its history says, and nobody's else."""
    execute = reading.connection.execute
    there = set(reading.connection.scalars(select(catalogs.c.digest)))
    of_projects = set(reading.connection.scalars(select(projects.c.name)))
    history = name_history.c
    last = dict(execute(select(history.name, history.catalog).order_by(history.id)).all())
    now = {row.name: row for row in execute(select(name_rows))}
    for name, row in now.items():
        where = f"name {name}"
        if row.catalog not in there:
            yield Problem(where, f"there is no catalog {row.catalog}")
        elif row.catalog != last.get(name):
            yield Problem(
                where, "it is not on the catalog to which it came last; put it where it belongs: provenn name"
            )
        yield from _visibility(where, row, of_projects)
    for name, catalog in last.items():
        if catalog is not None and name not in now:
            yield Problem(f"name {name}", f"it is gone, but was never deleted; it was on {catalog[:12]}")


def _visibility(where: str, row: Any, of_projects: Collection[str]) -> Iterator[Problem]:  # noqa: ANN401 - a row
    if row.visibility not in _VISIBLE:
        yield Problem(where, f"nobody knows who may see it: {row.visibility!r}")
    elif (row.visibility == "project") != (row.project is not None):
        yield Problem(where, f"it is {row.visibility}, with the project {row.project}")
    elif row.project is not None and row.project not in of_projects:
        yield Problem(where, f"there is no project {row.project}")


def fact_problems(reading: Reading, sound: Mapping[str, Catalog]) -> Iterator[Problem]:
    """Look at all facts, and at what they are found by."""
    of_projects = set(reading.connection.scalars(select(projects.c.name)))
    mentioned = _index(reading, fact_catalogs.c.fact, fact_catalogs.c.catalog)
    filed = _index(reading, fact_bases.c.fact, fact_bases.c.base)
    for row in reading.connection.execute(select(facts).order_by(facts.c.id)):
        where = f"fact #{row.id}"
        if fact_digest(row.statement, row.reason, row.origin, row.declared_by) != row.digest:
            yield Problem(where, "it was changed after it was written")
            continue
        try:
            labels = set(statement(row.statement).labels)
        except ProvennError as error:
            yield Problem(where, f"it cannot be read: {error.message}")
            continue
        if len({row.retracted_at is None, row.retracted_by is None, row.retracted_reason is None}) > 1:
            yield Problem(where, "it is told neither that it holds, nor that it was retracted")
        yield from _visibility(where, row, of_projects)
        if not labels <= sound.keys():
            yield Problem(where, f"it speaks of catalogs that are missing or damaged: {min(labels - sound.keys())}")
            continue
        if len({sound[label].population.name for label in labels}) > 1:
            yield Problem(where, "it speaks of several populations")
        below = {one.digest for label in labels for one in cone(sound[label]) if isinstance(one, Base)}
        if (mentioned.get(row.id), filed.get(row.id)) != (labels, below):
            mend = partial(_file, row.id, labels, below)
            yield Problem(where, "it is not filed under the catalogs it speaks of", remedy="index", mend=mend)


def consistency(reading: Reading) -> Iterator[Problem]:
    """Look whether all facts that hold for everybody, and the definitions, can be true together."""
    public = select(facts.c.id, facts.c.statement).where(facts.c.retracted_at.is_(None), facts.c.visibility == "public")
    said = {number: statement(text) for number, text in reading.connection.execute(public)}
    while said:
        first = next(iter(said))
        definitions, known = closed_cone(reading, said[first].labels)
        together = [one for one in known if one.id in said]
        conflict = knowledge_of(definitions, together).knowledge.conflict()
        if conflict is not None:
            numbers = [f"#{one.id}" for one in together if one.statement in conflict.facts]
            what = f"the facts {', '.join(numbers)} contradict each other, or the definitions; retract one of them"
            yield Problem("facts", what)
        done = {first, *(one.id for one in together)}  # the first is not found if it is not filed as it should be
        said = {number: one for number, one in said.items() if number not in done}


def proof_problems(reading: Reading, *, deep: bool) -> Iterator[Problem]:
    """Look at all proofs: they are what was written, lean on facts that hold and, if asked for, prove what they say."""
    used = _index(reading, proof_facts.c.proof, proof_facts.c.fact)
    holding = set(reading.connection.scalars(select(facts.c.id).where(facts.c.retracted_at.is_(None))))
    for row in reading.connection.execute(select(proof_rows)):
        what = _wrong(row, used.get(row.digest, set()), holding, deep=deep)
        if what:
            mend = partial(_forget, row.digest)
            yield Problem(f"proof {row.digest[:12]}", what, remedy="forget", mend=mend)


def _wrong(row: Any, used: set[Any], holding: Collection[int], *, deep: bool) -> str:  # noqa: ANN401 - a row
    try:
        said = statement(row.statement)
        because = [(statement(text), Origin(**origin)) for text, origin in json.loads(row.facts)]
    except (ProvennError, TypeError, ValueError) as error:
        return f"it cannot be read: {error}"
    if not proofs.is_sound(row):
        return "it was changed after it was written"
    cited = {origin.fact for _, origin in because if origin.fact is not None}
    if cited != used:
        return "it is not filed under the facts that it leans on"
    if not cited <= set(holding):
        return "it leans on a fact that does not hold any more"
    if deep and not _follows(said, row.verdict, [one for one, _ in because]):
        return "what it says does not follow from its reasons"
    return ""


def _follows(said: Statement, verdict: str, because: list[Statement]) -> bool:
    known = Knowledge(because, open_universe=False)
    return known.judge(said) == verdict


def _index(reading: Reading, key: Any, value: Any) -> dict[Any, set[Any]]:  # noqa: ANN401 - columns
    found: dict[Any, set[Any]] = {}
    for one, other in reading.connection.execute(select(key, value)):
        found.setdefault(one, set()).add(other)
    return found


# --- mending ---


def _file(number: int, labels: Collection[str], below: Collection[str], writing: Writing) -> None:
    execute = writing.connection.execute
    for table, column, wanted in ((fact_catalogs, "catalog", labels), (fact_bases, "base", below)):
        execute(delete(table).where(table.c.fact == number))
        execute(insert(table), [{"fact": number, column: one} for one in sorted(wanted)])


def _forget(digest: str, writing: Writing) -> None:
    writing.connection.execute(delete(proof_facts).where(proof_facts.c.proof == digest))
    writing.connection.execute(delete(proof_rows).where(proof_rows.c.digest == digest))
