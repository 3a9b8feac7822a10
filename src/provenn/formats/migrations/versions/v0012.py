"""Kept from now on: a few rows of files and fragments, for estimates; what each file states; followed exports."""

from alembic import op
from sqlalchemy import BigInteger, Column, Connection, DateTime, ForeignKey, Integer, String, Text

from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0012"
down_revision = "0011"

_DIGEST = String(64)
_MOMENT = DateTime(timezone=True)


def upgrade() -> None:
    """Make the new tables."""
    op.create_table(
        "samples",
        Column("catalog", _DIGEST, ForeignKey("catalogs.digest"), primary_key=True),
        Column("fragment", Integer, primary_key=True, autoincrement=False),
        Column("identity", Text, primary_key=True),
        Column("content", Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "file_bounds",
        Column("catalog", _DIGEST, ForeignKey("catalogs.digest"), primary_key=True),
        Column("column", Text, primary_key=True),
        Column("content", Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "exports",
        Column("id", Integer, primary_key=True),
        Column("path", Text, nullable=False, unique=True),
        Column("name", Text, nullable=False),
        Column("request", Text, nullable=False),
        Column("options", Text, nullable=False),
        Column("content", _DIGEST, nullable=False),
        Column("stamp", Text, nullable=False),
        Column("rows", BigInteger, nullable=False),
        Column("by", Text, nullable=False),
        Column("at", _MOMENT, nullable=False),
        Column("begun_at", _MOMENT),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Drop what was made: followed exports; rows on which estimates alone rest; what files state, to skip them."""
    op.drop_table("exports")
    op.drop_table("file_bounds")
    op.drop_table("samples")


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    return describe_loss(connection, "exports", "followed export")
