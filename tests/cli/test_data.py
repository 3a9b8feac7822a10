"""Commands that compute: targets, heads, counts, exports. One Spark for all that need it."""

import json
import re

import pyarrow.parquet as pq
import pytest

from provenn.cli import target as target_command
from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session

SKY = """
import pandas as pd

def redshift(batch):
    return pd.DataFrame({"z": 2 * batch["vmag"]})
"""


@pytest.fixture
def sky(survey, tmp_path, monkeypatch):
    """The paper's example, with an expensive calculator in a module of the current folder."""
    (tmp_path / "redshifts_of_stars.py").write_text(SKY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    survey("calculator redshift redshifts_of_stars:redshift --input vmag --output z=double")
    return survey


# --- without Spark ---


def test_a_calculator_is_registered_listed_and_preferred(sky):
    sky("calculator dist --sql 'dist_pc=1000 / plx' --sql 'dist_kpc=1 / plx'")
    lines = sky("calculators").splitlines()
    assert lines[0].split() == ["calculator", "derives", "from", "by", "registered", "by"]
    assert lines[1].split() == ["dist", "dist_pc,", "dist_kpc", "plx", "SQL", "ada"]
    assert lines[2].split() == ["redshift", "z", "vmag", "redshifts_of_stars:redshift", "ada"]
    told = sky.json("calculators")
    assert told[0]["sql"] == {"dist_pc": "1000 / plx", "dist_kpc": "1 / plx"}
    assert (told[1]["function"], told[1]["inputs"], told[1]["outputs"]) == (
        "redshifts_of_stars:redshift", ["vmag"], ["z"],
    )  # fmt: skip
    assert sky("prefer z redshift") == "z now means the attribute of redshift\n"
    assert sky.json("prefer z redshift") == {"attribute": "z", "provider": "redshift", "before": None}
    assert "does not provide" in sky.fails("prefer z dist")


def test_what_a_calculator_derives_may_have_a_unit(sky):
    sky("calculator speed redshifts_of_stars:redshift --input vmag --output z=double --unit z=km/s")
    sky("derive stars --calculator speed --name speeds")
    assert [one["unit"] for one in sky.json("show speeds")["attributes"] if one["name"] == "z"] == ["km/s"]


def test_what_sql_derives_may_have_a_unit(sky):
    sky("calculator distance --sql 'dist=1000 / plx' --unit dist=pc")
    assert next(one for one in sky.json("calculators") if one["name"] == "distance")["units"] == {"dist": "pc"}
    sky("derive stars --calculator distance --name far")
    sky("derive stars 'dist=1000 / plx' 'twice=2 * plx' --unit dist=pc --name also")
    for name in ("far", "also"):
        assert [one["unit"] for one in sky.json(f"show {name}")["attributes"] if one["name"] == "dist"] == ["pc"]
    assert "dist = 1000 / plx (in pc)" in sky("show also")
    assert "no expression derives this attribute" in sky.fails("derive stars 'dist=1000 / plx' --unit d=pc").replace(
        "\n", " "
    )
    assert "unknown unit parsecs" in sky.fails("derive stars 'dist=1000 / plx' --unit dist=parsecs")


def test_sql_that_cannot_be_read_is_refused_at_once(survey):
    assert "at column 3" in survey.fails("calculator broken --sql 'x=1 +'")
    assert survey("calculators") == "no calculators\nhint: provenn calculator registers a function\n"


def test_no_calculator_at_first(survey):
    assert survey("calculators") == "no calculators\nhint: provenn calculator registers a function\n"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("calculator one", "either MODULE:FUNCTION or --sql"),
        ("calculator one two --sql x=1", "either MODULE:FUNCTION or --sql"),
        (
            "calculator one no_such_module:f --input y --output x=double",
            "the module no_such_module has no Python source",
        ),
        ("calculator one json:no_such --input y --output x=double", "there is no function no_such in"),
        ("calculator one json --input y --output x=double", "expected MODULE:FUNCTION"),
        ("calculator one json:__name__ --input y --output x=double", "is a special name of Python"),
        ("calculator one --sql x=1 --unit x=mags", "unknown unit mags"),
        ("calculator one --sql x=1 --unit y=mag", "expected a unit as text for a new attribute"),
        (
            "calculator one json:loads --input a --output x=double --unit y=mag",
            "expected the unit of an output as text",
        ),
        ("calculator one json:loads --input a --output x=double --unit mag", "ATTRIBUTE=UNIT"),
    ],
)
def test_a_calculator_that_cannot_be_is_refused(survey, typed, told):
    assert told in re.sub(r"[\s│]+", " ", survey.fails(typed))


def test_a_plan_tells_what_would_be_done_and_computes_nothing(sky):
    told = sky("target bright z --where 'plx > 10' --plan --why")
    assert told.startswith("z of bright where plx > 10\n")
    assert "calculate z by redshifts_of_stars:redshift" in told
    assert "bright: the sources of stars where vmag < 6" in told
    data = sky.json("target bright z --plan")["plan"]
    assert data["calculators"] == ["redshifts_of_stars:redshift"]
    assert data["before"]["label"] == "skip"
    assert data["after"]["label"] == "compute"
    assert data["after"]["inputs"][0]["what"] == "select vmag < 6"
    assert data["fragments"] == []
    assert {one["rule"] for one in data["reasons"]} >= {"same_sources", "same_rows"}
    assert sky.json("fragments") == []


