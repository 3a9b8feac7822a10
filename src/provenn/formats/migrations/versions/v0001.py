"""The first archive."""

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Text

from provenn.database.tables import Moment

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0001"
down_revision = None

_TABLES = (
    *("preferences", "calculators", "proof_facts", "proofs", "fact_bases", "fact_catalogs", "facts"),
    *("name_history", "names", "bases", "dependencies", "catalogs", "populations"),
)


def upgrade() -> None:
    """Make all tables."""
    _catalogs()
    _names()
    _facts()
    _proofs()
    _calculators()


def downgrade() -> None:
    """Drop all tables."""
    for name in _TABLES:
        op.drop_table(name)


def _catalogs() -> None:
    op.create_table(
        "populations",
        Column("name", Text, primary_key=True),
        Column("key", Text, nullable=False),
    )
    op.create_table(
        "catalogs",
        Column("digest", String(64), primary_key=True),
        Column("kind", Text, nullable=False),
        Column("population", Text, ForeignKey("populations.name"), nullable=False, index=True),
        Column("parameters", Text, nullable=False),
        Column("notes", Text, nullable=False),
        Column("extent", String(64), nullable=False, index=True),
        Column("created_at", Moment, nullable=False),
        Column("created_by", Text, nullable=False),
    )
    op.create_table(
        "dependencies",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("dependency", String(64), ForeignKey("catalogs.digest"), nullable=False, index=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "bases",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("location", Text, nullable=False),
        Column("row_count", BigInteger),
        Column("seen_at", Moment, nullable=False),
        Column("seen_by", Text, nullable=False),
    )


def _names() -> None:
    op.create_table(
        "names",
        Column("name", Text, primary_key=True),
        Column("catalog", String(64), ForeignKey("catalogs.digest"), nullable=False, index=True),
        Column("changed_at", Moment, nullable=False),
        Column("changed_by", Text, nullable=False),
    )
    op.create_table(
        "name_history",
        Column("id", Integer, primary_key=True),
        Column("name", Text, nullable=False, index=True),
        Column("catalog", String(64), ForeignKey("catalogs.digest")),
        Column("at", Moment, nullable=False),
        Column("by", Text, nullable=False),
        sqlite_autoincrement=True,
    )


def _facts() -> None:
    op.create_table(
        "facts",
        Column("id", Integer, primary_key=True),
        Column("statement", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("origin", Text, nullable=False),
        Column("declared_by", Text, nullable=False),
        Column("declared_at", Moment, nullable=False),
        Column("retracted_at", Moment),
        Column("retracted_by", Text),
        Column("retracted_reason", Text),
        Column("digest", String(64), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "fact_catalogs",
        Column("fact", Integer, ForeignKey("facts.id"), primary_key=True),
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True, index=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fact_bases",
        Column("fact", Integer, ForeignKey("facts.id"), primary_key=True),
        Column("base", String(64), ForeignKey("catalogs.digest"), primary_key=True, index=True),
        sqlite_with_rowid=False,
    )


def _proofs() -> None:
    op.create_table(
        "proofs",
        Column("digest", String(64), primary_key=True),
        Column("statement", Text, nullable=False),
        Column("verdict", Text, nullable=False),
        Column("facts", Text, nullable=False),
        Column("proved_at", Moment, nullable=False),
        Column("proved_by", Text, nullable=False),
        Column("content", String(64), nullable=False),
    )
    op.create_table(
        "proof_facts",
        Column("proof", String(64), ForeignKey("proofs.digest", ondelete="CASCADE"), primary_key=True),
        Column("fact", Integer, ForeignKey("facts.id"), primary_key=True, index=True),
        sqlite_with_rowid=False,
    )


def _calculators() -> None:
    op.create_table(
        "calculators",
        Column("digest", String(64), primary_key=True),
        Column("name", Text, nullable=False, index=True),
        Column("definition", Text, nullable=False),
        Column("registered_at", Moment, nullable=False),
        Column("registered_by", Text, nullable=False),
    )
    op.create_table(
        "preferences",
        Column("attribute", Text, primary_key=True),
        Column("identity", Text, nullable=False),
        Column("at", Moment, nullable=False),
        Column("by", Text, nullable=False),
    )
