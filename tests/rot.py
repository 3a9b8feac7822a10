"""Bits that flip in the files of an archive, behind the back of the file system; and what is read then.

The archive has a fragment, a table from memory, a conversion and a large MOC, and a base file. Rot changes no time of a
file, so that what is remembered of it vouches for it: whoever reads must notice by the bytes.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from astropy.table import Table

import provenn
from provenn.archive import Archive
from provenn.data import given_tables
from provenn.errors import ProvennError
from provenn.files.hashing import FileHash
from provenn.sky import moc
from provenn.sky.moc_library import LIBRARY
from tests.sky.forgetting import forget_mocs
from tests.sky.large_mocs import survey_rectangle

__all__ = [
    "KINDS",
    "RECOVERED",
    "Damaged",
    "Tally",
    "files_of",
    "make_archive",
    "read",
    "rotting",
    "try_backups",
    "try_flips",
]


KINDS = ("fragment", "table", "conversion", "MOC", "base")
"""The kinds of files that are damaged."""

RECOVERED = ("fragment", "conversion")
"""Those that are computed again, so that reading gives the right values."""

_CATALOG = {"fragment": "distant", "table": "given", "seal": "given", "conversion": "fits", "MOC": "survey"}
_CATALOG |= {"base": "stars"}
_ROWS = 700


def make_archive(folder: Path, spark: object) -> dict[str, list[str]]:
    """Make an archive that keeps something of every kind, in a folder that holds the base files as well.

    Return what is read of each kind.
    """
    folder.mkdir()
    random = np.random.default_rng(1)
    number = np.arange(_ROWS)
    columns = {
        "hip": number,
        "ra": random.uniform(0, 360, _ROWS),
        "dec": random.uniform(-3, 3, _ROWS),
        "kind": [None if item % 7 == 0 else f"kind {item % 5}" for item in number],
    }
    pq.write_table(pa.table(columns), folder / "stars.parquet")
    Table({"id": number, "flux": random.normal(size=_ROWS)}).write(folder / "flux.fits")
    with provenn.open(folder / "survey", spark=spark, who="ada", progress=False) as archive:
        stars = archive.ingest("stars", folder / "stars.parquet", key="hip", population="star")
        archive.ingest("given", pa.table(columns), key="hip", population="given star")
        archive.ingest("fits", folder / "flux.fits", key="id", population="source")
        # With fewer columns than it is derived from, so that it costs less to read what is stored.
        stars.derive(twice="2 * ra + dec").keep("hip", "twice", name="distant")
        stars.select(moc(survey_rectangle(11)), name="survey")
        archive.store("distant")
        assert archive["distant"].plan().fragments
        return {kind: read(archive, kind) for kind in KINDS}


def files_of(folder: Path, kind: str) -> list[Path]:
    """Return the files of a kind."""
    store = folder / "survey" / "store"
    return {
        "fragment": sorted(store.glob("fragments/*/*.parquet")),
        "table": sorted(store.glob("given/*/table.parquet")),
        "seal": sorted(store.glob("given/*/_seal")),
        "conversion": sorted(store.glob("converted/*/*.parquet")),
        "MOC": sorted(store.glob("mocs/*.txt")),
        "base": [folder / "stars.parquet"],
    }[kind]


def read(archive: Archive, kind: str) -> list[str]:
    """Return all values that are read of files of a kind, and with a criterion that makes Spark leave out pages."""
    frame = archive[_CATALOG[kind]].to_arrow()
    key = frame.schema.names[0]
    some = archive.target(_CATALOG[kind], frame.schema.names, where=f"{key} > 600", keep="never").to_arrow()
    return [*sorted(map(repr, frame.to_pylist())), *sorted(map(repr, some.to_pylist()))]


@contextmanager
def rotting() -> Iterator[None]:
    """Let the file system say that no file has changed, and forget what this process has in memory."""
    given_tables._SEALS.clear()
    LIBRARY._places.clear()
    forget_mocs()
    with patch.object(FileHash, "vouches_for", lambda self, now: self.stamp.size == now.size):
        yield


def flip(random: Random, path: Path) -> str:
    """Flip a bit of a file."""
    content = bytearray(path.read_bytes())
    at = random.randrange(len(content))
    content[at] ^= 1 << random.randrange(8)
    path.write_bytes(content)
    return f"{path.name}, byte {at} of {len(content)}"


@dataclass(slots=True)
class Tally:
    """What came of flipped bits: how often values were right, or refused; and what went wrong, in words."""

    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def tried(self) -> int:
        """How many bits were flipped."""
        return self.outcomes.total()


@dataclass(frozen=True, slots=True)
class Damaged:
    """An archive that is damaged and brought back as it was, again and again.

    Parameters
    ----------
    folder
        Where it is.
    whole
        A copy of it as it was.
    truth
        What is read of each kind of files without damage.
    spark
        The session that computes.
    """

    folder: Path
    whole: Path
    truth: dict[str, list[str]]
    spark: object

    @classmethod
    def at(cls, folder: Path, spark: object) -> "Damaged":
        """Make the archive."""
        truth = make_archive(folder, spark)
        whole = folder.with_name(f"{folder.name}-whole")
        shutil.copytree(folder, whole)
        return cls(folder, whole, truth, spark)

    def restore(self) -> None:
        """Bring everything back."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.whole, self.folder)

    def opened(self) -> Archive:
        """Open the archive."""
        return provenn.open(self.folder / "survey", spark=self.spark, who="ada", progress=False)


