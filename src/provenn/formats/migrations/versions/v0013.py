"""Kept from now on: what pages and pictures have counted of a catalog."""

from alembic import op
from sqlalchemy import Column, Connection, DateTime, ForeignKey, String, Text

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Make the new table."""
    op.create_table(
        "tallies",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("subject", Text, primary_key=True),
        Column("tallied_by", Text, primary_key=True),
        Column("tallied_at", DateTime(timezone=True), nullable=False),
        Column("content", Text, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop what was counted: it can be counted anew."""
    op.drop_table("tallies")


def losses(connection: Connection) -> list[str]:  # noqa: ARG001 - the interface of a step
    """Return what a downgrade forgets, in words: nothing that cannot be counted anew."""
    return []
