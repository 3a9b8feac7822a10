"""Catalogs that only runs needed are told apart from definitions, and calculators are preferred by name."""

from alembic import op
from sqlalchemy import Boolean, Column, Connection, column, delete, func, select, table, true

from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the new column and the new key.

    Older versions did not record whether a person or a run added a catalog, so all of them count as definitions.
    """
    op.add_column("definers", Column("defined", Boolean, nullable=False, server_default=true()))
    called = "(SELECT name FROM calculators WHERE digest = identity)"
    op.execute(f"UPDATE preferences SET identity = 'calculator:' || {called} WHERE {called} IS NOT NULL")  # noqa: S608
    op.drop_index("ix_calculators_name", "calculators")
    _change_key("name", "digest")
    op.create_index("ix_calculators_digest", "calculators", ["digest"])


def _change_key(*columns: str) -> None:
    with op.batch_alter_table("calculators") as calculators:
        calculators.drop_constraint("pk_calculators", type_="primary")
        calculators.create_primary_key("pk_calculators", list(columns))


def downgrade() -> None:
    """Drop what was made. Of several names of a calculator, the one that was registered last stays."""
    op.drop_column("definers", "defined")
    newest = "SELECT max(registered_at) FROM calculators WHERE 'calculator:' || name = identity"
    digest = (
        f"SELECT min(digest) FROM calculators WHERE 'calculator:' || name = identity AND registered_at = ({newest})"  # noqa: S608
    )
    op.execute(f"UPDATE preferences SET identity = coalesce(({digest}), identity) WHERE identity LIKE 'calculator:%'")  # noqa: S608
    columns = ("name", "digest", "registered_at")
    one = table("calculators", *map(column, columns))
    other = table("calculators", *map(column, columns)).alias("other")
    same = other.c.digest == one.c.digest
    last = select(func.max(other.c.registered_at)).where(same).scalar_subquery()
    op.execute(delete(one).where(one.c.registered_at != last))
    first = select(func.min(other.c.name)).where(same).scalar_subquery()
    op.execute(delete(one).where(one.c.name != first))
    op.drop_index("ix_calculators_digest", "calculators")
    _change_key("digest")
    op.create_index("ix_calculators_name", "calculators", ["name"])


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    return [
        *describe_loss(
            connection,
            "definers",
            "catalog that only a run needed: it would count as a definition",
            "NOT defined",
        ),
        *describe_loss(
            connection,
            "calculators",
            "further name of a calculator",
            "EXISTS (SELECT 1 FROM calculators o WHERE o.digest = calculators.digest AND o.name < calculators.name)",
        ),
    ]
