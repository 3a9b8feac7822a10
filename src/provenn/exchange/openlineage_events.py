"""Write catalogs as OpenLineage events; only this module imports the OpenLineage library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import attr
from openlineage.client.event_v2 import (
    BaseEvent,
    DatasetEvent,
    InputDataset,
    Job,
    JobEvent,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
    StaticDataset,
)
from openlineage.client.facet_v2 import DatasetFacet, InputDatasetFacet, OutputDatasetFacet
from openlineage.client.generated.base_subset_dataset import (
    BinarySubsetCondition,
    CompareSubsetCondition,
    FieldBaseCompareExpression,
    InputSubsetInputDatasetFacet,
    LiteralCompareExpression,
)
from openlineage.client.generated.column_lineage_dataset import (
    ColumnLineageDatasetFacet,
    Fields,
    InputField,
    Transformation,
)
from openlineage.client.generated.dataset_version_dataset import DatasetVersionDatasetFacet
from openlineage.client.generated.datasource_dataset import DatasourceDatasetFacet
from openlineage.client.generated.documentation_dataset import DocumentationDatasetFacet
from openlineage.client.generated.documentation_job import DocumentationJobFacet
from openlineage.client.generated.job_type_job import JobTypeJobFacet
from openlineage.client.generated.lineage import (
    LineageDatasetFacet,
    LineageDatasetInput,
    LineageTransformation,
)
from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet
from openlineage.client.generated.ownership_dataset import Owner, OwnershipDatasetFacet
from openlineage.client.generated.processing_engine_run import ProcessingEngineRunFacet
from openlineage.client.generated.schema_dataset import SchemaDatasetFacet, SchemaDatasetFacetFields
from openlineage.client.generated.storage_dataset import StorageDatasetFacet
from openlineage.client.serde import Serde

from provenn._version import __version__
from provenn.catalogs import Base, Catalog
from provenn.catalogs.column_origins import ColumnOrigin, Comparison
from provenn.digests import CatalogDigest
from provenn.exchange.records import Activity, Record

__all__ = ["write_event"]

_PRODUCER = "urn:provenn"
_OPERATORS = {
    "<": "LESS_THAN",
    "<=": "LESS_EQUAL_THAN",
    ">": "GREATER_THAN",
    ">=": "GREATER_EQUAL_THAN",
    "=": "EQUAL",
}
_STATES = {"done": RunState.COMPLETE, "failed": RunState.FAIL, "cancelled": RunState.ABORT}


@attr.define
class _Population(DatasetFacet):
    """The population, the key columns, the columns without NULL, and all names of a catalog."""

    population: str
    key: list[str]
    never_null: list[str]
    names: list[str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:provenn:facet:population:1"


@attr.define
class _Definition(DatasetFacet):
    """The definition of a dataset's sources."""

    verb: str
    of: list[dict[str, str]]
    options: dict[str, Any]

    @staticmethod
    def _get_schema() -> str:
        return "urn:provenn:facet:definition:1"


def write_event(entry: Record | Activity, namespace: str) -> str:
    """Return an event as a line of JSON.

    A base catalog becomes a dataset event, any other catalog a job event, and an activity a run event.

    Parameters
    ----------
    entry
        The catalog or activity.
    namespace
        The namespace of datasets and jobs.
    """
    event = (
        _build_record_event(entry, namespace) if isinstance(entry, Record) else _build_activity_event(entry, namespace)
    )
    return Serde.to_json(event)


def _build_record_event(record: Record, namespace: str) -> BaseEvent:
    name = _choose_name(record.definition, record.names)
    facets = _build_facets(record, namespace)
    if isinstance(record.definition, Base):
        dataset = StaticDataset(namespace, name, facets=facets)
        return DatasetEvent(eventTime=record.created_at.isoformat(), dataset=dataset, producer=_PRODUCER)
    job = Job(
        namespace,
        name,
        facets={
            "documentation": DocumentationJobFacet(record.description, producer=_PRODUCER),
            "jobType": JobTypeJobFacet("BATCH", "PROVENN", record.definition.kind, producer=_PRODUCER),
        },
    )
    return JobEvent(
        eventTime=record.created_at.isoformat(),
        job=job,
        inputs=[_build_input(part, names, record, namespace) for part, names in record.dependencies],
        outputs=[OutputDataset(namespace, name, facets=facets)],
        producer=_PRODUCER,
    )


def _build_activity_event(activity: Activity, namespace: str) -> BaseEvent:
    name = _choose_name(activity.catalog, activity.names)
    facets: dict[str, OutputDatasetFacet] = {}
    if activity.rows is not None:
        facets["outputStatistics"] = OutputStatisticsOutputDatasetFacet(
            activity.rows, activity.size, activity.files, producer=_PRODUCER
        )
    # The number alone is not unique across archives.
    identity = uuid5(
        NAMESPACE_URL, f"{namespace} {activity.name} {activity.started_at.isoformat()} {activity.catalog.digest}"
    )
    engine = ProcessingEngineRunFacet(__version__, "provenn", producer=_PRODUCER)
    return RunEvent(
        eventTime=activity.ended_at.isoformat(),
        eventType=_STATES[activity.outcome],
        run=Run(str(identity), {"processing_engine": engine}),
        job=Job(namespace, name),
        outputs=[OutputDataset(namespace, name, facets=_build_version(activity.catalog), outputFacets=facets)],
        producer=_PRODUCER,
    )


