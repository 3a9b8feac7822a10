"""A real archive of folders that change, random catalogs of all classes on them, and the same catalogs from scratch.

From scratch means: another archive that has seen no other version of the folders, in which the same verbs are called,
and whose catalogs DuckDB computes (`tests.spark.oracle`). So neither versions, nor fragments, nor plans are part of it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random

import pyarrow as pa
from pyarrow import parquet

import provenn
from provenn.errors import DefinitionError, FilesChangedError, FilesMissingError, ProvennError
from provenn.sky import box
from tests.spark.oracle import Oracle
from tests.targets import calls

__all__ = ["Survey"]

Rows = list[tuple[object, ...]]
Files = dict[str, dict[int, dict[str, float | None]]]
"""The rows of each file by key, by the name of the file."""

_ARCSECOND = 1 / 3600
_NUMBER = count()


@dataclass(frozen=True)
class Verb:
    """How a catalog is made from those before it: what is drawn for it, and from which of them."""

    word: str
    seed: float
    first: int
    second: int


WORDS = (
    *("calculate", "calculate", "calculate further", "rank", "derive", "select", "select", "select", "region"),
    *("restrict", "exclude", "combine", "concat", "concat", "sample", "keep", "rename"),
    *("all pairs", "best pairs", "best pairs", "some pairs", "matched", "matched"),
)


class Side:
    """An archive with two folders as base catalogs, and calculators of its own.

    Parameters
    ----------
    archive
        The archive.
    log
        The folder where the calculators write for which sources they are called.
    is_plain
        Whether regions are written as criteria that DuckDB understands.
    """

    def __init__(self, archive: provenn.Archive, log: Path, *, is_plain: bool) -> None:
        self.archive, self.log, self._is_plain = archive, log, is_plain

    def ingest(self, name: str, folder: Path, **options: object) -> provenn.Catalog:
        """Ingest a folder."""
        return self.archive.ingest(name, folder, key="id", population="star", **options)

    def make(self, verb: Verb, catalogs: Sequence[provenn.Catalog]) -> provenn.Catalog:
        """Make the catalog of a verb."""
        rng, one, other = Random(verb.seed), catalogs[verb.first], catalogs[verb.second]
        if verb.word.startswith("calculate") and "&" in one.population:
            raise DefinitionError("a call is known by the key of a star")
        match verb.word:
            case "calculate":
                return one.derive(self._calculator("z", "x", rng.choice([2.0, 2.0, 3.0])))
            case "calculate further":
                return one.derive(self._calculator("y", rng.choice(["z", "w", "mag"]), 2.0))
            case "rank":
                return one.derive(self._rank())
            case "derive":
                return one.derive(w=rng.choice(["2 * x + 1", "x + mag", "2 * z"]))
            case "select":
                return one.select(_draw_criterion(rng, one.attributes))
            case "region":
                edge = rng.uniform(0, 6) * _ARCSECOND
                plain = f"ra >= 0 AND ra <= {edge!r} AND dec >= 0 AND dec <= 1"
                return one.select(plain if self._is_plain else box(0, edge, 0, 1))
            case "restrict":
                return one.restrict(other)
            case "exclude":
                return one.exclude(other)
            case "combine":
                return one.combine(other)
            case "concat":
                return one.concat(other, order="first")
            case "sample":
                return one.sample(0.5, seed=1)
            case "keep":
                return one.keep(*(name for name in one.attributes if name in ("id", "ra", "dec") or rng.random() < 0.6))
            case "rename":
                return one.rename(**{rng.choice(one.attributes[1:]): rng.choice(["w", "v"])})
            case "all pairs":
                return one.crossmatch(other, "1.5 arcsec", matches="all")
            case "best pairs":
                return one.crossmatch(other, "1.5 arcsec")
            case "some pairs":
                smallest = rng.choice([None, "0.8 arcsec"])
                return one.crossmatch(
                    other, "1.5 arcsec", matches=rng.choice([2, "mutual", "best"]), min_radius=smallest
                )
        return one.matched("left" if rng.random() < 0.5 else "right")

    def _calculator(self, output: str, read: str, factor: float) -> object:
        name = f"{output} of {read} {factor:g}"
        (self.log / name).mkdir(exist_ok=True)  # a folder for each calculator: a worker tries each of them out
        return self.archive.calculator(
            name,
            calls.traced,
            inputs=["id", read],
            outputs={output: "double", f"e{output}": "double"},
            parameters={"value": output, "error": f"e{output}", "log": str(self.log / name), "factor": factor},
        )

    def _rank(self) -> object:
        return self.archive.calculator(
            "rank",
            calls.ranked,
            inputs=["id", "x"],
            outputs={"rank": "double"},
            scope="catalog",
            parameters={"output": "rank", "log": str(self.log.parent)},
        )


def _draw_criterion(rng: Random, names: Sequence[str]) -> str:
    numbers = [name for name in names if name in ("x", "mag", "z", "ez", "y", "w", "separation")]
    name = rng.choice(numbers)
    cut = {"separation": 0.8, "mag": 2, "x": 2}.get(name, 5) + rng.choice([0, 0, 1])
    form = rng.choice(["{} < {}", "{} >= {}", "NOT ({} < {})", "({} < {}) IS NOT TRUE", "{0} IS NULL OR {0} > {1}"])
    return form.format(name, cut)


class Survey:
    """Two folders that change, an archive of them, and the verbs that made its catalogs.

    Parameters
    ----------
    folder
        A folder for all files.
    master
        The Spark that computes.
    rng
        Decides what is made, changed and asked.
    """

    def __init__(self, folder: Path, master: str, rng: Random) -> None:
        self.rng, self.folder, self._master = rng, folder, master
        self.log = folder / "log" / "rows"
        self.log.mkdir(parents=True)
        self.files: dict[str, Files] = {}
        for name, keys in (("days", range(12)), ("other", range(6, 14))):
            chosen = rng.sample(keys, 6)
            self.files[name] = {
                f"{at}.parquet": {key: random_row(rng) for key in chosen[2 * at : 2 * at + 2]} for at in range(3)
            }
            self._write(name)
        self.side = Side(self._open("archive"), self.log, is_plain=False)
        catalogs = [self.side.ingest(name, folder / name) for name in self.files]
        self.verbs: list[Verb] = []
        self.versions = 1
        for _ in range(40):
            self._add(catalogs)
            if len(self.verbs) == 7:
                break

    def _open(self, name: str) -> provenn.Archive:
        return provenn.open(self.folder / name, spark=self._master, progress=False, who="ada")

    def _write(self, name: str) -> None:
        place = self.folder / name
        place.mkdir(exist_ok=True)
        for file in place.iterdir():
            if file.name not in self.files[name]:
                file.unlink()
        for file, rows in self.files[name].items():
            columns = {column: [row[column] for row in rows.values()] for column in ("x", "mag", "ra", "dec")}
            numbers = {column: pa.array(values, pa.float64()) for column, values in columns.items()}
            table = pa.table({"id": pa.array(list(rows), pa.int64()), **numbers})
            if not (place / file).exists() or not parquet.read_table(place / file).equals(table):
                parquet.write_table(table, place / file)

    def _add(self, catalogs: list[provenn.Catalog]) -> None:
        verb = Verb(
            self.rng.choice(WORDS),
            self.rng.random(),
            self.rng.randrange(max(0, len(catalogs) - 4), len(catalogs)),
            self.rng.randrange(len(catalogs)),
        )
        try:
            catalog = self.side.make(verb, catalogs)
        except (ProvennError, IndexError):  # what was drawn has no meaning
            return
        self.side.archive.name(catalog, f"c{len(self.verbs)}")
        catalogs.append(catalog)
        self.verbs.append(verb)

    # -- changes -------------------------------------------------------------------------------------------------

    def change(self) -> bool:
        """Change a folder or a criterion, and bring the archive up to date; return whether all old files are there."""
        self.versions += 1
        selections = [at for at, verb in enumerate(self.verbs) if verb.word in ("select", "region")]
        if selections and self.rng.random() < 0.2:
            self._edit(self.rng.choice(selections))
            return True
        name = self.rng.choice(list(self.files))
        kept = self._change_files(name)
        self._write(name)
        if kept and self.rng.random() < 0.3:
            self.side.ingest(name, self.folder / name)
        elif self.rng.random() < 0.3:
            self.side.ingest(name, self.folder / name, rebuild=True)
        else:
            self.side.archive.refresh(*([name] if self.rng.random() < 0.5 else []))
        return kept

    def _edit(self, at: int) -> None:
        """Edit a criterion; define all catalogs from there on again."""
        edited = [*self.verbs]
        edited[at] = replace(edited[at], seed=self.rng.random())
        catalogs = [self.side.archive[name] for name in (*self.files, *(f"c{n}" for n in range(at)))]
        try:
            for verb in edited[at:]:
                catalogs.append(self.side.make(verb, catalogs))
        except (ProvennError, IndexError):  # a name that only the former criterion had
            return
        self.verbs = edited
        for number in range(at, len(edited)):
            self.side.archive.name(catalogs[len(self.files) + number], f"c{number}", move=True)

    def _change_files(self, name: str) -> bool:
        """Append, remove or replace a file, or move a key to another one; return whether files were only appended."""
        files, rng = self.files[name], self.rng
        held = {key for rows in files.values() for key in rows}
        free = [key for key in range(14) if key not in held]
        match rng.choice(["append", "append", "append", "remove", "replace", "move"]):
            case "remove" if len(files) > 1:
                del files[rng.choice(sorted(files))]
            case "replace":
                file = rng.choice(sorted(files))
                files[file] = {key: random_row(rng) for key in [*list(files[file])[1:], *free[:1]]}
            case "move" if len(files) > 1:
                source, target = rng.sample(sorted(files), 2)
                moved = {key: random_row(rng) for key in list(files[source])[:1]}
                files[source] = {key: random_row(rng) for key in list(files[source])[1:]}
                files[target] = {key: random_row(rng) for key in files[target]} | moved
            case _:
                keys = rng.sample(free, min(len(free), rng.randint(0, 2)))
                files[f"more {next(_NUMBER)}.parquet"] = {key: random_row(rng) for key in keys}
                return True
        return False

    # -- answers -------------------------------------------------------------------------------------------------

    def compute_from_scratch(self) -> dict[str, pa.Table]:
        """What DuckDB makes of the same verbs on the files as they are now, by name."""
        number = next(_NUMBER)
        log = self.folder / f"log of {number}" / "rows"
        log.mkdir(parents=True)
        with self._open(f"scratch {number}") as archive:
            side = Side(archive, log, is_plain=True)
            catalogs = [side.ingest(name, self.folder / name) for name in self.files]
            oracle = Oracle({one.digest: parquet.read_table(self.folder / one.name) for one in catalogs})
            for verb in self.verbs:
                catalogs.append(side.make(verb, catalogs))
            return {f"c{at}": oracle.table(one.definition) for at, one in enumerate(catalogs[len(self.files) :])}

    def find_unchanged(self, name: str, version: int, before: pa.Table, *, is_kept: bool) -> None:
        """Make sure that an earlier version of a name answers as it did, or says which file is gone."""
        try:
            answer = self.side.archive.at(name, version).to_arrow()
        except (FilesMissingError, FilesChangedError):
            assert not is_kept, "all its files are there"
            return
        assert make_comparable(answer) == make_comparable(before)

    def find_repeated_calls(self) -> dict[str, int]:
        """The sources and values for which a calculator was called more than once."""
        called = sum(map(calls.called_values, self.log.iterdir()), Counter())
        return {text: times for text, times in called.items() if times > 1}


def random_row(rng: Random) -> dict[str, float | None]:
    """Numbers that no other row has; positions within a few arcseconds."""
    return {
        "x": None if rng.random() < 0.1 else rng.randrange(5) + rng.random() / 1000,
        "mag": rng.randrange(5) + rng.random() / 1000,
        "ra": rng.uniform(0, 6) * _ARCSECOND,
        "dec": None if rng.random() < 0.05 else rng.uniform(0, 6) * _ARCSECOND,
    }


def make_comparable(table: pa.Table) -> Rows:
    """The rows in an order, with numbers to nine digits: the two compute separations in different ways."""
    columns = [
        [f"{value:.9g}" if isinstance(value, float) else value for value in table[name].to_pylist()]
        for name in sorted(table.column_names)
    ]
    return sorted(zip(*columns, strict=True), key=repr)


def count_words(survey: Survey) -> Counter[str]:
    """How often each verb occurs."""
    return Counter(verb.word for verb in survey.verbs)
