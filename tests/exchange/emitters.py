"""Events in the shape that the OpenLineage integrations of Spark, dbt and Airflow document."""

from typing import Any

__all__ = ["AIRFLOW", "DBT", "POSTGRES", "SPARK", "make_event", "make_table"]

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.39.0/integration/spark"
DBT = "https://github.com/OpenLineage/OpenLineage/tree/1.39.0/integration/dbt"
AIRFLOW = "https://github.com/apache/airflow/tree/providers-openlineage/2.7.0"
POSTGRES = "postgres://warehouse:5432"
_FACETS = "https://openlineage.io/spec/facets"


def make_table(
    namespace: str, name: str, columns: str = "", symlink: str = "", producer: str = SPARK
) -> dict[str, Any]:
    """Return a dataset; columns are written ``"order_id bigint, total double"``."""
    facets: dict[str, Any] = {}
    if columns:
        fields = [{"name": column, "type": kind} for column, kind in map(str.split, columns.split(","))]
        facets["schema"] = {
            "_producer": producer,
            "_schemaURL": f"{_FACETS}/1-1-1/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet",
            "fields": fields,
        }
    if symlink:
        facets["symlinks"] = {
            "_producer": producer,
            "_schemaURL": f"{_FACETS}/1-0-1/SymlinksDatasetFacet.json#/$defs/SymlinksDatasetFacet",
            "identifiers": [{"namespace": "hive://metastore:9083", "name": symlink, "type": "TABLE"}],
        }
    return {"namespace": namespace, "name": name, "facets": facets}


def make_event(
    producer: str,
    job: str,
    query: str | None,
    inputs: list[dict[str, Any]],
    output: dict[str, Any],
    *,
    dialect: str = "",
    state: str = "COMPLETE",
    run: str = "01941444-5d3c-7f6c-8f5d-000000000001",
    run_facets: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an event of a run."""
    facets: dict[str, Any] = {
        "jobType": {
            "_producer": producer,
            "_schemaURL": f"{_FACETS}/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
            "processingType": "BATCH",
            "integration": producer.rpartition("/")[2].upper(),
            "jobType": "SQL_JOB",
        }
    }
    if query is not None:
        facets["sql"] = {
            "_producer": producer,
            "_schemaURL": f"{_FACETS}/1-1-0/SQLJobFacet.json#/$defs/SQLJobFacet",
            "query": query,
        } | ({"dialect": dialect} if dialect else {})
    return {
        "eventTime": "2026-01-01T00:00:00.000Z",
        "producer": producer,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "eventType": state,
        "run": {"runId": run, "facets": run_facets or {}},
        "job": {"namespace": "production", "name": job, "facets": facets},
        "inputs": inputs,
        "outputs": [output],
    }
