"""Tables that Spark does not read by itself, and tables of its catalog."""

from provenn.spark.tables.catalog_tables import inspect_table

__all__ = ["inspect_table"]
