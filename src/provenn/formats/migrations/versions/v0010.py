"""People have quotas, and what they download is counted."""

from alembic import op
from sqlalchemy import BigInteger, Column, Connection, DateTime, Text

from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Make the new tables."""
    op.create_table(
        "quotas",
        Column("who", Text, primary_key=True),
        Column("kind", Text, primary_key=True),
        Column("amount", BigInteger, nullable=False),
        Column("set_at", DateTime(timezone=True), nullable=False),
        Column("set_by", Text, nullable=False),
    )
    op.create_table(
        "downloads",
        Column("who", Text, primary_key=True),
        Column("day", Text, primary_key=True),
        Column("bytes", BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Drop what was made."""
    op.drop_table("downloads")
    op.drop_table("quotas")


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    return [
        *describe_loss(connection, "quotas", "quota"),
        *describe_loss(connection, "downloads", "count of what somebody downloaded"),
    ]
