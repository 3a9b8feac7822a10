"""Facts and counts stay with the version that they were declared on or counted in."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

import provenn
from provenn.display.row_counts import Rows
from tests.targets.test_grown_archives import Survey


@pytest.fixture
def survey(engine, tmp_path) -> Iterator[Survey]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as archive:
        survey = Survey(archive, tmp_path)
        survey.write(0)
        survey.ingest()
        yield survey


def test_a_declared_fact_stays_with_its_version_and_is_shown(survey):
    archive = survey.archive
    archive.ingest("others", pa.table({"id": [-1, 10**9], "w": [1.0, 2.0]}), key="id", population="star")
    archive.declare("disjoint(stars, others)", reason="another sky")
    archive.declare("nonempty(stars)")
    assert [fact.outdated for fact in archive.facts()] == ["", ""]
    survey.write(1)
    archive.refresh()
    assert archive.relate("stars@1", "others").summary == "disjoint"
    assert archive.relate("stars", "others").summary == "unknown", "nobody has said it of the new files"
    disjoint, nonempty = (fact for fact in archive.facts() if fact.origin == "declared")
    assert str(disjoint.statement) == 'disjoint("stars@1", others)'
    assert disjoint.outdated == nonempty.outdated == "stars@1; stars is now version 2"
    assert str(disjoint.again) == "disjoint(stars, others)"
    assert nonempty.again is None, "the new version has all sources of the earlier one"
    archive.declare(str(disjoint.again))
    said = [fact for fact in archive.facts() if fact.origin == "declared"]
    assert [fact.again for fact in said] == [None, None, None]
    assert all(not fact.outdated for fact in archive.facts() if fact.origin == "observed")


def test_counts_are_not_carried_over_unproved(survey):
    archive = survey.archive
    archive["stars"].select("x < 0.5", name="low")
    assert archive["low"].count() == 10
    assert archive["stars"].count() == 20
    survey.write(1, x=[0.1, *[0.7] * 19])
    archive.refresh()
    assert (archive.bounds("low").low, archive.bounds("low").high) == (10, 30), "all earlier ones, and some of 20"
    assert archive["low"].plan().rows != Rows.exactly(10)
    assert archive["low"].count() == 11
    survey.write(0, 20, x=[*[0.1] * 19, 0.7])
    archive.refresh()
    assert archive.bounds("low").low < 10, "the counted sources are gone"
    assert archive["low"].count() == 20
    assert archive["low@1"].plan().rows == Rows.exactly(10)


def test_counts_are_carried_over_where_the_new_files_state_that_they_have_no_such_source(survey):
    archive = survey.archive
    archive["stars"].select("x < 0.5", name="low")
    assert archive["low"].count() == 10
    survey.write(1)
    archive.refresh()
    assert (archive.bounds("low").low, archive.bounds("low").high) == (10, 10)
    assert archive["low"].count() == 10
