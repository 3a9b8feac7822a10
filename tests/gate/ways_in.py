"""The modules of provenn that read something, and by which way in the data come that each of them reads.

A module in which a way in is defined needs no line here. For any other that opens, unpacks, parses, imports or runs
something, say by which way in its data come (a name in `provenn.gate.entrances.ENTRANCES`); or, if they are not data of
others, begin with ``own:`` and say whose they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["BEHIND", "COMMANDS"]

_DATABASE = "own: rows of the archive's database, which the digest of a definition, or a typed column, vouches for"
_STORE = "own: files that provenn wrote into the archive's store, known by name, size and digest"
_MACHINE = "own: of this machine and this account"
_WRITING = "own: what is being written now"

BEHIND: Mapping[str, str] = MappingProxyType(
    {
        "provenn.archive.definition_files": "portable file",
        "provenn.catalogs.calculators.captured": "code of a calculator",
        "provenn.catalogs.calculators.sources": "code of a calculator",
        "provenn.files.column_bounds": _DATABASE,
        "provenn.files.column_statistics": _DATABASE,
        "provenn.files.file_bounds": _DATABASE,
        "provenn.files.false_footers": "base files",
        "provenn.knowledge.file_facts": _DATABASE,
        "provenn.files.confined_reading": "log of a table",
        "provenn.files.delta_tables": "log of a table",
        "provenn.files.iceberg_tables": "log of a table",
        "provenn.files.snapshot_columns": "base files",
        "provenn.files.csv_columns": "base files",
        "provenn.files.formats": "base files",
        "provenn.files.listing": "base files",
        "provenn.files.fingerprints": "base files",
        "provenn.files.hashing": "base files",
        "provenn.catalogs.key_values": "base files",
        "provenn.files.parquet_arrays": "base files",
        "provenn.files.parquet_columns": "base files",
        "provenn.files.row_samples": "base files",
        "provenn.files.table_metadata": "base files",
        "provenn.cli.exchange": "lineage of others",
        "provenn.cli.output_files": _WRITING,
        "provenn.demo.settling": _STORE,
        "provenn.durable": _WRITING,
        "provenn.exchange.prov_records": _WRITING,
        "provenn.gate.permits": _MACHINE,
        "provenn.samp.hubs": _MACHINE,
        "provenn.spark.batches": "code of a calculator",
        "provenn.spark.python_calculators": "code of a calculator",
        "provenn.spark.class_archive": _MACHINE,
        "provenn.spark.context": _MACHINE,
        "provenn.spark.engine": _MACHINE,
        "provenn.spark.spark_errors": "own: errors that workers of this Spark have written down",
        "provenn.spark.fragment_files": _STORE,
        "provenn.spark.java": _MACHINE,
        "provenn.spark.keys": "base files",
        "provenn.spark.make_class_archive": _WRITING,
        "provenn.spark.plain_accumulators": "own: updates of this Spark; plain values alone are read",
        "provenn.spark.tables.ascii_rows": "base catalog read by Spark",
        "provenn.spark.tables.converting": "base catalog read by Spark",
        "provenn.spark.tables.ecsv_file": _WRITING,
        "provenn.spark.tables.ecsv_rows": "base catalog read by Spark",
        "provenn.spark.tables.fits_rows": "base catalog read by Spark",
        "provenn.spark.tables.parts": _STORE,
        "provenn.spark.tables.votable_file": _WRITING,
        "provenn.spark.tables.votable_fits": "base catalog read by Spark",
        "provenn.spark.writing": _WRITING,
        "provenn.definitions.base_locations": _DATABASE,
        "provenn.definitions.registered_calculators": "definition of a calculator",
        "provenn.soundness.knowledge_checks": _DATABASE,
        "provenn.definitions.ancestors": "definition of a catalog",
        "provenn.data.conversions": _STORE,
        "provenn.definitions.wordings": _DATABASE,
        "provenn.database.damaged_values": _DATABASE,
        "provenn.transfer.exporting": _DATABASE,
        "provenn.data.followed_exports": _DATABASE,
        "provenn.data.fragments": _DATABASE,
        "provenn.data.given_tables": _STORE,
        "provenn.data.leases": _DATABASE,
        "provenn.data.leftovers": _MACHINE,
        "provenn.transfer.backup_manifests": _STORE,
        "provenn.formats.migrations.frozen": _DATABASE,
        "provenn.formats.migrations.versions.v0006": _DATABASE,
        "provenn.definitions.moc_files": _STORE,
        "provenn.data.fragment_samples": _STORE,
        "provenn.data.parquet_contents": _STORE,
        "provenn.definitions.populations": _DATABASE,
        "provenn.processes": _MACHINE,
        "provenn.knowledge.proofs": _DATABASE,
        "provenn.data.run_records": _DATABASE,
        "provenn.database.secrets": _MACHINE,
        "provenn.transfer.verified_copies": _STORE,
        "provenn.web.encryption": _MACHINE,
        "provenn.web.first_rows": "own: the file that a job of this server has written",
        "provenn.web.standalone_report": "own: a style sheet of provenn",
    }
)

_WRITTEN = "own: where something is written"
_PLACE = "own: a place that the user names"

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "archive export file": _WRITTEN,
        "archive import file": "portable file",
        "backup place": _WRITTEN,
        "backup store": _WRITTEN,
        "compare svg": _WRITTEN,
        "demo folder": _PLACE,
        "example svg": _WRITTEN,
        "exchange export output": _WRITTEN,
        "exchange import file": "lineage of others",
        "export path": _WRITTEN,
        "exports stop": _WRITTEN,
        "append path": "base files",
        "ingest path": "base files",
        "init folder": _PLACE,
        "init store": _PLACE,
        "lineage svg": _WRITTEN,
        "prove facts": "file of facts",
        "prove svg": _WRITTEN,
        "relate svg": _WRITTEN,
        "report output": _WRITTEN,
        "samp clients hub": _PLACE,
        "samp hub hub": _PLACE,
        "samp listen hub": _PLACE,
        "samp send hub": _PLACE,
        "select moc": "file of a MOC",
        "serve certificate": _MACHINE,
        "serve key": _MACHINE,
        "serve root": _PLACE,
        "table svg": _WRITTEN,
        "target output": _WRITTEN,
        "target svg": _WRITTEN,
    }
)
"""The parameters of commands that name files, and by which way in these come."""
