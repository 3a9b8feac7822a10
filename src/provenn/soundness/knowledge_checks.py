"""Checks of names, facts and proofs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any

from sqlalchemy import delete, insert, select

from provenn.catalogs.base import list_bases
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.restoring import cone
from provenn.database.tables import catalogs, fact_bases, fact_catalogs, facts, name_history, projects, proof_facts
from provenn.database.tables import names as name_rows
from provenn.database.tables import proofs as proof_rows
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError
from provenn.knowledge import proofs
from provenn.knowledge.consequences import FactOrigin, build_knowledge
from provenn.knowledge.stored_facts import compute_fact_digest, list_catalogs, read_closed_cone
from provenn.logic import Knowledge, Statement, statement
from provenn.soundness.problems import ArchiveProblem

__all__ = ["find_contradictions", "find_fact_problems", "find_name_problems", "find_proof_problems"]

_VISIBLE = ("private", "project", "public")


def find_name_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Compare each name with its history, and check the visibility of names."""
    execute = reading.connection.execute
    catalog_digests = set(reading.connection.scalars(select(catalogs.c.digest)))
    project_names = set(reading.connection.scalars(select(projects.c.name)))
    history = name_history.c
    last_catalogs = dict(execute(select(history.name, history.catalog).order_by(history.id)).all())
    current = {row.name: row for row in execute(select(name_rows))}
    for name, row in current.items():
        where = f"name {name}"
        if row.catalog not in catalog_digests:
            yield ArchiveProblem(where, f"there is no catalog {row.catalog}")
        elif row.catalog != last_catalogs.get(name):
            yield ArchiveProblem(where, "it is not on the catalog of its last change; move it: provenn name")
        yield from _find_visibility_problems(where, row, project_names)
    for name, catalog in last_catalogs.items():
        if catalog is not None and name not in current:
            yield ArchiveProblem(f"name {name}", f"it is missing, but was never deleted; it was on {catalog[:12]}")


def _find_visibility_problems(where: str, row: Any, project_names: Collection[str]) -> Iterator[ArchiveProblem]:  # noqa: ANN401 - a row
    """Check the visibility and the project of a row."""
    if row.visibility not in _VISIBLE:
        yield ArchiveProblem(where, f"its visibility is invalid: {row.visibility!r}")
    elif (row.visibility == "project") != (row.project is not None):
        yield ArchiveProblem(where, f"it is {row.visibility}, with the project {row.project}")
    elif row.project is not None and row.project not in project_names:
        yield ArchiveProblem(where, f"there is no project {row.project}")


def find_fact_problems(reading: Reading, sound: Mapping[CatalogDigest, Catalog]) -> Iterator[ArchiveProblem]:
    """Check all facts, and the indices of facts."""
    project_names = set(reading.connection.scalars(select(projects.c.name)))
    mentioned = _read_index(reading, fact_catalogs.c.fact, fact_catalogs.c.catalog)
    filed = _read_index(reading, fact_bases.c.fact, fact_bases.c.base)
    for row in reading.connection.execute(select(facts).order_by(facts.c.id)):
        where = f"fact #{row.id}"
        if compute_fact_digest(row.statement, row.reason, row.origin, row.declared_by) != row.digest:
            yield ArchiveProblem(where, "it was changed after it was written")
            continue
        try:
            digests = set(list_catalogs(statement(row.statement)))
        except ProvennError as error:
            yield ArchiveProblem(where, f"it cannot be read: {error.message}")
            continue
        if len({row.retracted_at is None, row.retracted_by is None, row.retracted_reason is None}) > 1:
            yield ArchiveProblem(where, "its record is incomplete: neither held nor retracted")
        yield from _find_visibility_problems(where, row, project_names)
        if not digests <= sound.keys():
            yield ArchiveProblem(
                where, f"it mentions catalogs that are missing or damaged: {min(digests - sound.keys())}"
            )
            continue
        if len({sound[digest].population.name for digest in digests}) > 1:
            yield ArchiveProblem(where, "it mentions several populations")
        base_digests = {member.digest for digest in digests for member in list_bases(cone(sound[digest]))}
        if (mentioned.get(row.id), filed.get(row.id)) != (digests, base_digests):
            mend = partial(_refile_fact, row.id, digests, base_digests)
            yield ArchiveProblem(where, "it is not indexed under the catalogs it mentions", remedy="index", mend=mend)