def try_flips(damaged: Damaged, kind: str, number: int, seed: int = 0, *, reading: bool = True) -> Tally:
    """Flip one bit of a file of a kind at a time: `check --deep` must find it, and reading never give another value.

    Parameters
    ----------
    damaged
        The archive.
    kind
        One of `KINDS`.
    number, seed
        How many bits, and which.
    reading
        Whether to read the values as well; what a base file holds is compared by `check` and when it changes.
    """
    random, tally = Random(f"{kind} {seed}"), Tally()
    for _ in range(number):
        message = flip(random, random.choice(files_of(damaged.folder, kind)))
        with rotting(), damaged.opened() as archive:
            if not any(problem.state == "damage" for problem in archive.check(deep=True).problems):
                tally.wrong.append(f"not found by check --deep: {kind}, {message}")
            given_tables._SEALS.clear()
            tally.outcomes[_outcome(archive, kind, damaged.truth[kind], message, tally) if reading else "found"] += 1
        damaged.restore()
    return tally


def try_backups(damaged: Damaged, number: int, seed: int = 0) -> Tally:
    """Flip one bit of what is backed up at a time: a backup must refuse it, and leave it out if that is asked for."""
    random, tally = Random(f"backup {seed}"), Tally()
    copy = damaged.folder.with_name("copy")
    for _ in range(number):
        kind = random.choice(("fragment", "table", "MOC"))
        text = f"{kind}, {flip(random, random.choice(files_of(damaged.folder, kind)))}"
        with rotting(), damaged.opened() as archive:
            try:
                archive.backup(copy, data=True)
                tally.wrong.append(f"backed up: {text}")
            except ProvennError as error:
                tally.wrong += [] if "nothing was copied" in error.message else [f"{text}: {error.message}"]
            tally.wrong += [f"half a backup is there: {text}"] if copy.exists() else []
            shutil.rmtree(copy, ignore_errors=True)
            output = archive.backup(copy, data=True, skip_damaged=True)
            tally.wrong += [] if len(output.left_out) + len(output.missing) == 1 else [f"not left out: {text}"]
        shutil.rmtree(copy)
        damaged.restore()
        tally.outcomes["refused"] += 1
    return tally


def _outcome(archive: Archive, kind: str, truth: list[str], message: str, tally: Tally) -> str:
    try:
        values = read(archive, kind)
    except ProvennError as error:
        if kind in RECOVERED:
            tally.wrong.append(f"not computed again: {kind}, {message}: {error.message}")
        return "refused"
    if values != truth:
        tally.wrong.append(f"another value: {kind}, {message}")
    return "right"
