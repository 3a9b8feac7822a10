"""Plans through references give what definitions say: on random lineages, fragments and facts."""

import math
from collections.abc import Mapping
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    FirstSources,
    GroupSources,
    HavingSources,
    KeepAttributes,
    LookupAttributes,
    PythonCalculator,
    RestrictSources,
    SelectSources,
    SqlCalculator,
)
from provenn.criteria import names_in
from provenn.errors import ProvennError
from provenn.logic import Statement, disjoint, empty, nonempty, subset
from provenn.targets.steps import FragmentScan
from tests.catalogs.reference_samples import Rows, Table, build_arrow_table, build_arrow_tables, reference_lineages
from tests.spark import functions
from tests.spark.frames import collected, comparable, parquet_leaf
from tests.spark.lineages import World, write_base
from tests.spark.oracle import Oracle
from tests.spark.plain_plan import compile_catalog
from tests.targets.scenes import stored
from tests.targets.test_equivalence import check


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("populations")


def draw_tables(random: Random, folder: Path, most: int = 8) -> list[Table]:
    """Draw a lineage on base catalogs with files."""

    def make_base(tag: str, columns: Mapping[str, str], key: tuple[str, ...], population: str, rows: Rows) -> Catalog:
        table = build_arrow_table(columns, rows)
        return write_base(folder, table, key=list(key), population=population, files=random.randint(1, 2), tag=tag)

    return reference_lineages(random, most, make_base=make_base)


def draw_case(random: Random, folder: Path) -> tuple[World, list[Catalog], list[FragmentScan], list[Statement]]:
    """Draw a world, requests of it, fragments of some of its catalogs, and facts that are true in it."""
    tables = draw_tables(random, folder)
    catalogs = [table.catalog for table in tables]
    requests = [_ask(random, catalog) for catalog in random.sample(catalogs[1:], min(3, len(catalogs) - 1))]
    fragments = []
    for number, catalog in enumerate(random.sample(catalogs, random.randint(0, 3)), 1):
        held = random.choice([None, random.sample(sorted(catalog.schema.by_identity), 1)])
        fragments.append(stored(catalog, held, number=number, rows=random.randint(1, 9)))
    facts = _list_truths(random.sample(tables, random.randint(0, 3)))
    return World(build_arrow_tables(tables), tuple(catalogs)), requests, fragments, facts


def _ask(random: Random, catalog: Catalog) -> Catalog:
    names = catalog.schema.names
    return random.choice([catalog, KeepAttributes.of(catalog, random.sample(names, random.randint(0, len(names))))])


def _list_truths(tables: list[Table]) -> list[Statement]:
    """Return some of what the rows say, as if it had been observed."""
    facts = [(nonempty if table.rows else empty)(table.catalog.digest) for table in tables]
    for one, other in combinations(tables, 2):
        if one.catalog.population == other.catalog.population and one.catalog.digest != other.catalog.digest:
            if one.rows.keys() <= other.rows.keys():
                facts.append(subset(one.catalog.digest, other.catalog.digest))
            if one.rows.keys().isdisjoint(other.rows):
                facts.append(disjoint(one.catalog.digest, other.catalog.digest))
    return facts


DETECTIONS = {
    "id": pa.array(range(12)),
    "objid": pa.array([1, 1, 1, 2, 2, 3, 3, None, 9, 4, 4, None]),
    "mag": pa.array([1.0, 2.0, None, 4.0, 2.0, math.nan, 0.5, 1.0, 2.0, 3.0, 3.0, None]),
    "night": pa.array([1, 2, 3, 1, 2, 2, 2, 3, None, 1, None, 2], pa.int32()),
}
OBJECTS = {
    "hip": pa.array([1, 2, 3, 4, 5]),
    "vmag": pa.array([1.0, 5.0, None, 3.0, 2.0]),
    "parent": pa.array([2, 3, None, 4, 7]),
}
CRITERIA = (
    *("mag < 3", "objid < 3", "objid >= 2", "vmag < 4", "vmag > 1", "n > 1", "n < 3", "hip < 4", "night = 2"),
    *("mag < 3 AND vmag < 4", "vmag < 4 OR n > 1", "p_vmag > 1", "z > 1", "mag IS NULL", "objid IS NOT NULL"),
    *("last < 3 AND hip > 1", "(vmag < 4) IS NOT TRUE", "n > 1 AND mag > 1"),
)


