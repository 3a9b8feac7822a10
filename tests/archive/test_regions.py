"""Selections by regions of the sky in an archive: proofs by place, plans that use them, data."""

import numpy as np
import pytest

import provenn
from provenn.errors import AttributeNotFoundError, DefinitionError
from provenn.sky import box, cone, moc, polygon
from tests.archive.samples import write_parquet
from tests.spark.conftest import engine

__all__ = ["engine"]

RANDOM = np.random.default_rng(8)
RA, DEC = RANDOM.uniform(50, 64, 500), RANDOM.uniform(20, 28, 500)
COLUMNS = {"hip": list(range(500)), "ra": RA.tolist(), "dec": DEC.tolist(), "vmag": RANDOM.uniform(0, 12, 500).tolist()}


@pytest.fixture
def sky(archive, tmp_path) -> provenn.Catalog:
    file = write_parquet(tmp_path / "sky.parquet", COLUMNS, has_statistics=False)  # regions alone decide
    return archive.ingest("sky", file, key="hip", population="star")


def test_places_prove_subsets_and_disjoint_catalogs(archive, sky):
    sky.select(cone(56.75, 24.12, 1.5), name="pleiades")
    sky.select(cone(56.8, 24.1, 0.5), name="core")
    sky.select(box(60, 62, 21, 23), name="beside")
    sky.select(polygon([(55, 22), (59, 22), (59, 26), (55, 26)]), name="around")
    sky.select(moc("4/0-3071"), name="everywhere")
    assert archive.relate("core", "pleiades").summary == "subset"
    assert archive.relate("pleiades", "core").summary == "superset"
    assert archive.relate("pleiades", "beside").summary == "disjoint"
    assert archive.relate("pleiades", "around").summary == "subset"
    assert archive.relate("around", "everywhere").summary == "subset"
    proof = archive.prove("core <= around")
    assert proof.proved
    assert any(reason.because == "by their positions on the sky" for reason in proof.reasons)


def test_among_many_regions_a_proof_names_those_that_it_is_about(archive, sky):
    """That they are apart is known from cells, of which nobody wants to read."""
    fields = [sky.select(cone(50 + 0.1 * number, 24, 0.01), name=f"field{number}") for number in range(120)]
    observed = fields[0].concat(*fields[1:])
    observed.restrict(fields[7], name="seven")
    reasons = archive.prove("empty(seven & field90)").reasons
    places = [str(reason.statement) for reason in reasons if reason.because == "by their positions on the sky"]
    assert places == ['disjoint("in_cone(ra, dec, 50.7, 24, 0.01)", "in_cone(ra, dec, 59, 24, 0.01)")']
    assert len(reasons) == 4, "and what these three catalogs are"


def test_a_region_joins_other_criteria(archive, sky):
    sky.select(cone(56.75, 24.12, 1.5)).select("vmag < 5", name="one")
    sky.select("vmag < 6 AND in_cone(ra, dec, 56.75, 24.12, 2)", name="other")
    assert archive.relate("one", "other").summary == "subset"


def test_which_attributes_hold_the_position(archive, sky):
    renamed = sky.rename(ra="x", dec="y")
    with pytest.raises(DefinitionError, match="position") as caught:
        renamed.select(cone(56.75, 24.12, 1.5))
    assert "on=" in caught.value.hint
    with pytest.raises(AttributeNotFoundError, match="z"):
        renamed.select(cone(56.75, 24.12, 1.5, on=("x", "z")))
    renamed.select(cone(56.75, 24.12, 1.5, on=("x", "y")), name="named")
    sky.select(cone(56.75, 24.12, 1.5), name="found")
    assert archive.relate("named", "found").summary == "equal"


def test_a_stored_region_serves_a_smaller_one_and_an_empty_one_reads_nothing(engine, tmp_path):
    file = write_parquet(tmp_path / "sky.parquet", COLUMNS)
    spark = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        sky = archive.ingest("sky", file, key="hip", population="star")
        large = sky.select(cone(57, 24, 3), name="large")
        small = sky.select(polygon([(56, 23), (58, 23), (58, 25), (56, 25)]), name="small")
        sky.select(cone(62, 21, 0.5), name="beside")
        large.store()
        plan = str(archive.target("small", ["vmag"]).plan())
        assert "reuse: read hip, dec, ra, vmag from fragment #1" in plan
        assert "small <= large" in plan
        inside = (RA >= 55.9) & (RA <= 58.1) & (DEC >= 22.9) & (DEC <= 25.1)
        assert 0 < small.count() <= inside.sum()
        direct = sky.select("in_polygon(ra, dec, 56, 23, 58, 23, 58, 25, 56, 25)").to_arrow()
        assert sorted(small.to_arrow()["hip"].to_pylist()) == sorted(direct["hip"].to_pylist())
        nothing = small.restrict("beside", name="nothing")
        assert archive.prove("empty(nothing)").proved
        assert "no data are read" in str(archive.target("nothing", ["vmag"]).plan())
        assert nothing.count() == 0


def test_a_long_moc_is_abridged_for_people_and_told_from_another_one(archive, sky):
    cells = [f"9/{number}" for number in range(0, 6000, 3)]
    sky.select(moc(" ".join(cells)), name="covered")
    sky.select(moc(" ".join(cells[:-1])), name="less")
    assert len(str(archive.describe("covered"))) < 2000
    proof = archive.prove("less <= covered")
    assert proof.proved
    assert len(str(proof)) < 2000
    assert archive.relate("less", "covered").summary == "subset"
