"""Exchange lineage with external systems: write and read OpenLineage events, write W3C PROV."""

from provenn.exchange.exporting import FORMATS, LineageFormat, export_lineage
from provenn.exchange.importing import Imported, ImportedCatalog, import_lineage

__all__ = ["FORMATS", "Imported", "ImportedCatalog", "LineageFormat", "export_lineage", "import_lineage"]
