"""Matches in an archive: what is known of them, and everything that an archive does with catalogs."""

from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.errors import DefinitionError, PopulationError, ProvennWarning
from provenn.exchange import export_lineage, import_lineage
from provenn.web.standalone_report import make_report, render_report
from tests.spark.conftest import engine

__all__ = ["engine"]


def write(path: Path, ra: list[float], dec: list[float], names: tuple[str, str], **more: list[object]) -> Path:
    parquet.write_table(pa.table({"id": list(range(len(ra))), names[0]: ra, names[1]: dec, **more}), path)
    return path


RA, DEC = [10.0, 20.0, 30.0, 359.9999], [0.0, 45.0, -89.9995, 5.0]
GALAXIES = [10.0003, 20.0, 200.0, 0.0001], [0.0, 45.0001, -89.9995, 5.0]


def fill(archive: provenn.Archive, folder: Path) -> None:
    stars = archive.ingest(
        "stars",
        write(folder / "s.parquet", RA, DEC, ("ra", "dec"), vmag=[1.0, 7.0, 3.0, 4.0]),
        key="id",
        population="star",
    )
    archive.ingest(
        "galaxies", write(folder / "g.parquet", *GALAXIES, ("raj2000", "dej2000")), key="id", population="galaxy"
    )
    pairs = stars.crossmatch("galaxies", "2 arcsec", name="pairs")
    stars.crossmatch("galaxies", 5, matches="all", name="wide")
    pairs.matched("left", name="matched")
    pairs.select("separation < 0.6", name="close").matched("right", name="counterparts")
    stars.select("vmag < 6", name="bright").crossmatch("galaxies", 2, name="bright pairs").matched("left", name="both")


@pytest.fixture
def survey(archive: provenn.Archive, tmp_path: Path) -> provenn.Archive:
    fill(archive, tmp_path)
    return archive


def test_what_is_known_without_a_match(survey):
    assert survey.relate("matched", "stars").summary == "subset"
    assert survey.relate("counterparts", "galaxies").summary == "subset"
    assert survey.relate("both", "matched").summary == "subset"
    assert survey.relate("pairs", "wide").summary == "subset"
    proof = survey.prove("both <= stars & bright")
    assert proof.verdict == "holds"
    assert "within 2 arcsec of galaxies" in str(survey.prove("both <= matched"))
    assert survey.prove("stars <= matched").verdict == "unknown"
    assert [one.name for one in survey.covering("both")] == ["bright", "matched", "stars"]
    assert {one.name for one in survey.inside("wide")} >= {"close", "pairs"}
    assert survey.apart_from("pairs") == []


def test_sources_without_a_counterpart(survey):
    """They and the matched ones are apart, and together the side, whatever the pairs are."""
    for number, pairs in enumerate(("pairs", "wide", "close")):
        for side, whole in (("left", "stars"), ("right", "galaxies")):
            lonely = survey[pairs].unmatched(side, name=f"lonely{number}{side}")
            matched = survey[pairs].matched(side, name=f"matched{number}{side}")
            assert survey.relate(lonely, matched).summary == "disjoint"
            assert survey.prove(f"lonely{number}{side} | matched{number}{side} == {whole}").verdict == "holds"
    assert survey.relate("lonely1left", "lonely0left").summary == "subset", "fewer are lonely within more"
    with pytest.raises(DefinitionError, match="expected pairs"):
        survey["stars"].unmatched("left")
    with pytest.raises(DefinitionError, match="middle"):
        survey["pairs"].unmatched("middle")


def test_pairs_are_not_compared_with_sources(survey):
    for said in ("pairs <= stars", "disjoint(pairs, galaxies)"):
        with pytest.raises(PopulationError, match="star & galaxy"):
            survey.prove(said)
    with pytest.raises(PopulationError):
        survey.declare("pairs == stars")
    with pytest.raises(DefinitionError, match="expected pairs"):
        survey["stars"].matched("left")


def test_facts_about_pairs_are_kept_and_used(survey):
    with pytest.warns(ProvennWarning, match="pairs and close cannot have any source"):
        survey.declare("empty(wide)", reason="looked")
    assert survey.prove("empty(close)").verdict == "holds"
    assert survey.prove("empty(stars)").verdict == "unknown"
    assert survey.prove("nonempty(matched)").verdict == "unknown"
    with pytest.raises(provenn.errors.ContradictionError):
        survey.declare("nonempty(pairs)")


def test_it_is_told_in_words(survey):
    assert (
        survey.describe("pairs").is_what
        == "each source of stars with the nearest of galaxies within 2 arcsec on the sky"
    )
    assert survey.describe("wide").is_what == "all pairs of stars and galaxies within 5 arcsec on the sky"
    assert survey.describe("counterparts").is_what == "the sources of galaxies that occur in close, on its right side"
    assert survey.describe("matched").sources == "in stars and within 2 arcsec of galaxies"
    assert survey.describe("pairs").population == "star & galaxy"
    assert set(survey.populations()) == {"galaxy", "star", "star & galaxy"}


