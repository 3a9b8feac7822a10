"""Cheap values that change whenever the part of the archive changes that planning, or a page, reads."""

from __future__ import annotations

from collections.abc import Hashable

from sqlalchemy import Column, Table, func, select

from provenn.database.tables import (
    audit,
    bases,
    calculators,
    counts,
    definers,
    fragments,
    name_history,
    preferences,
    verifications,
)
from provenn.database.transactions import Reading
from provenn.knowledge.stored_facts import read_knowledge_state

__all__ = ["read_planning_state", "read_shown_state"]

_NUMBERED: tuple[Column[int], ...] = (name_history.c.id, fragments.c.id, audit.c.id)
"""Numbers that only grow. Preferences, calculators, projects, names and repairs are audited."""

_COUNTED: tuple[Table | Column[object], ...] = (
    fragments,
    fragments.c.dropped_at,
    counts,
    verifications,
    definers,
    bases,
    calculators,
    preferences,
)
"""The tables whose rows are counted, and the columns whose values are counted."""

_LATEST = (counts.c.counted_at, verifications.c.verified_at, bases.c.seen_at, calculators.c.registered_at)
"""The times of rows that may be replaced."""


_STATE = select(
    *(select(func.max(column)).scalar_subquery() for column in (*_NUMBERED, *_LATEST)),
    *(
        select(func.count() if isinstance(counted, Table) else func.count(counted))
        .select_from(counted if isinstance(counted, Table) else counted.table)
        .scalar_subquery()
        for counted in _COUNTED
    ),
    select(func.count()).select_from(definers).where(definers.c.defined).scalar_subquery(),
    select(func.count()).select_from(bases).where(bases.c.content == "").scalar_subquery(),
)


def read_planning_state(reading: Reading) -> Hashable:
    """Return a value that changes whenever planning may read something else than before.

    Planning reads definitions, names, preferences, calculators, facts, fragments, counts, verified keys, and who sees
    them. Definitions never change; every other change adds a row, drops a fragment, or is audited.
    """
    return read_knowledge_state(reading), tuple(reading.connection.execute(_STATE).one())


_USE = select(func.max(fragments.c.used_at), func.sum(fragments.c.uses), func.count(fragments.c.removed_at))


def read_shown_state(reading: Reading) -> Hashable:
    """Return a value that changes whenever a page about catalogs may show the viewer something else than before.

    Pages show what planning reads, and how fragments are used. The value stays if only proofs, tallies, uses of tokens
    and runs are recorded: a kept proof or tally is what a page would find again. A page that shows more if something
    was tallied must look at the tallies itself.
    """
    return read_planning_state(reading), tuple(reading.connection.execute(_USE).one())