def find_contradictions(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check whether all public facts and the definitions can be true together."""
    public = select(facts.c.id, facts.c.statement).where(facts.c.retracted_at.is_(None), facts.c.visibility == "public")
    statements = {number: statement(text) for number, text in reading.connection.execute(public)}
    while statements:
        first = next(iter(statements))
        definitions, cone_facts = read_closed_cone(reading, list_catalogs(statements[first]))
        public_facts = [fact for fact in cone_facts if fact.id in statements]
        conflict = build_knowledge(definitions, public_facts).knowledge.conflict()
        if conflict is not None:
            numbers = [f"#{fact.id}" for fact in public_facts if fact.statement in conflict.facts]
            what = f"the facts {', '.join(numbers)} contradict each other, or the definitions; retract one of them"
            yield ArchiveProblem("facts", what)
        # The first fact may be missing from the cone, if it is not filed correctly.
        checked = {first, *(fact.id for fact in public_facts)}
        statements = {number: parsed for number, parsed in statements.items() if number not in checked}


def find_proof_problems(reading: Reading, *, deep: bool) -> Iterator[ArchiveProblem]:
    """Check all proofs: unchanged rows, facts still holding and, with `deep`, valid conclusions."""
    used = _read_index(reading, proof_facts.c.proof, proof_facts.c.fact)
    holding = set(reading.connection.scalars(select(facts.c.id).where(facts.c.retracted_at.is_(None))))
    for row in reading.connection.execute(select(proof_rows)):
        what = _describe_damage(row, used.get(row.digest, set()), holding, deep=deep)
        if what:
            mend = partial(_forget, row.digest)
            yield ArchiveProblem(f"proof {row.digest[:12]}", what, remedy="forget", mend=mend)


def _describe_damage(row: Any, used: set[Any], holding: Collection[int], *, deep: bool) -> str:  # noqa: ANN401 - a row
    """Return the problem of a proof, or ""."""
    try:
        proved = statement(row.statement)
        reasons = [(statement(text), FactOrigin(**origin)) for text, origin in json.loads(row.facts)]
    except (ProvennError, TypeError, ValueError) as error:
        return f"it cannot be read: {error}"
    if not proofs.is_intact_proof(row):
        return "it was changed after it was written"
    cited = {origin.fact for _, origin in reasons if origin.fact is not None}
    if cited != used:
        return "it is not indexed under the facts on which it rests"
    if not cited <= set(holding):
        return "it rests on a fact that was retracted"
    if deep and not _follows(proved, row.verdict, [reason for reason, _ in reasons]):
        return "its conclusion does not follow from its reasons"
    return ""


def _follows(proved: Statement, verdict: str, reasons: list[Statement]) -> bool:
    """Whether the reasons of a proof give its verdict."""
    knowledge = Knowledge(reasons, open_universe=False)
    return knowledge.judge(proved) == verdict


def _read_index(reading: Reading, key: Any, value: Any) -> dict[Any, set[Any]]:  # noqa: ANN401 - columns
    """Return the values of one column, by the values of another column."""
    values_by_key: dict[Any, set[Any]] = {}
    for row_key, row_value in reading.connection.execute(select(key, value)):
        values_by_key.setdefault(row_key, set()).add(row_value)
    return values_by_key


# --- mending ---


def _refile_fact(
    number: int, digests: Collection[CatalogDigest], base_digests: Collection[CatalogDigest], writing: Writing
) -> None:
    execute = writing.connection.execute
    for table, column, members in ((fact_catalogs, "catalog", digests), (fact_bases, "base", base_digests)):
        execute(delete(table).where(table.c.fact == number))
        execute(insert(table), [{"fact": number, column: digest} for digest in sorted(members)])


def _forget(digest: str, writing: Writing) -> None:
    writing.connection.execute(delete(proof_facts).where(proof_facts.c.proof == digest))
    writing.connection.execute(delete(proof_rows).where(proof_rows.c.digest == digest))