def test_a_plan_is_drawn(sky, tmp_path):
    result = sky.run(f"target bright z --svg '{tmp_path / 'plan.svg'}'")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "As computed" in (tmp_path / "plan.svg").read_text()
    assert sky("target bright z --svg -").startswith("<svg")


def test_a_target_is_named(sky):
    assert sky("target bright z plx --name wanted").startswith("wanted: ")
    assert sky.json("target bright z plx --name wanted")["catalog"]["name"] == "wanted"
    assert [one["name"] for one in sky.json("show wanted")["attributes"]] == ["hip", "z", "plx"]


def test_an_attribute_of_another_catalog_is_asked_for_by_its_name(sky):
    """Also of one that has a dot in its name, and in a criterion."""
    data = sky.json("target bright 'stars.plx AS parallax' vmag --where 'stars.plx > 10' --plan")["plan"]
    assert data["attributes"] == ["hip", "parallax", "vmag"]
    told = sky.fails("target bright plx 'bright.vmag AS plx' --plan")
    assert "two different attributes would be called plx" in told
    assert "bright.vmag AS plx AS plx_2" not in told


def test_what_is_proved_to_be_empty_is_answered_without_spark(sky):
    assert sky("target bright z --where 'vmag > 7'") == "no sources; attributes: hip, z\n"
    assert sky.json("target bright z --where 'vmag > 7'") == {"columns": ["hip", "z"], "rows": [], "rests_on": []}


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("target bright vmga", "no catalog has an attribute 'vmga'"),
        ("target birght vmag", "birght"),
        ("target bright vmag --missing maybe", "missing is error, null, drop, not 'maybe'"),
        ("target bright vmag --keep sometimes", "keep is always, worthwhile, never, not 'sometimes'"),
        ("target bright vmag --where 'vmag >'", "vmag >"),
        ("head birght", "birght"),
        ("count birght", "birght"),
        ("export birght out.csv", "birght"),
    ],
)
def test_a_request_that_cannot_be_answered_is_told(survey, typed, told):
    assert told in survey.fails(typed)
    assert json.loads(survey.run(f"{typed} --json").stdout)["error"]["message"]


def test_an_option_for_two_attributes_that_is_given_twice_is_told(survey):
    assert "--on takes two attributes" in survey.fails("export bright -o out --format hats --on ra --on dec")


def test_a_run_that_is_cancelled_leaves_with_130_and_one_line(survey, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(target_command, "write_plan", interrupted)
    result = survey.run("target bright vmag --plan")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "provenn: cancelled\n")


# --- with Spark ---


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """An archive in which a target is written, with all that is told on the way: one process, one Spark."""
    folder = tmp_path_factory.mktemp("computed")
    (folder / "redshifts_of_these.py").write_text(SKY)
    file = write_parquet(folder / "stars.parquet")
    session = Session(folder / "survey")
    for typed in (
        "init",
        f"ingest stars '{file}' --key hip --population star",
        "select stars 'vmag < 6' --name bright",
    ):
        session(typed)
    return session


@pytest.mark.usefixtures("engine")
class TestWithSpark:
    """In order: each reads what the ones before have left, as a person would."""

    @pytest.fixture(autouse=True)
    def here(self, computed, monkeypatch):
        monkeypatch.chdir(computed.folder.parent)
        monkeypatch.syspath_prepend(computed.folder.parent)

    def test_sources_are_counted_and_then_known(self, computed):
        assert computed("count bright") == "2\n"
        assert computed.json("count bright") == {"catalog": "bright", "sources": 2, "rests_on": []}
        assert "nonempty(bright)" in computed("facts")

    def test_a_few_sources_are_shown(self, computed):
        assert computed("head bright --most 1").split()[:5] == ["hip", "vmag", "plx", "dec", "spect"]
        told = computed.json("head stars")
        assert told["columns"] == ["hip", "vmag", "plx", "dec", "spect"]
        assert [5, None, 1.0, -1.0, "K1"] in told["rows"]

    def test_a_target_is_shown_written_and_kept(self, computed):
        computed("calculator redshift redshifts_of_these:redshift --input vmag --output z=double")
        shown = computed.json("target bright z")
        assert sorted(shown["rows"]) == [[1, 3.0], [2, 11.8]]
        assert computed.json("fragments") == [], "a look keeps nothing"
        assert computed("target bright z -o out.parquet").startswith("wrote 2 sources to ")
        assert pq.read_table("out.parquet").sort_by("hip").to_pydict() == {"hip": [1, 2], "z": [3.0, 11.8]}
        assert len(computed.json("fragments")) == 1
        assert computed.json("target bright z --plan")["plan"]["after"]["label"] == "reuse"
        assert "out.parquet" in computed.fails("target bright z -o out.parquet")
        again = computed.json("target bright z -o out.parquet --overwrite")
        assert again["written"]["rows"] == 2

    def test_a_catalog_is_exported(self, computed):
        assert computed("export bright bright.csv").startswith("wrote 2 sources to ")
        told = computed.json("export bright by_class --format parquet --partition-by spect --folder")
        assert told["rows"] == 2
        assert {one.name for one in (computed.folder.parent / "by_class").glob("spect=*")} == {"spect=A0", "spect=G2V"}
