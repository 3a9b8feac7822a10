"""What is seen and stored is known by its platform, where Java or the machine may show in it."""

import re

from alembic import op
from sqlalchemy import Column, Connection, Text, column, select, table, update

from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0009"
down_revision = "0008"

_BOUND = ("fragments", "counts", "facts")
_SHOWING = re.compile(
    r"\b(cbrt|tanh|sinh|cosh|round|bround)\(|\bRLIKE\b|\bAS (STRING|DATE|TIMESTAMP|TIMESTAMP_NTZ|DECIMAL\(\d+,\d+\))\)"
)
"""What is written in definitions whose values differ between versions of Java, or were read by the clock: or may be."""


def upgrade() -> None:
    """Make the new columns.

    Older versions did not record on which Java they computed. What they stored and saw of catalogs in which Java may
    show is of an unknown platform from now on: it is not read any more, and is computed again where it is needed.
    """
    for name in _BOUND:
        op.add_column(name, Column("platform", Text))
    affected = _affected(op.get_bind())
    fact_catalogs = table("fact_catalogs", column("fact"), column("catalog"))
    for name in ("fragments", "counts"):
        rows = table(name, column("catalog"), column("platform"))
        _mark(rows, rows.c.catalog, affected)
    query = select(fact_catalogs.c.fact, fact_catalogs.c.catalog)
    numbers = {fact for fact, catalog in op.get_bind().execute(query) if catalog in affected}
    facts = table("facts", column("id"), column("origin"), column("platform"))
    _mark(facts, facts.c.id, numbers, facts.c.origin == "observed")


def _affected(connection: Connection) -> set[str]:
    """Return the digests of catalogs in whose lineage Java may show."""
    catalogs = table("catalogs", *map(column, ("digest", "kind", "parameters")))
    dependencies = table("dependencies", column("catalog"), column("dependency"))
    query = select(catalogs.c.digest, catalogs.c.parameters)
    found = {
        digest
        for digest, parameters in connection.execute(
            query.where(catalogs.c.kind.in_(["SelectSources", "DeriveAttributes"]))
        )
        if _SHOWING.search(parameters)
    }
    made_from: dict[str, list[str]] = {}
    if found:
        for catalog, dependency in connection.execute(select(dependencies.c.catalog, dependencies.c.dependency)):
            made_from.setdefault(dependency, []).append(catalog)
    pending = list(found)
    while pending:
        further = set(made_from.get(pending.pop(), ())) - found
        found |= further
        pending.extend(further)
    return found


def _mark(rows, key, wanted, *conditions) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002
    several = sorted(wanted)
    for start in range(0, len(several), 1000):
        chosen = key.in_(several[start : start + 1000])
        op.execute(update(rows).where(chosen, *conditions).values(platform="unknown"))


def downgrade() -> None:
    """Drop what was made. An older version would use everywhere what holds on one platform alone: that is ended."""
    op.execute("DELETE FROM counts WHERE platform IS NOT NULL")
    bound = "SELECT id FROM facts WHERE platform IS NOT NULL"
    op.execute(f"DELETE FROM proofs WHERE digest IN (SELECT proof FROM proof_facts WHERE fact IN ({bound}))")  # noqa: S608
    op.execute(f"DELETE FROM proof_facts WHERE fact IN ({bound})")  # noqa: S608
    op.execute(
        "UPDATE facts SET retracted_at = declared_at, retracted_by = declared_by, "
        "retracted_reason = 'observed on ' || platform WHERE platform IS NOT NULL AND retracted_at IS NULL"
    )
    op.execute(
        "UPDATE fragments SET dropped_at = stored_at, dropped_by = stored_by, "
        "dropped_reason = 'computed on ' || platform WHERE platform IS NOT NULL AND dropped_at IS NULL"
    )
    for name in _BOUND:
        op.drop_column(name, "platform")


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    bound = "platform IS NOT NULL"
    return [
        *describe_loss(
            connection, "fragments", "fragment of one platform: it would be dropped", f"{bound} AND dropped_at IS NULL"
        ),
        *describe_loss(
            connection, "facts", "fact of one platform: it would be retracted", f"{bound} AND retracted_at IS NULL"
        ),
        *describe_loss(connection, "counts", "count of one platform", bound),
    ]
