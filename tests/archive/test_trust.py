"""Files that are known by metadata alone, because the user says so; and everything that rests on them says so, too."""

import json

import pytest
from typer.testing import CliRunner

from provenn import cli
from provenn.errors import BaseFilesError, FilesChangedError
from provenn.web.app import create_app
from provenn.web.guarding import guard_app
from provenn.web.standalone_report import make_report, render_report
from tests.archive.corrections import corrected, first_release, rewrite_in_place, write
from tests.archive.samples import write_parquet

LINE = "stars: its files are identified only by size, time and footer (trust: metadata)"


@pytest.fixture
def trusted(archive, tmp_path):
    """An archive with a base catalog whose metadata are trusted, and another one; and one made from each."""
    path = write_parquet(tmp_path / "stars.parquet")
    archive.ingest("stars", path, key="hip", population="star", trust="metadata").select("vmag < 6", name="bright")
    archive.ingest("others", write_parquet(tmp_path / "others.parquet", x=[1] * 6), key="hip", population="star")
    archive["others"].select("vmag < 6", name="dim")
    return archive


def test_what_is_trusted_is_part_of_the_definition(archive, tmp_path):
    path = write_parquet(tmp_path / "stars.parquet")
    by_metadata = archive.ingest("a", path, key="hip", population="star", trust="metadata")
    by_content = archive.ingest("b", path, key="hip", population="star")
    assert by_metadata.digest != by_content.digest
    assert by_metadata.digest == archive.ingest("c", path, key="hip", population="star", trust="metadata").digest
    assert by_content.digest == archive.ingest("d", path, key="hip", population="star", trust="content").digest
    with pytest.raises(BaseFilesError, match="trust files: 'size'"):
        archive.ingest("e", path, key="hip", population="star", trust="size")


def test_answers_say_on_which_files_they_rest_and_others_say_nothing(trusted):
    assert trusted.relate("bright", "stars").caveats == (LINE,)
    assert trusted.relate("bright", "dim").caveats == (LINE,), "nothing is proved, and that too is an answer"
    assert trusted.relate("dim", "others").caveats == ()
    assert trusted.prove("bright <= stars").caveats == (LINE,)
    assert trusted.prove("dim <= others").caveats == ()
    assert trusted.compare("bright", "stars", "others").caveats == (LINE,)
    assert trusted.describe("bright").caveats == (LINE,)
    assert trusted.describe("others").caveats == ()
    assert trusted["bright"].plan().caveats == (LINE,)
    assert trusted["dim"].plan().caveats == ()
    assert trusted.target("dim", ["vmag"]).plan().caveats == ()


def test_a_proof_rests_on_the_files_of_the_catalogs_in_its_facts(trusted):
    """Though neither of the catalogs that were asked about is made from them."""
    trusted["others"].select("plx > 10", name="near")
    trusted.declare("near <= stars")
    trusted.declare("disjoint(stars, dim)")
    assert trusted.relate("near", "dim").summary == "disjoint"
    assert trusted.relate("near", "dim").caveats == (LINE,)


def test_they_say_so_in_text_in_a_notebook_in_reports_and_on_pages(trusted):
    relation, proof, compared = (
        trusted.relate("bright", "stars"),
        trusted.prove("bright <= stars"),
        trusted.compare("bright", "stars"),
    )
    described, plan = trusted.describe("bright"), trusted["bright"].plan()
    for value in (relation, proof, compared, described, plan):
        assert LINE in str(value)
        assert LINE in value._repr_html_()
    assert LINE in render_report(make_report(trusted, "bright"))
    assert "size, time and footer only" in str(trusted.describe("stars"))
    assert trusted.provenance("bright").bases[0].known_by == "size, time and footer only (trust: metadata)"


def test_pages_say_so(trusted):
    from starlette.testclient import TestClient  # noqa: PLC0415 - few tests need it

    with TestClient(guard_app(create_app(trusted)), base_url="http://127.0.0.1") as client:
        for page in ("/catalogs/bright", "/compare?a=bright&b=stars&ask=bright+%3C%3D+stars"):
            assert LINE in client.get(page).text
        told = client.get("/api/compare?a=bright&b=stars&ask=bright+%3C%3D+stars").json()
        assert told["compared"]["pairs"][0]["caveats"] == [LINE]
        assert told["answer"]["caveats"] == [LINE]
        assert LINE in client.get("/target?sources=bright&attributes=vmag").text


@pytest.mark.usefixtures("trusted")
def test_commands_say_so(tmp_path):
    place = ["--archive", str(tmp_path / "survey")]
    for words in (
        ["relate", "bright", "stars"],
        ["prove", "bright <= stars"],
        ["compare", "bright", "stars"],
        ["show", "bright"],
        ["target", "bright", "vmag", "--plan"],
    ):
        assert LINE in CliRunner().invoke(cli.app, [*words, *place]).output.replace("\n", " "), words
        told = json.loads(CliRunner().invoke(cli.app, [*words, *place, "--json"]).output)
        assert LINE in json.dumps(told), words
    told = json.loads(CliRunner().invoke(cli.app, ["show", "stars", *place, "--json"]).output)
    assert told["known_by"] == "size, time and footer only (trust: metadata)"


def test_a_correction_that_metadata_do_not_show_is_not_noticed_which_is_what_was_trusted(archive, tmp_path):
    stars = write(tmp_path / "stars.parquet", first_release())
    other = write(tmp_path / "other.parquet", corrected(first_release()))
    files = archive.ingest("stars", stars, key="hip", population="star", trust="metadata").definition.files
    rewrite_in_place(stars, other.read_bytes())
    files.check()
    write(stars, {**first_release(), "more": first_release()["vmag"]})
    with pytest.raises(FilesChangedError):
        files.check()
