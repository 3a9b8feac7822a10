"""The archive's metadata in SQLite or PostgreSQL: catalogs, names, facts, proofs, fragments. Knows no Spark.

Read `database` (opening, transactions) and `tables` first. Everything else is functions that take a transaction:
`catalog_store`, `search`, `bases`, `names`, `cones`, `facts`, `knowledge`, `declarations`, `observations`, `proofs`,
`calculators`, `counts`, `verifications`, `fragments`, `pins`, `runs`, `settings`. Where data lie is said in `folder`,
what can be deleted there in `garbage`.
"""

__all__: list[str] = []
