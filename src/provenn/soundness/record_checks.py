"""Checks of other records: counts, tallies, verified keys, calculators, preferences, runs, tokens, pins and leases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, get_args

from sqlalchemy import Table, Text, delete, literal, null, select

from provenn.catalogs import Base
from provenn.catalogs.catalog import Catalog
from provenn.data.file_memory import is_sound
from provenn.data.pins import OUTSIDE
from provenn.data.run_records import Outcome
from provenn.data.tallies import is_sound_tally
from provenn.database import clock
from provenn.database.damaged_values import fits_column
from provenn.database.staged_rows import find_abandoned
from provenn.database.tables import (
    attributes,
    counts,
    file_bounds,
    file_hashes,
    imports,
    leases,
    pins,
    preferences,
    runs,
    tallies,
    tokens,
    verifications,
)
from provenn.database.tables import calculators as calculator_rows
from provenn.database.transactions import Reading, Writing
from provenn.definitions import registered_calculators
from provenn.definitions.base_locations import compute_verification_digest
from provenn.digests import CatalogDigest, is_digest
from provenn.files.column_bounds import PARTS
from provenn.files.file_bounds import are_sealed
from provenn.files.file_set import compute_files_digest
from provenn.knowledge.counts import compute_count_digest
from provenn.processes import is_gone
from provenn.soundness.problems import ArchiveProblem

__all__ = [
    "find_calculator_problems",
    "find_count_problems",
    "find_file_bound_problems",
    "find_held_problems",
    "find_memory_problems",
    "find_run_problems",
    "find_tally_problems",
    "find_token_problems",
]

_LONGEST = timedelta(days=1)
"""The longest time for which a row is held without being renewed."""

_ROLES = ("reader", "author", "admin")


def find_count_problems(reading: Reading, sound: Mapping[CatalogDigest, Catalog]) -> Iterator[ArchiveProblem]:
    """Check the counted rows of catalogs, and verified keys."""
    rows_by_extent: dict[str, tuple[int, str]] = {}
    verified, counted = verifications.c, counts.c
    for table, column, what, content in (
        (verifications, verified.base, "the verification of", verified.content),
        (counts, counted.catalog, "the count of", literal(None, Text)),
    ):
        query = select(column, table.c.rows, content, table.c.digest)
        for catalog, rows, verified_content, digest in reading.connection.execute(query):
            where, mend = f"{what} {catalog}", partial(_forget, table, column == catalog)
            expected = (
                compute_count_digest(catalog, rows)
                if verified_content is None
                else compute_verification_digest(catalog, rows, verified_content)
            )
            if expected != digest:
                yield ArchiveProblem(where, "it was changed after it was written", remedy="forget", mend=mend)
                continue
            extent = sound[catalog].extent.digest if catalog in sound else catalog
            known_rows, known_catalog = rows_by_extent.setdefault(extent, (rows, catalog))
            if known_rows != rows:
                problem = f"{rows:,} rows, and {known_catalog[:12]} {known_rows:,}, which has the same sources"
                yield ArchiveProblem(where, problem, remedy="forget", mend=mend)


def find_file_bound_problems(reading: Reading, sound: Mapping[CatalogDigest, Catalog]) -> Iterator[ArchiveProblem]:
    """Check what files state of themselves: plans use no text that was changed."""
    for catalog, column, content in reading.connection.execute(select(file_bounds)):
        base = sound.get(catalog)
        if isinstance(base, Base):
            digest = compute_files_digest(dict(base.files.fingerprints).values())
            if not are_sealed(digest, column, content):
                condition = (file_bounds.c.catalog == catalog) & (file_bounds.c.column == column)
                yield ArchiveProblem(
                    f"what the files of {catalog[:12]} state about {_describe_column(column)}",
                    "it was changed after it was written; plans do without it",
                    remedy="forget",
                    mend=partial(_forget, file_bounds, condition),
                )


def _describe_column(column: str) -> str:
    """Return what the bounds of files are about, in words."""
    return "their parts of the sky" if column.startswith(PARTS) else column or "their pixels"


def find_memory_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check the remembered digests of files."""
    for row in reading.connection.execute(select(file_hashes)):
        if not is_sound(row):
            condition = (file_hashes.c.machine == row.machine) & (file_hashes.c.path == row.path)
            mend = partial(_forget, file_hashes, condition)
            yield ArchiveProblem(
                f"the hash of {row.path}", "it was changed after it was written", remedy="forget", mend=mend
            )


