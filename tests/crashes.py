"""Processes that are killed at any point of their work, and what is left then. A program of its own, since it forks.

``python -m tests.crashes WORK,WORK POINTS SEED`` does each piece of work again and again in another process, which
kills itself before a line of provenn's own code, or is killed from outside after a while; each time it looks at what is
left:

- all that was acknowledged is there, and of the step in which the process died all or nothing;
- `archive.check()` finds no damage, `gc` deletes what was left behind, and then nothing is;
- the rest of the work can be done, with the same result.

It writes JSON: how many processes were killed, in how many lines of code, and in which steps. `tried` runs it. Work
with Spark is done by processes that are started anew; what is not killed of that, its caller does with its own Spark.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
from sqlalchemy import update

import provenn
from provenn.archive import Archive
from provenn.data import fragments
from provenn.data.parquet_contents import find_parquet_damage
from provenn.database.tables import attributes, proofs
from provenn.files.data_folder import explain_io_errors
from provenn.formats.migrations import migrate_format
from provenn.processes import make_process_mark
from provenn.spark import fragment_files as storing
from provenn.spark.engine import Engine
from provenn.spark.fragment_files import store_fragment
from tests import nights
from tests.shared_statements import share_statements
from tests.sound import play_store, write_stars
from tests.waiting import LIMIT

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - no process outlives its machine here
SOURCE = str(Path(provenn.__file__).parent)
WATCHED = tuple(
    f"{SOURCE}/{part}"
    for part in (
        *(
            "archive/",
            "soundness/",
            "transfer/",
            "data/",
            "knowledge/",
            "formats/",
            "definitions/",
            "people/",
            "database/",
        ),
        *("files/data_folder.py", "targets/storing.py", "targets/recording.py"),
        *("spark/fragment_files.py", "spark/writing.py", "spark/placing.py"),
    )
)

SPARK = "local[1]"
"""The Spark of a process that is killed."""

Step = Callable[[Archive, Path], object]
State = dict[str, Any]


@dataclass(frozen=True)
class Work:
    """What is there before, and what is done then, step by step; each step is all done or not at all.

    Parameters
    ----------
    prepare, steps
        What is there, and what is done.
    spark
        Whether a real Spark does it.
    mends
        Whether it repairs damage.
    prepares
        Whether a step first adds definitions, facts and fragments, to which no name leads, and then moves the names.
    """

    prepare: Callable[[Path], None]
    steps: Sequence[Step]
    spark: bool = False
    mends: bool = False
    prepares: bool = False


# --- what is done ---


def opened(folder: Path, *, spark: str | None = None) -> Archive:
    return provenn.open(folder, store=folder / "data", who="Ada", spark=spark, progress=False)


def survey(folder: Path) -> None:
    """Three catalogs on a file."""
    with opened(folder) as archive:
        stars = archive.ingest("stars", write_stars(folder), key="hip", population="star")
        stars.exclude(stars.select("vmag < 6", name="bright"), name="faint")


def stored(folder: Path) -> None:
    """Besides, fragments, one of them dropped, and what nothing refers to."""
    survey(folder)
    with opened(folder) as archive:
        database, store = archive.context.database, archive.context.workshop.folder
        for name in ("stars", "bright", "faint"):
            item = play_store(database, store, archive[name].definition, name)
        with database.writing() as writing:
            fragments.drop(writing, item.id, "tried")
        place = Path(store.at("_temporary", "old"))
        place.mkdir(parents=True)
        (place / "a.parquet").write_bytes(b"old")
        os.utime(place, (0, 0))
        os.utime(place / "a.parquet", (0, 0))


def older(folder: Path) -> None:
    survey(folder)
    migrate_format(folder / "provenn.sqlite", "0001", lose=True)


def exported(folder: Path) -> None:
    (folder / "other").mkdir()
    survey(folder / "other")
    with opened(folder / "other") as archive:
        archive.declare("nonempty(bright)")
        archive.export_definitions(folder / "file.provenn")


def broken(folder: Path) -> None:
    stored(folder)
    with opened(folder) as archive:
        archive.prove("bright <= stars")
        with archive.context.database.writing() as writing:
            writing.connection.execute(update(attributes).values(identity="x"))
            writing.connection.execute(update(proofs).values(verdict="fails"))


def ingest(archive: Archive, folder: Path) -> None:
    archive.ingest("stars", write_stars(folder), key="hip", population="star")


def play_spark(archive: Archive, folder: Path, name: str, *, meanwhile: Callable[[], object] = lambda: None) -> None:
    """Store a catalog; Spark's part is played by pyarrow, and something happens when it has written."""

    def write(_frame: object, columns: Any, _folder: object, address: str) -> None:
        with explain_io_errors(address):
            Path(address).mkdir()
            table = pq.read_table(folder / "stars.parquet")
            for part in range(2):
                with Path(address, f"part-{part}.parquet").open("wb") as file:
                    pq.write_table(
                        table.select([attribute.name for _, attribute in columns]).slice(part * 20, 20), file
                    )
        meanwhile()

    with (
        mock.patch.object(storing, "_write", write),
        mock.patch.object(storing, "watch_run", return_value=nullcontext()),
    ):
        store_fragment(
            Engine(), archive.context.database, archive.context.workshop.folder, archive[name].definition, None
        )  # type: ignore[arg-type]


