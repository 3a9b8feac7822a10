"""The archive's metadata in SQLite or PostgreSQL: catalogs, names, facts, proofs. Knows no Spark.

Read `database` (opening, transactions) and `tables` first. Everything else is functions that take a transaction:
`catalog_store`, `bases`, `names`, `cones`, `facts`, `knowledge`, `declarations`, `proofs`, `calculators`.
"""

__all__: list[str] = []