def find_tally_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check the tallies of catalogs: pages and pictures use no tally that was changed."""
    table = tallies.c
    for catalog, subject, who, text in reading.connection.execute(
        select(table.catalog, table.subject, table.tallied_by, table.content)
    ):
        if not is_sound_tally(catalog, subject, text):
            condition = (table.catalog == catalog) & (table.subject == subject) & (table.tallied_by == who)
            yield ArchiveProblem(
                f"the {subject} of {catalog}",
                "it was changed after it was written; pages do without it",
                remedy="forget",
                mend=partial(_forget, tallies, condition),
            )


def find_calculator_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check calculators, and preferences for names of attributes."""
    for name, what in registered_calculators.find_damaged_calculators(reading).items():
        yield ArchiveProblem(f"calculator {name}", f"{what}; register it again")
    calculator_names = set(reading.connection.scalars(select(calculator_rows.c.name)))
    identities = set(reading.connection.scalars(select(attributes.c.identity).distinct()))
    for name, preference in registered_calculators.read_preferences(reading).items():
        if (
            (preference.identity not in identities)
            if preference.calculator is None
            else (preference.calculator not in calculator_names)
        ):
            mend = partial(_forget, preferences, preferences.c.attribute == name)
            what = f"it refers to {preference.identity!r}, which does not exist; record it again: provenn prefer"
            yield ArchiveProblem(f"preference {name}", what, remedy="forget", mend=mend)


def find_run_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check the records of runs."""
    outcomes = (None, *get_args(Outcome))
    columns = (runs.c.reused, runs.c.computed, runs.c.fragments)
    for row in reading.connection.execute(select(runs.c.id, runs.c.outcome, *columns)):
        readable = all(fits_column(column, text or None) for column, text in zip(columns, row[2:], strict=True))
        if not readable or row.outcome not in outcomes:
            mend = partial(_forget, runs, runs.c.id == row.id)
            yield ArchiveProblem(f"run #{row.id}", "its record cannot be read", remedy="forget", mend=mend)


def find_held_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check pins, leases and imports: dead processes must hold none, and none may be held forever."""
    until = clock.now(reading.connection) + _LONGEST
    for table, what in ((pins, "pin"), (leases, "lease"), (imports, "import")):
        seen_holders: set[str] = set()
        places = table.c.place if table is pins else null()
        for holder, expires, place in reading.connection.execute(select(table.c.holder, table.c.expires_at, places)):
            # Pins outside the data folder are checked with leftovers.
            if holder in seen_holders or (place or "").startswith(OUTSIDE):
                continue
            seen_holders.add(holder)
            where, mend = f"{what} of {holder}", partial(_forget, table, table.c.holder == holder)
            if expires > until:
                yield ArchiveProblem(where, f"it would be held until {expires:%Y-%m-%d}", remedy="forget", mend=mend)
            elif is_gone(holder):
                yield ArchiveProblem(where, "its process is gone", "leftover", "forget", mend)
    for holder, identities in reading.connection.execute(select(leases.c.holder, leases.c.identities)):
        if not fits_column(leases.c.identities, identities):
            mend = partial(_forget, leases, leases.c.holder == holder)
            yield ArchiveProblem(f"lease of {holder}", "its subject cannot be read", remedy="forget", mend=mend)
    for staged, number in find_abandoned(reading):
        mend = partial(_forget, staged, staged.c["import"] == number)
        yield ArchiveProblem(f"table {staged.name}", "it holds rows of a finished import", "leftover", "delete", mend)


def find_token_problems(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check tokens: an unknown role, or a digest without a secret, grants no access."""
    for number, role, digest in reading.connection.execute(select(tokens.c.id, tokens.c.role, tokens.c.digest)):
        if role not in _ROLES or not is_digest(digest):
            yield ArchiveProblem(
                f"token #{number}", "it was changed after it was written; revoke it, and create a new one"
            )


def _forget(table: Table, row: Any, writing: Writing) -> None:  # noqa: ANN401 - of SQLAlchemy
    writing.connection.execute(delete(table).where(row))
