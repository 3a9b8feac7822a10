"""The story is told: on a made-up sky, and on real stars; and its figures are true."""

import json

import numpy as np
import pandas as pd
import pytest
from astropy import units
from astropy.coordinates import SkyCoord
from pyarrow import parquet
from typer.testing import CliRunner

import provenn
from provenn import cli
from provenn.demo.motion import motion
from provenn.demo.settling import prepare_stars
from provenn.demo.story import tell_story
from tests.real_stars import real_stars

HEADINGS = 9


def test_the_calculator_agrees_with_astropy():
    stars = parquet.read_table(real_stars().hipparcos).to_pandas().dropna().query("plx > 1").head(2000)
    place = SkyCoord(stars["ra"].to_numpy() * units.deg, stars["dec"].to_numpy() * units.deg).galactic
    ours = motion(stars)
    assert np.abs((ours["gal_lon"] - place.l.deg + 180) % 360 - 180).max() < 1e-4
    assert np.abs(ours["gal_lat"] - place.b.deg).max() < 1e-5
    angle = np.hypot(stars["pmra"], stars["pmdec"]).to_numpy() * units.mas / units.yr
    distance = (stars["plx"].to_numpy() * units.mas).to(units.pc, equivalencies=units.parallax())
    speed = (angle * distance).to(units.km / units.s, equivalencies=units.dimensionless_angles()).value
    np.testing.assert_allclose(ours["speed"], speed, rtol=1e-6)


def test_a_star_without_a_distance_has_no_speed():
    star = pd.DataFrame({"ra": [1.0, np.nan], "dec": [2.0, np.nan], "plx": [-1.0, np.nan], "pmra": 1.0, "pmdec": 1.0})
    assert motion(star)["speed"].isna().all()


def check(screens, files):
    """Compare the figures of a story with what pandas makes of the same files."""
    stars = pd.read_parquet(files.hipparcos)
    near, very_near = stars.query("plx > 10"), stars.query("plx > 20")
    assert len(screens) == HEADINGS
    ingested, _, known, first, second, third, regions, matched, drawn = screens
    assert ingested["rows"]["hipparcos"] == len(stars)
    assert [relation["summary"] for relation in known["relations"]] == ["equal", "subset", "disjoint"]
    assert (first["rows"], first["calculated"], first["reused"]) == (len(very_near), len(very_near), 0)
    assert (second["rows"], second["reused"]) == (len(near), len(very_near))
    assert second["calculated"] == len(near) - len(very_near), "none of them twice"
    assert second["never"] == len(stars) - len(near)
    names = pd.read_parquet(files.names)
    assert third["rows"] == len(names[names["hip"].isin(near["hip"])])
    assert (third["calculated"], third["calculators"]) == (0, 0)
    assert [relation["summary"] for relation in regions["relations"]] == ["subset", "disjoint"]
    assert regions["rows"]["pleiades_core"] <= regions["rows"]["pleiades"]
    assert matched["summary"] == "subset"
    assert 0 < matched["same"] <= matched["pairs"] <= len(stars)
    assert len(drawn["pictures"]) == 2


def test_the_story_is_told_on_real_stars(tmp_path, engine):
    real_stars()
    folder = tmp_path / "demo"
    files = prepare_stars(folder)
    assert not files.generated
    with provenn.open(folder, spark=engine.session, progress=False) as archive:
        screens = list(tell_story(archive, files, folder))
    check([screen.data for screen in screens], files)
    assert "generated" not in screens[0].body
    assert "Kapteyn's Star" in screens[5].data["fastest"]
    assert screens[7].data["same"] > 100_000


@pytest.mark.usefixtures("engine")
def test_the_command_tells_programs_and_then_people_without_computing_anything_again(tmp_path):
    """On a made-up sky, with the Spark of this process."""
    folder = tmp_path / "demo"
    words = ["demo", str(folder), "--offline", "--stars", "1000"]
    result = CliRunner().invoke(cli.app, [*words, "--json"])
    assert "these stars are not real" in result.stderr
    check(json.loads(result.stdout)["screens"], prepare_stars(folder))
    assert all((folder / name).read_text().startswith("<svg") for name in ("plan.svg", "lineage.svg"))
    told_people = CliRunner().invoke(cli.app, words)
    assert told_people.exit_code == 0, told_people.output
    assert told_people.stdout.startswith("The stars\n\nThese stars are generated")
    assert "The calculator was called for 0 of 1,000" in told_people.stdout
    assert " 0 were calculated now" in told_people.stdout
    assert f"provenn serve --archive {folder} --open" in told_people.stdout


def test_a_folder_that_is_no_demo_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    result = CliRunner().invoke(cli.app, ["demo", str(tmp_path), "--offline", "--json"])
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["kind"] == "StoreError"
