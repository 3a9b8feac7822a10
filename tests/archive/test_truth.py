"""Everything that is proved of random archives holds on the data, as DuckDB computes them from the user's verbs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import provenn
from provenn.archive import questions
from provenn.errors import AttributeConflictError
from provenn.logic import (
    Statement,
    disjoint,
    empty,
    equal,
    nonempty,
    overlapping,
    proper_subset,
    statement,
    subset,
    superset,
)
from tests.archive.oracle import COLUMNS, SQL, Oracle, Table, condition, expression, values

pytestmark = pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")  # what is declared at random may empty

T = TypeVar("T")
ORACLE = Oracle()
VERBS = {"select": 4, "concat": 2, "sample": 1, "restrict": 1, "exclude": 1} | dict.fromkeys(
    ["keep", "rename", "derive", "combine"], 1
)
ARROW = {"int": pa.int32(), "double": pa.float64(), "string": pa.string(), "boolean": pa.bool_()}


@dataclass(frozen=True)
class Pair:
    """A catalog of the archive, its table in DuckDB, and the sources of that."""

    catalog: provenn.Catalog
    table: Table
    sources: frozenset[int]

    @property
    def digest(self) -> str:
        return self.catalog.digest


class World:
    """A random archive beside its data."""

    def __init__(self, archive: provenn.Archive, folder: Path, random: Random, size: int) -> None:
        self.archive, self.folder, self.random = archive, folder, random
        self.oracle = ORACLE
        self.made: dict[str, Pair] = {}
        self.usual = [condition(random, COLUMNS, 1) for _ in range(2)]  # so that criteria meet again
        for _ in range(random.choice([1, 2, 2])):
            self._base()
        for _ in range(2 * size):  # some verbs do not fit what they are given, some make what is there already
            if len(self.made) < size:
                self._define()

    def _add(self, catalog: provenn.Catalog, table: Table) -> None:
        found = self.made.get(catalog.digest)
        sources = self.oracle.sources(table)
        assert found is None or found.sources == sources, "one definition, one set of sources"
        self.made[catalog.digest] = Pair(catalog, table, sources)

    def _base(self) -> None:
        random = self.random
        keys = random.sample(range(1, 8), random.randrange(1, 7))
        columns = {"hip": pa.array(keys, pa.int64())}
        columns |= {name: pa.array(values(random, kind, len(keys)), ARROW[kind]) for name, kind in COLUMNS.items()}
        path = self.folder / f"{random.getrandbits(64):x}.parquet"
        parquet.write_table(pa.table(columns), path)
        name = f"base {random.getrandbits(64):x}"
        self._add(
            self.archive.ingest(name, path, key="hip", population="star", rebuild=False), self.oracle.base(str(path))
        )

    def _pick(self) -> Pair:
        made = list(self.made.values())
        return self.random.choice(made[:3] if self.random.random() < 0.5 else made)

    def _condition(self, columns: dict[str, str]) -> SQL:
        if columns.keys() >= COLUMNS.keys() and self.random.random() < 0.6:
            return self.random.choice(self.usual)
        return condition(self.random, columns)

    def _define(self) -> None:
        """Apply a random verb to random catalogs, here and there."""
        random, oracle = self.random, self.oracle
        one, other = self._pick(), self._pick()
        catalog, table = one.catalog, one.table
        (verb,) = random.choices(list(VERBS), VERBS.values())
        everything = {table.key: "int"} | table.columns
        match verb:
            case "select":
                where = self._condition(everything)
                self._add(catalog.select(where.provenn), oracle.select(table, where))
            case "restrict":
                self._add(catalog.restrict(other.catalog), oracle.restrict(table, other.table))
            case "exclude":
                self._add(catalog.exclude(other.catalog), oracle.restrict(table, other.table, without=True))
            case "sample":
                seed = random.choice([0, 1])
                for fraction in random.sample([0.3, 0.5, 0.8, 1], 2):
                    self._add(catalog.sample(fraction, seed=seed), oracle.sample(table, fraction, seed))
            case "keep":
                names = [name for name in table.columns if random.random() < 0.7]
                self._add(catalog.keep(*names), oracle.keep(table, names))
            case "rename":
                old, new = random.choice(list(everything)), f"r{random.randrange(10)}"
                if new not in everything:
                    self._add(catalog.rename({old: new}), oracle.rename(table, {old: new}))
            case "derive":
                value, kind = expression(random, everything)
                name = f"d{random.randrange(10)}"
                if name not in everything:
                    self._add(catalog.derive({name: value.provenn}), oracle.derive(table, name, value, kind))
            case "combine":
                self._combine(one, other)
            case _:
                self._concat(one, other)

    def _combine(self, one: Pair, other: Pair) -> None:
        try:
            made = one.catalog.combine(other.catalog)
        except AttributeConflictError:
            return
        if one.table.key == other.table.key and one.table.key not in other.table.columns:
            self._add(made, self.oracle.combine(one.table, other.table))

    def _concat(self, one: Pair, other: Pair) -> None:
        order = None
        try:
            made = one.catalog.concat(other.catalog)
        except AttributeConflictError:
            order = "first"
            try:
                made = one.catalog.concat(other.catalog, order=order)
            except AttributeConflictError:  # of different types
                return
        if made.definition.overlap == "disjoint":
            assert not one.sources & other.sources, "what is taken for disjoint is"
        shared = {name for name in one.table.columns if name in other.table.columns}
        if set(made.attributes) == {one.table.key, *shared}:
            self._add(made, self.oracle.concat(one.table, other.table))

    def declare(self) -> None:
        """Declare something that is true of the data."""
        one, other = self._pick(), self._pick()
        true = [claim for claim in claims(one.digest, other.digest) if self.holds(claim)]
        self.archive.declare(self.random.choice(true))

    def holds(self, said: Statement) -> bool:
        """Whether a statement is true of the data; there is always a source that is in no catalog."""
        everything = frozenset().union(*(one.sources for one in self.made.values())) | {-1}
        parts = said.parts if hasattr(said, "parts") else (said,)
        return all(
            bool(claim.region.evaluate(lambda label: self.made[label].sources, frozenset(), everything))
            == claim.inhabited
            for part in parts
            for claim in part.claims()
        )

    def knowledge(self):
        with self.archive.context.database.reading() as reading:
            return questions._gather_knowledge(reading, list(self.made), {}).knowledge


def claims(one: str, other: str) -> list[Statement]:
    """All that may be proved of two catalogs."""
    named = [equal, subset, superset, disjoint, overlapping, proper_subset]
    return [*(relation(one, other) for relation in named), empty(one), nonempty(one)]


def some(random: Random, cases: Iterable[T], most: int) -> list[T]:
    everything = list(cases)
    return random.sample(everything, min(most, len(everything)))


def check(archive: provenn.Archive, folder: Path, random: Random, size: int) -> Counter[str]:
    """Make a random archive, and hold all that is proved of it against the data; return how often what was proved."""
    world = World(archive, folder, random, size)
    for _ in range(random.choice([0, 0, 1, 2])):
        world.declare()
    knowledge, proved = world.knowledge(), Counter()
    for one, other in combinations(world.made, 2):
        for said in claims(one, other):
            if knowledge.entails(said):
                assert world.holds(said), said
                proved[getattr(said, "name", None) or said.operator] += 1
    for one, other, third in some(random, permutations(world.made, 3), 40):
        for text in (f"'{one}' & '{other}' <= '{third}'", f"'{one}' <= '{other}' | '{third}'"):
            if knowledge.entails(said := statement(text)):
                assert world.holds(said), said
                proved["of three"] += 1
    for pair in some(random, world.made.values(), 4):
        check_catalog(world, knowledge, pair)
    check_answers(world, knowledge)
    return proved


def check_catalog(world: World, knowledge, pair: Pair) -> None:
    """What is stored of a catalog is the catalog, and what its class says locally is no more than what is known."""
    again = world.archive[pair.digest]
    assert (again.schema, again.definition.extent) == (pair.catalog.schema, pair.catalog.definition.extent)
    local = pair.catalog.definition.relationship()
    assert knowledge.relationship(*local.labels).entails(local)
    for other in world.made.values():
        if other.catalog.definition.extent == pair.catalog.definition.extent:
            assert other.sources == pair.sources, "sets that are equal by construction are equal"


def check_answers(world: World, knowledge) -> None:
    """Questions asked of the archive, by cone, have the answers of all knowledge together; hypercubes are exact."""
    random = world.random
    for one, other in some(random, permutations(world.made.values(), 2), 3):
        relation = world.archive.relate(one.catalog, other.catalog)
        possible = knowledge.relationship(one.digest, other.digest)
        assert [cube.tolist() for cube in relation.hypercubes.arrays()] == [cube.tolist() for cube in possible.arrays()]
        actual = np.array(
            [
                [True, bool(other.sources - one.sources)],
                [bool(one.sources - other.sources), bool(one.sources & other.sources)],
            ]
        )
        assert any((cube == actual).all() for cube in possible.arrays())
        said = random.choice(claims(one.digest, other.digest))
        assert world.archive.prove(said).verdict == knowledge.judge(said)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One archive for all examples: questions about one of them must not be disturbed by the others."""
    folder = tmp_path_factory.mktemp("truth")
    with provenn.open(folder) as archive:
        yield archive, folder


def run(shared, examples: int, sizes: st.SearchStrategy[int]) -> Counter[str]:
    proved: Counter[str] = Counter()

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False), sizes)
    def check_one(random, size):
        proved.update(check(*shared, random, size))

    check_one()
    return proved


def test_what_is_proved_holds_on_the_data(shared):
    """Thousands of proofs, of every kind."""
    proved = run(shared, 20, st.just(12))
    assert proved.total() > 1000, proved
    assert set(proved) == {"==", "<=", ">=", "disjoint", "overlapping", "<", "empty", "nonempty", "of three"}


@pytest.mark.campaign
def test_what_is_proved_holds_on_the_data_at_length(shared):
    assert run(shared, 3000, st.integers(5, 25)).total() > 100_000