def nothing(folder: Path) -> None:
    write_stars(folder)
    opened(folder).close()


WORKS = {
    "define": Work(
        nothing,
        [
            ingest,
            lambda archive, _: archive["stars"].select("vmag < 6", name="bright"),
            lambda archive, _: archive["stars"].exclude("bright", name="faint"),
            lambda archive, _: archive["bright"].derive(dist_pc="1000 / plx", name="distant"),
            lambda archive, _: archive.concatenate(["bright", "faint"], name="both"),
            lambda archive, _: archive.calculator("distance", sql={"dist_pc": "1000 / plx"}),
        ],
    ),
    "declare": Work(
        survey,
        [
            lambda archive, _: archive.declare("nonempty(bright)", reason="seen"),
            lambda archive, _: archive.prove("nonempty(stars)"),
            lambda archive, _: archive.declare("nonempty(faint)", reason="seen"),
            lambda archive, _: archive.retract(archive.facts()[0].id, reason="not so sure"),
            lambda archive, _: archive.declare("faint < stars", reason="so it is"),
        ],
    ),
    "name": Work(
        survey,
        [
            lambda archive, _: archive.name("bright", "a"),
            lambda archive, _: archive.name("faint", "a", move=True),
            lambda archive, _: archive.name("faint", "b"),
            lambda archive, _: archive.delete_name("a"),
            lambda archive, _: archive.name("stars", "a"),
        ],
    ),
    "store": Work(
        survey, [lambda archive, folder, name=name: play_spark(archive, folder, name) for name in ("stars", "bright")]
    ),
    "gc": Work(
        stored, [lambda archive, _: archive.collect_garbage(), lambda archive, _: archive.collect_garbage(limit=0)]
    ),
    "migrate": Work(older, []),
    "import": Work(exported, [lambda archive, folder: archive.import_definitions(folder / "file.provenn")]),
    "repair": Work(broken, [lambda archive, _: archive.check(repair=True)], mends=True),
    "grow": Work(
        nights.prepare_nights,
        [nights.refresh_new, nights.append_file, nights.append_table],
        prepares=True,
    ),
    "spark store": Work(
        survey,
        [lambda archive, _: archive.store("bright"), lambda archive, _: archive.store("faint", attributes=["vmag"])],
        spark=True,
    ),
    "spark write": Work(
        survey,
        [
            lambda archive, folder: archive["bright"].write(folder / "out" / "bright.parquet", overwrite=True),
            lambda archive, folder: archive["stars"].write(folder / "out" / "bright.parquet", overwrite=True),
            lambda archive, folder: archive["faint"].write(folder / "out" / "faint", format="parquet", overwrite=True),
        ],
        spark=True,
    ),
}


# --- what is seen ---


def state(archive: Archive, folder: Path) -> State:
    """Return all that a user sees, in a form that does not depend on where and when it was made."""
    database, store = archive.context.database, archive.context.workshop.folder
    with database.reading() as reading:
        held = fragments.all_fragments(reading)
    assert [find_parquet_damage(store, item.location, item.files, deep=True) for item in held] == [""] * len(held)
    catalogs = archive.catalogs([entry.digest for entry in archive.search()])
    return {
        "catalogs": sorted(catalog.digest for catalog in catalogs),
        "names": {name: archive[name].digest for name in archive},
        "history": {name: [change.catalog for change in archive.log(name)] for name in archive},
        "facts": [str(fact.statement) for fact in archive.facts()],
        "calculators": [calculator.name for calculator in archive.calculators()],
        "fragments": sorted((item.extent, sorted(item.identities), item.rows) for item in held),
        "written": {path.name: pq.read_table(path).num_rows for path in sorted((folder / "out").glob("[!.]*"))},
    }


