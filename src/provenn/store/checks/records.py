"""What else is recorded: counts, verified keys, calculators, preferences, runs, tokens, and who holds what."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, get_args

from sqlalchemy import Table, Text, delete, literal, select

from provenn.catalogs.catalog import Catalog
from provenn.store import calculators, clock
from provenn.store.bases import verification_digest
from provenn.store.checks import Problem
from provenn.store.counts import count_digest
from provenn.store.database import Reading, Writing
from provenn.store.file_memory import is_sound
from provenn.store.processes import is_gone
from provenn.store.runs import Outcome
from provenn.store.tables import attributes, counts, file_hashes, leases, pins, preferences, runs, tokens, verifications
from provenn.store.tables import calculators as calculator_rows

__all__ = [
    "calculator_problems",
    "count_problems",
    "held_problems",
    "memory_problems",
    "run_problems",
    "token_problems",
]

_LONGEST = timedelta(days=1)
"""Nothing is held for longer than this without being renewed."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_ROLES = ("reader", "author", "admin")


def count_problems(reading: Reading, sound: Mapping[str, Catalog]) -> Iterator[Problem]:
    """Look at how many rows catalogs have, and at verified keys."""
    known: dict[str, tuple[int, str]] = {}
    verified, counted = verifications.c, counts.c
    for table, column, what, content in (
        (verifications, verified.base, "the verification of", verified.content),
        (counts, counted.catalog, "the count of", literal(None, Text)),
    ):
        query = select(column, table.c.rows, content, table.c.digest)
        for catalog, rows, held, digest in reading.connection.execute(query):
            where, mend = f"{what} {catalog}", partial(_forget, table, column == catalog)
            made = count_digest(catalog, rows) if held is None else verification_digest(catalog, rows, held)
            if made != digest:
                yield Problem(where, "it was changed after it was written", remedy="forget", mend=mend)
                continue
            extent = sound[catalog].extent.digest if catalog in sound else catalog
            before, other = known.setdefault(extent, (rows, catalog))
            if before != rows:
                told = f"{rows:,} rows, and {other[:12]} {before:,}, which has the same sources"
                yield Problem(where, told, remedy="forget", mend=mend)


def memory_problems(reading: Reading) -> Iterator[Problem]:
    """Look at what is remembered of files."""
    for row in reading.connection.execute(select(file_hashes)):
        if not is_sound(row):
            which = (file_hashes.c.machine == row.machine) & (file_hashes.c.path == row.path)
            mend = partial(_forget, file_hashes, which)
            yield Problem(f"the hash of {row.path}", "it was changed after it was written", remedy="forget", mend=mend)


def calculator_problems(reading: Reading) -> Iterator[Problem]:
    """Look at calculators, and at what names of attributes are to mean."""
    for name, what in calculators.damaged(reading).items():
        yield Problem(f"calculator {name}", f"{what}; register it again")
    called = set(reading.connection.scalars(select(calculator_rows.c.name)))
    known = set(reading.connection.scalars(select(attributes.c.identity).distinct()))
    for name, one in calculators.preferred(reading).items():
        if (one.identity not in known) if one.calculator is None else (one.calculator not in called):
            mend = partial(_forget, preferences, preferences.c.attribute == name)
            what = f"it is to mean {one.identity!r}, which nothing has; say it again: provenn prefer"
            yield Problem(f"preference {name}", what, remedy="forget", mend=mend)


def run_problems(reading: Reading) -> Iterator[Problem]:
    """Look at what was recorded of runs."""
    outcomes = (None, *get_args(Outcome))
    for row in reading.connection.execute(
        select(runs.c.id, runs.c.outcome, runs.c.reused, runs.c.computed, runs.c.fragments)
    ):
        try:
            readable = (
                all(isinstance(json.loads(one or "[]"), list | dict) for one in row[2:]) and row.outcome in outcomes
            )
        except (TypeError, ValueError):
            readable = False
        if not readable:
            mend = partial(_forget, runs, runs.c.id == row.id)
            yield Problem(f"run #{row.id}", "its record cannot be read", remedy="forget", mend=mend)


def held_problems(reading: Reading) -> Iterator[Problem]:
    """Look at who reads, writes or computes something: nobody who died, and nobody for ever."""
    until = clock.now(reading.connection) + _LONGEST
    for table, what in ((pins, "pin"), (leases, "lease")):
        seen: set[str] = set()
        for holder, expires in reading.connection.execute(select(table.c.holder, table.c.expires_at)):
            if holder in seen:
                continue
            seen.add(holder)
            where, mend = f"{what} of {holder}", partial(_forget, table, table.c.holder == holder)
            if expires > until:
                yield Problem(where, f"it would be held until {expires:%Y-%m-%d}", remedy="forget", mend=mend)
            elif is_gone(holder):
                yield Problem(where, "its process is gone", "leftover", "forget", mend)
    for holder, identities in reading.connection.execute(select(leases.c.holder, leases.c.identities)):
        try:
            readable = isinstance(json.loads(identities), list)
        except ValueError:
            readable = False
        if not readable:
            mend = partial(_forget, leases, leases.c.holder == holder)
            yield Problem(f"lease of {holder}", "nobody can read what it is on", remedy="forget", mend=mend)


def token_problems(reading: Reading) -> Iterator[Problem]:
    """Look at tokens: an unknown role, or a digest that no secret has, opens nothing."""
    for number, role, digest in reading.connection.execute(select(tokens.c.id, tokens.c.role, tokens.c.digest)):
        if role not in _ROLES or not _DIGEST.fullmatch(digest):
            yield Problem(f"token #{number}", "it was changed after it was written; revoke it, and make a new one")


def _forget(table: Table, row: Any, writing: Writing) -> None:  # noqa: ANN401 - of SQLAlchemy
    writing.connection.execute(delete(table).where(row))
