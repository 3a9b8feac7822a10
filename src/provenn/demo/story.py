"""The story of the demo, screen by screen; every number is measured while the demo runs."""

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
from provenn.durable import write_durably
from provenn.sky import cone

__all__ = ["Screen", "tell_story"]

_LINE_LENGTH = 100
_FASTEST = 5


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of the story.

    Parameters
    ----------
    heading
        The subject of the screen.
    body
        The text of the screen.
    data
        The content for programs.
    """

    heading: str
    body: str
    data: dict[str, Any]


def tell_story(archive: Archive, stars: RealCatalogs, folder: Path, *, width: int = 120) -> Iterator[Screen]:
    """Yield the screens of the story; results of an earlier demo in the archive are not computed again.

    Parameters
    ----------
    archive
        The archive of the demo.
    stars
        The stars to ingest.
    folder
        The folder for pictures.
    width
        The greatest width of a plan, in characters.
    """
    yield _ingest_stars(archive, stars)
    yield _define_catalogs(archive)
    yield _relate_catalogs(archive)
    yield _answer_first_request(archive, width)
    yield _answer_second_request(archive, folder)
    yield _answer_third_request(archive)
    yield _relate_regions(archive)
    yield _match_catalogs(archive)
    yield _draw_pictures(archive, folder)


def _ingest_stars(archive: Archive, stars: RealCatalogs) -> Screen:
    began = perf_counter()
    keys = {"hipparcos": ("hip", "star"), "names": ("hip", "star"), "bigsky": ("star", "bigsky entry")}
    new = [name for name in keys if name not in archive]
    for name, (key, population) in keys.items():
        archive.ingest(name, getattr(stars, name), key=key, population=population, verify=name in new)
    seconds = perf_counter() - began
    origins = stars.origins
    lines = [
        f"  {name:10} {origins[name].rows:9,}  {origins[name].what}: {_describe_origin(stars, name)}" for name in keys
    ]
    warning = "These stars are generated: nothing was fetched.\n\n" if stars.generated else ""
    verified = f"Spark read every key, and found no duplicates: {seconds:.1f} s."
    body = f"{warning}{_join_lines(lines)}\n\n{verified if new else 'An earlier demo checked their keys.'}"
    return Screen(
        "The stars",
        body,
        {"generated": stars.generated, "rows": {name: origins[name].rows for name in keys}, "seconds": seconds},
    )


def _describe_origin(stars: RealCatalogs, name: str) -> str:
    origin = stars.origins[name]
    return origin.where if stars.generated else f"{origin.where}, {origin.licence}"


def _define_catalogs(archive: Archive) -> Screen:
    calculator = archive.calculator("motion", motion, inputs=INPUTS, outputs=OUTPUTS)
    hipparcos = archive["hipparcos"]
    near = hipparcos.select("plx > 10", name="near")
    moving = hipparcos.derive(calculator, name="moving")
    near.combine(moving, name="near_moving")
    body = (
        f"{archive.lineage('near_moving').tree()}\n\n"
        "The example of the paper: a selection, new attributes by a calculator in Python, and both combined.\n"
        "They are only definitions: no data were read or computed."
    )
    return Screen("Four catalogs, of which only hipparcos is stored", body, {"catalogs": list(archive)})


def _relate_catalogs(archive: Archive) -> Screen:
    hipparcos = archive["hipparcos"]
    hipparcos.select("plx > 50", name="very_near")
    hipparcos.select("plx <= 5", name="far")
    relations = [
        archive.relate("near", "near_moving"),
        archive.relate("very_near", "near_moving"),
        archive.relate("far", "near_moving"),
    ]
    body = "\n\n".join(map(_describe_proof, relations))
    data = [
        {"left": relation.left, "right": relation.right, "summary": relation.summary, "facts": len(relation.reasons)}
        for relation in relations
    ]
    return Screen("What is known about them, and why", body, {"relations": data})


def _describe_proof(relation: Relation) -> str:
    return _join_lines(
        [
            f"{relation.words}, because",
            *(_describe_reason(reason.words, reason.because) for reason in relation.lines),
        ]
    )


def _describe_reason(statement: str, because: str) -> str:
    """Return a line of a proof, split in two if it would be too long."""
    line = f"  {statement:{_LINE_LENGTH // 2}}  {because}"
    return line if len(line) <= _LINE_LENGTH else f"  {statement}\n      {because}"


def _answer_first_request(archive: Archive, width: int) -> Screen:
    target = archive.target("near_moving", ["vmag", "speed"], where="plx > 20")
    plan = target.plan()
    run = _run_target(archive, target)
    body = (
        f"{plan.text(width)}\n\n"
        f"Done, in {run.seconds:.1f} s: {run.rows:,} stars. The calculator was called for {run.calculated:,} of "
        f"{archive['hipparcos'].count():,},\nwithout a join. Its results are stored."
    )
    return Screen("A request: how fast are the stars with plx > 20?", body, run.to_data())


def _answer_second_request(archive: Archive, folder: Path) -> Screen:
    target = archive.target("near", ["speed"])
    plan = target.plan()
    write_durably(folder / "plan.svg", plan.svg().encode())
    reasons = [str(reason) for reason in plan.reasons]
    run = _run_target(archive, target)
    total = archive["hipparcos"].count()
    kept = sum(fragment.fragment.rows for fragment in archive.fragments() if "speed" in fragment.attributes)
    body = (
        "Someone else requests all of them. This overlaps with the first request, as provenn proves:\n\n"
        f"{fill(reasons[-1], _LINE_LENGTH, initial_indent='  ', subsequent_indent='    ')}\n\n"
        f"Done, in {run.seconds:.1f} s: {run.rows:,} stars. {run.reused:,} were reused, "
        f"{run.calculated:,} were calculated now,\nand {total - kept:,} of {total:,} never were."
    )
    return Screen(
        "A second request: all near stars",
        body,
        run.to_data() | {"kept": kept, "never": total - kept, "reasons": reasons},
    )


def _answer_third_request(archive: Archive) -> Screen:
    archive["names"].restrict("near", name="named_near")
    target = archive.target("named_near", ["name", "constellation", "hipparcos.vmag", "moving.speed"])
    calculators = len(target.plan().calculations)
    run = _run_target(archive, target)
    fastest = run.table.dropna(subset=["name"]).nlargest(_FASTEST, "speed")
    lines = [
        f"  {star.name:20} {star.constellation or '':4} {star.vmag:6.2f} mag {star.speed:8.1f} km/s"
        for star in fastest.itertuples()
    ]
    body = (
        "Near stars that have a name. Their magnitudes and speeds come from other catalogs, as\n"
        "hipparcos.vmag and moving.speed, and all speeds are stored: "
        f"{calculators} calculators are called. {run.rows:,} stars in {run.seconds:.1f} s, of which the fastest with a "
        f"proper name are\n\n{_join_lines(lines)}"
    )
    return Screen(
        "A third request: the names of the near stars",
        body,
        run.to_data() | {"calculators": calculators, "fastest": fastest["name"].tolist()},
    )


def _relate_regions(archive: Archive) -> Screen:
    hipparcos = archive["hipparcos"]
    hipparcos.select(cone(56.75, 24.12, 2), name="pleiades")
    hipparcos.select(cone(56.75, 24.12, 0.5), name="pleiades_core")
    hipparcos.select(cone(66.75, 15.87, 6), name="hyades")
    relations = [archive.relate("pleiades_core", "pleiades"), archive.relate("pleiades", "hyades")]
    began = perf_counter()
    counts = {name: archive[name].count() for name in ("pleiades", "pleiades_core", "hyades")}
    seconds = perf_counter() - began
    counted = ", ".join(f"{name} {rows:,}" for name, rows in counts.items())
    body = "\n\n".join([*map(_describe_proof, relations), f"Counted afterwards, in {seconds:.1f} s: {counted}."])
    data = [{"left": relation.left, "right": relation.right, "summary": relation.summary} for relation in relations]
    return Screen("Regions of the sky", body, {"relations": data, "rows": counts, "seconds": seconds})


def _match_catalogs(archive: Archive) -> Screen:
    pairs = archive["hipparcos"].crossmatch("bigsky", "2 arcsec", name="pairs")
    pairs.matched("left", name="in_bigsky")
    relation = archive.relate("in_bigsky", "hipparcos")
    began = perf_counter()
    matches = pairs.keep("hip", "hip_2").to_pandas()
    seconds = perf_counter() - began
    same = int((matches["hip"] == matches["hip_2"]).sum())
    body = (
        f"{_describe_proof(relation)}\n\n"
        f"Then Spark looked for the nearest of {archive['bigsky'].count():,} entries within 2 arcsec of each of "
        f"{archive['hipparcos'].count():,} stars:\n{len(matches):,} pairs in {seconds:.1f} s, of which {same:,} bear "
        "the same Hipparcos number."
    )
    return Screen(
        "Two catalogs, matched on the sky",
        body,
        {"summary": relation.summary, "pairs": len(matches), "same": same, "seconds": seconds},
    )


def _draw_pictures(archive: Archive, folder: Path) -> Screen:
    picture = archive.neighbourhood("near_moving", direction="both").svg()
    write_durably(folder / "lineage.svg", picture.encode())
    pictures = [str(folder / name) for name in ("plan.svg", "lineage.svg")]
    body = (
        f"The plan of the second request, and the lineage:\n\n{_join_lines([f'  {path}' for path in pictures])}\n\n"
        f"The archive is yours to explore:\n\n  provenn serve --archive {folder} --open\n\n"
        "What its calculator has calculated is stored. To have more calculated later, allow it by name:\n\n"
        "  provenn allow provenn.demo.motion"
    )
    return Screen("Pictures, and next steps", body, {"pictures": pictures, "catalogs": len(archive)})


@dataclass(frozen=True, slots=True)
class _CompletedRun:
    """A computed target: the table, the seconds, and the numbers of calculated and reused sources."""

    table: Any
    seconds: float
    calculated: int
    reused: int

    @property
    def rows(self) -> int:
        return len(self.table)

    def to_data(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "seconds": self.seconds,
            "calculated": self.calculated,
            "reused": self.reused,
        }


def _run_target(archive: Archive, target: Target) -> _CompletedRun:
    before = {fragment.fragment.id for fragment in archive.fragments()}
    began = perf_counter()
    table = target.to_pandas()
    seconds = perf_counter() - began
    calculated = sum(fragment.fragment.rows for fragment in archive.fragments() if fragment.fragment.id not in before)
    return _CompletedRun(table, seconds, calculated, len(table) - calculated)


def _join_lines(lines: list[str]) -> str:
    return "\n".join(lines)
