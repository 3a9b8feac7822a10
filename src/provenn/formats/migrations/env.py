"""Alembic runs this module to carry out a step; `upgrade_tables` passes the connection to it."""

from alembic import context

from provenn.database.tables import VERSION_TABLE, metadata

__all__: list[str] = []

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite can hardly change a table
    transactional_ddl=True,
)
context.run_migrations()
