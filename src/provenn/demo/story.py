"""The story of the demo, screen by screen: every figure in it is measured while it is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from time import perf_counter
from typing import Any

from provenn.archive import Archive, Relation, Target
from provenn.demo.fetching import RealCatalogs
from provenn.demo.motion import INPUTS, OUTPUTS, motion
from provenn.sky import cone

__all__ = ["Screen", "told"]

_LINE = 100
_FASTEST = 5


@dataclass(frozen=True, slots=True)
class Screen:
    """A part of the story.

    Parameters
    ----------
    heading
        What it is about.
    body
        What there is to say, for people.
    data
        The same for programs.
    """

    heading: str
    body: str
    data: dict[str, Any]


def told(archive: Archive, stars: RealCatalogs, folder: Path, *, width: int = 120) -> Iterator[Screen]:
    """Tell the story on an archive; what was told there before is found there, and not computed again.

    Parameters
    ----------
    archive
        The archive of the demo.
    stars
        Its stars.
    folder
        Where pictures go.
    width
        How wide a plan may be.
    """
    yield _ingested(archive, stars)
    yield _defined(archive)
    yield _known(archive)
    yield _first(archive, width)
    yield _second(archive, folder)
    yield _third(archive)
    yield _regions(archive)
    yield _matched(archive)
    yield _drawn(archive, folder)


def _ingested(archive: Archive, stars: RealCatalogs) -> Screen:
    began = perf_counter()
    keys = {"hipparcos": ("hip", "star"), "names": ("hip", "star"), "bigsky": ("star", "bigsky entry")}
    new = [name for name in keys if name not in archive]
    for name, (key, population) in keys.items():
        archive.ingest(name, getattr(stars, name), key=key, population=population, verify=name in new)
    seconds = perf_counter() - began
    origins = stars.origins
    lines = [f"  {name:10} {origins[name].rows:9,}  {origins[name].what}: {_origin(stars, name)}" for name in keys]
    warning = "These stars are made up: nothing was fetched.\n\n" if stars.generated else ""
    verified = f"Spark has read every key of them, and found none twice: {seconds:.1f} s."
    body = f"{warning}{_text(lines)}\n\n{verified if new else 'An earlier demo has read their keys.'}"
    return Screen(
        "The stars",
        body,
        {"generated": stars.generated, "rows": {name: origins[name].rows for name in keys}, "seconds": seconds},
    )


def _origin(stars: RealCatalogs, name: str) -> str:
    one = stars.origins[name]
    return one.where if stars.generated else f"{one.where}, {one.licence}"


def _defined(archive: Archive) -> Screen:
    calculator = archive.calculator("motion", motion, inputs=INPUTS, outputs=OUTPUTS)
    hipparcos = archive["hipparcos"]
    near = hipparcos.select("plx > 10", name="near")
    moving = hipparcos.derive(calculator, name="moving")
    near.combine(moving, name="near_moving")
    body = (
        f"{archive.lineage('near_moving').tree()}\n\n"
        "The example of the paper: a selection, new attributes by a calculator in Python, and both brought\n"
        "together. They are definitions. Nothing was read for them, and nothing computed."
    )
    return Screen("Four catalogs, of which only hipparcos is stored", body, {"catalogs": list(archive)})


def _known(archive: Archive) -> Screen:
    hipparcos = archive["hipparcos"]
    hipparcos.select("plx > 50", name="very_near")
    hipparcos.select("plx <= 5", name="far")
    relations = [
        archive.relate("near", "near_moving"),
        archive.relate("very_near", "near_moving"),
        archive.relate("far", "near_moving"),
    ]
    body = "\n\n".join(map(_proof, relations))
    data = [
        {"left": one.left, "right": one.right, "summary": one.summary, "facts": len(one.reasons)} for one in relations
    ]
    return Screen("What is known of them, and why", body, {"relations": data})


def _proof(one: Relation) -> str:
    return _text([f"{one.words}, because", *(_reason(str(said.statement), said.because) for said in one.reasons)])


def _reason(said: str, because: str) -> str:
    """Return a line of a proof, or two where one would be too long."""
    line = f"  {said:{_LINE // 2}}  {because}"
    return line if len(line) <= _LINE else f"  {said}\n      {because}"


def _first(archive: Archive, width: int) -> Screen:
    target = archive.target("near_moving", ["vmag", "speed"], where="plx > 20")
    plan = target.plan()
    ran = _run(archive, target)
    body = (
        f"{plan.text(width)}\n\n"
        f"Done, in {ran.seconds:.1f} s: {ran.rows:,} stars. The calculator has seen {ran.calculated:,} of "
        f"{archive['hipparcos'].count():,},\nand there was no join. What it calculates is kept."
    )
    return Screen("A request: how fast are the near stars with plx > 20?", body, ran.data())


def _second(archive: Archive, folder: Path) -> Screen:
    target = archive.target("near", ["speed"])
    plan = target.plan()
    (folder / "plan.svg").write_text(plan.svg(), encoding="utf-8")
    reasons = [str(one) for one in plan.reasons]
    ran = _run(archive, target)
    every = archive["hipparcos"].count()
    kept = sum(one.fragment.rows for one in archive.fragments() if "speed" in one.attributes)
    body = (
        "Somebody else asks for all of them. That overlaps with the first request, though nobody said so:\n\n"
        f"{fill(reasons[-1], _LINE, initial_indent='  ', subsequent_indent='    ')}\n\n"
        f"Done, in {ran.seconds:.1f} s: {ran.rows:,} stars. {ran.reused:,} were not calculated again, "
        f"{ran.calculated:,} were calculated now,\nand {every - kept:,} of {every:,} never were."
    )
    return Screen(
        "A second one: all near stars", body, ran.data() | {"kept": kept, "never": every - kept, "reasons": reasons}
    )


def _third(archive: Archive) -> Screen:
    archive["names"].restrict("near", name="named_near")
    target = archive.target("named_near", ["name", "constellation", "hipparcos.vmag", "moving.speed"])
    calculators = len(target.plan().calculations)
    ran = _run(archive, target)
    fastest = ran.table.dropna(subset=["name"]).nlargest(_FASTEST, "speed")
    lines = [
        f"  {one.name:20} {one.constellation or '':4} {one.vmag:6.2f} mag {one.speed:8.1f} km/s"
        for one in fastest.itertuples()
    ]
    body = (
        "The stars that have a name, and are near. Their magnitudes and speeds are asked of other catalogs, as\n"
        "hipparcos.vmag and moving.speed, and all speeds are stored: "
        f"{calculators} calculators are called. {ran.rows:,} stars in {ran.seconds:.1f} s, of which the fastest with a "
        f"proper name are\n\n{_text(lines)}"
    )
    return Screen(
        "A third one: who are they?",
        body,
        ran.data() | {"calculators": calculators, "fastest": fastest["name"].tolist()},
    )


def _regions(archive: Archive) -> Screen:
    hipparcos = archive["hipparcos"]
    hipparcos.select(cone(56.75, 24.12, 2), name="pleiades")
    hipparcos.select(cone(56.75, 24.12, 0.5), name="pleiades_core")
    hipparcos.select(cone(66.75, 15.87, 6), name="hyades")
    relations = [archive.relate("pleiades_core", "pleiades"), archive.relate("pleiades", "hyades")]
    began = perf_counter()
    counts = {name: archive[name].count() for name in ("pleiades", "pleiades_core", "hyades")}
    seconds = perf_counter() - began
    counted = ", ".join(f"{name} {rows:,}" for name, rows in counts.items())
    body = "\n\n".join([*map(_proof, relations), f"Counted afterwards, in {seconds:.1f} s: {counted}."])
    data = [{"left": one.left, "right": one.right, "summary": one.summary} for one in relations]
    return Screen("Regions of the sky", body, {"relations": data, "rows": counts, "seconds": seconds})


def _matched(archive: Archive) -> Screen:
    pairs = archive["hipparcos"].crossmatch("bigsky", "2 arcsec", name="pairs")
    pairs.matched("left", name="in_bigsky")
    relation = archive.relate("in_bigsky", "hipparcos")
    began = perf_counter()
    found = pairs.keep("hip", "hip_2").to_pandas()
    seconds = perf_counter() - began
    same = int((found["hip"] == found["hip_2"]).sum())
    body = (
        f"{_proof(relation)}\n\n"
        f"Then Spark looked for the nearest of {archive['bigsky'].count():,} entries within 2 arcsec of each of "
        f"{archive['hipparcos'].count():,} stars:\n{len(found):,} pairs in {seconds:.1f} s, of which {same:,} bear the "
        "same Hipparcos number."
    )
    return Screen(
        "Two catalogs, matched on the sky",
        body,
        {"summary": relation.summary, "pairs": len(found), "same": same, "seconds": seconds},
    )


def _drawn(archive: Archive, folder: Path) -> Screen:
    (folder / "lineage.svg").write_text(archive.neighbourhood("near_moving", direction="both").svg(), encoding="utf-8")
    pictures = [str(folder / name) for name in ("plan.svg", "lineage.svg")]
    body = (
        f"The plan of the second request, and the lineage:\n\n{_text([f'  {one}' for one in pictures])}\n\n"
        f"The archive is yours to explore:\n\n  provenn serve --archive {folder} --open"
    )
    return Screen("Pictures, and where to go from here", body, {"pictures": pictures, "catalogs": len(archive)})


@dataclass(frozen=True, slots=True)
class _Ran:
    """A target that was computed: its table, the seconds, and how many sources were calculated and how many reused."""

    table: Any
    seconds: float
    calculated: int
    reused: int

    @property
    def rows(self) -> int:
        return len(self.table)

    def data(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "seconds": self.seconds,
            "calculated": self.calculated,
            "reused": self.reused,
        }


def _run(archive: Archive, target: Target) -> _Ran:
    before = {one.fragment.id for one in archive.fragments()}
    began = perf_counter()
    table = target.to_pandas()
    seconds = perf_counter() - began
    calculated = sum(one.fragment.rows for one in archive.fragments() if one.fragment.id not in before)
    return _Ran(table, seconds, calculated, len(table) - calculated)


def _text(lines: list[str]) -> str:
    return "\n".join(lines)
