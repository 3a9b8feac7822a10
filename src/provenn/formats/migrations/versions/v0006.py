"""What the files of base catalogs hold: digests of all bytes, and a memory of digests of files."""

import json

from alembic import op
from sqlalchemy import BigInteger, Column, Connection, String, Text, column, select, table

from provenn.files.file_records import restore_files
from provenn.formats.migrations.losing import describe_loss

__all__ = ["down_revision", "downgrade", "losses", "revision", "upgrade"]

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Make the new table and columns. All base files are unverified until they are read."""
    with op.batch_alter_table("bases") as bases:
        bases.add_column(Column("content", Text, nullable=False, server_default=""))
        bases.add_column(Column("caveat", Text, nullable=False, server_default=""))
    with op.batch_alter_table("verifications") as verifications:
        verifications.add_column(Column("content", Text, nullable=False, server_default=""))
    _record_what_notes_say()
    op.create_table(
        "file_hashes",
        Column("machine", Text, primary_key=True),
        Column("path", Text, primary_key=True),
        Column("digest", String(64), nullable=False),
        Column("stamp", Text, nullable=False),
        Column("started", BigInteger, nullable=False),
        Column("content", String(64), nullable=False),
        sqlite_with_rowid=False,
    )


def _record_what_notes_say() -> None:
    """Record the content and the caveat of each base catalog.

    The notes of an archive that was downgraded to 0005 before may tell what its files hold; all others are unverified.
    `Files` says so: it reads every definition that was ever written, and its digests are part of stored definitions.
    """
    catalogs = table("catalogs", *map(column, ("digest", "kind", "parameters", "notes")))
    bases = table("bases", *map(column, ("catalog", "content", "caveat")))
    query = select(catalogs.c.digest, catalogs.c.parameters, catalogs.c.notes).where(catalogs.c.kind == "Base")
    for digest, parameters, notes in op.get_bind().execute(query).all():
        files = restore_files(json.loads(parameters), json.loads(notes))
        known = {"content": files.content, "caveat": files.caveat or ""}
        op.execute(bases.update().where(bases.c.catalog == digest).values(known))


def downgrade() -> None:
    """Drop what was made, and verifications whose digests older versions cannot check.

    The notes of catalogs stay: an older version does not read what they say of contents.
    """
    op.drop_table("file_hashes")
    op.execute("DELETE FROM verifications WHERE content <> ''")
    op.drop_column("verifications", "content")
    for name in ("caveat", "content"):
        op.drop_column("bases", name)


def losses(connection: Connection) -> list[str]:
    """Return what a downgrade forgets, in words."""
    new = " OR ".join(f"notes LIKE '%\":\"{kind}:%'" for kind in ("blake3", "store", "metadata", "rows"))
    return [
        *describe_loss(
            connection,
            "catalogs",
            "base catalog with fingerprints that older versions do not know: they take its files for changed",
            f"kind = 'Base' AND ({new})",
        ),
        *describe_loss(
            connection,
            "verifications",
            "verified key: it would not be known which content of the files was verified",
            "content <> ''",
        ),
    ]
