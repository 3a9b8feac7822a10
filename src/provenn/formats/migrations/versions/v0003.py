"""Which catalogs define which attributes, so that a name is found without restoring catalogs."""

from alembic import op
from sqlalchemy import Column, ForeignKey, Index, String, Text

from provenn.formats.migrations.frozen import fill_attributes, restore_catalogs

__all__ = ["down_revision", "downgrade", "revision", "upgrade"]

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Make the table, and fill it from the definitions that are there."""
    op.create_table(
        "attributes",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("name", Text, primary_key=True),
        Column("identity", Text, nullable=False, index=True),
        Column("population", Text, nullable=False),
        Index("ix_attributes_population_name", "population", "name"),
        sqlite_with_rowid=False,
    )
    connection = op.get_bind()
    fill_attributes(connection, restore_catalogs(connection))


def downgrade() -> None:
    """Drop the table; it says nothing that the definitions do not say."""
    op.drop_table("attributes")
