"""Lineage for others, and of others: OpenLineage events out and in, W3C PROV out."""

from provenn.exchange.exporting import FORMATS, LineageFormat, export_lineage
from provenn.exchange.importing import Imported, ImportedCatalog, import_lineage

__all__ = ["FORMATS", "Imported", "ImportedCatalog", "LineageFormat", "export_lineage", "import_lineage"]
