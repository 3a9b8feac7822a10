"""Values of two releases on a real Spark: what was computed before never decides what a name means."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import provenn
from provenn.archive.target import Target
from provenn.errors import AmbiguousAttributeError, TargetError
from provenn.spark.engine import Engine
from provenn.spark.pipeline import Pipeline
from provenn.targets.plan import Plan
from tests.targets.releases import DR2, redshift, two_releases


@pytest.fixture
def archive(tmp_path: Path, engine: Engine) -> Iterator[provenn.Archive]:
    with provenn.open(tmp_path / "survey", who="ada", progress=False) as opened:
        shop = opened.context.workshop
        shop._pipeline = Pipeline(opened.context.database, shop.folder, engine)
        yield opened
        shop._pipeline = None


@pytest.fixture
def releases(archive, tmp_path) -> tuple[provenn.Catalog, provenn.Catalog]:
    return two_releases(archive, tmp_path)


def identity(plan: Plan, name: str) -> str:
    """The identity that a column of a plan has."""
    return plan.schema[name].identity


def rows(target: Target) -> list[dict[str, float]]:
    """The rows of a target, sorted by key."""
    return sorted(target.to_arrow().to_pylist(), key=lambda row: row["id"])


# --- a new release ---


def test_a_new_release_gets_values_of_its_own_though_the_old_one_was_computed(archive, releases):
    dr1, dr2 = releases
    redshift(archive)
    before = archive.target("DR2", ["z"]).plan()
    assert rows(archive.target("DR1", ["z"]))[0] == {"id": 1, "z": 150.0}
    both = rows(archive.target(dr2.restrict(dr1), ["g", "z"]))
    assert both == [{"id": n, "g": g, "z": g * 10} for n, g in zip(DR2["id"][:4], DR2["g"], strict=False)]
    after = archive.target("DR2", ["z"])
    assert identity(after.plan(), "z") == identity(before, "z")
    assert rows(after) == [{"id": n, "z": g * 10} for n, g in zip(DR2["id"], DR2["g"], strict=True)]


@pytest.mark.parametrize("missing", ["null", "drop"])
@pytest.mark.usefixtures("releases")
def test_no_choice_of_missing_serves_values_of_another_release(archive, missing):
    redshift(archive)
    archive.target("DR1", ["z"]).to_arrow()
    found = rows(archive.target("DR2", ["z"], missing=missing))
    assert found == [{"id": n, "z": g * 10} for n, g in zip(DR2["id"], DR2["g"], strict=True)]


def test_a_criterion_reads_values_of_the_sources_themselves(archive, releases):
    redshift(archive)
    archive.target("DR1", ["z"]).to_arrow()
    found = rows(archive.target(releases[1].restrict(releases[0]), ["g"], where="z < 165"))
    assert found == [{"id": 1, "g": 16.0}], "by z of the first release, it would be two"


# --- several calculators ---


@pytest.mark.parametrize("when", ["never", "before both", "between"])
@pytest.mark.usefixtures("releases")
def test_two_calculators_of_one_attribute_are_ambiguous_whatever_was_computed_before(archive, when):
    redshift(archive, "pz", 1.0)
    if when == "between":
        archive.target("DR1", ["z"]).to_arrow()
    redshift(archive, "pz2", 2.0)
    if when == "before both":
        archive["DR1"].derive("pz").to_arrow()
    with pytest.raises(AmbiguousAttributeError, match=r"pz.*pz2"):
        archive.target("DR1", ["z"])
    with pytest.raises(AmbiguousAttributeError, match=r"pz.*pz2"):
        archive.target("DR1", ["g"], where="z > 1")


@pytest.mark.usefixtures("releases")
def test_what_another_release_has_is_offered_and_never_taken(archive):
    archive["DR1"].derive(w="g * 2", name="wide")
    for _ in range(2):
        with pytest.raises(TargetError, match=r"wide") as caught:
            archive.target("DR2", ["w"])
        assert "wide.w" in caught.value.hint
        archive["wide"].store()
