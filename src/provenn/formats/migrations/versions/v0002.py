"""Data: fragments and who reads them, counts, verified keys, runs; and settings of the archive."""

from alembic import op
from sqlalchemy import BigInteger, Column, Connection, Float, ForeignKey, Integer, String, Text

from provenn.database.tables import Moment
from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0002"
down_revision = "0001"

_TABLES = (
    *("runs", "verifications", "counts", "pins", "fragment_facts", "fragment_attributes", "fragments"),
    "settings",
)


def upgrade() -> None:
    """Make the new tables; those of 0001 stay as they are."""
    op.create_table(
        "settings",
        Column("key", Text, primary_key=True),
        Column("value", Text, nullable=False),
    )
    _fragments()
    _observations()
    _runs()


def downgrade() -> None:
    """Drop what was made. Files of fragments stay, and nothing refers to them."""
    for name in _TABLES:
        op.drop_table(name)


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    kinds = {
        "settings": "setting, such as where data are kept",
        "fragments": "fragment: stored data, found no more",
        "counts": "count of rows",
        "verifications": "verification of a key",
        "runs": "run",
    }
    made_later = {"settings": "key NOT IN ('epoch', 'audit head')"}
    return [
        told
        for name, what in kinds.items()
        for told in describe_loss(connection, name, what, made_later.get(name, "true"))
    ]


def _fragments() -> None:
    op.create_table(
        "fragments",
        Column("id", Integer, primary_key=True),
        Column("catalog", String(64), ForeignKey("catalogs.digest"), nullable=False, index=True),
        Column("population", Text, nullable=False),
        Column("extent", String(64), nullable=False, index=True),
        Column("location", Text, nullable=False),
        Column("rows", BigInteger, nullable=False),
        Column("size", BigInteger, nullable=False),
        Column("files", Text, nullable=False),
        Column("seconds", Float, nullable=False),
        Column("stored_at", Moment, nullable=False),
        Column("stored_by", Text, nullable=False),
        Column("used_at", Moment, nullable=False),
        Column("uses", Integer, nullable=False),
        Column("dropped_at", Moment),
        Column("dropped_by", Text),
        Column("dropped_reason", Text),
        Column("removed_at", Moment),
        Column("digest", String(64), nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "fragment_attributes",
        Column("fragment", Integer, ForeignKey("fragments.id"), primary_key=True),
        Column("position", Integer, primary_key=True, autoincrement=False),
        Column("identity", Text, nullable=False, index=True),
        Column("column", Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "fragment_facts",
        Column("fragment", Integer, ForeignKey("fragments.id"), primary_key=True),
        Column("fact", Integer, ForeignKey("facts.id"), primary_key=True, index=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pins",
        Column("place", Text, primary_key=True),
        Column("holder", Text, primary_key=True),
        Column("by", Text, nullable=False),
        Column("pinned_at", Moment, nullable=False),
        Column("expires_at", Moment, nullable=False),
        sqlite_with_rowid=False,
    )


def _observations() -> None:
    op.create_table(
        "counts",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("rows", BigInteger, nullable=False),
        Column("counted_at", Moment, nullable=False),
        Column("counted_by", Text, nullable=False),
        Column("digest", String(64), nullable=False),
    )
    op.create_table(
        "verifications",
        Column("base", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("rows", BigInteger, nullable=False),
        Column("verified_at", Moment, nullable=False),
        Column("verified_by", Text, nullable=False),
        Column("digest", String(64), nullable=False),
    )


def _runs() -> None:
    op.create_table(
        "runs",
        Column("id", Integer, primary_key=True),
        Column("catalog", String(64), ForeignKey("catalogs.digest"), index=True),
        Column("target", Text, nullable=False),
        Column("by", Text, nullable=False),
        Column("started_at", Moment, nullable=False, index=True),
        Column("ended_at", Moment),
        Column("outcome", Text),
        Column("seconds", Float),
        Column("rows", BigInteger),
        Column("reused", Text),
        Column("computed", Text),
        sqlite_autoincrement=True,
    )
