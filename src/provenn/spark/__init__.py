"""The data pipeline, the only room with imports of pyspark: read base data, run and write.

Read `engine` (the session) and `compile` (the meaning of a catalog) first.
"""

__all__: list[str] = []