def _choose_name(catalog: Catalog, names: Iterable[str]) -> str:
    """Return the first name of a catalog, or the digest."""
    return next(iter(names), catalog.digest)


def _build_version(catalog: Catalog) -> dict[str, DatasetFacet]:
    return {"version": DatasetVersionDatasetFacet(catalog.digest, producer=_PRODUCER)}


def _build_input(part: Catalog, names: tuple[str, ...], record: Record, namespace: str) -> InputDataset:
    """Return a dependency as an input of a job, with the condition of a selection."""
    facets: dict[str, InputDatasetFacet] = {}
    comparisons = record.definition.list_comparisons()
    if comparisons:
        facets["subset"] = InputSubsetInputDatasetFacet(_build_condition(comparisons), producer=_PRODUCER)
    return InputDataset(namespace, _choose_name(part, names), facets=_build_version(part), inputFacets=facets)


def _build_condition(comparisons: tuple[Comparison, ...]) -> CompareSubsetCondition | BinarySubsetCondition:
    """Return comparisons as a condition, joined by AND."""
    first, *rest = (
        CompareSubsetCondition(FieldBaseCompareExpression(field), LiteralCompareExpression(value), _OPERATORS[operator])
        for field, operator, value in comparisons
    )
    condition: CompareSubsetCondition | BinarySubsetCondition = first
    for comparison in rest:
        condition = BinarySubsetCondition(condition, comparison, "AND")
    return condition


def _build_facets(record: Record, namespace: str) -> dict[str, DatasetFacet]:
    """Return all facets of a catalog."""
    catalog = record.definition
    names_by_digest = {part.digest: _choose_name(part, names) for part, names in record.dependencies}
    verb, options = catalog.exchange_form()
    parts = [
        {"namespace": namespace, "name": names_by_digest[part.digest], "version": part.digest}
        for part in catalog.dependencies
    ]
    key = [attribute.name for attribute in catalog.schema.key]
    never_null = [attribute.name for attribute in catalog.schema.attributes if not attribute.nullable]
    facets: dict[str, DatasetFacet] = {
        **_build_version(catalog),
        "schema": SchemaDatasetFacet(
            [
                SchemaDatasetFacetFields(
                    attribute.name, str(attribute.type), attribute.description or None, fields=None
                )
                for attribute in catalog.schema.attributes
            ],
            producer=_PRODUCER,
        ),
        "documentation": DocumentationDatasetFacet(record.description, producer=_PRODUCER),
        "ownership": OwnershipDatasetFacet([Owner(f"user:{record.created_by}", "CREATOR")], producer=_PRODUCER),
        "provenn_population": _Population(
            catalog.population.name, key, never_null, list(record.names), producer=_PRODUCER
        ),
        "provenn_definition": _Definition(verb, parts, options, producer=_PRODUCER),
    }
    if isinstance(catalog, Base):
        facets["dataSource"] = DatasourceDatasetFacet(record.location, _write_uri(record.location), producer=_PRODUCER)
        facets["storage"] = StorageDatasetFacet("files", catalog.files.format, producer=_PRODUCER)
        return facets
    filter_origins = catalog.trace_selection()
    facets["columnLineage"] = ColumnLineageDatasetFacet(
        {
            name: Fields([_build_field(origin, names_by_digest, namespace) for origin in origins])
            for name, origins in catalog.trace_attributes().items()
        },
        [_build_field(origin, names_by_digest, namespace) for origin in filter_origins] or None,
        producer=_PRODUCER,
    )
    facets["lineage"] = LineageDatasetFacet(
        [_build_lineage(part, names_by_digest, filter_origins, namespace) for part, _ in record.dependencies],
        None,
        producer=_PRODUCER,
    )
    return facets


def _write_uri(location: str) -> str:
    return f"file://{location}" if location.startswith("/") else location


def _build_field(origin: ColumnOrigin, names_by_digest: Mapping[CatalogDigest, str], namespace: str) -> InputField:
    transformation = Transformation(origin.type, origin.subtype, origin.description or None, masking=False)
    return InputField(namespace, names_by_digest[origin.catalog], origin.attribute, [transformation])


def _build_lineage(
    part: Catalog, names_by_digest: Mapping[CatalogDigest, str], filter_origins: Iterable[ColumnOrigin], namespace: str
) -> LineageDatasetInput:
    transformations = dict.fromkeys(
        (origin.type, origin.subtype, origin.description) for origin in filter_origins if origin.catalog == part.digest
    )
    changes = [LineageTransformation(kind, subtype, text or None) for kind, subtype, text in transformations]
    return LineageDatasetInput(namespace, names_by_digest[part.digest], "DATASET", transformations=changes or None)
