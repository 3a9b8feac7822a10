"""Who may see what, who may come in, who did what, and who computes what just now."""

from alembic import op
from sqlalchemy import (
    Column,
    Connection,
    DateTime,
    ForeignKey,
    Integer,
    String,
    Text,
    column,
    delete,
    func,
    select,
    table,
)

from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0005"
down_revision = "0004"

_TABLES = ("leases", "audit", "tokens", "members", "projects", "definers")
_SEEN = ("visibility", "project")
_BY_PERSON = {"counts": ("catalog", "counted_by"), "verifications": ("base", "verified_by")}
"""What several people may have found out, each for himself: the columns of the new key."""


def upgrade() -> None:
    """Make the new tables and columns. What is there stays visible to all, and belongs to whoever wrote it last."""
    for name, owned in (("names", True), ("name_history", True), ("facts", False)):
        with op.batch_alter_table(name) as one:
            if owned:
                one.add_column(Column("owner", Text, nullable=False, server_default=""))
            one.add_column(Column("visibility", Text, nullable=False, server_default="public"))
            one.add_column(Column("project", Text))
    op.execute("UPDATE names SET owner = changed_by")
    op.execute('UPDATE name_history SET owner = "by"')
    moment = DateTime(timezone=True)
    op.create_table(
        "definers",
        Column("catalog", String(64), ForeignKey("catalogs.digest"), primary_key=True),
        Column("who", Text, primary_key=True, index=True),
        Column("at", moment, nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute("INSERT INTO definers (catalog, who, at) SELECT digest, created_by, created_at FROM catalogs")
    for name, (which, person) in _BY_PERSON.items():
        _change_key(name, which, person)
    op.create_table(
        "projects",
        Column("name", Text, primary_key=True),
        Column("owner", Text, nullable=False),
        Column("created_at", moment, nullable=False),
    )
    op.create_table(
        "members",
        Column("project", Text, ForeignKey("projects.name", ondelete="CASCADE"), primary_key=True),
        Column("who", Text, primary_key=True, index=True),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "tokens",
        Column("id", Integer, primary_key=True),
        Column("who", Text, nullable=False),
        Column("role", Text, nullable=False),
        Column("digest", String(64), nullable=False, unique=True),
        Column("created_at", moment, nullable=False),
        Column("created_by", Text, nullable=False),
        Column("expires_at", moment),
        Column("used_at", moment),
        Column("revoked_at", moment),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "audit",
        Column("id", Integer, primary_key=True),
        Column("at", moment, nullable=False, index=True),
        Column("who", Text, nullable=False),
        Column("via", Text, nullable=False),
        Column("action", Text, nullable=False),
        Column("subject", Text, nullable=False),
        Column("detail", Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "leases",
        Column("holder", Text, primary_key=True),
        Column("catalog", Text, nullable=False),
        Column("identities", Text, nullable=False),
        Column("by", Text, nullable=False),
        Column("taken_at", moment, nullable=False),
        Column("expires_at", moment, nullable=False),
        sqlite_with_rowid=False,
    )


def _change_key(name: str, *columns: str) -> None:
    with op.batch_alter_table(name) as one:
        one.drop_constraint(f"pk_{name}", type_="primary")
        one.create_primary_key(f"pk_{name}", list(columns))


def downgrade() -> None:
    """Drop what was made. Who may see what is forgotten: everybody sees all."""
    for name, (which, person) in _BY_PERSON.items():
        one = table(name, column(which), column(person))
        other = table(name, column(which), column(person)).alias("other")
        first = select(func.min(other.c[person])).where(other.c[which] == one.c[which]).scalar_subquery()
        op.execute(delete(one).where(one.c[person] != first))
        _change_key(name, which)
    for name in _TABLES:
        op.drop_table(name)
    for name in ("names", "name_history", "facts"):
        for each in (*_SEEN, *(() if name == "facts" else ("owner",))):
            op.drop_column(name, each)


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    hidden = "visibility <> 'public'"
    return [
        *describe_loss(connection, "names", "name that not everybody sees: everybody would", hidden),
        *describe_loss(connection, "name_history", "change of such a name: everybody would see it", hidden),
        *describe_loss(connection, "facts", "fact that not everybody sees: everybody would", hidden),
        *describe_loss(
            connection, "names", "name that belongs to another than who changed it last", "owner <> changed_by"
        ),
        *describe_loss(
            connection,
            "definers",
            "person who defined a catalog after somebody else",
            "NOT EXISTS (SELECT 1 FROM catalogs WHERE digest = catalog AND created_by = who)",
        ),
        *(
            told
            for name, (which, person) in _BY_PERSON.items()
            for told in describe_loss(
                connection,
                name,
                f"row of {name} that somebody else has found out too",
                f"EXISTS (SELECT 1 FROM {name} o WHERE o.{which} = {name}.{which} AND o.{person} < {name}.{person})",  # noqa: S608
            )
        ),
        *describe_loss(connection, "projects", "project, with its members"),
        *describe_loss(connection, "tokens", "token"),
        *describe_loss(connection, "audit", "entry of the audit log"),
    ]
