"""Matches of catalogs that grew: stored pairs of an earlier version serve, and only what is new is matched."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import provenn
from provenn.catalogs import CrossMatch, SelectSources
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.costs import estimate_rows
from provenn.targets.match_steps import Match
from provenn.targets.steps import walk_steps
from tests.catalogs.samples import Table
from tests.targets import calls
from tests.targets.grown_skies import Folder, Versions
from tests.targets.simulated import Sky
from tests.targets.simulated_matches import join_tables
from tests.targets.test_histories import History

# -- without Spark: random small skies and histories -----------------------------------------------------------------

STEP = 0.25
"""The degrees between places of sources: they are few, so that many sources are equally near."""


def random_place(rng: Random, key: int) -> dict[str, object]:
    """A source on a coarse grid; a few have no position."""
    ra, dec = rng.randrange(6) * STEP, rng.randrange(3) * STEP
    return {"hip": key, "vmag": None if rng.random() < 0.05 else ra, "plx": dec}


def change_files(rng: Random, folder: Folder, number: int) -> Folder:
    """Append a file (most often), remove one, replace one, or move a key into a new file."""
    new = {name: dict(rows) for name, rows in folder.items()}
    held = {key for rows in folder.values() for key in rows}
    free = [key for key in range(30) if key not in held]
    match rng.choice(["append", "append", "append", "remove", "replace", "move"]):
        case "remove" if len(new) > 1:
            del new[rng.choice(sorted(new))]
        case "replace":
            name = rng.choice(sorted(new))
            new[name] = {key: random_place(rng, key) for key in {*list(new[name])[1:], *free[:1]}}
        case "move":
            name = rng.choice(sorted(new))
            moved = list(new[name])[:1]
            new[name] = {key: row for key, row in new[name].items() if key not in moved}
            new[f"moved {number}"] = {key: random_place(rng, key) for key in moved}
        case _:
            new[f"more {number}"] = {key: random_place(rng, key) for key in rng.sample(free, rng.randint(0, 2))}
    return new


def make_versions(rng: Random, place: str) -> Versions:
    keys = rng.sample(range(20), 10)
    files = {f"{n}": {key: random_place(rng, key) for key in keys[5 * n : 5 * n + 5]} for n in range(2)}
    return Versions(files, place)


def select_some(table: Table) -> Table:
    rows = {key: row for key, row in table.rows.items() if row["plx"] < 2 * STEP}
    return Table(SelectSources.of(table.catalog, f"plx < {2 * STEP}"), rows)


def check_history(rng: Random, seen: Counter[str]) -> None:
    """Match two folders after every change, keep the pairs, and compare all rows with those from scratch."""
    folders = [make_versions(rng, f"/nowhere/{n}") for n in range(2)]
    radius, matches = rng.choice([1000, 1300]), rng.choice(["best", "best", "all", 2, 3, "mutual"])
    smallest = rng.choice([None, None, 850])
    selected = [rng.random() < 0.3 for _ in folders]
    moments, tables = [], []
    for number in range(rng.randint(2, 4)):
        if number:
            changed = rng.choice(folders)
            changed.change(change_files(rng, changed.folder, number))
        sides = [
            select_some(folder.versions[-1]) if is_selected else folder.versions[-1]
            for folder, is_selected in zip(folders, selected, strict=True)
        ]
        catalog = CrossMatch.of(
            sides[0].catalog, sides[1].catalog, radius, matches=matches, min_radius=smallest, on=("vmag", "plx")
        )
        moments.append(join_tables(catalog, *sides))
        tables += [*sides, moments[-1]]
    everything = [*(table for folder in folders for table in folder.tables), *tables]
    unique = list({table.catalog.digest: table for table in everything}.values())
    sets = {label: keys for folder in folders for label, keys in folder.sets.items()}
    history = History(Sky(unique, sets=sets, facts=tuple(fact for folder in folders for fact in folder.facts)))
    for table in moments:
        plan = history.plan(table.catalog)
        for step in walk_steps(plan.after):
            if isinstance(step, ContinuedMatch):
                seen[f"{matches}: {', '.join(step.sides)}"] += 1
            elif isinstance(step, Match):
                seen["whole"] += 1
        history.ask(table.catalog, table.rows, rng.choice(["always", "always", "never"]))


@pytest.mark.parametrize(
    "examples", [pytest.param(60, id="quick"), pytest.param(5000, id="campaign", marks=pytest.mark.campaign)]
)
def test_continued_matches_are_those_from_scratch(examples):
    """Files are appended, replaced and removed on both sides; ties are resolved as by a match of all sources."""
    seen: Counter[str] = Counter()

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=True))
    def check_one(rng):
        check_history(rng, seen)

    check_one()
    assert seen.total() > seen["whole"], "stored pairs serve"


# -- with Spark: a real archive, and every pair compared in numpy ------------------------------------------------------

_GRID = 2**-12
"""The degrees between places, about 0.9 arcsec: differences are exact, so that equally near is equally near."""


class Nights:
    """An archive of two folders of detections, matched on the sky; the pairs are stored."""

    def __init__(self, archive: provenn.Archive, folder: Path, matches: str | int = "best") -> None:
        self.archive, self.folder, self.matches = archive, folder, matches
        for name in ("stars", "galaxies"):
            (folder / name).mkdir()
            for night in range(4):
                self.write(name, night)
        left = archive.ingest("stars", folder / "stars", key="id", population="star")
        right = archive.ingest("galaxies", folder / "galaxies", key="id", population="galaxy")
        left.crossmatch(right, "1.5 arcsec", matches=matches, name="pairs").store()

    def write(self, name: str, night: int, rows: int = 10, seed: int = 0) -> None:
        """Write the file of a night; sources lie on a coarse grid, so that many are equally near."""
        rng = Random(f"{name} {night} {seed}")
        columns = {
            "id": [night * 100 + number for number in range(rows)],
            "ra": [rng.randrange(12) * _GRID for _ in range(rows)],
            "dec": [rng.randrange(-5, 6) * _GRID for _ in range(rows)],
            "mag": [rng.random() for _ in range(rows)],
        }
        parquet.write_table(pa.table(columns), self.folder / name / f"{night}.parquet")

    def remove(self, name: str, night: int) -> None:
        """Remove the file of a night."""
        (self.folder / name / f"{night}.parquet").unlink()

    def expect(self) -> list[tuple[object, ...]]:
        """All pairs, or the nearest of each source, by comparing every source with every other."""
        left, right = (parquet.read_table(self.folder / name).to_pandas() for name in ("stars", "galaxies"))
        ra, dec = (left[name].to_numpy()[:, None] for name in ("ra", "dec"))
        other_ra, other_dec = (right[name].to_numpy()[None, :] for name in ("ra", "dec"))
        up, across = (np.sin(np.radians(apart) / 2) ** 2 for apart in (dec - other_dec, ra - other_ra))
        half = up + np.cos(np.radians(dec)) * np.cos(np.radians(other_dec)) * across
        apart = np.degrees(2 * np.arcsin(np.sqrt(half))) * 3600
        pairs = []
        for place, key in enumerate(left["id"]):
            near = sorted((apart[place, at], right["id"][at], at) for at in np.flatnonzero(apart[place] <= 1.5))
            for separation, other, at in near[: {"best": 1, "all": None}.get(self.matches, self.matches)]:
                pairs.append((key, int(other), left["mag"][place], right["mag"][at], round(float(separation), 6)))
        return sorted(pairs)

    def answer(self) -> list[tuple[object, ...]]:
        """The pairs by the archive."""
        table = self.archive["pairs"].to_arrow()
        columns = [table[name].to_pylist() for name in ("id", "id_2", "mag", "mag_2")]
        return sorted(zip(*columns, [round(value, 6) for value in table["separation"].to_pylist()], strict=True))

    def find_match(self) -> ContinuedMatch | Match:
        """The step that matches in the plan of the pairs."""
        plan = self.archive["pairs"].plan()
        return next(step for step in walk_steps(plan.after) if isinstance(step, ContinuedMatch | Match))

    def count_again(self) -> dict[str, float]:
        """How many rows of each side the plan of the pairs matches; `left` and `right` are only searched."""
        plan = self.archive["pairs"].plan()
        step = self.find_match()
        return {name: estimate_rows(plan.scene, side) for name, side in step.sides.items()}


@pytest.fixture
def archive(engine, tmp_path) -> Iterator[provenn.Archive]:
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as opened:
        yield opened


@pytest.mark.parametrize(
    ("matches", "runs_each"),
    [
        *((matches, False) for matches in ("best", "all", 3)),
        *(pytest.param(matches, True, marks=pytest.mark.campaign) for matches in ("best", 2)),
    ],
)
def test_only_new_sources_and_their_neighbours_are_matched(archive, tmp_path, matches, runs_each):
    """Ingesting again stores nothing, so that each plan shows how the pairs of the first night are continued.

    The last plan has all parts of those before: outside of campaigns, it alone is run.
    """
    nights = Nights(archive, tmp_path, matches)

    def look_again(name: str) -> None:
        population = {"stars": "star", "galaxies": "galaxy"}[name]
        archive.ingest(name, tmp_path / name, key="id", population=population, rebuild=True)

    nights.write("stars", 4, 3)
    look_again("stars")
    assert nights.count_again() == {"right": 40, "new_left": 3}
    assert not runs_each or nights.answer() == nights.expect()
    nights.write("galaxies", 4, 2)
    look_again("galaxies")
    assert nights.count_again() == {"left": 43, "right": 42, "new_left": 3, "new_right": 2}
    assert not runs_each or nights.answer() == nights.expect()
    nights.write("galaxies", 2, 9, seed=1)  # the same keys elsewhere, and one is gone
    look_again("galaxies")
    assert {"new_left", "new_right", "kept_right"} <= nights.count_again().keys()
    assert not runs_each or nights.answer() == nights.expect()
    nights.remove("stars", 1)
    look_again("stars")
    assert {"kept_left", "kept_right"} <= nights.count_again().keys()
    assert nights.answer() == nights.expect()


def test_a_refresh_stores_the_pairs_of_the_new_version(archive, tmp_path):
    """What was stored is brought up to date: the next version continues these pairs, and says so beforehand."""
    nights = Nights(archive, tmp_path)
    nights.write("galaxies", 4, 2)
    (planned,) = archive.refresh("galaxies", plan=True)
    assert (
        str(planned)
        .splitlines()[1]
        .endswith(
            "fragment #1 holds the best pairs of an earlier version; matched are the sources within 1.5 arcsec of "
            "2 new sources of the right; all others keep their stored pairs"
        )
    )
    archive.refresh("galaxies")
    assert len(archive["pairs"].plan().fragments) == 1
    assert not list(archive["pairs"].plan().bases), "all pairs are stored"
    assert nights.answer() == nights.expect()
    nights.write("stars", 4, 3)
    archive.refresh()
    assert not list(archive["pairs"].plan().bases)
    assert nights.answer() == nights.expect()


def test_a_plan_says_why_pairs_are_matched_as_a_whole(archive, tmp_path):
    """Pairs of an earlier version are stored, but they do not serve."""
    nights = Nights(archive, tmp_path)
    for night in range(4):
        nights.write("stars", night, seed=1)
    archive.ingest("stars", tmp_path / "stars", key="id", population="star", rebuild=True)
    text = " ".join(str(archive["pairs"].plan()).split())
    assert isinstance(nights.find_match(), Match)
    assert "matched as a whole" in text.replace("│ ", "")
    assert nights.answer() == nights.expect()


def test_mutual_pairs_of_catalogs_that_grew_are_matched_as_a_whole(archive, tmp_path):
    """Stored mutual pairs do not tell who would be the nearest next, so that they cannot be continued."""
    nights = Nights(archive, tmp_path, "mutual")
    nights.write("galaxies", 4, 2)
    archive.ingest("galaxies", tmp_path / "galaxies", key="id", population="galaxy", rebuild=True)
    assert isinstance(nights.find_match(), Match)
    lines = str(archive["pairs"].plan()).splitlines()
    start = next(line.index("As computed") for line in lines if "As computed" in line)
    assert "may end or make mutual pairs" in " ".join(
        " ".join(line[start:].replace("│", " ") for line in lines).split()
    )


def test_moving_sources_with_error_circles_are_continued(engine, archive, tmp_path):
    """Motions and radii count like positions: where a file changes them alone, its sources are new."""
    stars, galaxies = tmp_path / "stars", tmp_path / "galaxies"

    def write(folder: Path, night: int, seed: int = 0) -> None:
        folder.mkdir(exist_ok=True)
        rng, motions = Random(f"{folder.name} {night}"), Random(f"{folder.name} {night} {seed}")
        columns = {
            "id": [night * 100 + number for number in range(10)],
            "ra": [rng.randrange(12) * _GRID for _ in range(10)],
            "dec": [rng.randrange(-5, 6) * _GRID for _ in range(10)],
            "pmra": [motions.choice([None, 0.0, 50.0, 100.0]) for _ in range(10)],
            "pmdec": [motions.choice([0.0, -50.0]) for _ in range(10)],
            "err": [motions.choice([None, 0.5, 1.0, 9.0]) for _ in range(10)],
        }
        table = pa.table(columns, pa.schema([(name, pa.float64() if name != "id" else pa.int64()) for name in columns]))
        parquet.write_table(table, folder / f"{night}.parquet")

    def define(opened: provenn.Archive) -> provenn.Catalog:
        left = opened.ingest("stars", stars, key="id", population="star", rebuild=True)
        right = opened.ingest("galaxies", galaxies, key="id", population="galaxy", rebuild=True)
        circles = left.derive(reach=("err", "arcsec"))
        options = {"max_radius": "1.5 arcsec", "matches": 2, "min_radius": "0.1 arcsec", "epochs": (2000.0, 2010.0)}
        return circles.crossmatch(right, "reach", epoch=2016.0, **options)

    def answer(pairs: provenn.Catalog) -> list[tuple[object, ...]]:
        table = pairs.to_arrow()
        return sorted(zip(*(table[name].to_pylist() for name in ("id", "id_2", "separation")), strict=True))

    for folder in (stars, galaxies):
        for night in range(4):
            write(folder, night)
    define(archive).store()
    write(stars, 4)
    write(galaxies, 2, seed=1)
    pairs = define(archive)
    steps = [step for step in walk_steps(pairs.plan().after) if isinstance(step, ContinuedMatch | Match)]
    assert [type(step) for step in steps] == [ContinuedMatch]
    assert {"new_left", "new_right", "kept_right"} <= steps[0].sides.keys()
    text = " ".join(str(pairs.plan()).split())
    assert "left positions move" in text
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "anew", spark=master, progress=False, who="ada") as opened:
        assert answer(pairs) == answer(define(opened)) != []


def test_a_plan_says_why_a_calculator_runs_on_all_sources(tmp_path):
    """A calculator of scope "catalog" has other values for other sources, so that it is called for all of them."""
    parquet.write_table(pa.table({"id": [1, 2], "x": [1.0, 2.0]}), tmp_path / "stars.parquet")
    with provenn.open(tmp_path / "survey", progress=False) as survey:
        stars = survey.ingest("stars", tmp_path / "stars.parquet", key="id", population="star")
        parameters = {"output": "rank", "log": str(tmp_path)}
        rank = survey.calculator(
            "rank",
            calls.ranked,
            inputs=["id", "x"],
            outputs={"rank": "double"},
            scope="catalog",
            parameters=parameters,
        )
        lines = str(stars.derive(rank).plan()).splitlines()
    start = next(line.index("As computed") for line in lines if "As computed" in line)
    words = " ".join(line[start:].replace("│", " ") for line in lines).split()
    assert "its value for one of them depends on all" in " ".join(words)
