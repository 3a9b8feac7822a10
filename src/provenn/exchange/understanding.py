"""Datasets of others as catalogs: only what is stated is claimed, and what is not understood is told.

The sources of a dataset whose key is taken over unchanged from other datasets lie among theirs: that is claimed. That
it has all of them, nobody says; only ``provenn_definition`` does, or who asks for it to be held exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    Files,
    KeepAttributes,
    Population,
    RenameAttributes,
    RestrictSources,
    SelectSources,
)
from provenn.catalogs.file_columns import Column
from provenn.catalogs.type_names import known_type
from provenn.criteria import Type, parse_type
from provenn.errors import ProvennError
from provenn.exchange.conditions import as_sql
from provenn.exchange.definitions import INGEST, VERBS, defined
from provenn.exchange.gathering import Gathered, Job
from provenn.exchange.origins import ColumnLineage, column_lineage
from provenn.exchange.reading import Dataset

__all__ = ["Assumptions", "Understood", "understood"]

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


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What the user says besides.

    Parameters
    ----------
    key, population
        The columns that identify a source, in every dataset that has them, and what a row of these is.
    exact
        Whether outputs have all sources that conditions and joins allow, and joins are inner ones.
    populations
        Populations that the archive knows, by name.
    """

    key: tuple[str, ...] = ()
    population: str = ""
    exact: bool = False
    populations: Mapping[str, Population] | None = None


@dataclass(frozen=True, slots=True)
class Understood:
    """What a dataset is taken for.

    Parameters
    ----------
    dataset
        The dataset.
    definition
        The catalog.
    how
        ``"base"``: a set of its own; ``"inside"``: its sources lie among those of others; ``"exact"``: it is known
        which of theirs it has.
    missing
        What was not understood, in words; empty if nothing.
    keyed
        Whether its key is known. Otherwise nothing can be said of how it relates to others.
    unique
        Whether it is stated that its key identifies a row. Otherwise conditions on its rows say nothing of sources.
    """

    dataset: Dataset
    definition: Catalog
    how: str
    missing: str
    keyed: bool
    unique: bool


class _NotUnderstoodError(Exception):
    """Why a dataset is not taken for more than a set of its own."""


def understood(said: Gathered, assumed: Assumptions) -> list[Understood]:
    """Take datasets for catalogs, each after those it is made from."""
    return _Reader(said, assumed).read()


