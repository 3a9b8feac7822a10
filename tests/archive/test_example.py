"""The paper's example, on a real file: defined, left, and found again by another process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import provenn
from provenn.logic import Relationship, statement
from tests.archive.samples import dump, write_parquet

FACTS = ['B == A & "vmag < 6"', "C == A", "D == B & C"]


@pytest.fixture
def example(archive, tmp_path):
    """A is a file, B the bright stars in it, C has distances, D combines the two."""
    a = archive.ingest("A", write_parquet(tmp_path / "a.parquet"), key="hip", population="star")
    b = a.select("vmag < 6", name="B")
    c = a.derive(dist_pc="1000 / plx", name="C")
    b.combine(c, name="D")
    return archive


def test_b_and_d_have_the_same_sources_by_the_three_facts_of_their_lineage(example):
    relation = example.relate("B", "D")
    assert relation.summary == "equal"
    assert relation.statement == statement("B == D")
    assert [str(reason.statement) for reason in relation.reasons] == FACTS
    assert [reason.because for reason in relation.reasons] == [
        "B: the sources of A where vmag < 6",
        "C: A, with dist_pc = 1000 / plx",
        "D: the attributes of B and C, for the sources common to all",
    ]
    assert [str(fact) for fact in relation.why.facts] == FACTS
    assert str(relation).startswith("B has the same sources as D\n")


def test_the_hypercubes_are_all_that_is_possible(example):
    """Something is outside both; whether there is anything in them is not known."""
    assert example.relate("B", "D").hypercubes == Relationship.of("B == D", "outside(B, D)")
    assert example.relate("A", "B").hypercubes == Relationship.of("B <= A", "outside(A, B)")


@pytest.mark.parametrize(
    ("left", "right", "summary"),
    [("A", "B", "superset"), ("B", "A", "subset"), ("A", "C", "equal"), ("C", "D", "superset"), ("A", "A", "equal")],
)
def test_how_the_others_relate(example, left, right, summary):
    assert example.relate(left, right).summary == summary


def test_catalogs_are_the_same_by_handle_by_name_and_by_digest(example):
    digest = example["B"].digest
    for one in (example["B"], "B", digest, digest[:8]):
        assert example.relate(one, "D").summary == "equal"
    assert example.relate(digest[:8], "D").left == digest[:8], "an answer is in the words of the question"


def test_the_same_definition_made_twice_is_one_catalog(example, tmp_path):
    again = example.ingest("again", tmp_path / "a.parquet", key="hip", population="star")
    assert again == example["A"]
    assert again.select(" VMAG<6.0 ") == example["B"]
    assert example["B"].names == ("B",)
    assert example["A"].names == ("A", "again")


def test_another_process_finds_everything(example, tmp_path):
    digests = {name: example[name].digest for name in example}
    before = dump(example)
    code = """if True:
        import json, sys, provenn
        with provenn.open(sys.argv[1], create=False) as archive:
            print(json.dumps({name: archive[name].digest for name in archive}))
            print(archive.relate("B", "D").summary, *archive["D"].attributes)
        assert not {"pyspark", "py4j"} & set(sys.modules)
    """
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "survey")], capture_output=True, text=True, check=True
    )
    found, answer = done.stdout.splitlines()
    assert json.loads(found) == digests
    assert answer == "equal hip vmag plx dec spect dist_pc"
    added = [line for line in dump(example) if line not in before]
    assert len(added) == 1, "but for the proof, nothing changed"
    assert added[0].startswith('INSERT INTO "proofs"')


def test_closing_and_opening_again_loses_nothing(example, tmp_path):
    before = dump(example)
    example.close()
    with provenn.open(tmp_path / "survey", create=False) as again:
        assert dump(again) == before
        assert [*again] == ["A", "B", "C", "D"]
        assert again["D"].schema == example["D"].schema


def test_all_of_an_archive_is_in_one_folder(example, tmp_path):
    example.relate("B", "D")
    example.close()
    assert {one.name for one in (tmp_path / "survey").iterdir()} == {"provenn.sqlite"}
    moved = (tmp_path / "survey").rename(tmp_path / "moved")
    with provenn.open(moved, create=False) as again:
        assert again.relate("B", "D").summary == "equal"


def test_the_archive_of_the_current_folder_is_the_default(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    provenn.open().close()
    assert (tmp_path / "provenn.sqlite").is_file()
    with provenn.open(database=tmp_path / "other.sqlite") as other:
        assert repr(other) == f"<Archive {tmp_path / 'other.sqlite'}>"
