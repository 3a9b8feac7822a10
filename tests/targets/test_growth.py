"""Versions of files that share files: answers are right, and nothing that is stored is computed again."""

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.archive.growing import NewVersion, take_files
from provenn.catalogs import Base, Files, list_joined_bases, list_version_bases
from provenn.catalogs.base import make_file_label
from provenn.criteria import parse_type
from provenn.digests import content_digest
from provenn.errors import ProvennError
from provenn.files.columns import FileColumn
from provenn.logic import Statement, disjoint
from tests.catalogs.samples import Rows, Table
from tests.targets.simulated import ALONE, Sky, derive_table, random_number
from tests.targets.test_histories import KEEP, History

PLACE = "/nowhere/days"
COLUMNS = tuple(
    FileColumn(name, parse_type(kind), True, "")
    for name, kind in {"hip": "bigint", "vmag": "double", "plx": "double"}.items()
)

Folder = dict[str, Rows]
"""The rows of each file, by its name."""


def fingerprint(rows: Rows) -> str:
    """Files with the same rows have the same fingerprint."""
    return "blake3:" + content_digest("test", sorted((key, sorted(row.items())) for key, row in rows.items()))


def prints_of(folder: Folder) -> dict[str, str]:
    return {name: fingerprint(rows) for name, rows in folder.items()}


def base_of(folder: Folder) -> Base:
    """The base catalog of files that are nowhere."""
    prints = prints_of(folder)
    digest = content_digest("files", sorted(prints.values()))
    files = Files("parquet", (), COLUMNS, (), digest, PLACE, tuple(sorted(prints.items())), None)
    return Base.of(files, key="hip", population="star")


class Versions:
    """The versions of one folder, with the rows that they mean."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        first = base_of(folder)
        self.tables = [Table(first, _joined(folder.values()))]
        self.versions = [self.tables[0]]
        self.sets = {}
        self.facts: list[Statement] = []
        self._keys = {first.digest: set(self.versions[0].rows)}
        self._note_files(first, folder)

    def change(self, folder: Folder) -> None:
        """Another version, with these files."""
        earlier, prints = self.versions[-1].catalog, prints_of(folder)
        bases = list_version_bases(earlier)
        kept = [part for part in (take_files(base, prints, PLACE) for base in bases) if part is not None]
        held = {text for part in kept for _, text in part.files.fingerprints}
        new = {name: rows for name, rows in folder.items() if prints[name] not in held}
        added = self._continue(base_of(new), bases[-1], new) if new else None
        by_print = {prints[name]: rows for name, rows in folder.items()}
        for part in (*kept, *([added] if added else [])):
            part.check_consistency()
            self._note(Table(part, _joined(by_print[text] for _, text in part.files.fingerprints)))
        if added is not None:
            self._note_files(added, new)
            self.facts += [disjoint(part.digest, added.digest) for part in kept]
        self.folder = folder
        if not kept:
            self.versions.append(Table(added, _joined(folder.values())))
            return
        went = sum(len(base.files.fingerprints) for base in bases) - sum(len(part.files.fingerprints) for part in kept)
        version = NewVersion(earlier, tuple(kept), added, len(new), went).define()
        for base in list_joined_bases(version):
            base.check_consistency()
            self._note(Table(base, _joined(by_print[text] for _, text in base.files.fingerprints)))
        self.versions.append(Table(version, _joined(folder.values())))
        self._note(self.versions[-1])

    def _continue(self, added: Base, like: Base, new: Folder) -> Base:
        """New files have the attributes of earlier ones unless a key of theirs ever had a value of these."""
        keys = set(_joined(new.values()))
        known = self._keys[like.origin]
        added = added if keys & known else added.continue_base(like.origin)
        self._keys.setdefault(added.origin, set()).update(keys)
        return added

    def _note(self, table: Table) -> None:
        if table.catalog.digest not in {one.catalog.digest for one in self.tables}:
            self.tables.append(table)

    def _note_files(self, base: Base, folder: Folder) -> None:
        for rows in folder.values():
            self.sets[make_file_label(base.digest, fingerprint(rows))] = set(rows)


def _joined(parts) -> Rows:
    return {key: row for rows in parts for key, row in rows.items()}


def random_row(rng: Random, key: int) -> dict:
    return {"hip": key, "vmag": random_number(rng), "plx": random_number(rng)}


def random_change(rng: Random, folder: Folder, number: int) -> Folder:
    """Append a file, remove one, replace one, or move a key to another file, with other values or the same."""
    new = {name: dict(rows) for name, rows in folder.items()}
    free = [key for key in range(14) if key not in _joined(folder.values())]
    match rng.choice(["append", "append", "remove", "replace", "move", "revert"]):
        case "append":
            keys = rng.sample(free, min(len(free), rng.randint(0, 3)))
            new[f"{number}"] = {key: random_row(rng, key) for key in keys}
        case "remove" if len(new) > 1:
            del new[rng.choice(sorted(new))]
        case "replace":
            name = rng.choice(sorted(new))
            new[name] = {key: random_row(rng, key) for key in {*list(new[name])[1:], *free[:1]}}
        case "move" if len(new) > 1:
            source, target = rng.sample(sorted(new), 2)
            if new[source]:
                key = rng.choice(sorted(new[source]))
                row = new[source].pop(key)
                new[target][key] = row if rng.random() < 0.3 else random_row(rng, key)
        case _:
            new = {name: dict(rows) for name, rows in reversed(folder.items())}
    return new


def random_growth(rng: Random) -> tuple[Sky, list[list[Table]]]:
    """Versions of a folder, and the same catalogs on each of them."""
    keys = rng.sample(range(12), 6)
    folder = {f"first {n}": {key: random_row(rng, key) for key in keys[2 * n : 2 * n + 2]} for n in range(3)}
    versions = Versions(folder)
    for number in range(rng.randint(1, 4)):
        versions.change(random_change(rng, versions.folder, number))
    operations = [(rng.choice((derive_table, derive_table, *ALONE)), rng.random()) for _ in range(rng.randint(1, 4))]
    lines = []
    for version in versions.versions:
        line = [version]
        for operation, seed in operations:
            try:
                line.append(operation(Random(seed), line[-1]))
            except (ProvennError, IndexError):  # what was drawn has no meaning
                continue
        lines.append(line)
    tables = [*versions.tables, *(table for line in lines for table in line)]
    unique = list({table.catalog.digest: table for table in tables}.values())
    return Sky(unique, sets=versions.sets, facts=tuple(versions.facts)), lines


@pytest.mark.parametrize(
    "examples", [pytest.param(60, id="quick"), pytest.param(10000, id="campaign", marks=pytest.mark.campaign)]
)
def test_refreshed_results_are_those_from_scratch_and_no_source_is_calculated_twice(examples):
    """Random changes of files, the same catalogs on each version, and what was kept of some of them."""

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=True))
    def check_one(rng):
        sky, lines = random_growth(rng)
        history = History(sky)
        for line in lines:
            for table in rng.sample(line, rng.randint(0, len(line))):
                history.ask(table.catalog, table.rows, rng.choice(KEEP))

    check_one()