def draw_narrow_case(random: Random, folder: Path) -> tuple[World, list[Catalog], list[FragmentScan], list[Statement]]:
    """Draw the same on two small tables, with few criteria and aggregates: much overlaps, much is stored."""
    detections = write_base(folder, pa.table(DETECTIONS), key="id", population="detection", files=2)
    objects = write_base(folder, pa.table(OBJECTS), key="hip", population="object")
    made: list[Catalog] = [objects, detections]
    for _ in range(random.randint(4, 14)):
        with suppress(ProvennError):  # what was drawn has no meaning
            made.append(_define(random, made))
    requests = [_select(random, catalog) for catalog in random.sample(made[-5:], 2)]
    fragments = []
    for number, catalog in enumerate(random.sample(made[2:] or made, random.randint(0, min(4, len(made) - 2))), 1):
        held = random.choice([None, random.sample(sorted(catalog.schema.by_identity), 1)])
        fragments.append(stored(catalog, held, number=number, rows=random.randint(1, 12)))
    tables = {detections.digest: pa.table(DETECTIONS), objects.digest: pa.table(OBJECTS)}
    return World(tables, tuple(made)), requests, fragments, []


def _select(random: Random, catalog: Catalog) -> Catalog:
    """Draw a selection that limits what is computed."""
    names = {name.lower() for name in catalog.schema.names}
    fitting = [text for text in CRITERIA if {name.lower() for name in names_in(text)} <= names]
    return SelectSources.of(catalog, random.choice(fitting)) if fitting and random.random() < 0.7 else catalog


def _define(random: Random, made: list[Catalog]) -> Catalog:
    """Draw a catalog more; raise an error if what is drawn has no meaning."""
    one = random.choice(made[-5:])
    kin = random.choice([catalog for catalog in made if catalog.population == one.population])
    of = {
        name: random.choice([catalog for catalog in made if catalog.population.name == name][-4:])
        for name in ("object", "detection")
    }
    missing = random.choice(["drop", "drop", "null"])
    match random.choice(["select"] * 4 + ["lookup"] * 4 + ["group"] * 4 + ["having", "first", "first", "self", "own"]
                        + ["restrict", "exclude", "combine", "combine", "concat", "derive", "calculate"]):  # fmt: skip
        case "select":
            return SelectSources.of(one, random.choice(CRITERIA))
        case "lookup":
            return LookupAttributes.of(of["detection"], of["object"], on="objid", missing=missing)
        case "self":
            return LookupAttributes.of(of["object"], of["object"], on="parent", missing=missing, prefix="p_")
        case "own":
            return LookupAttributes.of(of["detection"], of["object"], on="id", missing=missing, prefix="o_")
        case "group":
            texts = {"n": "count(*)", "s": "sum(mag)", "last": "max_by(mag, night)", "v": "max(vmag)"}
            chosen = {name: texts[name] for name in random.sample(sorted(texts), random.randint(1, 3))}
            by = random.choice(["objid", "objid", "objid", "night"])
            population = made[0].population if by == "objid" else "night"
            return GroupSources.of(of["detection"], by, chosen, population=population)
        case "having":
            return HavingSources.of(of["object"], of["detection"], on="objid", is_in=random.random() < 0.5)
        case "first":
            order = random.choice(["night DESC", "mag", "vmag DESC, mag"])
            return FirstSources.of(of["detection"], "objid", order, random.randint(1, 2))
        case "restrict":
            return RestrictSources(one, kin)
        case "exclude":
            return ExcludeSources(one, kin)
        case "combine":
            return CombineAttributes.of(one, kin)
        case "concat":
            return ConcatSources.of(one, kin, overlap="first")
        case "derive":
            return DeriveAttributes.of(one, SqlCalculator.of({"d": random.choice(["vmag * 2", "mag + 1", "n - 1"])}))
    return DeriveAttributes.of(one, _SCALED)


_SCALED = PythonCalculator.of(
    functions.scaled, inputs=["vmag"], outputs={"z": "double"}, parameters={"output": "z", "factor": 0.5}
)


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(8), id="quick"), pytest.param(range(8, 3000), id="campaign", marks=pytest.mark.campaign)],
)
def test_stored_lookups_groups_and_first_sources_are_reused_only_where_they_are_the_same(engine, folder, seeds):
    for seed in seeds:
        check(engine, draw_narrow_case(Random(seed), folder))


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(6), id="quick"), pytest.param(range(6, 1000), id="campaign", marks=pytest.mark.campaign)],
)
def test_the_rewritten_plan_gives_what_the_definitions_say(engine, folder, seeds):
    for seed in seeds:
        check(engine, draw_case(Random(seed), folder))


@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(3), id="quick"), pytest.param(range(3, 300), id="campaign", marks=pytest.mark.campaign)],
)
def test_the_plain_plan_and_duckdb_give_the_same_rows(engine, folder, seeds):
    for seed in seeds:
        tables = draw_tables(Random(seed), folder, most=12)
        oracle = Oracle(build_arrow_tables(tables))
        catalogs = [table.catalog for table in tables if table.catalog.dependencies]
        frames = [compile_catalog(catalog, parquet_leaf(engine.session)) for catalog in catalogs]
        rows = collected(frames, [catalog.schema.attributes for catalog in catalogs])
        assert rows == [comparable(oracle.table(catalog)) for catalog in catalogs], seed
