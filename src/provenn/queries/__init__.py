"""Relational queries, read from SQL or from plans of Spark, as trees and as the catalogs that they mean."""

__all__: list[str] = []
