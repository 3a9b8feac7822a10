"""Tables without rows, with the columns of catalogs: enough for DuckDB to find the types of a query."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb

from provenn.catalogs import Catalog
from tests.spark.dialect import type_in_duckdb

__all__ = ["create_empty_inputs"]


def create_empty_inputs(database: duckdb.DuckDBPyConnection, inputs: Sequence[Catalog]) -> None:
    """Create the views ``input_1``, ``input_2`` … with the columns of catalogs."""
    for position, catalog in enumerate(inputs, 1):
        shown = ", ".join(
            f"CAST(NULL AS {type_in_duckdb(str(attribute.type))}) AS {_quote(attribute.name)}"
            for attribute in catalog.schema.attributes
        )
        database.execute(f"CREATE OR REPLACE TEMP VIEW input_{position} AS SELECT {shown} WHERE FALSE")


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
