"""Catalogs as events of OpenLineage. The only module that imports its library."""

from __future__ import annotations

from collections.abc import Iterable
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

from provenn import __version__
from provenn.catalogs import Base, Catalog
from provenn.exchange.columns import Comparison, Origin, comparisons, filters, origins
from provenn.exchange.definitions import verb_and_options
from provenn.exchange.records import Deed, Record

__all__ = ["line"]

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
    """What one row is, the columns that identify it, those that always have a value, and all names of the catalog."""

    population: str
    key: list[str]
    never_null: list[str]
    names: list[str]

    @staticmethod
    def _get_schema() -> str:
        return "urn:provenn:facet:population:1"


@attr.define
class _Definition(DatasetFacet):
    """Which sources a dataset has."""

    verb: str
    of: list[dict[str, str]]
    options: dict[str, Any]

    @staticmethod
    def _get_schema() -> str:
        return "urn:provenn:facet:definition:1"


def line(one: Record | Deed, namespace: str) -> str:
    """Return an event, in one line of JSON: a base catalog as a dataset, any other as a job, a deed as its run.

    Parameters
    ----------
    one
        What to tell.
    namespace
        The namespace of datasets and jobs.
    """
    event = _record_event(one, namespace) if isinstance(one, Record) else _deed_event(one, namespace)
    return Serde.to_json(event)


def _record_event(record: Record, namespace: str) -> BaseEvent:
    name = _name(record.definition, record.names)
    facets = _facets(record, namespace)
    if isinstance(record.definition, Base):
        dataset = StaticDataset(namespace, name, facets=facets)
        return DatasetEvent(eventTime=record.created_at.isoformat(), dataset=dataset, producer=_PRODUCER)
    job = Job(
        namespace,
        name,
        facets={
            "documentation": DocumentationJobFacet(record.what, producer=_PRODUCER),
            "jobType": JobTypeJobFacet("BATCH", "PROVENN", record.definition.kind, producer=_PRODUCER),
        },
    )
    return JobEvent(
        eventTime=record.created_at.isoformat(),
        job=job,
        inputs=[_input(part, called, record, namespace) for part, called in record.made_from],
        outputs=[OutputDataset(namespace, name, facets=facets)],
        producer=_PRODUCER,
    )


def _deed_event(deed: Deed, namespace: str) -> BaseEvent:
    name = _name(deed.catalog, deed.names)
    held: dict[str, OutputDatasetFacet] = {}
    if deed.rows is not None:
        held["outputStatistics"] = OutputStatisticsOutputDatasetFacet(
            deed.rows, deed.size, deed.files, producer=_PRODUCER
        )
    # The number alone would be the same in every archive.
    identity = uuid5(NAMESPACE_URL, f"{namespace} {deed.number} {deed.started_at.isoformat()} {deed.catalog.digest}")
    engine = ProcessingEngineRunFacet(__version__, "provenn", producer=_PRODUCER)
    return RunEvent(
        eventTime=deed.ended_at.isoformat(),
        eventType=_STATES[deed.outcome],
        run=Run(str(identity), {"processing_engine": engine}),
        job=Job(namespace, name),
        outputs=[OutputDataset(namespace, name, facets=_version(deed.catalog), outputFacets=held)],
        producer=_PRODUCER,
    )


def _name(catalog: Catalog, names: Iterable[str]) -> str:
    return next(iter(names), catalog.digest)


def _version(catalog: Catalog) -> dict[str, DatasetFacet]:
    return {"version": DatasetVersionDatasetFacet(catalog.digest, producer=_PRODUCER)}


def _input(part: Catalog, called: tuple[str, ...], record: Record, namespace: str) -> InputDataset:
    held: dict[str, InputDatasetFacet] = {}
    compared = comparisons(record.definition)
    if compared:
        held["subset"] = InputSubsetInputDatasetFacet(_condition(compared), producer=_PRODUCER)
    return InputDataset(namespace, _name(part, called), facets=_version(part), inputFacets=held)


def _condition(compared: tuple[Comparison, ...]) -> CompareSubsetCondition | BinarySubsetCondition:
    first, *rest = (
        CompareSubsetCondition(FieldBaseCompareExpression(field), LiteralCompareExpression(value), _OPERATORS[operator])
        for field, operator, value in compared
    )
    condition: CompareSubsetCondition | BinarySubsetCondition = first
    for one in rest:
        condition = BinarySubsetCondition(condition, one, "AND")
    return condition


def _facets(record: Record, namespace: str) -> dict[str, DatasetFacet]:
    catalog = record.definition
    called = {part.digest: _name(part, names) for part, names in record.made_from}
    verb, options = verb_and_options(catalog)
    parts = [
        {"namespace": namespace, "name": called[one.digest], "version": one.digest} for one in catalog.dependencies
    ]
    key = [one.name for one in catalog.schema.key]
    never_null = [one.name for one in catalog.schema.attributes if not one.nullable]
    facets: dict[str, DatasetFacet] = {
        **_version(catalog),
        "schema": SchemaDatasetFacet(
            [
                SchemaDatasetFacetFields(one.name, str(one.type), one.description or None, fields=None)
                for one in catalog.schema.attributes
            ],
            producer=_PRODUCER,
        ),
        "documentation": DocumentationDatasetFacet(record.what, producer=_PRODUCER),
        "ownership": OwnershipDatasetFacet([Owner(f"user:{record.created_by}", "CREATOR")], producer=_PRODUCER),
        "provenn_population": _Population(
            catalog.population.name, key, never_null, list(record.names), producer=_PRODUCER
        ),
        "provenn_definition": _Definition(verb, parts, options, producer=_PRODUCER),
    }
    if isinstance(catalog, Base):
        facets["dataSource"] = DatasourceDatasetFacet(record.location, _uri(record.location), producer=_PRODUCER)
        facets["storage"] = StorageDatasetFacet("files", catalog.files.format, producer=_PRODUCER)
        return facets
    deciding = filters(catalog)
    facets["columnLineage"] = ColumnLineageDatasetFacet(
        {
            name: Fields([_field(one, called, namespace) for one in several])
            for name, several in origins(catalog).items()
        },
        [_field(one, called, namespace) for one in deciding] or None,
        producer=_PRODUCER,
    )
    facets["lineage"] = LineageDatasetFacet(
        [_lineage(part, called, deciding, namespace) for part, _ in record.made_from], None, producer=_PRODUCER
    )
    return facets


def _uri(location: str) -> str:
    return f"file://{location}" if location.startswith("/") else location


def _field(one: Origin, called: dict[str, str], namespace: str) -> InputField:
    transformation = Transformation(one.type, one.subtype, one.description or None, masking=False)
    return InputField(namespace, called[one.catalog], one.attribute, [transformation])


def _lineage(part: Catalog, called: dict[str, str], deciding: Iterable[Origin], namespace: str) -> LineageDatasetInput:
    said = dict.fromkeys((one.type, one.subtype, one.description) for one in deciding if one.catalog == part.digest)
    changes = [LineageTransformation(kind, subtype, text or None) for kind, subtype, text in said]
    return LineageDatasetInput(namespace, called[part.digest], "DATASET", transformations=changes or None)