def see(work: Work, seen: State) -> State:
    """Return what counts of a state: whether a count of what was stored is noted as well is left to chance."""
    facts = [one for one in seen["facts"] if not (work.prepares and one.startswith("nonempty("))]
    return seen | {"facts": facts}


def as_prepared(expected: State, seen: State, later: State) -> State:
    """Return a state with the definitions, facts and fragments that a step has added before it moves names."""
    added = {
        key: seen[key]
        for key in ("catalogs", "fragments")
        if all(item in seen[key] for item in expected[key]) and all(element in later[key] for element in seen[key])
    }
    if len(expected["facts"]) <= len(seen["facts"]) <= len(later["facts"]):  # their words follow the names
        added["facts"] = seen["facts"]
    return expected | added


# --- who does it ---


def work_on(
    work: Work,
    folder: Path,
    start: int,
    say: Callable[[object], None],
    limit: int | None,
    *,
    spark: str | None = SPARK,
) -> None:
    """Do the steps from one on; say after each that it is done, and at the end how many lines of code that were."""
    lines = 0

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if lines == limit:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace if frame.f_code.co_filename.startswith(WATCHED) else None

    archive = None
    if work.spark:  # it takes long to start, and what is watched comes after
        archive = opened(folder, spark=spark)
        archive["stars"].head(1)
    sys.settrace(trace)
    with archive or opened(folder) as archive:
        for number, step in enumerate(work.steps[start:], start + 1):
            step(archive, folder)
            say(number)
    sys.settrace(None)
    say({"lines": lines})


