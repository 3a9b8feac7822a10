"""Every relation that is proved between criteria holds on the rows that Spark selects.

Families of random criteria are selected from one base, some of them by attributes that are derived first. `Knowledge`
is asked about all pairs of a family, and Spark about each criterion on rows of extreme and neighbouring values.
"""

import math
import random
import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from provenn.catalogs import Base, Catalog, DeriveAttributes, SelectSources, SqlCalculator
from provenn.catalogs.restoring import cone
from provenn.criteria import render
from provenn.errors import AttributeConflictError, CriterionError
from provenn.knowledge.consequences import build_knowledge
from provenn.logic import Knowledge, disjoint, subset, union
from provenn.spark.engine import Engine
from provenn.targets.known import build_definition
from tests.catalogs.samples import base
from tests.criteria.wild import COLUMNS, Family, draw_family, draw_rows
from tests.repetitions import repeat_a_few

ROWS = 4_000
_THRESHOLD = re.compile(r"[:.](\w+)` (?:<|<=|=|<>|>=|>) (-?[\d.]+(?:E-?\d+)?)D")


def relate_all(catalogs: Sequence[Catalog]) -> Knowledge:
    return build_knowledge([build_definition(catalog) for catalog in cone(*catalogs)]).knowledge


class Sky:
    """A base catalog, and the same rows in Spark."""

    def __init__(self, engine: Engine, seed: int) -> None:
        self.base: Base = base("wild", {"k": "int", **COLUMNS}, key="k", population="row")
        fields = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
        rows = draw_rows(random.Random(seed), ROWS)
        self.rows = rows
        self.frame = engine.session.createDataFrame(rows, f"k int, {fields}").cache()

    def select_family(self, family: Family, draw: random.Random) -> list[tuple[str, SelectSources]]:
        """Return the selections of a family, some of them by derived attributes; without refused criteria."""
        derived: dict[str, str] = {}
        parent: Catalog = self.base
        for number, term in enumerate(family.terms):
            try:
                with_term = DeriveAttributes.of(self.base, SqlCalculator.of({f"v{number}": term}))
            except (CriterionError, AttributeConflictError):
                continue
            if term not in self.base.schema.names:
                derived[term] = f"v{number}"
                parent = DeriveAttributes.of(parent, with_term.calculation.calculator)
        selections = []
        for text in family.criteria:
            uses_derived = draw.random() < 0.3
            wording, source = text, self.base
            if uses_derived:
                source = parent
                for term in sorted(derived, key=len, reverse=True):
                    wording = wording.replace(term, derived[term])
            try:
                selections.append((text, SelectSources.of(source, wording)))
            except CriterionError:
                continue
        return selections

    def add_thresholds(self, knowledge: Knowledge, draw: random.Random, most: int = 300) -> list[tuple]:
        """Return rows with the values at which conditions on doubles change, according to the facts, and neighbours."""
        thresholds = {
            (column, float(number))
            for label in knowledge.labels
            for column, number in _THRESHOLD.findall(label)
            if COLUMNS.get(column) == "double"
        }
        rows = []
        for column, number in sorted(thresholds):
            for value in (math.nextafter(number, -math.inf), number, math.nextafter(number, math.inf)):
                row = list(draw.choice(self.rows))
                row[1 + list(COLUMNS).index(column)] = value
                rows.append(tuple(row))
        return draw.sample(rows, min(most, len(rows)))

    def select_rows(self, texts: Sequence[str], extra: Sequence[tuple] = ()) -> np.ndarray:
        """Return for each criterion (a row) which rows it selects, as Spark evaluates the base's own columns.

        The rows are those of the frame, then the extra rows.
        """
        criteria = [SelectSources.of(self.base, text).criterion for text in texts]
        names = {attribute.identity: attribute.name for attribute in self.base.schema.attributes}
        columns = [f"({render(criterion, names)}) IS TRUE AS c{n}" for n, criterion in enumerate(criteria)]
        tables = [self.frame.selectExpr("k", *columns).toPandas().sort_values("k")]
        if extra:
            numbered = [(number, *row[1:]) for number, row in enumerate(extra)]
            frame = self.frame.sparkSession.createDataFrame(numbered, self.frame.schema)
            tables.append(frame.selectExpr("k", *columns).toPandas().sort_values("k"))
        return np.concatenate([table.drop(columns="k").to_numpy(dtype=bool) for table in tables]).T


@pytest.fixture(scope="module")
def sky(engine: Engine) -> Sky:
    return Sky(engine, 5)


def check_family(sky: Sky, seed: int, size: int = 24) -> tuple[int, int]:
    """Check all pairs of a family; return how many pairs there are, and how many relations are proved."""
    draw = random.Random(seed)
    selections = sky.select_family(draw_family(draw, size), draw)
    if len(selections) < 2:
        return 0, 0
    knowledge = relate_all([catalog for _, catalog in selections])
    extra = sky.add_thresholds(knowledge, draw)
    inside = sky.select_rows([text for text, _ in selections], extra)
    rows_seen = [*sky.rows, *extra]
    proved = 0
    for (n, (left_text, left)), (m, (right_text, right)) in combinations(enumerate(selections), 2):
        shown = (seed, left_text, left.text, right_text, right.text)
        for statement, violating in (
            (subset(left.digest, right.digest), inside[n] & ~inside[m]),
            (subset(right.digest, left.digest), inside[m] & ~inside[n]),
            (disjoint(left.digest, right.digest), inside[n] & inside[m]),
        ):
            if knowledge.entails(statement):
                proved += 1
                rows = [rows_seen[number] for number in np.flatnonzero(violating)[:3]]
                assert not rows, (*shown, statement, rows)
    return len(selections) * (len(selections) - 1) // 2, proved


@pytest.mark.parametrize("seed", repeat_a_few(range(12), 4))
def test_what_is_proved_of_criteria_holds_on_rows(sky: Sky, seed: int) -> None:
    check_family(sky, seed)


@pytest.mark.campaign
@pytest.mark.parametrize("block", range(80))
def test_what_is_proved_of_many_criteria_holds_on_rows(sky: Sky, block: int) -> None:
    """Some 200,000 pairs in all, each block on families of its own."""
    for seed in range(1_000 + 10 * block, 1_010 + 10 * block):
        check_family(sky, seed)


@pytest.mark.parametrize("seed", repeat_a_few(range(100, 104), 2))
def test_a_criterion_its_not_and_its_null_divide_a_catalog(sky: Sky, seed: int) -> None:
    """The three are proved to be disjoint and together everything, and Spark counts them so."""
    draw = random.Random(seed)
    for text in draw_family(draw, 8).criteria:
        try:
            parts = [SelectSources.of(sky.base, part) for part in (text, f"NOT ({text})", f"({text}) IS NULL")]
        except CriterionError:
            continue
        true, false, null = parts
        knowledge = relate_all(parts)
        assert knowledge.entails(union(sky.base.digest, true.digest, false.digest, null.digest)), text
        assert knowledge.entails(disjoint(true.digest, false.digest, null.digest)), text
        counts = sky.select_rows([part.text for part in parts])
        assert (counts.sum(axis=0) == 1).all(), text


def test_the_families_are_related(sky: Sky) -> None:
    """The families above would show little if nothing were proved of them."""
    pairs, proved = np.sum([check_family(sky, seed, 16) for seed in range(200, 206)], axis=0)
    assert proved > pairs / 20
