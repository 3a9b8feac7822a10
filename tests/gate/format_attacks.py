"""Formats and options of Spark by which a definition would do more than have files read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from provenn.catalogs import Base, Files
from provenn.errors import ProvennError

__all__ = ["FORMATS", "OPTIONS", "VALUES", "changed_base", "refuse_reading"]

FORMATS = (
    *("jdbc", "JDBC", "Jdbc", "jdbc ", " jdbc", "org.apache.spark.sql.execution.datasources.jdbc.JdbcRelationProvider"),
    *("org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat", "org.apache.spark.sql.parquet"),
    *("binaryFile", "binaryfile", "image", "libsvm", "avro", "hive", "delta", "iceberg", "hudi", "noop", "console"),
    *("memory", "socket", "rate", "rate-micro-batch", "kafka", "xml", "com.databricks.spark.xml", "state-metadata"),
    *("statestore", "org.example.Source", "python", "parquet,jdbc", "parquet\n", "PARQUET", "Csv", "", "pаrquet"),
)
"""Formats, as a definition may name them."""

OPTIONS = (
    *("path", "paths", "basepath", "basePath", "pathglobfilter", "recursivefilelookup", "modifiedbefore"),
    *("modifiedafter", "ignorecorruptfiles", "ignoremissingfiles", "columnnameofcorruptrecord", "samplingratio"),
    *("url", "dbtable", "query", "driver", "sessioninitstatement", "SessionInitStatement", "user", "password"),
    *("fs.file.impl", "fs.s3a.endpoint", "spark.sql.sources.provider", "rowvalidationxsdpath", "avroschemaurl"),
    *("singlevariantcolumn", "columnpruning", "enabledatetimeparsingfallback", "extension", "maxfilespertrigger"),
    *("Header", "HEADER", "header ", "sep\n", "", "locationurl", "hdu.x", "plugin", "credential", "wildcardcolname"),
)
"""Options, as a definition may name them."""

VALUES = (
    *(("mode", value) for value in ("DROPMALFORMED", "dropmalformed", "", "failfast ")),
    *(("encoding", value) for value in ("zlib", "bz2", "hex", "rot13", "idna", "unicode_escape", "mbcs", "../x", "")),
    *(("charset", value) for value in ("zlib_codec", "uu", "undefined", "base64")),
)
"""Options that are known, with values that are not."""


def changed_base(folder: Path, **changes: object) -> Base:
    """Return a base catalog on a file of CSV, changed behind the back of every check."""
    file = folder / "stars.csv"
    file.write_text("hip,vmag\n1,5.5\n2,6.5\n", encoding="utf-8")
    base = Base.of(Files.at(file), key="hip", population="star")
    return replace(base, files=replace(base.files, **changes))


def refuse_reading(base: Base) -> str:
    """Ask what is asked before Spark reads a base catalog; return why it is refused, or fail."""
    try:
        base.files.check_allowed()
    except ProvennError as error:
        return str(error)
    raise AssertionError(f"{base.files.format!r} with {base.files.options} would be read")
