"""Nothing is claimed of pipelines of others that is not so: random ones are run on small tables, and compared."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import provenn
from provenn.exchange import import_lineage
from tests.exchange.pipelines import compare, dataset, events_file, job, lineage, same

Table = dict[int, int | None]
"""The value of x by id."""

COLUMNS = "id bigint, x bigint"
HOLDS = {
    "equal": lambda a, b: a == b,
    "subset": lambda a, b: a <= b,
    "superset": lambda a, b: a >= b,
    "disjoint": lambda a, b: not a & b,
    "overlapping": lambda a, b: bool(a & b),
    "unknown": lambda _a, _b: True,
}
STATED = ("filter", "inner", "union")
ALL = (*STATED, "hidden", "left", "group", "shift", "neighbour", "append", "unsaid")


@dataclass
class Pipeline:
    """Datasets with what is really in them, and what is told of them."""

    tables: dict[str, Table]
    events: list[dict[str, Any]] = field(default_factory=list)

    def run(self, operation: str, left: str, right: str, cut: int) -> None:
        """Make a new dataset from two others, in one of many ways."""
        a, b = self.tables[left], self.tables[right]
        name = f"d{len(self.tables)}"
        ids, xs, whole = [same(left, "id")], [same(left, "x")], []
        below = {key: x for key, x in a.items() if x is not None and x < cut}
        messages = {**dataset(left), "inputFacets": {"subset": {"inputCondition": compare("x", "LESS_THAN", cut)}}}
        inputs = [dataset(left)]
        match operation:
            case "filter":
                values, inputs = below, [messages]
            case "hidden":  # there is more to it than what is told
                values, inputs = {key: x for key, x in below.items() if key % 2}, [messages]
            case "unsaid":
                values = below
            case "inner" | "left":
                inputs.append(dataset(right))
                whole = [same(item, "id", "INDIRECT", "JOIN") for item in (left, right)]
                values = {key: x for key, x in a.items() if operation == "left" or key in b}
            case "union":
                inputs.append(dataset(right))
                values, ids, xs = {**b, **a}, [*ids, same(right, "id")], [*xs, same(right, "x")]
            case "group":  # the key is made of another column
                values, ids = {x: 0 for x in a.values() if x is not None}, [same(left, "x")]
            case "shift":
                values, ids = {key + 1: x for key, x in a.items()}, [same(left, "id", "DIRECT", "TRANSFORMATION")]
            case "neighbour":  # a join with itself: key and value come from different rows
                values = {key: a.get(key + 1) for key in a}
            case _:  # "append": another job writes there, too
                values = {**b, **below}
                second = dataset(name, COLUMNS, columnLineage=lineage(id=[same(right, "id")]))
                self.events.append(job(f"more {name}", [dataset(right)], [second]))
        whole = list({repr(item): item for item in whole}.values())
        inputs = list({entry["name"]: entry for entry in inputs}.values())
        output = dataset(name, COLUMNS, columnLineage=lineage(whole, id=ids, x=xs))
        self.events.append(job(name, inputs, [output]))
        self.tables[name] = values


def tables() -> st.SearchStrategy[Table]:
    return st.dictionaries(st.integers(0, 5), st.one_of(st.none(), st.integers(0, 4)))


@st.composite
def pipelines(draw: st.DrawFn, operations: tuple[str, ...]) -> Pipeline:
    """Two tables, and up to five datasets made from them and from each other."""
    result = Pipeline({"a": draw(tables()), "b": draw(tables())})
    result.events += [{"dataset": dataset(table, COLUMNS)} for table in result.tables]
    for _ in range(draw(st.integers(1, 5))):
        left, right = (draw(st.sampled_from(sorted(result.tables))) for _ in range(2))
        result.run(draw(st.sampled_from(operations)), left, right, draw(st.integers(0, 5)))
    return result


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Iterator[provenn.Archive]:
    with provenn.open(tmp_path_factory.mktemp("survey"), who="ada") as opened:
        yield opened


_count = iter(range(1_000_000))


def check(archive: provenn.Archive, pipeline: Pipeline, *, exact: bool) -> set[str]:
    prefix = f"{next(_count)}:"
    import_lineage(archive, events_file(*pipeline.events), key="id", population="thing", exact=exact, prefix=prefix)
    result = set()
    for left, right in combinations(pipeline.tables, 2):
        relation = archive.relate(prefix + left, prefix + right)
        inside = set(pipeline.tables[left]), set(pipeline.tables[right])
        assert HOLDS[relation.summary](*inside), f"{left} {right}: {relation}"
        result.add(relation.summary)
    return result


RULES = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@RULES
@given(pipelines(ALL))
def test_whatever_is_claimed_is_so_in_the_data(archive, pipeline):
    check(archive, pipeline, exact=False)


@RULES
@given(pipelines(STATED))
def test_whatever_is_claimed_exactly_is_so_where_all_is_stated(archive, pipeline):
    check(archive, pipeline, exact=True)


@pytest.mark.campaign
@settings(RULES, max_examples=2000)
@given(pipelines(ALL))
def test_many_pipelines(archive, pipeline):
    check(archive, pipeline, exact=False)


def test_something_is_claimed_at_all(archive):
    pipeline = Pipeline({"a": {1: 1, 2: 4}, "b": {3: 3}}, [{"dataset": dataset(item, COLUMNS)} for item in "ab"])
    pipeline.run("filter", "a", "b", 3)
    assert "superset" in check(archive, pipeline, exact=False)
