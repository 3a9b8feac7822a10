"""Counts that follow from other counts: each is what counting gives, and nothing is run for it."""

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, count
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import provenn
from provenn.catalogs import Base, Catalog
from provenn.database.transactions import Database
from provenn.definitions import catalog_store
from provenn.errors import ProvennError, ProvennWarning
from provenn.formats.opening import open_database
from provenn.knowledge import verified_keys
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import find_all_facts
from provenn.logic import disjoint, equal, subset
from provenn.spark.pipeline import Pipeline, PreparedData
from provenn.targets.dividing import Division, derive_count
from provenn.targets.learning import learn_count
from tests.spark.oracle import Oracle
from tests.targets import test_crossmatch, test_equivalence
from tests.targets.scenes import known
from tests.targets.simulated import random_sets

NUMBER = count(1)


# --- what follows is true ---


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("counts")
    open_database(folder / "empty.db", create=True).close()
    return folder


def _sources(oracle: Oracle, catalog: Catalog) -> frozenset[tuple[object, ...]]:
    table = oracle.table(catalog)
    return frozenset(zip(*(table.column(one.name).to_pylist() for one in catalog.schema.key), strict=True))


@pytest.mark.parametrize(
    "examples", [pytest.param(60, id="quick"), pytest.param(20_000, id="campaign", marks=pytest.mark.campaign)]
)
def test_a_count_that_follows_from_others_is_true(examples):
    """Random sets of a few sources, of which some are counted; brute force says how many the others have."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=True))
    def check_one(rng):
        tables = random_sets(rng)
        knowledge = known([table.catalog for table in tables]).knowledge
        for one in tables:
            counted = [other for other in tables if rng.random() < 0.5 and other.catalog.extent != one.catalog.extent]
            rows = {other.catalog.digest: len(other.rows) for other in counted}
            derived = Division(knowledge, one.catalog.digest, rows).count()
            if derived is not None:
                event(f"the count followed from {len(re.findall('[0-9]+', derived.because))}")
                assert derived.rows == len(one.rows), derived

    check_one()


def _fill(database: Database, catalogs: list[Catalog], sources: dict[str, frozenset[tuple[object, ...]]]) -> None:
    with database.writing() as writing:
        catalog_store.add_catalogs(writing, *catalogs)
        for catalog in catalogs:
            if isinstance(catalog, Base):
                verified_keys.record_verification(writing, catalog.digest, len(sources[catalog.digest]))


def _declare_something(database: Database, data: st.DataObject, catalogs: list[Catalog]) -> None:
    """Declare something of two catalogs that may be true or not, unless it contradicts what is known."""
    one, other = (data.draw(st.sampled_from(catalogs)) for _ in range(2))
    said = data.draw(st.sampled_from([equal, subset, disjoint]))(one.digest, other.digest)
    with suppress(ProvennError), database.writing() as writing:
        declare_fact(writing, said, "hearsay")


@pytest.mark.parametrize(
    "examples", [pytest.param(4, id="quick"), pytest.param(3000, id="campaign", marks=pytest.mark.campaign)]
)
def test_derived_counts_and_learned_equalities_are_true_whatever_was_counted_and_declared(folder, examples):
    """Random lineages with matches; some catalogs are counted, in any order; DuckDB says what is true."""
    cases = st.one_of(test_crossmatch.cases(folder), test_equivalence.narrow_cases(folder))

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(cases, st.data())
    def check_one(case, data):
        world, oracle = case[0], Oracle(case[0].tables)
        catalogs = list(dict.fromkeys(world.catalogs))
        sources = {catalog.digest: _sources(oracle, catalog) for catalog in catalogs}
        place = folder / f"{next(NUMBER)}.db"
        shutil.copy(folder / "empty.db", place)
        with open_database(place) as database:
            _fill(database, catalogs, sources)
            for one in data.draw(st.permutations(catalogs)):
                if data.draw(st.integers(0, 5)) == 0:
                    _declare_something(database, data, catalogs)
                with database.reading() as reading:
                    derived = derive_count(reading, one)
                if derived is not None:
                    event("a count was derived")
                    assert derived.rows == len(sources[one.digest]), derived
                elif data.draw(st.booleans()):
                    learn_count(database, one, len(sources[one.digest]))
            with database.reading() as reading:
                facts = [one for one in find_all_facts(reading) if one.origin == "observed"]
        for one, other in combinations(sources, 2):
            if any(fact.statement in (equal(one, other), equal(other, one)) for fact in facts):
                event("an equality was learned")
                assert sources[one] == sources[other]
        place.unlink()

    check_one()


# --- nothing is run for it ---


@pytest.fixture(scope="module")
def archive(engine, tmp_path_factory) -> Iterator[provenn.Archive]:
    """An archive of 200 stars and 120 galaxies, on the Spark of all tests."""
    place = tmp_path_factory.mktemp("dividing")
    stars = {"id": list(range(200)), "ra": [n / 10 for n in range(200)], "dec": [0.0] * 200}
    stars["mag"] = [None if n % 9 == 4 else float("nan") if n % 9 == 5 else n / 10 for n in range(200)]
    galaxies = {"g": list(range(120)), "ra": [n / 10 + n / 36_000 for n in range(120)], "dec": [0.0] * 120}
    parquet.write_table(pa.table(stars), place / "stars.parquet")
    parquet.write_table(pa.table(galaxies), place / "galaxies.parquet")
    master = engine.session.sparkContext.master
    with provenn.open(place / "survey", spark=master, progress=False, who="ada") as opened:
        opened.ingest("stars", place / "stars.parquet", key="id", population="star")
        opened.ingest("galaxies", place / "galaxies.parquet", key="g", population="galaxy")
        yield opened


@pytest.fixture
def runs(monkeypatch) -> list[int]:
    """What was counted by Spark, one number for each run."""
    seen: list[int] = []
    counted = Pipeline.count

    def watched(pipeline: Pipeline, prepared: PreparedData) -> int:
        seen.append(counted(pipeline, prepared))
        return seen[-1]

    monkeypatch.setattr(Pipeline, "count", watched)
    return seen


@pytest.mark.parametrize("first", ["pairs", "matched", "unmatched"])
def test_all_matched_and_unmatched_sources_of_a_cross_match_are_counted_by_one_run(archive, runs, first):
    """Each number gives the two others, whichever is counted first."""
    radius = {"pairs": 20.55, "matched": 30.55, "unmatched": 40.55}[first]
    matches = int(radius / 0.1) + 1
    truth = {"pairs": min(matches, 120)}
    truth |= {"matched": truth["pairs"], "unmatched": 200 - truth["pairs"]}
    pairs = archive["stars"].crossmatch("galaxies", radius)
    matched = pairs.matched("left")
    catalogs = {"pairs": pairs, "matched": matched, "unmatched": archive["stars"].exclude(matched)}
    assert archive["stars"].count() == 200
    before = len(runs)
    assert catalogs[first].count() == truth[first]
    assert {name: catalog.count() for name, catalog in catalogs.items()} == truth
    assert len(runs) - before == 1
    assert catalogs["unmatched"].to_arrow().num_rows == truth["unmatched"], "and that is what there is"


def test_the_pairs_of_a_source_that_has_several_are_not_counted_as_sources(archive):
    """Each of the pairs "all" is one of several of its source; so is each pair for the right side of "best"."""
    stars = archive["stars"]
    every = stars.crossmatch("galaxies", 400, matches="all")
    best = stars.crossmatch("galaxies", 400)
    assert every.count() > best.count()
    assert every.matched("left").count() == best.count()
    assert best.matched("right").count() == best.matched("right").to_arrow().num_rows
    chosen = every.restrict(best)
    assert chosen.count() == best.count()
    assert chosen.matched("left").count() == chosen.matched("left").to_arrow().num_rows


@pytest.mark.parametrize("last", [0, 3, *(pytest.param(last, marks=pytest.mark.campaign) for last in (1, 2))])
def test_three_of_true_false_and_null_and_all_sources_give_the_fourth(archive, runs, last):
    """The criteria c, NOT c and c IS NULL divide a catalog: the last of the four counts needs no run."""
    cut = 5.05 + last
    whole = archive["stars"].select(f"id < {150 + last}")
    parts = [whole.select(text.format(f"(mag < {cut})")) for text in ("{}", "NOT {}", "{} IS NULL")]
    four = [whole, *parts]
    left = four.pop(last)
    found = {one.digest: one.count() for one in four}
    before = len(runs)
    found[left.digest] = left.count()
    assert len(runs) == before, "it follows"
    assert found[left.digest] == left.to_arrow().num_rows
    assert found[whole.digest] == sum(found[part.digest] for part in parts)


def test_the_reason_of_a_derived_count_names_the_counts(archive):
    stars = archive["stars"]
    bright = stars.select("mag < 3.05", name="bright305")
    number = bright.count()
    rest = stars.exclude(bright, name="rest305")
    assert rest.count() == 200 - number
    (fact,) = [one for one in archive.facts(rest) if str(one.statement) == "nonempty(rest305)"]
    assert fact.reason == f"{200 - number} sources by division: 200 - {number}"


def test_where_counting_takes_a_moment_only_few_counts_are_considered(tmp_path, monkeypatch):
    """With many counts, to derive one takes longer than to read a small file."""
    monkeypatch.setenv("PROVENN_ENGINE", "look")
    parquet.write_table(pa.table({"id": list(range(60))}), tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", progress=False) as archive:
        stars = archive.ingest("stars", tmp_path / "stars.parquet", key="id", population="star", verify=True)
        low, high = stars.select("id < 30", name="low"), stars.select("id >= 20", name="high")
        assert [low.count(), high.count()] == [30, 40]
        assert [stars.select(f"id > {40 + number}").count() for number in range(12)] == [19 - n for n in range(12)]
        both = low.restrict(high, name="both")
        with archive.context.database.reading() as reading:
            derived = derive_count(reading, both.definition)
            assert derived is not None
            assert derived.rows == 10
            assert derive_count(reading, both.definition, is_counted_soon=True) is None
        assert both.count() == 10


def test_counts_are_not_derived_from_declarations(archive):
    """What people say may be wrong, as it is here: these two do not divide the stars, and the count shows it."""
    stars = archive["stars"]
    first, last = stars.select("ra < 2.05", name="first205"), stars.select("id > 70", name="last70")
    assert first.count() == 21
    archive.declare("stars == first205 | last70")
    archive.declare("disjoint(first205, last70)")
    with pytest.warns(ProvennWarning, match="is no longer used: contradicted by counts"):
        assert last.count() == 129
