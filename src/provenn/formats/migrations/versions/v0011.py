"""Imports write in batches: their rows wait in tables of their own until all of them are published."""

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Integer, String, Text
from sqlalchemy.schema import SchemaItem

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0011"
down_revision = "0010"

_DIGEST = String(64)
_MOMENT = DateTime(timezone=True)


def upgrade() -> None:
    """Make the new tables."""
    op.create_table(
        "imports",
        Column("id", Integer, primary_key=True),
        Column("holder", Text, nullable=False),
        Column("by", Text, nullable=False),
        Column("begun_at", _MOMENT, nullable=False),
        Column("expires_at", _MOMENT, nullable=False),
        sqlite_autoincrement=True,
    )
    _create(
        "schemas",
        Column("digest", _DIGEST, primary_key=True),
        Column("attributes", Integer, nullable=False),
        Column("names", Text, nullable=False),
    )
    _create(
        "catalogs",
        Column("digest", _DIGEST, primary_key=True),
        Column("kind", Text, nullable=False),
        Column("population", Text, nullable=False),
        Column("parameters", Text, nullable=False),
        Column("notes", Text, nullable=False),
        Column("extent", _DIGEST, nullable=False),
        Column("created_at", _MOMENT, nullable=False),
        Column("created_by", Text, nullable=False),
        Column("schema", _DIGEST, nullable=False),
    )
    _create(
        "dependencies",
        Column("catalog", _DIGEST, primary_key=True),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("dependency", _DIGEST, nullable=False),
    )
    _create(
        "attributes",
        Column("catalog", _DIGEST, primary_key=True),
        Column("name", Text, primary_key=True),
        Column("identity", Text, nullable=False),
        Column("population", Text, nullable=False),
    )
    _create("wordings", Column("catalog", _DIGEST, primary_key=True), Column("text", Text, nullable=False))
    _create(
        "bases",
        Column("catalog", _DIGEST, primary_key=True),
        Column("location", Text, nullable=False),
        Column("row_count", BigInteger),
        Column("seen_at", _MOMENT, nullable=False),
        Column("seen_by", Text, nullable=False),
        Column("content", Text, nullable=False),
        Column("caveat", Text, nullable=False),
    )
    _create(
        "definers",
        Column("catalog", _DIGEST, primary_key=True),
        Column("who", Text, primary_key=True),
        Column("at", _MOMENT, nullable=False),
        Column("defined", Boolean, nullable=False),
    )


def _create(name: str, *columns: SchemaItem) -> None:
    number = Column("import", Integer, primary_key=True, autoincrement=False)
    op.create_table(f"staged_{name}", number, *columns, sqlite_with_rowid=False)


def downgrade() -> None:
    """Drop what was made: it holds nothing but imports that are not complete."""
    for name in ("definers", "bases", "wordings", "attributes", "dependencies", "catalogs", "schemas"):
        op.drop_table(f"staged_{name}")
    op.drop_table("imports")
