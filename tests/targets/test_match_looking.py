"""Matches and regions read without Spark have exactly the answers of Spark, or say that they have none."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn
from provenn.errors import SparkNeededError
from provenn.knowledge.file_pixels import find_far_files
from provenn.logic.terms import term
from provenn.look import row_groups
from provenn.sky import box, cone, is_far, moc


@pytest.fixture(autouse=True, scope="module")
def chosen_engine():
    """Let calls choose the engine: elsewhere, tests ask Spark."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PROVENN_ENGINE", raising=False)
        yield


@pytest.fixture(scope="module")
def skies(tmp_path_factory):
    """Two catalogs in several files, sorted on the sky; some positions come twice, some are missing."""
    folder = tmp_path_factory.mktemp("skies")
    random = np.random.default_rng(4)
    with provenn.open(folder / "survey") as archive:
        dec = np.sort(np.degrees(np.arcsin(random.uniform(-1, 1, 900))))
        ra = random.uniform(0, 360, 900)
        for name, shift in (("stars", 0.0), ("galaxies", 1 / 3600)):
            table = pa.table({
                "id" if shift else "hip": pa.array([f"g{n:04}" for n in range(900)] if shift else range(900)),
                "ra": pa.array([None, np.nan, *(ra[2:] + shift * random.normal(0, 1, 898))]),
                "dec": np.clip(dec + shift * random.normal(0, 1, 900), -90, 90),
                "err": random.choice([0.5, 1.5, np.nan, -1.0], 900),
            })  # fmt: skip
            table = pa.concat_tables(
                [table, table.slice(100, 1).set_column(0, table.column_names[0], pa.array(["h"] if shift else [5000]))]
            )
            (folder / name).mkdir()
            for number in range(4):
                part = table.slice(number * 230, 230)
                parquet.write_table(part, folder / name / f"{number}.parquet", row_group_size=50)
            archive.ingest(name, folder / name, key=table.column_names[0], population=name)
        yield archive


RULES = [
    {},
    {"matches": "all"},
    {"matches": 2},
    {"matches": "mutual"},
    {"min_radius": 0.4},
    {"radius": "own_err", "max_radius": "2 arcsec"},
]


@pytest.mark.parametrize("options", RULES, ids=str)
def test_a_match_without_spark_has_the_pairs_of_spark(skies, options):
    """Their number, their keys and attributes, and the sources in them."""
    radius, others = options.get("radius", "2 arcsec"), {name: options[name] for name in options if name != "radius"}
    stars = skies["stars"].derive(own_err=("err * 1", "arcsec"))
    pairs = stars.crossmatch(skies["galaxies"], radius, **others)
    keys = pairs.keep(*(name for name in pairs.schema.names if name != "separation"))
    quick, slow = (keys.to_arrow(engine=engine) for engine in ("look", "spark"))
    assert quick.schema.types == slow.schema.types
    assert sorted(map(repr, quick.to_pylist())) == sorted(map(repr, slow.to_pylist()))
    assert quick.num_rows > 100
    assert pairs.count(engine="look") == quick.num_rows
    matched = pairs.matched("left").keep("hip").to_arrow(engine="look")
    assert set(matched["hip"].to_pylist()) == set(slow["hip"].to_pylist())


def test_the_last_digits_of_separations_are_those_of_spark(skies):
    """Java and NumPy round sines differently, so no look gives a separation; it counts pairs all the same."""
    pairs = skies["stars"].crossmatch(skies["galaxies"], "1.9 arcsec")
    with pytest.raises(SparkNeededError, match="last digits of a separation"):
        pairs.to_arrow(engine="look")
    assert pairs.count(engine="look") == pairs.to_arrow().num_rows


@pytest.mark.parametrize(
    "region", [cone(40, 60, 3), cone(0, 89, 5), box(350, 20, -30, 10), box(10, 20, 30, 70)], ids=str
)
def test_row_groups_outside_of_a_region_are_not_read(skies, region, monkeypatch):
    """The rows are those of Spark, and fewer row groups are read than there are."""
    decisions = []
    may_have = row_groups.RegionRows.may_have
    monkeypatch.setattr(
        row_groups.RegionRows, "may_have", lambda own, read: decisions.append(may_have(own, read)) or decisions[-1]
    )
    selected = skies["stars"].select(region).keep("hip")
    quick, slow = (selected.to_arrow(engine=engine)["hip"].to_pylist() for engine in ("look", "spark"))
    assert sorted(quick) == sorted(slow)
    assert set(decisions) == {True, False}


def test_pixels_far_from_a_region_are_found_in_any_combination():
    """A file is left out exactly if the pixels of a file refute the condition, computed by sets of files."""
    regions = {f"in_cone(`ra`, `dec`, {ra}.0D, {dec}.0D, 9.0D)": cone(ra, dec, 9) for ra, dec in ((10, 20), (200, -60))}
    first, second = regions
    atoms = [SimpleNamespace(cut=0, label=text, term=text) for text in regions]
    files = [("`ra`, `dec`", f"2/{number}") for number in range(192)]
    far = {text: {n for n in range(192) if is_far(moc(f"2/{n}"), region)} for text, region in regions.items()}
    everything = set(range(192))
    cases = {
        term(first): far[first],
        term(first) & second: far[first] | far[second],
        term(first) | second: far[first] & far[second],
        term(first) - second: far[first],
        ~term(first): set(),
        term(first) & "vmag < 5": far[first],
        term(first) | "vmag < 5": set(),
        term(first) ^ (term(first) & second): far[first],
    }
    for condition, expected in cases.items():
        found, is_all = find_far_files(condition, atoms, files)
        assert found == expected, condition
        assert is_all == ("vmag < 5" not in condition.labels)
    assert find_far_files(term(first), atoms, [("`other`", "2/0")]) == (set(), False)
    assert find_far_files(term(first), atoms, [("", "")] * 3)[0] == set()
    assert 0 < len(far[first]) < len(everything)
