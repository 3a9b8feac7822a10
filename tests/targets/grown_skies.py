"""Folders of files that change, the versions that provenn makes of them, and random catalogs on each version.

Nothing here uses the code under test but what defines a version and a catalog: the rows are spelt out beside them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random

from provenn.archive.new_version import NewVersion
from provenn.archive.shared_files import share_files
from provenn.catalogs import Base, Files, list_joined_bases, list_version_bases
from provenn.catalogs.set_labels import make_file_label
from provenn.criteria import parse_type
from provenn.digests import content_digest
from provenn.errors import ProvennError
from provenn.files.columns import FileColumn
from provenn.logic import Statement, disjoint
from tests.catalogs.samples import Rows, Table
from tests.targets.simulated import ALONE, Sky, compare_tables, derive_table, random_number, sample_table, select_table
from tests.targets.simulated_matches import match_tables, matched_table

__all__ = ["Growth", "Versions", "random_growth", "random_row"]

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


def base_of(folder: Folder, place: str) -> Base:
    """The base catalog of files that are nowhere."""
    prints = prints_of(folder)
    digest = content_digest("files", sorted(prints.values()))
    files = Files("parquet", (), COLUMNS, (), digest, place, tuple(sorted(prints.items())), None)
    return Base.of(files, key="hip", population="star")


class Versions:
    """The versions of one folder, with the rows that they mean."""

    def __init__(self, folder: Folder, place: str) -> None:
        self.folder, self.place = folder, place
        first = base_of(folder, place)
        self.tables = [Table(first, _joined(folder.values()))]
        self.versions = [self.tables[0]]
        self.sets: dict[str, Iterable[int]] = {}
        self.facts: list[Statement] = []
        self._keys = {first.digest: set(self.versions[0].rows)}
        self._note_files(first, folder)

    def change(self, folder: Folder) -> None:
        """Another version, with these files."""
        earlier, prints = self.versions[-1].catalog, prints_of(folder)
        bases = list_version_bases(earlier)
        shared = share_files(bases, prints, self.place)
        kept = list(shared.kept.values())
        new = {name: rows for name, rows in folder.items() if name in shared.new}
        added = self._continue(base_of(new, self.place), bases[-1], new) if new else None
        if added in kept and not any(new.values()):  # another file without rows
            added, new = None, {}
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
        version = NewVersion(earlier, tuple(kept), added, len(new), shared.went).define()
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


def _joined(parts: Iterable[Rows]) -> Rows:
    return {key: row for rows in parts for key, row in rows.items()}


def random_row(rng: Random, key: int) -> dict[str, object]:
    return {"hip": key, "vmag": random_number(rng), "plx": random_number(rng)}


def _process_again(rng: Random, rows: Rows) -> Rows:
    """The rows of a file that changed: its numbers differ a little, so that values tell of which file they are."""
    return {
        key: {name: value + rng.random() / 1e6 if isinstance(value, float) else value for name, value in row.items()}
        for key, row in rows.items()
    }


def random_change(rng: Random, folder: Folder, number: int) -> Folder:
    """Append a file, remove one, replace one, or move a key to another file."""
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
                del new[source][key]
                new[target][key] = random_row(rng, key)
                new |= {name: _process_again(rng, new[name]) for name in (source, target)}
        case _:
            new = {name: dict(rows) for name, rows in reversed(folder.items())}
    return new


@dataclass(frozen=True)
class Verb:
    """How a catalog is made from those before it, so that it can be made again on another version.

    Parameters
    ----------
    seed
        All that is drawn for it.
    kind
        Whether it is made from one catalog, from two, or as a match.
    operation
        The number of what is done with a single catalog, among `_ALONE`.
    first, second
        Which of the catalogs before it is made from: shares of the list, so that there always is one.
    """

    seed: float
    kind: str
    operation: int
    first: float
    second: float

    def make(self, tables: Sequence[Table]) -> Table | None:
        """The catalog, and its rows; None if what was drawn has no meaning."""
        one, other = (tables[int(share * len(tables))] for share in (self.first, self.second))
        try:
            rng, is_pair = Random(self.seed), "&" in one.catalog.population.name
            if self.kind == "match" and not is_pair:
                return match_tables(rng, one, other)
            if is_pair and (self.kind == "match" or rng.random() < 0.5):
                return matched_table(rng, one, tables)
            if self.kind == "comparison":
                return compare_tables(rng, one, other)
            return (_OF_PAIRS[self.operation % len(_OF_PAIRS)] if is_pair else _ALONE[self.operation])(rng, one)
        except (ProvennError, IndexError):
            return None


_ALONE = (derive_table, derive_table, derive_table, *ALONE)
_OF_PAIRS = tuple(make for make in ALONE if make not in (derive_table, sample_table))
"""What is done with pairs. What is calculated of pairs belongs to one match, and no other version's match has it."""


KINDS = (*["alone"] * 12, *["comparison"] * 5, *["match"] * 3)


def random_verb(rng: Random) -> Verb:
    """A verb; the newest catalogs are taken most often."""
    return Verb(rng.random(), rng.choice(KINDS), rng.randrange(len(_ALONE)), 1 - rng.random() ** 2 - 1e-9, rng.random())


def _edit(rng: Random, recipe: Sequence[Verb]) -> list[Verb]:
    """The same verbs, one selection edited."""
    selecting = [
        at for at, verb in enumerate(recipe) if verb.kind == "alone" and _ALONE[verb.operation] is select_table
    ]
    edited = list(recipe)
    if selecting:
        at = rng.choice(selecting)
        edited[at] = replace(edited[at], seed=rng.random())
    return edited


@dataclass(frozen=True)
class Growth:
    """What is there in the end: the sky, and for each moment the catalogs as they were defined then."""

    sky: Sky
    moments: list[list[Table]]


def random_growth(rng: Random) -> Growth:
    """One or two folders that change, the same catalogs on each of their versions, and edits of criteria."""
    folders = []
    for number in range(rng.choice([1, 1, 2])):
        keys = rng.sample(range(12), 6)
        files = {f"first {n}": {key: random_row(rng, key) for key in keys[2 * n : 2 * n + 2]} for n in range(3)}
        folders.append(Versions(files, f"/nowhere/{number}"))
    recipe = [random_verb(rng) for _ in range(rng.randint(1, 6))]
    moments = [_make_all([one.versions[-1] for one in folders], recipe)]
    for number in range(rng.randint(1, 4)):
        if rng.random() < 0.25:
            recipe = _edit(rng, recipe)
        else:
            changed = rng.choice(folders)
            changed.change(random_change(rng, changed.folder, number))
        moments.append(_make_all([one.versions[-1] for one in folders], recipe))
    tables = [table for group in ([one.tables for one in folders], moments) for part in group for table in part]
    unique = list({table.catalog.digest: table for table in tables}.values())
    sets = {label: keys for one in folders for label, keys in one.sets.items()}
    return Growth(Sky(unique, sets=sets, facts=tuple(fact for one in folders for fact in one.facts)), moments)


def _make_all(versions: Sequence[Table], recipe: Sequence[Verb]) -> list[Table]:
    tables = list(versions)
    for verb in recipe:
        table = verb.make(tables)
        tables += [] if table is None else [table]
    return tables
