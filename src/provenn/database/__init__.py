"""The database of an archive, SQLite or PostgreSQL: engines, tables, transactions and migrations.

Read `transactions` and `tables` first. The functions of the rooms above take a transaction.
"""

__all__: list[str] = []
