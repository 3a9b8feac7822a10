"""Convert foreign datasets to catalogs: claim only stated facts, and report everything not understood.

If a dataset copies its key unchanged from input datasets, then the sources of the dataset lie among the sources of the
inputs: the importer claims this. Only ``provenn_definition``, the SQL of the job, or the user with ``exact``, states
that the dataset has all of these sources.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from provenn.catalogs import Base, Catalog, Files, Population, verbs
from provenn.catalogs.base import INGEST
from provenn.criteria import Type, parse_type
from provenn.errors import ProvennError
from provenn.exchange.dataset_verbs import VERBS, build_catalog
from provenn.exchange.gathering import MOST_PLANS, GatheredEvents, JobClaims
from provenn.exchange.job_plans import translate_job_plan
from provenn.exchange.job_queries import (
    InputTable,
    UnusableQueryError,
    WrittenDataset,
    list_table_names,
    translate_job_query,
)
from provenn.exchange.origins import ColumnLineage, read_column_lineage
from provenn.exchange.reading import Dataset
from provenn.exchange.subset_conditions import write_condition
from provenn.files.columns import FileColumn
from provenn.files.type_names import parse_spark_type

__all__ = ["Assumptions", "UnderstoodDataset", "understand_datasets"]

_STRING = parse_type("string")
_SYNONYMS = {
    "integer": "int",
    "int4": "int",
    "int8": "bigint",
    "int64": "bigint",
    "int2": "smallint",
    "float4": "float",
    "float8": "double",
    "float64": "double",
    "real": "float",
    "double precision": "double",
    "text": "string",
    "varchar": "string",
    "char": "string",
    "bool": "boolean",
    "numeric": "decimal",
}
_INTEGRAL = ("tinyint", "smallint", "int", "bigint")

_Text = TypeVar("_Text")
_Translate = Callable[[_Text, Mapping[Dataset, InputTable], WrittenDataset], tuple[Catalog, tuple[str, ...]]]
"""Returns the catalog that the text of a job means, and its columns."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """The assumptions of the user about the events.

    Parameters
    ----------
    key, population
        The columns that identify a source, in every dataset that has them, and the population of these datasets.
    exact
        Whether outputs have all sources that conditions and joins allow, and joins are inner joins.
    populations
        The populations of the archive, by name.
    find_population
        Returns a population of the archive that the events do not name; None for a new name.
    """

    key: tuple[str, ...] = ()
    population: str = ""
    exact: bool = False
    populations: Mapping[str, Population] | None = None
    find_population: Callable[[str], Population | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class UnderstoodDataset:
    """A dataset with the corresponding catalog.

    Parameters
    ----------
    dataset
        The dataset.
    definition
        The catalog.
    how
        ``"base"``: an independent set; ``"inside"``: a subset of the sources of other datasets; ``"exact"``: a known
        selection of their sources.
    missing
        A text about the parts that were not understood; empty if there are none.
    has_key
        Whether the key is known. Otherwise, relations to other datasets are unknown.
    has_unique_key
        Whether the key is stated to identify a row. Otherwise, conditions on rows do not apply to sources.
    """

    dataset: Dataset
    definition: Catalog
    how: str
    missing: str
    has_key: bool
    has_unique_key: bool


class _NotUnderstoodError(Exception):
    """The reason why a dataset becomes only an independent set."""


def understand_datasets(claims: GatheredEvents, assumptions: Assumptions) -> list[UnderstoodDataset]:
    """Convert datasets to catalogs, in order of dependency."""
    return _DatasetReader(claims, assumptions).understand_all()


class _DatasetReader:
    """Convert the datasets of gathered events to catalogs."""

    def __init__(self, claims: GatheredEvents, assumptions: Assumptions) -> None:
        self.claims, self.assumptions = claims, assumptions
        self.columns = {
            dataset: _read_columns(dataset_claims.facets, assumptions.key)
            for dataset, dataset_claims in claims.datasets.items()
        }
        self.populations = dict(assumptions.populations or {})
        self.results: dict[Dataset, UnderstoodDataset] = {}
        self.columns_of_queries: dict[Dataset, tuple[str, ...]] = {}
        if assumptions.key and self._assumed_population not in self.populations:
            self.populations[self._assumed_population] = Population(self._assumed_population, self._find_key_types())

    @property
    def _assumed_population(self) -> str:
        """The name of the population of datasets with the assumed key."""
        return self.assumptions.population or " ".join(self.assumptions.key)

    def _find_key_types(self) -> tuple[Type, ...]:
        """Return the types of the assumed key; for whole numbers, the widest type."""
        keyed = [columns for columns in self.columns.values() if all(name in columns for name in self.assumptions.key)]
        widest = []
        for name in self.assumptions.key:
            types = [columns[name].type for columns in keyed if columns[name].type.scalar] or [_STRING]
            whole = all(kind.name in _INTEGRAL for kind in types)
            widest.append(max(types, key=lambda kind: _INTEGRAL.index(kind.name)) if whole else types[0])
        return tuple(widest)

    # --- all datasets ---

    def understand_all(self) -> list[UnderstoodDataset]:
        """Return all datasets with their catalogs, inputs first; datasets in a cycle become independent sets."""
        inputs = {dataset: self._find_inputs(dataset) for dataset in self.claims.datasets}
        circular: set[Dataset] = set()
        while True:
            graph = {dataset: () if dataset in circular else parts for dataset, parts in inputs.items()}
            try:
                order = list(TopologicalSorter(graph).static_order())
                break
            except CycleError as error:
                circular.update(error.args[1])
        for dataset in order:
            self.results[dataset] = self._understand_dataset(dataset, circular=dataset in circular)
        return list(self.results.values())

    def _find_inputs(self, dataset: Dataset) -> tuple[Dataset, ...]:
        """Return the datasets from which a dataset is made, by definition or by job."""
        claims = self.claims.datasets[dataset]
        definition = claims.facets.get("provenn_definition")
        if definition is not None:
            return tuple(part for part in _read_parts(definition) if part in self.claims.datasets and part != dataset)
        return tuple(part for job in claims.writers for part in self.claims.jobs[job].inputs if part != dataset)

    def _understand_dataset(self, dataset: Dataset, *, circular: bool) -> UnderstoodDataset:
        """Convert a dataset by definition or column lineage; otherwise to an independent set."""
        claims = self.claims.datasets[dataset]
        if circular or claims.is_contradictory:
            return self._understand_as_base(
                dataset, "it is made from itself" if circular else "its events contradict each other"
            )
        definition = claims.facets.get("provenn_definition")
        try:
            if definition is not None and not _is_ingested(definition):
                return self._apply_definition(dataset, definition)
            if definition is None and claims.writers:
                return self._apply_job(dataset)
        except _NotUnderstoodError as error:
            return self._understand_as_base(dataset, str(error))
        return self._understand_as_base(dataset, "")

    # --- independent sets ---

    def _understand_as_base(self, dataset: Dataset, missing: str) -> UnderstoodDataset:
        """Convert a dataset to an independent set; `missing` describes the parts not understood."""
        key, population = self._find_key(dataset)
        if key:
            try:
                return UnderstoodDataset(
                    dataset, self._build_base(dataset, key, population), "base", missing, True, True
                )
            except ProvennError as error:
                missing = missing or error.message
        columns = self.columns[dataset]
        key_column = next((name for name, column in columns.items() if column.type.scalar), None)
        missing = missing or "its key is not known"
        if key_column is not None:
            with suppress(ProvennError):
                return UnderstoodDataset(
                    dataset,
                    _build_isolated_base(dataset, columns.values(), key_column),
                    "base",
                    missing,
                    has_key=False,
                    has_unique_key=False,
                )
        placeholder = FileColumn("row", _STRING, nullable=False)  # every catalog needs a key
        return UnderstoodDataset(
            dataset,
            _build_isolated_base(dataset, [placeholder], placeholder.name),
            "base",
            missing,
            has_key=False,
            has_unique_key=False,
        )

    def _build_base(self, dataset: Dataset, key: Sequence[str], population: str) -> Base:
        """Return a base catalog for a dataset, and remember the population."""
        files = Files.elsewhere(dataset.namespace, dataset.name, dataset.version, [*self.columns[dataset].values()])
        base = Base.of(files, key=key, population=self.populations.get(population, population))
        self.populations.setdefault(population, base.population)
        return base

    def _find_key(self, dataset: Dataset) -> tuple[tuple[str, ...], str]:
        """Return the key and population of a dataset, from its facet or the user's assumptions; empty if unknown."""
        match self.claims.datasets[dataset].facets.get("provenn_population"):
            case {"population": str(population), "key": [*key]} if all(
                name in [*self.columns[dataset]] for name in key
            ):
                return tuple(key), population
        if self.assumptions.key and all(name in self.columns[dataset] for name in self.assumptions.key):
            return self.assumptions.key, self._assumed_population
        return (), ""

    # --- definitions by provenn ---

    def _apply_definition(self, dataset: Dataset, definition: object) -> UnderstoodDataset:
        """Convert a dataset by the facet ``provenn_definition``."""
        verb = definition.get("verb") if isinstance(definition, dict) else None
        if not isinstance(definition, dict) or not isinstance(verb, str) or verb not in VERBS:
            raise _NotUnderstoodError("its definition cannot be read")
        parts, stated_parts = _read_parts(definition), definition.get("of")
        if not parts or not isinstance(stated_parts, list) or len(parts) < len(stated_parts):
            raise _NotUnderstoodError("its definition cannot be read")
        if not all(part in self.results for part in parts):
            raise _NotUnderstoodError("its inputs are not in the file")
        if not all(self.results[part].has_unique_key for part in parts):
            raise _NotUnderstoodError("the key of its inputs is not known")
        catalogs = [self.results[part].definition for part in parts]
        options = definition.get("options")
        try:
            catalog = build_catalog(verb, options if isinstance(options, dict) else {}, catalogs)
        except ProvennError as error:
            if VERBS[verb].profile.narrows:
                return self._understand_as_subset(dataset, catalogs[:1], error.message)
            raise _NotUnderstoodError(error.message) from error
        return UnderstoodDataset(dataset, catalog, "exact", "", has_key=True, has_unique_key=True)

    def _understand_as_subset(
        self, dataset: Dataset, parts: Sequence[Catalog], missing: str, key: Sequence[str] = ()
    ) -> UnderstoodDataset:
        """Convert a dataset to an unknown subset of the sources of some catalogs."""
        population, stated = parts[0].population, self._find_key(dataset)[0]
        key = key or stated
        try:
            own_sources = Base.of(
                Files.elsewhere(dataset.namespace, dataset.name, dataset.version, [*self.columns[dataset].values()]),
                key=key,
                population=population,
            )
            containers = [verbs.keep(part, ()) for part in parts]
            whole = containers[0] if len(containers) == 1 else verbs.concat(*containers)
            return UnderstoodDataset(
                dataset,
                verbs.restrict(own_sources, whole),
                "inside",
                missing,
                has_key=True,
                has_unique_key=bool(stated),
            )
        except ProvennError as error:
            raise _NotUnderstoodError(error.message) from error

    # --- jobs ---

    def _apply_job(self, dataset: Dataset) -> UnderstoodDataset:
        """Convert a dataset by the SQL or the plan of the job that writes it; otherwise by column lineage."""
        job = self._find_writer(dataset)
        reasons = []
        try:
            if job.queries:
                return self._apply_statements(dataset, job, job.queries, translate_job_query)
        except UnusableQueryError as error:
            reasons.append(f"its SQL is not used: {error}")
        try:
            if job.plans:
                return self._apply_statements(dataset, job, job.plans, translate_job_plan)
        except UnusableQueryError as error:
            reasons.append(f"its plan of Spark is not used: {error}")
        if job.has_plan and not job.plans:
            reasons.append("the plan of Spark in its events is not used: it is shortened, or not in the form of Spark")
        unused = "; ".join(reasons)
        try:
            understood = self._apply_column_lineage(dataset, job)
        except _NotUnderstoodError as error:
            raise _NotUnderstoodError("; ".join(filter(None, (str(error), unused)))) from error
        if understood.how == "exact":
            return understood
        return replace(understood, missing="; ".join(filter(None, (understood.missing, unused))))

    def _find_writer(self, dataset: Dataset) -> JobClaims:
        """Return the only job that writes a dataset."""
        claims = self.claims.datasets[dataset]
        if len(claims.writers) > 1:
            raise _NotUnderstoodError(f"{len(claims.writers)} jobs write it")
        if claims.is_written_in_part:
            raise _NotUnderstoodError("a job writes only part of it")
        job = self.claims.jobs[next(iter(claims.writers))]
        if dataset in job.inputs:
            raise _NotUnderstoodError("the job that writes it also reads it")
        return job

    def _apply_statements(
        self, dataset: Dataset, job: JobClaims, texts: Collection[_Text], translate: _Translate[_Text]
    ) -> UnderstoodDataset:
        """Convert a dataset to the catalog that the SQL or the plan of its job means.

        Raises
        ------
        UnusableQueryError
            If the text does not say which rows the dataset holds, or an input is not known well enough.
        """
        if job.has_failed:
            raise UnusableQueryError("a run failed")
        if len(job.outputs) > 1:
            raise UnusableQueryError("the job has several outputs")
        if len(texts) > MOST_PLANS:
            raise UnusableQueryError("the job has several queries")
        facets = self.claims.datasets[dataset].facets
        output = WrittenDataset(
            list_table_names(dataset, facets),
            [name.lower() for name in self.columns[dataset]] if "schema" in facets else [],
            self._find_key_types_of,
            is_overwritten=_is_overwritten(facets),
            holds_all=self.assumptions.exact,
        )
        inputs = {part: self._make_table(part, job) for part in job.inputs}
        first, *others = (translate(text, inputs, output) for text in texts)
        if any((catalog.digest, columns) != (first[0].digest, first[1]) for catalog, columns in others):
            raise UnusableQueryError("the job has several queries")
        catalog, columns = first
        key, population = self._find_key(dataset)
        if key and (catalog.population.name, {attribute.name for attribute in catalog.schema.key}) != (
            population,
            set(key),
        ):
            raise UnusableQueryError("its rows are not those that the key identifies")
        self.columns_of_queries[dataset] = columns
        return UnderstoodDataset(dataset, catalog, "exact", "", has_key=True, has_unique_key=True)

    def _make_table(self, part: Dataset, job: JobClaims) -> InputTable:
        """Return an input of a job as a table of its query."""
        understood, facets = self.results[part], self.claims.datasets[part].facets
        if not understood.has_unique_key:
            raise UnusableQueryError(f"the key of {part} is not known")
        columns = self.columns_of_queries.get(part) or tuple(self.columns[part] if "schema" in facets else ())
        if not columns or any(name not in understood.definition.schema.names for name in columns):
            raise UnusableQueryError(f"the columns of {part} are not known")
        catalog, is_exact = self._limit_input(part, job, whole=True)
        if not is_exact:
            raise UnusableQueryError(f"the condition under which {part} is read is not understood")
        return InputTable(catalog, list_table_names(part, facets), columns)

    def _find_key_types_of(self, name: str) -> list[str] | None:
        """Return the types of the key of a known population."""
        population = self.populations.get(name) or self.assumptions.find_population(name)
        return None if population is None else [str(kind) for kind in population.key]

    # --- column lineage ---

    def _apply_column_lineage(self, dataset: Dataset, job: JobClaims) -> UnderstoodDataset:
        """Convert a dataset by the column lineage of the job that writes the dataset."""
        claims = self.claims.datasets[dataset]
        columns = read_column_lineage(claims.facets)
        if columns is None:
            raise _NotUnderstoodError("there is no column lineage")
        key, key_datasets = self._find_inherited_key(dataset, columns, job)
        if self.assumptions.exact and not job.has_failed:
            exact = self._understand_exactly(dataset, columns, job, key, key_datasets)
            if exact is not None:
                return exact
        parts = [self._limit_input(part, job, whole=False)[0] for part in key_datasets]
        return self._understand_as_subset(dataset, parts, "the file does not say which", key)

    def _find_inherited_key(
        self, dataset: Dataset, columns: ColumnLineage, job: JobClaims
    ) -> tuple[tuple[str, ...], tuple[Dataset, ...]]:
        """Return the columns with the unchanged key of input datasets, and these input datasets."""
        positions_by_column: dict[str, tuple[tuple[Dataset, int], ...]] = {}
        for name, fields in columns.same.items():
            positions = [self._find_key_position(field, job) for field in fields]
            if name in self.columns[dataset] and None not in positions:
                positions_by_column[name] = tuple(position for position in positions if position is not None)
        stated, population = self._find_key(dataset)
        preferred = [name for name in stated or self.columns[dataset] if name in positions_by_column]
        for first_column in preferred:
            key_datasets = tuple(dict.fromkeys(origin for origin, _ in positions_by_column[first_column]))
            populations = {self.results[part].definition.population for part in key_datasets}
            if len(populations) > 1 or (stated and {candidate.name for candidate in populations} != {population}):
                continue
            width = len(next(iter(populations)).key)
            if width > 1 and not self.assumptions.exact:
                raise _NotUnderstoodError("columns of its key may come from different rows")
            key = [
                next(
                    (
                        name
                        for name in preferred
                        if set(positions_by_column[name]) == {(part, position) for part in key_datasets}
                    ),
                    None,
                )
                for position in range(width)
            ]
            if None not in key and (not stated or set(stated) == set(key)):
                return tuple(name for name in key if name is not None), key_datasets
        raise _NotUnderstoodError("its key is not taken over unchanged from a dataset whose key is known")

    def _find_key_position(self, field: tuple[str, str, str], job: JobClaims) -> tuple[Dataset, int] | None:
        """Return the dataset from which a job reads a field, and the position of the field in its key; or None."""
        namespace, name, column = field
        datasets = [dataset for dataset in job.inputs if (dataset.namespace, dataset.name) == (namespace, name)]
        if len(datasets) != 1 or not self.results[datasets[0]].has_key:
            return None
        key = [attribute.name for attribute in self.results[datasets[0]].definition.schema.key]
        return (datasets[0], key.index(column)) if column in key else None

    def _limit_input(self, part: Dataset, job: JobClaims, *, whole: bool) -> tuple[Catalog, bool]:
        """Return the part of a dataset that a job reads, and whether this part is known exactly."""
        catalog, condition = self.results[part].definition, job.inputs[part]
        if condition is None:
            return catalog, True
        text = write_condition(condition, catalog.schema, whole=whole) if self.results[part].has_unique_key else None
        try:
            return (catalog, False) if text is None else (verbs.select(catalog, text), True)
        except ProvennError:
            return catalog, False

    def _understand_exactly(
        self,
        dataset: Dataset,
        columns: ColumnLineage,
        job: JobClaims,
        key: tuple[str, ...],
        key_datasets: tuple[Dataset, ...],
    ) -> UnderstoodDataset | None:
        """Return a dataset as the result of conditions and joins on the key of input datasets.

        Return None if anything else, or an unknown condition, contributes to the dataset.
        """
        inputs = tuple(job.inputs)
        joined = len(inputs) > 1 and all(self._is_joined_by_key(part, columns) for part in inputs)
        if not joined and set(inputs) != set(key_datasets):
            return None
        if joined and len({self.results[part].definition.population for part in inputs}) > 1:
            return None
        limited_inputs = {part: self._limit_input(part, job, whole=True) for part in inputs}
        if not all(exact for _, exact in limited_inputs.values()):
            return None
        filtered = {(namespace, name) for namespace, name, _ in columns.filtering}
        if any(job.inputs[part] is None and (part.namespace, part.name) in filtered for part in inputs):
            return None  # a condition exists, but its text is unknown
        try:
            if len(inputs) > 1 and not joined:
                kept = [verbs.keep(limited_inputs[part][0], ()) for part in inputs]
                catalog: Catalog = verbs.concat(*kept)
            else:
                selections = [
                    self._select_attributes(dataset, part, limited_inputs[part][0], columns, key) for part in inputs
                ]
                catalog = selections[0] if len(selections) == 1 else verbs.combine(*selections)
        except ProvennError:
            return None
        has_unique_key = bool(self._find_key(dataset)[0]) or all(self.results[part].has_unique_key for part in inputs)
        return UnderstoodDataset(dataset, catalog, "exact", "", has_key=True, has_unique_key=has_unique_key)

    def _is_joined_by_key(self, part: Dataset, columns: ColumnLineage) -> bool:
        """Tell whether all key columns of an input take part in the join."""
        understood = self.results[part]
        key = {(part.namespace, part.name, attribute.name) for attribute in understood.definition.schema.key}
        return understood.has_key and key <= columns.joined

    def _select_attributes(
        self, dataset: Dataset, part: Dataset, limited: Catalog, columns: ColumnLineage, key: tuple[str, ...]
    ) -> Catalog:
        """Return the attributes that a dataset copies from another, under the dataset's own names."""
        names = dict(zip((attribute.name for attribute in limited.schema.key), key, strict=True))
        for name in self.columns[dataset]:
            fields = columns.same.get(name, ())
            if (
                len(fields) == 1
                and fields[0][:2] == (part.namespace, part.name)
                and fields[0][2] in limited.schema.names
            ):
                names.setdefault(fields[0][2], name)
        kept = verbs.keep(limited, names)
        renamed = {old: new for old, new in names.items() if old != new}
        return verbs.rename(kept, renamed) if renamed else kept


