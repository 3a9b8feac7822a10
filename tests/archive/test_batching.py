"""Many definitions in one transaction are the same catalogs as one by one, and are written all or not at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import provenn
from provenn.errors import CatalogNameError, ProvennError
from tests.archive.samples import write_parquet


@pytest.fixture
def make_archive(tmp_path):
    """Return a function that makes an archive of stars in a new folder."""
    data = write_parquet(tmp_path / "stars.parquet")

    def make(name: str) -> provenn.Archive:
        archive = provenn.open(tmp_path / name)
        archive.ingest("stars", data, key="hip", population="star")
        return archive

    return make


def define_some(archive: provenn.Archive) -> list[provenn.Catalog]:
    """Define catalogs of several classes, in a lineage, some with a name, and some twice."""
    stars = archive["stars"]
    bright = stars.select("vmag < 6", name="bright")
    near = stars.select("plx > 10").derive(dist="1000 / plx", name="near")
    return [
        bright,
        near,
        bright.combine(near, name="both"),
        bright.exclude(near),
        stars.select("vmag < 6"),
        stars.sample(0.5, seed=1, name="some"),
    ]


def dump(archive: provenn.Archive) -> dict[str, object]:
    """Return what an archive holds, without times."""
    names = {name: archive[name].digest for name in ("stars", "bright", "near", "both", "some")}
    tables = {}
    for table in ("catalogs", "dependencies", "attributes", "schemas", "wordings", "definers", "name_history"):
        with archive.context.database.reading() as reading:
            rows = reading.connection.exec_driver_sql(f"SELECT * FROM {table}").mappings().all()  # noqa: S608 - a constant
        times = {"created_at", "at", "id"}
        tables[table] = sorted(str({key: row[key] for key in row if key not in times}) for row in rows)
    return {"names": names, **tables}


def test_a_batch_makes_the_same_catalogs_as_one_by_one(make_archive):
    with make_archive("one") as one, make_archive("many") as many:
        single = define_some(one)
        with many.batch() as batch:
            together = define_some(batch)
        assert [catalog.digest for catalog in single] == [catalog.digest for catalog in together]
        assert dump(one) == dump(many)
        assert many.check() == one.check()


def test_catalogs_of_a_batch_are_there_at_its_end_and_not_before(make_archive):
    with make_archive("stars") as archive:
        with archive.batch() as batch:
            bright = batch["stars"].select("vmag < 6", name="bright")
            assert len(archive) == 1
        assert archive["bright"].digest == bright.digest
        later = bright.select("vmag < 5", name="later")
        assert archive["later"].digest == later.digest, "after the block, definitions are written at once"


def define_two(archive: provenn.Archive, first: str, second: str, *, failing: bool = False) -> None:
    """Define two catalogs with names in a batch, and fail before its end if told to."""
    with archive.batch() as batch:
        batch["stars"].select("vmag < 6", name=first)
        batch["stars"].select("vmag < 5", name=second)
        if failing:
            raise ZeroDivisionError


def test_a_failure_in_the_block_writes_nothing(make_archive):
    with make_archive("stars") as archive:
        before = len(archive)
        with pytest.raises(ZeroDivisionError):
            define_two(archive, "bright", "brighter", failing=True)
        assert len(archive) == before


def test_a_name_that_is_taken_writes_nothing(make_archive):
    with make_archive("stars") as archive:
        archive["stars"].select("vmag < 9", name="taken")
        before = len(archive)
        with pytest.raises(CatalogNameError, match="taken already names"):
            define_two(archive, "free", "taken")
        with pytest.raises(CatalogNameError, match="another catalog of the batch"):
            define_two(archive, "twice", "twice")
        assert len(archive) == before


def test_a_name_of_others_is_taken_and_its_catalog_is_not_told(make_archive):
    with make_archive("stars") as archive:
        ada, ben = archive.as_seen_by("ada"), archive.as_seen_by("ben")
        ada.name(ada["stars"].select("vmag < 5"), "mine", visibility="private")
        with pytest.raises(CatalogNameError, match="the name mine is taken"), ben.batch() as batch:
            batch["stars"].select("vmag < 4", name="mine")
        with ben.batch() as batch:
            own = batch["stars"].select("vmag < 4", name="other")
        assert ben["other"].digest == own.digest


_DYING = """
import os, sys, provenn
from provenn.definitions import catalog_names
with provenn.open(sys.argv[1]) as archive:
    catalog_names.assign_names = lambda *_: os._exit(3)
    with archive.batch() as batch:
        for number in range(50):
            batch["stars"].select(f"vmag < {number}", name=f"n{number}")
"""


def test_a_process_that_dies_while_it_writes_leaves_nothing(make_archive):
    with make_archive("stars") as archive:
        folder = Path(archive.place).parent
        before = len(archive)
    died = subprocess.run([sys.executable, "-c", _DYING, str(folder)], env={**os.environ}, check=False)
    assert died.returncode == 3
    with provenn.open(folder) as archive:
        assert len(archive) == before
        assert not archive.check().problems


def test_many_definitions_in_one_call_are_those_of_the_verbs(make_archive):
    """Steps name catalogs of the archive and of earlier steps, or are given handles."""
    archive = make_archive("steps")
    stars = archive["stars"]
    bright, both, sampled, renamed, joined = archive.define_many(
        [
            ("bright", "select", "stars", "vmag < 6"),
            ("both", "restrict", "bright", stars),
            (None, "sample", "both", 0.5, {"seed": 3}),
            (None, "rename", "both", {"vmag": "v"}),
            ("joined", "concat", "bright", "both", {"order": "first"}),
        ]
    )
    assert archive["bright"] == bright == stars.select("vmag < 6")
    assert both == bright.restrict(stars)
    assert sampled == both.sample(0.5, seed=3)
    assert renamed == both.rename(vmag="v")
    assert joined == bright.concat(both, order="first")
    assert bright.select("vmag < 5").archive is archive, "a returned catalog does not wait"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([("a", "select", "stars", "vmag < 6"), ("b", "drop", "a")], "step 1 is no definition"),
        ([("a", "select", "stars", "vmag < 6"), "b"], "step 1 is no definition"),
        ([("a", "select", "stars", "vmag < 6"), ("b", "select", "nothing", "vmag < 6")], "nothing"),
        ([("a", "select", "stars", "vmag < 6"), ("b", "select", "a", "vmag <")], "vmag <"),
    ],
)
def test_no_definition_is_added_if_one_of_many_is_wrong(make_archive, steps, message):
    archive = make_archive("wrong")
    with pytest.raises(ProvennError, match=message):
        archive.define_many(steps)
    assert len(archive.search()) == 1
