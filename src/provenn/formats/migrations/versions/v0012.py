"""A few rows of files and fragments are kept, from which the shares of selections are estimated."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, String, Text

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Make the new table."""
    op.create_table(
        "samples",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("fragment", Integer, primary_key=True, autoincrement=False),
        Column("identity", Text, primary_key=True),
        Column("content", Text, nullable=False),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    """Drop what was made: estimates alone rest on it."""
    op.drop_table("samples")