def _build_isolated_base(dataset: Dataset, columns: Iterable[FileColumn], key: str) -> Base:
    """Return a dataset as the only member of a separate population."""
    files = Files.elsewhere(dataset.namespace, dataset.name, dataset.version, [*columns])
    return Base.of(files, key=key, population=_make_printable(str(dataset)))


def _read_parts(definition: object) -> tuple[Dataset, ...]:
    """Return the input datasets of a definition; malformed entries are left out."""
    entries = definition.get("of") if isinstance(definition, dict) else None
    datasets = []
    for entry in entries if isinstance(entries, list) else []:
        match entry:
            case {"namespace": str(namespace), "name": str(name)}:
                datasets.append(Dataset(namespace, name, str(entry.get("version") or "")))
    return tuple(datasets)


def _is_overwritten(facets: Mapping[str, Any]) -> bool:
    """Tell whether a dataset is stated to be overwritten."""
    match facets.get("lifecycleStateChange"):
        case {"lifecycleStateChange": "OVERWRITE"}:
            return True
    return False


def _is_ingested(definition: object) -> bool:
    """Tell whether a definition describes a base catalog."""
    return isinstance(definition, dict) and definition.get("verb") == INGEST


def _read_columns(facets: Mapping[str, Any], key: Iterable[str]) -> dict[str, FileColumn]:
    """Return the stated columns of a dataset, by name; without a schema, the columns of the key."""
    schema, population = facets.get("schema"), facets.get("provenn_population")
    fields = schema.get("fields") if isinstance(schema, dict) else None
    present = population.get("never_null") if isinstance(population, dict) else None
    columns = {}
    for field in fields if isinstance(fields, list) else []:
        match field:
            case {"name": str(name)} if name.strip() and name.isprintable():
                nullable = not (isinstance(present, list) and name in present)
                description = str(field.get("description") or "")
                columns[name] = FileColumn(name, _read_type(field.get("type")), nullable, "", description)
    return columns or {name: FileColumn(name, _STRING, nullable=False) for name in key}


def _read_type(text: object) -> Type:
    """Return a foreign type; an unknown type keeps its name, and is never compared."""
    word = str(text or "").strip().lower()
    plain = word.partition("(")[0].strip()
    try:
        return parse_spark_type(_SYNONYMS.get(word) or (_SYNONYMS.get(plain, word) if plain != "decimal" else word))
    except ProvennError:
        return Type(f"struct<unknown:{plain or 'nothing'}>")


def _make_printable(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text).strip() or "?"
