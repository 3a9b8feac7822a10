"""A chain of digests over the audit log, the ids of transactions, and an epoch by which an archive is told apart."""

import secrets
from datetime import UTC, datetime

from alembic import op
from sqlalchemy import Column, Connection, DateTime, Integer, String, Text, column, select, table

from provenn.database.tables import Moment
from provenn.formats.migrations.frozen import AUDIT_HEAD, EPOCH, compute_audit_digest
from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0008"
down_revision = "0007"

_SETTINGS = table("settings", column("key"), column("value"))
_AUDIT = table(
    "audit",
    column("id", Integer),
    column("at", Moment),
    *(column(name, Text) for name in ("who", "via", "action", "subject", "detail", "previous", "digest")),
)


def upgrade() -> None:
    """Make the new columns and the new table, and chain the entries that are there."""
    for name in ("previous", "digest"):
        op.add_column("audit", Column(name, String(64), nullable=False, server_default=""))
    op.create_table(
        "operations",
        Column("id", Text, primary_key=True),
        Column("at", DateTime(timezone=True), nullable=False, index=True),
        Column("who", Text, nullable=False),
        Column("via", Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute(_SETTINGS.insert().values(key=EPOCH, value=secrets.token_hex(16)))
    _chain(op.get_bind())


def _chain(connection: Connection) -> None:
    """Chain the entries of the audit log, and add one that says since when they are chained."""
    names = ("id", "at", "who", "via", "action", "subject", "detail")
    rows = connection.execute(select(*(_AUDIT.c[name] for name in names)).order_by(_AUDIT.c.id)).all()
    if not rows:
        return
    said = f"{len(rows)} entries before this one are vouched for since now, not since they were written"
    now = datetime.now(UTC)
    connection.execute(
        _AUDIT.insert().values(
            at=now, who="provenn", via="migration", action="chain audit log", subject="format 0008", detail=said
        )
    )
    rows = connection.execute(select(*(_AUDIT.c[name] for name in names)).order_by(_AUDIT.c.id)).all()
    previous = ""
    for row in rows:
        digest = compute_audit_digest(previous, *row)
        entry = _AUDIT.update().where(_AUDIT.c.id == row.id)
        connection.execute(entry.values(previous=previous, digest=digest))
        previous = digest
    connection.execute(_SETTINGS.insert().values(key=AUDIT_HEAD, value=f"{rows[-1].id}:{previous}"))


def downgrade() -> None:
    """Drop what was made. Nothing vouches for the audit log then."""
    op.drop_table("operations")
    for name in ("digest", "previous"):
        op.drop_column("audit", name)
    op.execute(_SETTINGS.delete().where(_SETTINGS.c.key.in_([EPOCH, AUDIT_HEAD])))


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    return describe_loss(connection, "audit", "digest of an entry of the audit log: nothing would vouch for them")
