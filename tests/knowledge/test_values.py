"""What follows from the values of several attributes: proved, cited, and told, in an archive."""

from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import provenn
from provenn.errors import ProvennError
from provenn.logic import Knowledge


@pytest.fixture
def stars(tmp_path):
    columns = {name: [0.0, 30.0] for name in "abcdefgr"}  # so wide that the bounds in the file's footer prove nothing
    pq.write_table(pa.table({"hip": [1, 2], **columns}), tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey") as archive:
        yield archive.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")


def test_a_proof_by_values_cites_a_fact_about_the_criteria(stars):
    archive = stars.archive
    stars.select("g < r AND r < 20", name="faint")
    stars.select("g < 20", name="all_faint")
    relation = archive.relate("faint", "all_faint")
    assert relation.summary == "subset"
    (values,) = [reason for reason in relation.reasons if "values" in reason.because]
    assert str(values.statement) == '"g < r AND r < 20" <= "g < 20"'
    assert values.because == "by the values of g and r"
    proof = [reason.statement for reason in relation.reasons]
    assert Knowledge(proof, open_universe=False).entails("faint <= all_faint")


def test_look_ups_respect_values(stars):
    archive = stars.archive
    names = "abcdef"
    ordered = stars.select(" AND ".join(f"{low} < {high}" for low, high in pairwise(names)), name="ordered")
    stars.select("a < f", name="ends")
    stars.select("f < c", name="reversed")
    assert {catalog.name for catalog in archive.covering(ordered)} == {"stars", "ends"}
    assert {catalog.name for catalog in archive.apart_from(ordered)} == {"reversed"}


def test_a_declaration_that_values_refute_is_a_contradiction(stars):
    archive = stars.archive
    stars.select("a < b AND b < c", name="ordered")
    stars.select("c < a", name="reversed")
    with pytest.raises(ProvennError):
        archive.declare("overlapping(ordered, reversed)")
