"""The rewritten plan gives exactly what the definition says: on random lineages, fragments, facts and data."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from pyspark.sql import DataFrame

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    PythonCalculator,
    RestrictSources,
    SelectSources,
    SqlCalculator,
)
from provenn.criteria import names_in
from provenn.errors import ProvennError
from provenn.files.listing import File
from provenn.logic import Statement, disjoint, empty, equal, nonempty, subset
from provenn.look.arrow_tables import find_result_type, make_empty_table
from provenn.look.refusal import NeedsSpark
from provenn.look.row_groups import RegionRows
from provenn.spark.columns import select_columns
from provenn.spark.engine import Engine
from provenn.targets import looking
from provenn.targets.execution import execute_plan
from provenn.targets.literal import build_step
from provenn.targets.looking import check_steps
from provenn.targets.plan import Plan
from provenn.targets.rewriting import rewrite_plan
from provenn.targets.scene import Scene
from provenn.targets.steps import FragmentScan, PlanStep, Scan, find_key
from tests.spark import functions
from tests.spark.frames import collected, comparable, parquet_leaf
from tests.spark.lineages import World, catalogs_on, worlds, write_base
from tests.spark.oracle import Oracle
from tests.spark.plain_plan import compile_catalog
from tests.targets.scenes import needed, scene_of, stored


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("worlds")


@st.composite
def cases(draw: st.DrawFn, folder: Path) -> tuple[World, list[Catalog], list[FragmentScan], list[Statement]]:
    """A world; requests of it; fragments for some of its catalogs, and for others; facts that are true in it."""
    world = draw(worlds(folder))
    others = [draw(catalogs_on(world.catalogs)) for _ in range(draw(st.integers(0, 2)))]
    catalogs = [*world.catalogs, *(catalog for catalog in others if catalog is not None)]
    requests = [
        _asked(draw, catalog) for catalog in draw(st.lists(st.sampled_from(catalogs[::-1]), min_size=1, max_size=3))
    ]
    kept = draw(st.lists(st.sampled_from(catalogs), max_size=3, unique=True))
    fragments = []
    for number, catalog in enumerate(kept, 1):
        identities = st.lists(st.sampled_from(sorted(catalog.schema.by_identity)), unique=True)
        fragments.append(
            stored(catalog, draw(st.one_of(st.none(), identities)), number=number, rows=draw(st.integers(0, 9)))
        )
    chosen = draw(st.lists(st.sampled_from(catalogs), max_size=3, unique=True))
    return world, requests, fragments, _truths(Oracle(world.tables), chosen)


COLUMNS = {
    "k": pa.array(range(12)),
    "x": pa.array([None, math.nan, 0.0, -0.0, 1.0, 2.0, 3.0, 4.0, -1.0, math.inf, 2.5, None]),
    "n": pa.array([1, 2, None, 4, 5, 6, 7, 8, 9, None, 0, -1], pa.int32()),
}
CRITERIA = (
    *("x > 1", "x < 3", "n >= 4", "n < 7", "x IS NULL", "n = 5 OR x > 2", "NOT (x > 1)", "k < 8", "n > 2 AND x < 4"),
    *("z > 1", "z < 2", "z IS NULL OR n > 3", "d > 6"),
)


@st.composite
def narrow_cases(draw: st.DrawFn, folder: Path) -> tuple[World, list[Catalog], list[FragmentScan], list[Statement]]:
    """The same on one or two small tables, with few criteria and one calculator: much overlaps, much is stored."""
    base = write_base(folder, pa.table(COLUMNS), key="k", files=2)
    other = write_base(
        folder, pa.table({"k": pa.array(range(4, 9)), "y": pa.array([1.0, 2.0, None, 4.0, 5.0])}), key="k"
    )
    catalogs: list[Catalog] = [base, other] if draw(st.integers(0, 3)) == 0 else [base]
    for _ in range(draw(st.integers(2, 8))):
        catalog, other_catalog = (draw(st.sampled_from(catalogs[-4:])) for _ in range(2))
        with suppress(ProvennError):  # what was drawn has no meaning
            catalogs.append(_next(draw, catalog, other_catalog))
    requests = draw(st.lists(st.sampled_from(catalogs[::-1]), min_size=1, max_size=3))
    candidates = [catalog for catalog in catalogs if "z" in catalog.schema.names] or catalogs
    fragments = []
    for number, catalog in enumerate(draw(st.lists(st.sampled_from(candidates), max_size=3, unique=True)), 1):
        identities = None
        if draw(st.booleans()):
            identities = [
                attribute.identity
                for attribute in catalog.schema.attributes
                if attribute.name == "z" or draw(st.booleans())
            ]
        fragments.append(stored(catalog, identities, number=number, rows=draw(st.integers(1, 12))))
    world = World({base.digest: pa.table(COLUMNS)} | _other(other, catalogs), tuple(catalogs))
    return world, requests, fragments, []


def _other(other: Base, catalogs: list[Catalog]) -> dict[str, pa.Table]:
    return {other.digest: parquet.read_table(other.files.location)} if other in catalogs else {}


def _next(draw: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog:
    match draw(
        st.sampled_from(["select", "select", "calculate", "derive", "combine", "concat", "restrict", "exclude"])
    ):
        case "select":
            return SelectSources.of(catalog, draw(st.sampled_from(CRITERIA)))
        case "calculate":
            return DeriveAttributes.of(catalog, _SCALED)
        case "derive":
            return DeriveAttributes.of(catalog, SqlCalculator.of({"d": "n * 2"}))
        case "combine":
            return CombineAttributes.of(catalog, other)
        case "concat":
            return ConcatSources.of(catalog, other, overlap="first")
        case "restrict":
            return RestrictSources(catalog, other)
        case _:
            return ExcludeSources(catalog, other)


_SCALED = PythonCalculator.of(
    functions.scaled, inputs=["x"], outputs={"z": "double"}, parameters={"output": "z", "factor": 0.5}
)


def _asked(draw: st.DrawFn, catalog: Catalog) -> Catalog:
    if draw(st.booleans()):
        return catalog
    return KeepAttributes.of(catalog, draw(st.lists(st.sampled_from(catalog.schema.names), unique=True)))


def _truths(oracle: Oracle, catalogs: list[Catalog]) -> list[Statement]:
    """All that the data say of the sources of some catalogs: as if it had been observed."""
    sources = {catalog.digest: frozenset(_keys(oracle.table(catalog), catalog)) for catalog in catalogs}
    statements = [(nonempty if sources[catalog] else empty)(catalog) for catalog in sources]
    for catalog, other in combinations(sources, 2):
        if sources[catalog] == sources[other]:
            statements.append(equal(catalog, other))
        elif sources[catalog] < sources[other]:
            statements.append(subset(catalog, other))
        elif not sources[catalog] & sources[other]:
            statements.append(disjoint(catalog, other))
    return statements


def _keys(table: pa.Table, catalog: Catalog) -> list[tuple[object, ...]]:
    return list(zip(*(table.column(attribute.name).to_pylist() for attribute in catalog.schema.key), strict=True))


def frame_of(engine: Engine, scene: Scene, plan: PlanStep, asked: Catalog, oracle: Oracle) -> DataFrame:
    """The rows of a plan, with the columns of a catalog; fragments hold what DuckDB computes."""
    leaf = parquet_leaf(engine.session)

    def read(step: Scan | FragmentScan, identities: Sequence[str]) -> DataFrame:
        if isinstance(step, Scan):
            return select_columns(leaf(step.base), [(step.attributes[wanted].name, wanted) for wanted in identities])
        held = oracle.table(step.catalog)
        names = {identity: attribute.name for identity, attribute in step.catalog.schema.by_identity.items()}
        columns = [held.column(names[identity]).combine_chunks() for identity, _ in step.fragment.columns]
        table = pa.table(columns, names=[f"c{n}" for n in range(len(columns))])
        frame = engine.session.createDataFrame(table)
        kinds = [str(step.attributes[identity].type) for identity, _ in step.fragment.columns]
        casts = [f"CAST(c{n} AS {kind}) AS c{n}" for n, kind in enumerate(kinds)]
        places = {identity: n for n, (identity, _) in enumerate(step.fragment.columns)}
        return select_columns(frame.selectExpr(*casts), [(f"c{places[wanted]}", wanted) for wanted in identities])

    rows = execute_plan(plan, needed(asked), scene, engine.session, read)
    return select_columns(rows, [(attribute.identity, attribute.name) for attribute in asked.schema.attributes])


class OracleLook(looking._Look):
    """A look at base tables, and at fragments that hold what DuckDB computes."""

    def __init__(self, plan: Plan, oracle: Oracle) -> None:
        self.plan = plan
        self.oracle = oracle

    def _list_files(self, scan: Scan) -> Sequence[Any]:  # noqa: ARG002 - the same for all scans
        return (None,)  # all rows at once

    def _read_stored(
        self,
        step: Scan | FragmentScan,
        needed: frozenset[str],
        file: File | None,
        *,
        keys: bool,
        region: RegionRows | None = None,  # noqa: ARG002 - leaves out rows that the criteria would leave out anyway
    ) -> Iterator[pa.Table]:
        assert file is None, "the reference has tables, not files"
        key = find_key(step.attributes)
        identities = [*(key if keys else ()), *sorted(needed.difference(key))]
        catalog = step.base if isinstance(step, Scan) else step.catalog
        table, by_identity = self.oracle.table(catalog), catalog.schema.by_identity
        columns = [
            table.column(by_identity[identity].name).cast(find_result_type(by_identity[identity].type))
            for identity in identities
        ]
        half = table.num_rows // 2
        read = pa.table(columns, names=identities)
        yield from (part.combine_chunks() for part in (read.slice(0, half), read.slice(half)))


def look_at(plan: Plan, oracle: Oracle) -> pa.Table | None:
    """The rows of a plan without Spark; None if Spark must compute them."""
    try:
        check_steps(plan)
    except NeedsSpark:
        return None
    empty_table = make_empty_table(plan.schema)
    tables = [table.cast(empty_table.schema) for table in OracleLook(plan, oracle).read_result()]
    return pa.concat_tables([empty_table, *tables])


def check(
    engine: Engine,
    case: tuple[World, list[Catalog], list[FragmentScan], list[Statement]],
    rounded: Callable[[list[tuple[Any, ...]]], list[tuple[Any, ...]]] = lambda rows: rows,
) -> list[list[tuple[Any, ...]]]:
    """Answer requests by rewritten plans, whose every step is proved; rows are those of the oracle, once rounded.

    Returns the rows of each request.
    """
    world, requests, fragments, facts = case
    oracle = Oracle(world.tables)
    frames, expected = [], []
    for asked in requests:
        scene = scene_of(asked, *world.catalogs, fragments=fragments, facts=facts)
        before = build_step(asked)
        scene.note_definitions(before)
        after, applied = rewrite_plan(before, needed(asked), scene)
        for rewrite in applied:
            assert all(map(scene.is_proved, rewrite.statements)), rewrite.rule
            assert scene.is_proved(scene.state_equal(rewrite.before.extent, rewrite.after.extent)), rewrite.rule
        assert scene.is_proved(scene.state_equal(before.extent, after.extent))
        assert len(applied) < 200, "it came to an end by itself"
        frames.append(frame_of(engine, scene, after, asked, oracle))
        expected.append(rounded(comparable(oracle.table(asked))))
        looked = look_at(Plan("", asked, (), (), asked.schema.attributes, before, after, applied, scene), oracle)
        assert looked is None or rounded(comparable(looked)) == expected[-1], "a look without Spark"
    results = collected(frames, [request.schema.attributes for request in requests])
    for asked, rows, right in zip(requests, results, expected, strict=True):
        assert rounded(rows) == right, asked
    return results


@pytest.mark.parametrize(
    "examples", [pytest.param(5, id="quick"), pytest.param(3000, id="campaign", marks=pytest.mark.campaign)]
)
def test_the_rewritten_plan_gives_what_the_definition_says(engine, folder, examples):
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(cases(folder), narrow_cases(folder), narrow_cases(folder)))
    def check_one(case):
        check(engine, case)

    check_one()


@st.composite
def divisions(draw: st.DrawFn, folder: Path) -> tuple[World, list[Catalog], list[FragmentScan], list[Statement]]:
    """Requests of a catalog, and of its sources for which a criterion is true, is false, and is NULL."""
    world, (whole, *_), fragments, facts = draw(narrow_cases(folder))
    text = draw(
        st.sampled_from(
            [criterion for criterion in CRITERIA if set(names_in(criterion)) <= set(whole.schema.names)] or ["k < 8"]
        )
    )
    parts = [SelectSources.of(whole, form.format(text)) for form in ("{}", "NOT ({})", "({}) IS NULL")]
    return World(world.tables, (*world.catalogs, *parts)), [whole, *parts], fragments, facts


@pytest.mark.parametrize(
    "examples", [pytest.param(2, id="quick"), pytest.param(1000, id="campaign", marks=pytest.mark.campaign)]
)
def test_true_false_and_null_divide_a_catalog_and_the_plain_plan_gives_the_same(engine, folder, examples):
    """No row is lost, and none is in two parts; definitions that are run as they are say the same."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(divisions(folder))
    def check_one(case):
        requests = case[1]
        whole, *parts = results = check(engine, case)
        assert sorted((row for part in parts for row in part), key=repr) == whole
        plain = [compile_catalog(request, parquet_leaf(engine.session)) for request in requests]
        assert collected(plain, [request.schema.attributes for request in requests]) == results

    check_one()