class _Reader:
    def __init__(self, said: Gathered, assumed: Assumptions) -> None:
        self.said, self.assumed = said, assumed
        self.columns = {one: _columns(known.facets, assumed.key) for one, known in said.datasets.items()}
        self.populations = dict(assumed.populations or {})
        self.made: dict[Dataset, Understood] = {}
        if assumed.key and self._assumed_population not in self.populations:
            self.populations[self._assumed_population] = Population(self._assumed_population, self._widest())

    @property
    def _assumed_population(self) -> str:
        return self.assumed.population or " ".join(self.assumed.key)

    def _widest(self) -> tuple[Type, ...]:
        """Return the types of the assumed key: of whole numbers, the widest."""
        having = [one for one in self.columns.values() if all(name in one for name in self.assumed.key)]
        widest = []
        for name in self.assumed.key:
            types = [one[name].type for one in having if one[name].type.scalar] or [_STRING]
            whole = all(one.name in _INTEGRAL for one in types)
            widest.append(max(types, key=lambda one: _INTEGRAL.index(one.name)) if whole else types[0])
        return tuple(widest)

    # --- all datasets ---

    def read(self) -> list[Understood]:
        needs = {one: self._needs(one) for one in self.said.datasets}
        circular: set[Dataset] = set()
        while True:
            graph = {one: () if one in circular else parts for one, parts in needs.items()}
            try:
                order = list(TopologicalSorter(graph).static_order())
                break
            except CycleError as error:
                circular.update(error.args[1])
        for one in order:
            self.made[one] = self._one(one, circular=one in circular)
        return list(self.made.values())

    def _needs(self, one: Dataset) -> tuple[Dataset, ...]:
        known = self.said.datasets[one]
        definition = known.facets.get("provenn_definition")
        if definition is not None:
            return tuple(part for part in _parts(definition) if part in self.said.datasets and part != one)
        return tuple(part for job in known.written_by for part in self.said.jobs[job].inputs if part != one)

    def _one(self, one: Dataset, *, circular: bool) -> Understood:
        known = self.said.datasets[one]
        if circular or known.differing:
            return self._base(one, "it is made from itself" if circular else "its events contradict each other")
        definition = known.facets.get("provenn_definition")
        try:
            if definition is not None and not _ingested(definition):
                return self._defined(one, definition)
            if definition is None and known.written_by:
                return self._written(one)
        except _NotUnderstoodError as error:
            return self._base(one, str(error))
        return self._base(one, "")

    # --- a set of its own ---

    def _base(self, one: Dataset, missing: str) -> Understood:
        key, population = self._key(one)
        if key:
            try:
                return Understood(one, self._external(one, key, population), "base", missing, True, True)
            except ProvennError as error:
                missing = missing or error.message
        columns = self.columns[one]
        first = next((name for name, column in columns.items() if column.type.scalar), None)
        missing = missing or "its key is not known"
        if first is not None:
            with suppress(ProvennError):
                return Understood(one, _alone(one, columns.values(), first), "base", missing, keyed=False, unique=False)
        made_up = Column("row", _STRING, nullable=False)  # a catalog has a key
        return Understood(one, _alone(one, [made_up], made_up.name), "base", missing, keyed=False, unique=False)

    def _external(self, one: Dataset, key: Sequence[str], population: str) -> Base:
        files = Files.elsewhere(one.namespace, one.name, one.version, [*self.columns[one].values()])
        made = Base.of(files, key=key, population=self.populations.get(population, population))
        self.populations.setdefault(population, made.population)
        return made

    def _key(self, one: Dataset) -> tuple[tuple[str, ...], str]:
        """Return the key of a dataset and its population, if they are known: by its facet, or by what the user says."""
        match self.said.datasets[one].facets.get("provenn_population"):
            case {"population": str(population), "key": [*key]} if all(name in [*self.columns[one]] for name in key):
                return tuple(key), population
        if self.assumed.key and all(name in self.columns[one] for name in self.assumed.key):
            return self.assumed.key, self._assumed_population
        return (), ""

    # --- what provenn says ---

    def _defined(self, one: Dataset, definition: object) -> Understood:
        if not isinstance(definition, dict) or definition.get("verb") not in VERBS:
            raise _NotUnderstoodError("its definition cannot be read")
        parts, given = _parts(definition), definition.get("of")
        if not parts or not isinstance(given, list) or len(parts) < len(given):
            raise _NotUnderstoodError("its definition cannot be read")
        if not all(part in self.made for part in parts):
            raise _NotUnderstoodError("what it is made from is not in the file")
        if not all(self.made[part].unique for part in parts):
            raise _NotUnderstoodError("the key of what it is made from is not known")
        catalogs = [self.made[part].definition for part in parts]
        options = definition.get("options")
        try:
            made = defined(definition["verb"], options if isinstance(options, dict) else {}, catalogs)
        except ProvennError as error:
            if definition["verb"] in ("select", "restrict", "exclude", "sample", "matched"):
                return self._among(one, catalogs[:1], error.message)
            raise _NotUnderstoodError(error.message) from error
        return Understood(one, made, "exact", "", keyed=True, unique=True)

    def _among(self, one: Dataset, parts: Sequence[Catalog], missing: str, key: Sequence[str] = ()) -> Understood:
        """Take a dataset for some of the sources of others; which, is its own secret."""
        population, stated = parts[0].population, self._key(one)[0]
        key = key or stated
        try:
            own = Base.of(
                Files.elsewhere(one.namespace, one.name, one.version, [*self.columns[one].values()]),
                key=key,
                population=population,
            )
            among = [KeepAttributes.of(part, ()) for part in parts]
            whole = among[0] if len(among) == 1 else ConcatSources.of(*among)
            return Understood(one, RestrictSources(own, whole), "inside", missing, keyed=True, unique=bool(stated))
        except ProvennError as error:
            raise _NotUnderstoodError(error.message) from error

    # --- what others say ---

    def _written(self, one: Dataset) -> Understood:
        known = self.said.datasets[one]
        if len(known.written_by) > 1:
            raise _NotUnderstoodError(f"{len(known.written_by)} jobs write it")
        if known.written_in_part:
            raise _NotUnderstoodError("a job writes only a part of it")
        job = self.said.jobs[next(iter(known.written_by))]
        if one in job.inputs:
            raise _NotUnderstoodError("the job that writes it reads it, too")
        columns = column_lineage(known.facets)
        if columns is None:
            raise _NotUnderstoodError("there is no column lineage")
        key, giving = self._inherited_key(one, columns, job)
        if self.assumed.exact and not job.failed:
            exact = self._exactly(one, columns, job, key, giving)
            if exact is not None:
                return exact
        parts = [self._limited(part, job, whole=False)[0] for part in giving]
        return self._among(one, parts, "which of them, is not said", key)

    def _inherited_key(
        self, one: Dataset, columns: ColumnLineage, job: Job
    ) -> tuple[tuple[str, ...], tuple[Dataset, ...]]:
        """Return the columns that hold the key of other datasets, unchanged, and these datasets."""
        found: dict[str, tuple[tuple[Dataset, int], ...]] = {}
        for name, fields in columns.same.items():
            places = [self._key_place(field, job) for field in fields]
            if name in self.columns[one] and None not in places:
                found[name] = tuple(place for place in places if place is not None)
        stated, population = self._key(one)
        preferred = [name for name in stated or self.columns[one] if name in found]
        for first in preferred:
            giving = tuple(dict.fromkeys(dataset for dataset, _ in found[first]))
            populations = {self.made[part].definition.population for part in giving}
            if len(populations) > 1 or (stated and {each.name for each in populations} != {population}):
                continue
            wide = len(next(iter(populations)).key)
            if wide > 1 and not self.assumed.exact:
                raise _NotUnderstoodError("columns of its key may come from different rows")
            key = [
                next((name for name in preferred if set(found[name]) == {(part, place) for part in giving}), None)
                for place in range(wide)
            ]
            if None not in key and (not stated or set(stated) == set(key)):
                return tuple(name for name in key if name is not None), giving
        raise _NotUnderstoodError("its key is not taken over unchanged from a dataset whose key is known")

    def _key_place(self, field: tuple[str, str, str], job: Job) -> tuple[Dataset, int] | None:
        """Return the dataset that a job reads a field from, and which column of its key that is, if it is one."""
        namespace, name, column = field
        read = [one for one in job.inputs if (one.namespace, one.name) == (namespace, name)]
        if len(read) != 1 or not self.made[read[0]].keyed:
            return None
        key = [attribute.name for attribute in self.made[read[0]].definition.schema.key]
        return (read[0], key.index(column)) if column in key else None

    def _limited(self, part: Dataset, job: Job, *, whole: bool) -> tuple[Catalog, bool]:
        """Return what a job reads of a dataset, and whether that is known."""
        catalog, condition = self.made[part].definition, job.inputs[part]
        if condition is None:
            return catalog, True
        text = as_sql(condition, catalog.schema, whole=whole) if self.made[part].unique else None
        try:
            return (catalog, False) if text is None else (SelectSources.of(catalog, text), True)
        except ProvennError:
            return catalog, False

    def _exactly(
        self, one: Dataset, columns: ColumnLineage, job: Job, key: tuple[str, ...], giving: tuple[Dataset, ...]
    ) -> Understood | None:
        """Return the dataset as what conditions and joins on the key leave of others, if that is all there is to it."""
        read = tuple(job.inputs)
        joined = len(read) > 1 and all(self._joined(part, columns) for part in read)
        if not joined and set(read) != set(giving):
            return None
        if joined and len({self.made[part].definition.population for part in read}) > 1:
            return None
        limited = {part: self._limited(part, job, whole=True) for part in read}
        if not all(exact for _, exact in limited.values()):
            return None
        filtered = {(namespace, name) for namespace, name, _ in columns.filtering}
        if any(job.inputs[part] is None and (part.namespace, part.name) in filtered for part in read):
            return None  # there is a condition, and nobody says which
        try:
            if len(read) > 1 and not joined:
                kept = [KeepAttributes.of(limited[part][0], ()) for part in read]
                made: Catalog = ConcatSources.of(*kept)
            else:
                shown = [self._shown(one, part, limited[part][0], columns, key) for part in read]
                made = shown[0] if len(shown) == 1 else CombineAttributes.of(*shown)
        except ProvennError:
            return None
        unique = bool(self._key(one)[0]) or all(self.made[part].unique for part in read)
        return Understood(one, made, "exact", "", keyed=True, unique=unique)

    def _joined(self, part: Dataset, columns: ColumnLineage) -> bool:
        made = self.made[part]
        key = {(part.namespace, part.name, attribute.name) for attribute in made.definition.schema.key}
        return made.keyed and key <= columns.joined

    def _shown(
        self, one: Dataset, part: Dataset, limited: Catalog, columns: ColumnLineage, key: tuple[str, ...]
    ) -> Catalog:
        """Return the attributes that a dataset takes over from another, under its own names."""
        names = dict(zip((attribute.name for attribute in limited.schema.key), key, strict=True))
        for name in self.columns[one]:
            fields = columns.same.get(name, ())
            if (
                len(fields) == 1
                and fields[0][:2] == (part.namespace, part.name)
                and fields[0][2] in limited.schema.names
            ):
                names.setdefault(fields[0][2], name)
        kept = KeepAttributes.of(limited, names)
        renamed = {old: new for old, new in names.items() if old != new}
        return RenameAttributes.of(kept, renamed) if renamed else kept


