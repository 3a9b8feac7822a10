"""Facts that follow from what terms are made of hold for every row that Spark evaluates."""

import pytest

from provenn.criteria import parse_criterion, render
from tests.criteria.reductions.facts import derive_facts, find_refuted, make_schema
from tests.criteria.reductions.forms import COLUMNS, CRITERIA, list_values
from tests.strategies import drawn

GROUP = 3
"""How many criteria are related to each other."""


def make_rows(session, columns: dict[str, str]) -> int:
    """Make a view of rows: each value of a column beside each of another one; return how many there are."""
    tables = []
    for name, kind in columns.items():
        values = ", ".join(f"({number}, CAST({value} AS {kind}))" for number, value in enumerate(list_values(kind)))
        tables.append(f"(SELECT * FROM VALUES {values} AS v(i_{name}, {name}))")  # noqa: S608
    order = ", ".join(f"i_{name}" for name in columns)
    some = f"pmod(hash({order}), 29) = 0" if len(columns) > 2 else "TRUE"
    rows = session.sql(f"SELECT * FROM {' CROSS JOIN '.join(tables)} WHERE {some} ORDER BY {order}")  # noqa: S608
    rows.cache().createOrReplaceTempView("worlds")
    return int(rows.count())


def check_facts(session, world: str, number: int, seed: int) -> None:
    columns = COLUMNS[world]
    schema = make_schema(columns)
    names = {attribute.identity: name for name, attribute in schema.items()}
    by_identity = {attribute.identity: attribute for attribute in schema.values()}
    everything = (1 << make_rows(session, columns)) - 1
    criteria = [parse_criterion(text, schema) for text in drawn(CRITERIA[world], number * GROUP, seed)]
    groups = [criteria[start : start + GROUP] for start in range(0, len(criteria), GROUP)]
    facts = [derive_facts(group, schema) for group in groups]
    labels = sorted({label for group in facts for fact in group for label in fact.labels})
    sets: dict[str, int] = {}
    for start in range(0, len(labels), 60):
        part = labels[start : start + 60]
        tests = [render(parse_criterion(label, by_identity, canonical=True), names) for label in part]
        asked = ", ".join(f"(({test}) IS TRUE) AS c{n}" for n, test in enumerate(tests))
        order = ", ".join(f"i_{name}" for name in columns)
        answers = session.sql(f"SELECT {asked} FROM worlds ORDER BY {order}").toPandas()  # noqa: S608
        for n, label in enumerate(part):
            sets[label] = int("".join("1" if inside else "0" for inside in reversed(answers[f"c{n}"])), 2)
    for group, known in zip(groups, facts, strict=True):
        refuted = find_refuted(known, sets.__getitem__, everything)
        assert not refuted, ([one.text for one in group], refuted[:3])


@pytest.mark.parametrize("world", COLUMNS)
@pytest.mark.parametrize("number", [4, pytest.param(1_000, marks=pytest.mark.campaign)], ids=["quick", "campaign"])
def test_spark_refutes_no_fact_about_the_terms_of_random_criteria(engine, world, number):
    check_facts(engine.session, world, number, 1)