def test_lineage_pictures_and_reports(survey):
    tree = str(survey.lineage("counterparts"))
    assert [word in tree for word in ("close: ", "pairs: ", "stars: ", "galaxies: ")] == [True] * 4
    assert "crossmatch" in survey.neighbourhood("stars", depth=2, direction="both").svg()
    for name in ("pairs", "matched", "stars", "counterparts"):
        assert name in render_report(make_report(survey, name))
    assert sorted(base.name for base in survey.provenance("matched").bases) == ["galaxies", "stars"]


def test_new_files_give_new_pairs(survey, tmp_path):
    """All that is made from a base is made anew on its new version, matches included."""
    old = {name: survey[name].digest for name in ("pairs", "matched", "both", "close", "counterparts", "galaxies")}
    again = write(tmp_path / "new.parquet", [1.0], [2.0], ("ra", "dec"), vmag=[3.0])
    survey.ingest("stars", again, key="id", population="star", rebuild=True)
    changed = {name for name, digest in old.items() if survey[name].digest != digest}
    assert changed == old.keys() - {"galaxies"}
    assert survey.relate("both", "stars").summary == "subset"
    assert survey["matched"].dependencies == (survey["stars"], survey["pairs"])


def test_a_portable_file_carries_it(survey, tmp_path):
    survey.export_definitions(tmp_path / "all.provenn")
    with provenn.open(tmp_path / "other") as other:
        other.import_definitions(tmp_path / "all.provenn")
        assert sorted(other) == sorted(survey)
        assert all(other[name].digest == survey[name].digest for name in survey)
        assert other.relate("both", "matched").summary == "subset"


def test_openlineage_carries_it(survey, tmp_path):
    text = StringIO()
    export_lineage(survey, text)
    with provenn.open(tmp_path / "other") as other:
        import_lineage(other, BytesIO(text.getvalue().encode()))
        assert sorted(other) == sorted(survey)
        assert other.relate("both", "matched").summary == "subset"
        assert other.relate("pairs", "wide").summary == "subset"
        assert other.relate("counterparts", "galaxies").summary == "subset"
        assert other["pairs"].population == "star & galaxy"
    for form in ("prov-n", "prov-json"):
        export_lineage(survey, written := StringIO(), format=form)
        assert "pairs" in written.getvalue()


def test_a_backup_and_a_check_find_nothing_wrong(survey, tmp_path):
    survey.backup(tmp_path / "copy")
    with provenn.open(tmp_path / "copy") as copy:
        assert copy.relate("both", "matched").summary == "subset"
        assert not list(copy.check().problems)


def test_who_does_not_see_it_is_not_told(archive, tmp_path):
    """A match of somebody's own is told of neither by the catalogs that were matched nor by what they relate to."""
    fill(archive, tmp_path)
    for name in sorted(archive):
        archive.name(archive[name], name, visibility="public" if name in ("stars", "galaxies") else "private")
    seen = archive.as_seen_by("dan")
    assert sorted(seen) == ["galaxies", "stars"]
    assert seen.inside("stars") == []
    assert seen.populations() == ("galaxy", "star")
    dans = seen["stars"].crossmatch("galaxies", 2, name="dans").matched("left")
    assert seen.relate(dans, "stars").summary == "subset"


@pytest.fixture(scope="module")
def run(engine, tmp_path_factory) -> Iterator[provenn.Archive]:
    folder = tmp_path_factory.mktemp("run")
    with provenn.open(folder / "survey", spark=engine.session.sparkContext.master, progress=False) as opened:
        fill(opened, folder)
        yield opened


def test_the_pairs_that_there_are(run):
    found = run["pairs"].to_pandas().sort_values("id")
    assert found[["id", "id_2"]].to_numpy().tolist() == [[0, 0], [1, 1], [3, 3]]
    assert list(found.columns) == ["id", "ra", "dec", "vmag", "id_2", "raj2000", "dej2000", "separation"]
    np.testing.assert_allclose(found["separation"], [1.08, 0.36, 0.717260], atol=1e-5)
    assert run["wide"].count() == 4, "one across the pole"
    assert sorted(run["matched"].to_pandas()["id"]) == [0, 1, 3]
    assert run["counterparts"].to_pandas()["id"].tolist() == [1]
    assert run["both"].to_pandas()["vmag"].tolist() == [1.0, 4.0]
    assert run["pairs"].unmatched("left").to_pandas()["id"].tolist() == [2]
    assert run["pairs"].unmatched("right").to_pandas()["id"].tolist() == [2]


def test_what_is_stored_of_pairs_is_read_again(run):
    asked = run.target("bright pairs", ["vmag", "separation"], where="separation < 1")
    assert "match on the sky" in str(asked.plan())
    run["bright pairs"].store()
    assert len(asked.plan().fragments) == 1
    assert run.target("bright pairs", ["vmag"]).plan().bases == ()
    assert asked.to_pandas()["vmag"].tolist() == [4.0]


def test_a_target_asks_for_attributes_of_pairs(run):
    found = run.target("close", ["vmag", "raj2000"]).to_pandas()
    assert found[["id", "id_2", "vmag"]].to_numpy().tolist() == [[1, 1, 7.0]]
    with pytest.raises(provenn.errors.TargetError):
        run.target("stars", ["separation"]).plan()
