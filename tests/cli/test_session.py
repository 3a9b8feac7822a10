"""A session as a new user would type it, in a folder and in PostgreSQL."""

from shutil import copytree

import pytest

from tests.archive.samples import write_parquet
from tests.cli.archive_session import Session
from tests.postgres import new_schema


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def place(request, tmp_path, postgres):
    """Where a new archive is to be: a folder, or the address of a database."""
    return tmp_path / "survey" if request.param == "SQLite" else new_schema(postgres)


@pytest.fixture
def copied(made, place):
    def copy(name):
        if isinstance(place, str):
            Session(made[name])(f"backup '{place}'")
        else:
            copytree(made[name], place)
        return Session(place)

    return copy


def test_the_paper_s_example_from_an_empty_archive(place, tmp_path):
    provenn = Session(place)
    file = write_parquet(tmp_path / "hip.parquet")
    told = provenn("init")
    assert told.startswith("archive at ")
    assert told.endswith(", with 0 catalogs\n")
    assert provenn(f"ingest hipparcos '{file}' --key hip --population star") == f"hipparcos: 6 rows of {file}\n"
    assert provenn("select hipparcos 'vmag < 6' --name bright") == "bright: the sources of hipparcos where vmag < 6\n"
    assert provenn("derive hipparcos dist_pc='1000 / plx' -n near") == "near: hipparcos, with dist_pc = 1000 / plx\n"
    assert provenn("combine bright near --name both") == (
        "both: the attributes of bright and near, for the sources common to all\n"
    )
    assert provenn("relate bright both") == "equal: bright has the same sources as both\n"
    assert provenn("relate bright both --why").splitlines() == [
        "equal: bright has the same sources as both, because",
        '  bright == hipparcos & "vmag < 6"   bright: the sources of hipparcos where vmag < 6',
        "  near == hipparcos                  near: hipparcos, with dist_pc = 1000 / plx",
        "  both == bright & near              both: the attributes of bright and near, for the sources common to all",
    ]
    assert provenn("lineage both").splitlines() == [
        "both: the attributes of bright and near, for the sources common to all",
        "├── bright: the sources of hipparcos where vmag < 6",
        f"│   └── hipparcos: 6 rows of {file}",
        "└── near: hipparcos, with dist_pc = 1000 / plx",
        f"    └── hipparcos: 6 rows of {file}",
    ]
    assert provenn("init") == told.replace("0 catalogs", "4 catalogs")


def test_declaring_what_one_knows(stars: Session, tmp_path):
    file = write_parquet(tmp_path / "south.parquet", extra=[1] * 6)
    stars(f"ingest south '{file}' -k hip -p star")
    assert stars("relate stars south") == "unknown: stars may or may not overlap with south\n"
    assert "several values" in stars.fails("concat stars south --name sky")
    assert stars("declare 'disjoint(stars, south)' --reason declinations") == "fact #1: disjoint(stars, south)\n"
    assert stars("concat stars south --name sky") == "sky: the sources of stars and south together\n"
    assert stars("relate stars south --why").splitlines() == [
        "disjoint: stars shares no source with south, because",
        "  disjoint(stars, south)   fact #1, declared by ada: declinations",
    ]
    told = stars.fails("declare 'stars == south & nonempty(stars)'")
    assert "column" in told
    told = stars.fails("declare 'overlapping(stars, south)'")
    assert told.splitlines()[:3] == [
        "provenn: the facts contradict each other:",
        "  disjoint(stars, south)",
        "  overlapping(stars, south)",
    ]
    header, fact = stars("facts").splitlines()
    assert header.split() == ["fact", "statement", "origin", "since", "by", "reason"]
    assert fact.split()[0] == "#1"
    assert stars("retract 1 --reason 'they meet'").splitlines() == [
        "retracted fact #1: disjoint(stars, south)",
        "the members of sky are no longer known to be disjoint",
    ]
    assert stars("facts").startswith("no facts\n")
    assert "declinations; retracted by ada: they meet" in stars("facts stars --all")


def test_a_new_version_of_the_files(survey: Session, tmp_path):
    file = write_parquet(tmp_path / "new.parquet", extra=[1] * 6)
    told = survey.fails(f"ingest stars '{file}' -k hip -p star")
    assert "both, bright, near are made from them" in told
    assert "--rebuild" in told
    survey(f"ingest stars '{file}' -k hip -p star --rebuild")
    assert survey.json("show both")["attributes"][5]["name"] == "extra"
    assert len(survey.json("log both")) == 2
    assert survey("relate bright both") == "equal: bright has the same sources as both\n"


def test_names(survey: Session):
    survey("select stars 'vmag < 5' --name dazzling")
    for command in ("name bright dazzling", "select stars 'vmag < 5.5' --name bright"):
        assert "`provenn name NAME CATALOG --move` moves a name" in survey.fails(command)
    survey("name bright dazzling --move")
    assert survey.json("show bright")["names"] == ["bright", "dazzling"]
    assert survey("name bright --delete").startswith("deleted the name bright; the catalog stays")
    assert survey.json("name dazzling --delete") == {"name": "dazzling", "catalog": None}
    assert [one["catalog"] is None for one in survey.json("log bright")] == [True, False, False]
    assert survey("log bright").splitlines()[1].endswith("ada  deleted")
