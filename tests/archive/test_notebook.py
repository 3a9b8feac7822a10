"""Values that show themselves in a notebook: what they say, how large they are, and that nothing is computed for it."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import rmtree
from textwrap import dedent

import pytest

import provenn
from tests.archive.samples import write_parquet
from tests.display.test_catalog import Outline
from tests.web.survey import ODD, make_survey


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory):
    """An archive in which nothing is changed: what is shown only reads."""
    with make_survey(tmp_path_factory.mktemp("notebook") / "survey") as archive:
        yield archive


def shown(value: object) -> Outline:
    """Read what a notebook shows of a value; nothing in it does anything, or reaches beyond it."""
    made = value._repr_html_()
    found = Outline(made)
    assert not {"script", "style", "link", "iframe", "img", "object"} & set(found.tags)
    assert not [name for name in found.attributes if name.startswith("on") or name in {"href", "src", "xlink:href"}]
    return found


def test_an_archive_says_where_it_is_and_what_is_new(survey):
    found = shown(survey)
    for said in (survey.place, "22", "galaxy and star", "CombineAttributes", "ada", ODD[0]):
        assert said in found.text


def test_a_catalog_shows_its_attributes_sources_store_and_lineage(survey):
    found = shown(survey["bright"])
    for said in (
        *("bright", "naked eye", "SelectSources of star", "the sources of stars where vmag < 6"),
        *("in stars and vmag < 6", "4 attributes", "bigint", "key", "hip and vmag, in fragment #1"),
        *("nonempty(bright)", "fact #3, declared by ada", survey["bright"].digest),
    ):
        assert said in found.text
    assert "svg" in found.tags
    assert "The lineage around bright" in found.text


def test_units_and_descriptions_are_shown(archive, tmp_path):
    from astropy.table import Table  # noqa: PLC0415 - slow, and only here

    table = Table({"hip": [1, 2], "plx": [3.0, 4.0]})
    table["plx"].unit, table["plx"].description = "mas", "parallax"
    table.write(tmp_path / "stars.fits")
    found = shown(archive.ingest("stars", tmp_path / "stars.fits", key="hip", population="star"))
    assert "mas" in found.text


def test_answers_show_their_reasons(survey):
    relation = shown(survey.relate("bright", "wide"))
    assert "bright has the same sources as wide" in relation.text
    assert "wide: the attributes of bright and near" in relation.text
    assert "svg" in relation.tags, "the hypercubes"
    assert "is proved" in shown(survey.prove("bright == wide")).text
    assert "is refuted" in shown(survey.prove("stars < bright")).text
    unknown = shown(survey.prove("tenth == faint"))
    assert "is neither proved nor refuted" in unknown.text
    assert "svg" in unknown.tags, "a possible world"
    assert "bright" in shown(survey.prove("bright == wide").reasons[0]).text


def test_a_target_shows_what_is_asked_and_its_plan(survey):
    found = shown(survey.target("bright", ["near", "vmag"], where="plx > 10"))
    for said in ("near and vmag", "bright", "plx > 10", "As computed"):
        assert said in found.text


def test_descriptions_fragments_plans_and_what_else_there_is_show_themselves(survey):
    assert "the sources of stars where vmag < 6" in shown(survey.describe("bright")).text
    assert "Fragment #1" in shown(survey.fragments("bright")[0]).text
    for value in (
        survey["bright"].plan(),
        survey.relate("bright", "wide").why,
        survey.relate("bright", "wide").hypercubes,
        survey.prove("tenth == faint").world,
        survey.neighbourhood("bright"),
        survey.compare("bright", "faint"),
    ):
        assert shown(value).text


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_shown_as_they_are(survey, name):
    assert name in shown(survey[name]).text


def test_a_catalog_with_a_thousand_attributes_is_shown_in_part(archive, tmp_path):
    columns = {"hip": [1], **{f"column_{number}": [0.0] for number in range(1000)}}
    wide = archive.ingest("wide", write_parquet(tmp_path / "wide.parquet", columns), key="hip", population="star")
    many = wide.concat(*(wide.select(f"column_1 < {number}") for number in range(40)), name="many")
    for one in (wide, many, archive):
        assert len(one._repr_html_()) < 100_000
    assert "1,001 attributes" in wide._repr_html_()
    assert "… and 961 more" in wide._repr_html_()


def test_what_cannot_be_read_any_more_still_has_a_text(tmp_path):
    archive = make_survey(tmp_path / "survey")
    catalog, bare = archive["bright"], provenn.Catalog(archive, archive["wide"].digest)
    target = archive.target("bright", ["vmag"])
    archive.close()
    rmtree(tmp_path / "survey")
    for value in (archive, catalog, bare, target):
        assert value._repr_html_() is None, "a notebook shows the text instead"
        assert repr(value).startswith("<")
    assert repr(catalog) == f"<Catalog {catalog.digest[:12]}>"


def test_nothing_that_is_shown_loads_spark(survey):
    """In a process of its own: neither pyspark nor what else is slow, and certainly no Java."""
    code = """
        import sys, provenn
        archive = provenn.open(sys.argv[1], create=False)
        values = [archive, archive["bright"], archive.describe("bright"), archive.relate("bright", "wide"),
                  archive.prove("bright == wide"), archive.prove("tenth == faint"), archive["bright"].plan(),
                  archive.target("bright", ["near"]), archive.fragments("bright")[0], archive.neighbourhood("bright"),
                  archive.compare("bright", "faint")]
        assert all(one._repr_html_() for one in values)
        print(*{name.split(".")[0] for name in sys.modules})
    """
    folder = str(Path(survey.place).parent)
    done = subprocess.run(
        [sys.executable, "-c", dedent(code), folder], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout.split()) & {"pyspark", "py4j", "pandas"}
