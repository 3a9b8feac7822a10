"""The queries for fragments, built once.

Building a query, and comparing it with the queries compiled before, takes longer than the answer of SQLite.
"""

from __future__ import annotations

from sqlalchemy import bindparam, exists, select

from provenn.database.tables import facts as fact_rows
from provenn.database.tables import fragment_attributes, fragment_facts, fragments

__all__ = [
    "ALL",
    "BY_ATTRIBUTES",
    "BY_ATTRIBUTES_ELSEWHERE",
    "BY_EXTENT",
    "BY_NUMBER",
    "COLUMNS_OF",
    "FACTS_OF",
    "USABLE",
    "USABLE_AMONG",
]

ALL = select(fragments).order_by(fragments.c.id)
"""All fragments."""

_rests_on_retracted = exists().where(
    fragment_facts.c.fragment == fragments.c.id,
    fact_rows.c.id == fragment_facts.c.fact,
    fact_rows.c.retracted_at.is_not(None),
)
USABLE = ALL.where(fragments.c.dropped_at.is_(None), ~_rests_on_retracted)
"""The fragments that were not dropped, and all of whose facts hold."""

_holding_fragments = select(fragment_attributes.c.fragment).where(
    fragment_attributes.c.identity.in_(bindparam("identities", expanding=True))
)

BY_NUMBER = ALL.where(fragments.c.id == bindparam("number"))
"""The fragment with a number."""

BY_EXTENT = USABLE.where(fragments.c.extent.in_(bindparam("extents", expanding=True)))
"""The usable fragments with the sources of one of the extents."""

BY_ATTRIBUTES = USABLE.where(fragments.c.id.in_(_holding_fragments))
"""The usable fragments with one of the identities."""

BY_ATTRIBUTES_ELSEWHERE = BY_ATTRIBUTES.where(fragments.c.platform.is_not(None))
"""Those of them whose values depend on the platform."""

USABLE_AMONG = USABLE.where(fragments.c.id.in_(bindparam("numbers", expanding=True)))
"""The usable fragments among some numbers."""

COLUMNS_OF = (
    select(fragment_attributes.c.fragment, fragment_attributes.c.identity, fragment_attributes.c["column"])
    .where(fragment_attributes.c.fragment.in_(bindparam("numbers", expanding=True)))
    .order_by(fragment_attributes.c.fragment, fragment_attributes.c.position)
)
"""Fragment, identity and column of each attribute of some fragments."""

FACTS_OF = (
    select(fragment_facts.c.fragment, fragment_facts.c.fact, fact_rows.c.retracted_at.is_(None))
    .join(fact_rows, fact_rows.c.id == fragment_facts.c.fact)
    .where(fragment_facts.c.fragment.in_(bindparam("numbers", expanding=True)))
    .order_by(fragment_facts.c.fragment, fragment_facts.c.fact)
)
"""Fragment and number of each fact of some fragments, and whether the fact holds."""
