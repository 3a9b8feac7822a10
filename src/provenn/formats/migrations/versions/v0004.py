"""Lists of catalogs that are quick in a large archive; what runs read, and what that saved."""

from alembic import op
from sqlalchemy import (
    Column,
    Connection,
    Float,
    ForeignKey,
    Integer,
    String,
    Text,
    bindparam,
    column,
    table,
    update,
)

from provenn.formats.migrations.frozen import fill_schemas, fill_wordings, restore_catalogs
from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0004"
down_revision = "0003"

_LISTED = ["created_at", "digest", "population", "kind", "created_by", "schema"]


def upgrade() -> None:
    """Make the new tables and columns, and fill them from the definitions that are there."""
    op.create_table(
        "schemas",
        Column("digest", String(64), primary_key=True),
        Column("attributes", Integer, nullable=False),
        Column("names", Text, nullable=False),
    )
    op.create_table(
        "wordings",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("text", Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.add_column("catalogs", Column("schema", String(64)))
    _fill()
    op.drop_index("ix_catalogs_population", "catalogs")
    with op.batch_alter_table("catalogs") as catalogs:
        catalogs.alter_column("schema", nullable=False)
        catalogs.create_foreign_key("fk_catalogs_schema", "schemas", ["schema"], ["digest"])
    op.create_index("ix_catalogs_listed", "catalogs", _LISTED)
    op.add_column("runs", Column("fragments", Text))
    op.add_column("runs", Column("saved", Float))


def downgrade() -> None:
    """Drop what was made; all but what runs read and saved follows from the definitions."""
    op.drop_column("runs", "saved")
    op.drop_column("runs", "fragments")
    op.drop_index("ix_catalogs_listed", "catalogs")
    with op.batch_alter_table("catalogs") as catalogs:
        catalogs.drop_constraint("fk_catalogs_schema", type_="foreignkey")
        catalogs.drop_column("schema")
    op.create_index("ix_catalogs_population", "catalogs", ["population"])
    op.drop_table("wordings")
    op.drop_table("schemas")


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    return describe_loss(
        connection, "runs", "run's note of what it read and saved", "fragments IS NOT NULL OR saved IS NOT NULL"
    )


def _fill() -> None:
    connection = op.get_bind()
    catalogs = restore_catalogs(connection)
    fill_wordings(connection, catalogs)
    schemas = [
        {"catalog": digest, "catalog_schema": schema} for digest, schema in fill_schemas(connection, catalogs).items()
    ]
    if schemas:
        rows = table("catalogs", column("digest"), column("schema"))
        change = update(rows).where(rows.c.digest == bindparam("catalog")).values(schema=bindparam("catalog_schema"))
        connection.execute(change, schemas)
