"""What is known of a base catalog bears on its versions, which take sources from it, and the other way round."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.errors import ContradictionError
from provenn.knowledge import stored_facts
from provenn.knowledge.stored_facts import read_closed_cone


def write_stars(path: Path, keys: range) -> None:
    parquet.write_table(pa.table({"hip": list(keys), "vmag": [key % 7 / 2 for key in keys]}), path)


@pytest.fixture
def archive(tmp_path):
    """An archive with stars of two nights, the second of which was appended, and with others that have other keys."""
    (tmp_path / "nights").mkdir()
    write_stars(tmp_path / "nights" / "1.parquet", range(10))
    write_stars(tmp_path / "others.parquet", range(500, 510))
    with provenn.open(tmp_path / "survey", progress=False) as opened:
        opened.ingest("stars", tmp_path / "nights", key="hip", population="star")
        opened.ingest("others", tmp_path / "others.parquet", key="hip", population="star")
        opened["stars"].select("vmag < 2", name="early")
        write_stars(tmp_path / "nights" / "2.parquet", range(1000, 1010))
        opened.refresh()
        yield opened


def test_a_question_reads_the_ranges_of_keys_that_joined_files_state(archive):
    """The ranges of all files together overlap; those of each night do not. Discovery and proofs agree.

    A viewer sees the version, and so all its files, but not the base catalog of the second night.
    """
    ada = archive.as_seen_by("ada")
    for person in (archive, ada):
        assert "others" in {catalog.name for catalog in person.apart_from("stars")}
        assert person.relate("stars", "others").summary == "disjoint"
        assert person.relate("early", "others").summary == "disjoint"
        proof = person.prove("disjoint(stars, others)")
        assert proof
        assert sum("by the footers of the files" in reason.because for reason in proof.reasons) >= 3
    ada["stars"].select("vmag < 1", name="brightest")
    assert "brightest" in {catalog.name for catalog in ada.inside("early")}, "the viewer's knowledge grows"


def test_a_version_has_the_sources_that_an_earlier_one_is_said_to_have(archive):
    archive.declare("nonempty('early@1')")
    assert archive.prove("nonempty(stars)")
    assert archive.prove("nonempty(early)")


def test_a_fact_that_contradicts_one_about_another_version_is_refused(archive):
    """The second night was appended, so that it is known to have sources."""
    with pytest.raises(ContradictionError, match=r"empty\(stars\)"):
        archive.declare("empty(stars)")
    assert archive["stars"].count() == 20


def test_a_fact_that_contradicts_one_about_replaced_files_is_refused(archive, tmp_path):
    """The files that stayed are a part of the earlier version."""
    write_stars(tmp_path / "nights" / "2.parquet", range(2000, 2010))
    archive.refresh()
    archive.declare("nonempty(early)", reason="seen")
    with pytest.raises(ContradictionError):
        archive.declare("empty('stars@1') and empty(stars)")
    archive.declare("empty(others)")


def test_of_many_joined_files_those_are_read_that_facts_limit(archive, monkeypatch):
    monkeypatch.setattr(stored_facts, "_MOST_CONSTITUENTS", 0)
    first, version = archive["stars@1"].digest, archive["stars"].digest

    def read_bases():
        with archive.context.database.reading() as reading:
            return {definition.digest for definition in read_closed_cone(reading, [version])[0]}

    assert read_bases() == {version}
    archive.declare("nonempty('stars@1')")
    assert read_bases() == {version}
    archive.declare("disjoint('stars@1', others)")
    assert read_bases() == {version, first, archive["others"].digest}
    with pytest.raises(ContradictionError):
        archive.declare("nonempty('stars@1' & others)")