def forked(work: Work, folder: Path, limit: int | None, delay: float | None) -> tuple[list[Any], bool]:
    """Do the work in another process; return what it said, and whether it was killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work_on(
                work,
                folder,
                0,
                lambda statement_text: os.write(writing, json.dumps(statement_text).encode() + b"\n") and None,
                limit,
            )
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    until = time.monotonic() + (LIMIT if delay is None else delay)
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and time.monotonic() < until:
        time.sleep(0.001)
    late = time.monotonic() >= until
    os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    with os.fdopen(reading) as message:
        lines = message.read().splitlines()
    assert os.WIFSIGNALED(status) or status == 0, "the work itself failed"
    assert not late or delay is not None, "it hangs"
    return [json.loads(line) for line in lines if line.endswith(("}", *"0123456789"))], os.WIFSIGNALED(status)


def spawned(name: str, folder: Path, limit: int | None, delay: float | None) -> tuple[list[Any], bool]:
    """As `forked`, but in a process that is started anew, with a Spark of its own."""
    command = [sys.executable, "-m", "tests.crashes", "child", name, str(folder), str(limit or 0)]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            out, _ = process.communicate(timeout=LIMIT if delay is None else delay)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
            assert delay is not None, "it hangs"
        errors.seek(0)
        assert process.returncode in (0, -signal.SIGKILL), errors.read()
    messages = [json.loads(line) for line in out.splitlines() if line.startswith(("{", *"0123456789"))]
    return messages, process.returncode != 0


# --- killing ---


@dataclass(frozen=True)
class Tried:
    """How many processes were killed during which work, in how many different lines of code run, and in which steps."""

    work: str
    killed: int
    survived: int
    lines: int
    steps: dict[str, int]


def crash(name: str, points: int, seed: int) -> Tried:
    """Kill processes at so many points of a piece of work, and look each time at what is left."""
    work, chance = WORKS[name], random.Random(seed)
    with tempfile.TemporaryDirectory(f"-{make_process_mark()}", "provenn-tests-crashes-", MEMORY) as temporary:
        template = Path(temporary, "template")
        (template / "out").mkdir(parents=True)
        work.prepare(template)
        # The archive is made again and again in one place, since a base catalog tells where its files are.
        folder = Path(temporary, "archive")
        states, lines, seconds = reference(name, template, folder)
        killed, steps = 0, Counter[str]()
        for point in range(points):
            at = 1 + (point * lines + chance.randrange(lines)) // points
            delay = None if point % 3 != 1 or work.spark else chance.random() * seconds
            renew(template, folder)
            message, dead = run(name, folder, None if delay is not None else at, delay)
            done = sum(isinstance(item, int) for item in message)
            steps[str(done)] += dead
            killed += dead
            look(name, folder, states, done, again=not work.spark or point == points - 1)
    return Tried(name, killed, points - killed, lines, dict(steps))


def renew(template: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)


def run(name: str, folder: Path, limit: int | None, delay: float | None) -> tuple[list[Any], bool]:
    work = WORKS[name]
    return spawned(name, folder, limit, delay) if work.spark else forked(work, folder, limit, delay)


def run_here(name: str, folder: Path, start: int) -> list[Any]:
    """Do the steps of a work from one on in this process, with the Spark that it has; return its words."""
    words: list[Any] = []
    work_on(WORKS[name], folder, start, words.append, None, spark=None)
    return words


def reference(name: str, template: Path, folder: Path) -> tuple[list[State], int, float]:
    """Do the work undisturbed; return what is seen before it and after each step, its lines and its seconds."""
    work = WORKS[name]
    renew(template, folder)
    started = time.monotonic()
    message, killed = (run_here(name, folder, 0), False) if work.spark else run(name, folder, None, None)
    seconds = time.monotonic() - started
    assert not killed
    with opened(folder) as archive:
        last = see(work, state(archive, folder))
    states = [last]
    if not work.spark:
        renew(template, folder)
        with opened(folder) as archive:
            states = [see(work, state(archive, folder))]
            for step in work.steps:
                step(archive, folder)
                states.append(see(work, state(archive, folder)))
        assert states[-1] == last, "the work does not depend on who does it"
    return states, next(entry["lines"] for entry in message if isinstance(entry, dict)), seconds


def look(name: str, folder: Path, states: Sequence[State], done: int, *, again: bool) -> None:
    """Look at what a killed process has left, after it said that so many steps were done."""
    work = WORKS[name]
    with opened(folder) as archive:
        seen = see(work, state(archive, folder))
        if not work.spark:
            possible = states[done : done + 2]
            if work.prepares:
                possible = [as_prepared(item, seen, possible[-1]) for item in possible]
            assert seen in possible, (seen, possible)
            done += seen != possible[0]
        if not work.mends:
            assert archive.check(deep=True).sound, str(archive.check(deep=True))
            archive.collect_garbage()
            soundness = archive.check(deep=True)
            assert not [problem for problem in soundness.problems if problem.state != "remark"], str(soundness)
            assert see(work, state(archive, folder)) == seen
    if not again:
        return
    if work.spark:
        run_here(name, folder, done)
    with opened(folder) as archive:
        for step in () if work.spark else work.steps[done:]:
            step(archive, folder)
        assert see(work, state(archive, folder)) == states[-1]
        soundness = archive.check(deep=True)
        assert soundness.sound, str(soundness)
    assert not list((folder / "out").glob(".*")), "what a killed process has left beside its target is gone"


def tried(name: str, points: int, seed: int = 0) -> Tried:
    """Run `crash`, in a process of its own if it forks: if Spark does the work, it does not."""
    return crash(name, points, seed) if WORKS[name].spark else tried_together([name], points, seed)[name]


def tried_together(names: Sequence[str], points: int, seed: int = 0) -> dict[str, Tried]:
    """Run `crash` for several works without Spark, in a process of their own, since to import provenn takes long."""
    command = [sys.executable, "-m", "tests.crashes", ",".join(names), str(points), str(seed)]
    limit = (LIMIT + LIMIT * points) * len(names)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    assert done.returncode == 0, done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    return {entry["work"]: Tried(**entry) for entry in reports}


def child(name: str, folder: str, limit: str) -> None:
    """Do some work in this process."""
    work_on(WORKS[name], Path(folder), 0, lambda message: print(json.dumps(message), flush=True), int(limit) or None)  # noqa: T201


def main(names: str, points: str, seed: str) -> None:
    """Write what was tried: each piece of work in a fork of this process, with the statements that it has compiled."""
    with share_statements():
        warm_up()
        for name in names.split(","):
            pid = os.fork()
            if pid == 0:
                print(json.dumps(crash(name, int(points), int(seed)).__dict__), flush=True)  # noqa: T201
                return
            if os.waitpid(pid, 0)[1]:
                sys.exit(f"of {name}")


def warm_up() -> None:
    """Do once what is done after each death, so that forks neither import modules nor compile statements for it."""
    with tempfile.TemporaryDirectory(f"-{make_process_mark()}", "provenn-tests-crashes-", MEMORY) as temporary:
        stored(Path(temporary))
        with opened(Path(temporary)) as archive:
            archive.collect_garbage()
            assert archive.check(deep=True).sound
            assert state(archive, Path(temporary))["catalogs"]


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
