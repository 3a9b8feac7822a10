"""Tables that Spark does not read by itself, and tables of its catalog."""

from provenn.spark.tables.catalog_tables import table_files

__all__ = ["table_files"]
