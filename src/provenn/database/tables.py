"""The tables of an archive.

Definitions are immutable: a row of ``catalogs`` and its rows of ``dependencies`` are inserted once and never changed.
Changing data (names, locations of files, facts, proofs, fragments) have separate tables. The page
docs/reference/archive-format.md says which columns the digests cover, and which are only recorded.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    true,
)

__all__ = [
    "STAGED",
    "VERSION",
    "VERSION_TABLE",
    "Moment",
    "attributes",
    "audit",
    "bases",
    "calculators",
    "catalogs",
    "counts",
    "definers",
    "dependencies",
    "downloads",
    "exports",
    "fact_bases",
    "fact_catalogs",
    "facts",
    "file_bounds",
    "file_hashes",
    "fragment_attributes",
    "fragment_facts",
    "fragments",
    "imports",
    "leases",
    "members",
    "metadata",
    "name_history",
    "names",
    "operations",
    "pins",
    "populations",
    "preferences",
    "projects",
    "proof_facts",
    "proofs",
    "quotas",
    "runs",
    "samples",
    "schemas",
    "settings",
    "tallies",
    "tokens",
    "verifications",
    "wordings",
]

VERSION = "0013"
"""The revision of the newest migration, whose result are the tables of this module."""

VERSION_TABLE = "provenn_version"


class Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite has no time zones, so its values are marked as UTC when they are read."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the interface
        """Convert a time to UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - the interface
        """Return the time in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_Digest = String(64)

populations = Table(
    "populations",
    metadata,
    Column("name", Text, primary_key=True),
    Column("key", Text, nullable=False),
)

schemas = Table(
    "schemas",
    metadata,
    Column("digest", _Digest, primary_key=True),
    Column("attributes", Integer, nullable=False),
    Column("names", Text, nullable=False),
)

catalogs = Table(
    "catalogs",
    metadata,
    Column("digest", _Digest, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("population", ForeignKey("populations.name"), nullable=False),
    Column("parameters", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("extent", _Digest, nullable=False, index=True),
    Column("created_at", Moment, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("schema", ForeignKey("schemas.digest"), nullable=False),
    # All columns by which a list of catalogs is filtered and sorted: a list is read from this index, not from rows.
    Index("ix_catalogs_listed", "created_at", "digest", "population", "kind", "created_by", "schema"),
)

wordings = Table(
    "wordings",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)

dependencies = Table(
    "dependencies",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("dependency", ForeignKey("catalogs.digest"), nullable=False, index=True),
    sqlite_with_rowid=False,
)

bases = Table(
    "bases",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("location", Text, nullable=False),
    Column("row_count", BigInteger),
    Column("seen_at", Moment, nullable=False),
    Column("seen_by", Text, nullable=False),
    # The digest of the files' contents (`Files.content`), and what is taken on trust about them (`Files.caveat`).
    Column("content", Text, nullable=False, server_default=""),
    Column("caveat", Text, nullable=False, server_default=""),
)

file_hashes = Table(
    "file_hashes",
    metadata,
    Column("machine", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("digest", _Digest, nullable=False),
    Column("stamp", Text, nullable=False),
    Column("started", BigInteger, nullable=False),
    Column("content", _Digest, nullable=False),
    sqlite_with_rowid=False,
)

names = Table(
    "names",
    metadata,
    Column("name", Text, primary_key=True),
    Column("catalog", ForeignKey("catalogs.digest"), nullable=False, index=True),
    Column("changed_at", Moment, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Column("visibility", Text, nullable=False, server_default="public"),
    Column("project", Text),
)

name_history = Table(
    "name_history",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False, index=True),
    Column("catalog", ForeignKey("catalogs.digest")),
    Column("at", Moment, nullable=False),
    Column("by", Text, nullable=False),
    Column("owner", Text, nullable=False, server_default=""),
    Column("visibility", Text, nullable=False, server_default="public"),
    Column("project", Text),
    sqlite_autoincrement=True,
)

facts = Table(
    "facts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("statement", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("declared_by", Text, nullable=False),
    Column("declared_at", Moment, nullable=False),
    Column("retracted_at", Moment),
    Column("retracted_by", Text),
    Column("retracted_reason", Text),
    Column("digest", _Digest, nullable=False),
    Column("visibility", Text, nullable=False, server_default="public"),
    Column("project", Text),
    Column("platform", Text),
    sqlite_autoincrement=True,  # the number of a fact is never used again
)

fact_catalogs = Table(
    "fact_catalogs",
    metadata,
    Column("fact", ForeignKey("facts.id"), primary_key=True),
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

fact_bases = Table(
    "fact_bases",
    metadata,
    Column("fact", ForeignKey("facts.id"), primary_key=True),
    Column("base", ForeignKey("catalogs.digest"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

proofs = Table(
    "proofs",
    metadata,
    Column("digest", _Digest, primary_key=True),
    Column("statement", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("proved_at", Moment, nullable=False),
    Column("proved_by", Text, nullable=False),
    Column("content", _Digest, nullable=False),
)

proof_facts = Table(
    "proof_facts",
    metadata,
    Column("proof", ForeignKey("proofs.digest", ondelete="CASCADE"), primary_key=True),
    Column("fact", ForeignKey("facts.id"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

calculators = Table(
    "calculators",
    metadata,
    Column("name", Text, primary_key=True),
    Column("digest", _Digest, primary_key=True, index=True),
    Column("definition", Text, nullable=False),
    Column("registered_at", Moment, nullable=False),
    Column("registered_by", Text, nullable=False),
)

preferences = Table(
    "preferences",
    metadata,
    Column("attribute", Text, primary_key=True),
    Column("identity", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("by", Text, nullable=False),
)

settings = Table(
    "settings",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

fragments = Table(
    "fragments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("catalog", ForeignKey("catalogs.digest"), nullable=False, index=True),
    Column("population", Text, nullable=False),
    Column("extent", _Digest, nullable=False, index=True),
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
    Column("digest", _Digest, nullable=False),
    Column("platform", Text),
    sqlite_autoincrement=True,  # the number of a fragment is never used again
)

fragment_attributes = Table(
    "fragment_attributes",
    metadata,
    Column("fragment", ForeignKey("fragments.id"), primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("identity", Text, nullable=False, index=True),
    Column("column", Text, nullable=False),
    sqlite_with_rowid=False,
)

fragment_facts = Table(
    "fragment_facts",
    metadata,
    Column("fragment", ForeignKey("fragments.id"), primary_key=True),
    Column("fact", ForeignKey("facts.id"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

samples = Table(
    "samples",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    # The number of the fragment whose rows these are; 0 for the files of a base catalog.
    Column("fragment", Integer, primary_key=True, autoincrement=False),
    Column("identity", Text, primary_key=True),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

file_bounds = Table(
    "file_bounds",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("column", Text, primary_key=True),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

pins = Table(
    "pins",
    metadata,
    Column("place", Text, primary_key=True),
    Column("holder", Text, primary_key=True),
    Column("by", Text, nullable=False),
    Column("pinned_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    sqlite_with_rowid=False,
)

counts = Table(
    "counts",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("counted_at", Moment, nullable=False),
    Column("counted_by", Text, primary_key=True),
    Column("digest", _Digest, nullable=False),
    Column("platform", Text),
)

tallies = Table(
    "tallies",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    # What was tallied: "overview", or "sky" and the attributes of the position.
    Column("subject", Text, primary_key=True),
    Column("tallied_by", Text, primary_key=True),
    Column("tallied_at", Moment, nullable=False),
    Column("content", Text, nullable=False),
    sqlite_with_rowid=False,
)

verifications = Table(
    "verifications",
    metadata,
    Column("base", ForeignKey("catalogs.digest"), primary_key=True),
    Column("rows", BigInteger, nullable=False),
    Column("verified_at", Moment, nullable=False),
    Column("verified_by", Text, primary_key=True),
    Column("digest", _Digest, nullable=False),
    Column("content", Text, nullable=False, server_default=""),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("catalog", ForeignKey("catalogs.digest"), index=True),
    Column("target", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("started_at", Moment, nullable=False, index=True),
    Column("ended_at", Moment),
    Column("outcome", Text),
    Column("seconds", Float),
    Column("rows", BigInteger),
    Column("reused", Text),
    Column("computed", Text),
    Column("fragments", Text),
    Column("saved", Float),
    sqlite_autoincrement=True,
)

attributes = Table(
    "attributes",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("identity", Text, nullable=False, index=True),
    Column("population", Text, nullable=False),
    Index("ix_attributes_population_name", "population", "name"),
    sqlite_with_rowid=False,
)

definers = Table(
    "definers",
    metadata,
    Column("catalog", ForeignKey("catalogs.digest"), primary_key=True),
    Column("who", Text, primary_key=True, index=True),
    Column("at", Moment, nullable=False),
    # False if only a run of this person needed the catalog: then attribute names are not looked up in it.
    Column("defined", Boolean, nullable=False, server_default=true()),
    sqlite_with_rowid=False,
)

projects = Table(
    "projects",
    metadata,
    Column("name", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
)

members = Table(
    "members",
    metadata,
    Column("project", ForeignKey("projects.name", ondelete="CASCADE"), primary_key=True),
    Column("who", Text, primary_key=True, index=True),
    sqlite_with_rowid=False,
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("who", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("digest", _Digest, nullable=False, unique=True),
    Column("created_at", Moment, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_at", Moment),
    Column("used_at", Moment),
    Column("revoked_at", Moment),
    sqlite_autoincrement=True,
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Moment, nullable=False, index=True),
    Column("who", Text, nullable=False),
    Column("via", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("detail", Text, nullable=False),
    # The digest of the previous entry, and of this entry with that digest: a chain that reveals changes.
    Column("previous", _Digest, nullable=False, server_default=""),
    Column("digest", _Digest, nullable=False, server_default=""),
    sqlite_autoincrement=True,
)

operations = Table(
    "operations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("at", Moment, nullable=False, index=True),
    Column("who", Text, nullable=False),
    Column("via", Text, nullable=False),
    sqlite_with_rowid=False,
)

quotas = Table(
    "quotas",
    metadata,
    Column("who", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("amount", BigInteger, nullable=False),
    Column("set_at", Moment, nullable=False),
    Column("set_by", Text, nullable=False),
)

downloads = Table(
    "downloads",
    metadata,
    Column("who", Text, primary_key=True),
    Column("day", Text, primary_key=True),
    Column("bytes", BigInteger, nullable=False),
)

exports = Table(
    "exports",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("path", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("request", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("content", _Digest, nullable=False),
    Column("stamp", Text, nullable=False),
    Column("rows", BigInteger, nullable=False),
    Column("by", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("begun_at", Moment),
    sqlite_autoincrement=True,
)

leases = Table(
    "leases",
    metadata,
    Column("holder", Text, primary_key=True),
    Column("catalog", Text, nullable=False),
    Column("identities", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("taken_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    sqlite_with_rowid=False,
)

imports = Table(
    "imports",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("begun_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    sqlite_autoincrement=True,  # staged rows of an import that ended never belong to another import
)


def _staging_table(table: Table) -> Table:
    """Return a table for rows that an import will publish: the same columns, without references and other indices."""
    columns = (
        Column(column.name, column.type, primary_key=column.primary_key, nullable=column.nullable, autoincrement=False)
        for column in table.columns
    )
    number = Column("import", Integer, primary_key=True, autoincrement=False)
    return Table(f"staged_{table.name}", metadata, number, *columns, sqlite_with_rowid=False)


STAGED = {
    table: _staging_table(table) for table in (schemas, catalogs, dependencies, attributes, wordings, bases, definers)
}
"""The staging tables, in which rows of an import wait until it is complete, by the tables that will receive the rows.

The order is the order of publication: a table comes after the tables that it refers to."""
