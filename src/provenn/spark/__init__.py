"""The data pipeline: the only room that imports pyspark. It reads base data, compiles catalogs, runs and writes.

Read `engine` (the session) and `compile` (what a catalog means) first.
"""

__all__: list[str] = []
