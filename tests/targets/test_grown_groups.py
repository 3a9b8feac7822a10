"""Groups of members that grow, with random selections and stored fragments: the same as pandas makes from all files."""

from pathlib import Path
from random import Random

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn

STARS = 40
AGGREGATES = {"n": "count(*)", "low": "min(mag)", "total": "sum(flag)", "kinds": "count(DISTINCT flag)"}


def write_night(random: Random, file: Path, first: int) -> int:
    """Write a night of detections with keys from `first` on, of few stars or many; return the next key."""
    count = random.choice([0, 3, 30, 200])
    seen = random.sample(range(STARS + 5), k=random.choice([1, 3, STARS]))
    table = {
        "id": pa.array(range(first, first + count), pa.int64()),
        "star": pa.array([random.choice([*seen, None]) for _ in range(count)], pa.int64()),
        "mag": pa.array([random.choice([None, random.randint(0, 9) / 2]) for _ in range(count)], pa.float64()),
        "flag": pa.array([random.choice([None, 1, 2, 3]) for _ in range(count)], pa.int64()),
    }
    parquet.write_table(pa.table(table), file)
    return first + count


def expect(frame: pd.DataFrame, stars: pd.DataFrame, members: float | None, least: int, vmag: float | None) -> dict:
    """The groups that pandas makes: by star, of members up to a magnitude, with so many, of stars up to a magnitude."""
    chosen = frame if members is None else frame[frame["mag"] < members]
    groups = {}
    for star, group in chosen.dropna(subset=["star"]).groupby("star"):
        if len(group) >= least and (vmag is None or (stars["hip"][stars["vmag"] < vmag] == star).any()):
            low = group["mag"].min()
            total = group["flag"].sum(min_count=1)
            groups[int(star)] = (
                len(group),
                None if pd.isna(low) else low,
                None if pd.isna(total) else int(total),
                group["flag"].nunique(),
            )
    return groups


def read(catalog: provenn.Catalog) -> dict:
    """The groups that provenn makes."""
    columns = [catalog.to_arrow().column(name).to_pylist() for name in ("star", *AGGREGATES)]
    return {star: tuple(values) for star, *values in zip(*columns, strict=True)}


SEEDS = [2, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(3, 150))]


@pytest.mark.parametrize("seed", SEEDS)
def test_groups_are_those_of_all_files_whatever_is_stored(engine, tmp_path, seed):
    random = Random(seed)
    nights = tmp_path / "nights"
    nights.mkdir()
    next_key = 0
    for night in range(2):
        next_key = write_night(random, nights / f"{night}.parquet", next_key) or 0
    stars = pd.DataFrame({"hip": range(STARS), "vmag": [n % 10 / 2 for n in range(STARS)]})
    parquet.write_table(pa.Table.from_pandas(stars, preserve_index=False), tmp_path / "stars.parquet")
    master = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=master, progress=False, who="ada") as archive:
        catalog = archive.ingest("stars", tmp_path / "stars.parquet", key="hip", population="star")
        detections = archive.ingest("detections", nights, key="id", population="detection")
        questions = {}
        for number in range(4):
            members, vmag = random.choice([None, 2.2]), random.choice([None, 2.2])
            least, way = random.choice([1, 1, 3]), random.choice(["before", "after"])
            chosen = detections if members is None else detections.select(f"mag < {members}")
            if vmag is not None and way == "before":
                bright = catalog.select(f"vmag < {vmag}")
                chosen = chosen.lookup(bright, on="star", attributes=[], missing="drop")
            groups = chosen.group("star", AGGREGATES, population="star")
            if vmag is not None and way == "after":
                groups = groups.restrict(catalog.select(f"vmag < {vmag}"))
            groups = groups if least == 1 else groups.select(f"n >= {least}")
            questions[groups.named(f"groups{number}").name] = (members, least, vmag)
        for name in random.sample(sorted(questions), k=2):
            archive[name].store()
        for night in range(2, 4):
            next_key = write_night(random, nights / f"{night}.parquet", next_key) or 0
            archive.refresh()
            frame = pd.concat(map(pd.read_parquet, sorted(nights.iterdir())))
            for name, question in questions.items():
                assert read(archive[name]) == expect(frame, stars, *question), (name, question, night)
            archive[random.choice(sorted(questions))].store()