def _alone(one: Dataset, columns: Iterable[Column], key: str) -> Base:
    """Return a dataset as the only one of its population."""
    files = Files.elsewhere(one.namespace, one.name, one.version, [*columns])
    return Base.of(files, key=key, population=_printable(str(one)))


def _parts(definition: object) -> tuple[Dataset, ...]:
    given = definition.get("of") if isinstance(definition, dict) else None
    found = []
    for one in given if isinstance(given, list) else []:
        match one:
            case {"namespace": str(namespace), "name": str(name)}:
                found.append(Dataset(namespace, name, str(one.get("version") or "")))
    return tuple(found)


def _ingested(definition: object) -> bool:
    return isinstance(definition, dict) and definition.get("verb") == INGEST


def _columns(facets: Mapping[str, Any], key: Iterable[str]) -> dict[str, Column]:
    """Return the columns that a dataset is said to have, by name; if nobody says, those of the key."""
    schema, population = facets.get("schema"), facets.get("provenn_population")
    fields = schema.get("fields") if isinstance(schema, dict) else None
    present = population.get("never_null") if isinstance(population, dict) else None
    found = {}
    for one in fields if isinstance(fields, list) else []:
        match one:
            case {"name": str(name)} if name.strip() and name.isprintable():
                nullable = not (isinstance(present, list) and name in present)
                said = str(one.get("description") or "")
                found[name] = Column(name, _type(one.get("type")), nullable, "", said)
    return found or {name: Column(name, _STRING, nullable=False) for name in key}


def _type(text: object) -> Type:
    """Return a type of others; one that is not known is kept by its name, and never compared."""
    word = str(text or "").strip().lower()
    plain = word.partition("(")[0].strip()
    try:
        return known_type(_SYNONYMS.get(word) or (_SYNONYMS.get(plain, word) if plain != "decimal" else word))
    except ProvennError:
        return Type(f"struct<unknown:{plain or 'nothing'}>")


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else "?" for one in text).strip() or "?"
