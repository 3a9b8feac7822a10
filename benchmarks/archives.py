"""A seeded generator of archives: the lineages of `benchmarks.lineages`, as catalogs on a few base sets.

The first base sets of the lineage become base catalogs, each with two dozen columns; the others are selections on one
of these, so that all of an archive hangs on a few base sets, as archives do. A selection has one of two hundred
criteria on eight of the columns. A set equal to its parent keeps some attributes or derives one; an intersection
restricts or combines; a union concatenates; a difference excludes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from sqlalchemy import insert

from benchmarks.lineages import Lineage, Operation, generate
from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    Files,
    KeepAttributes,
    RestrictSources,
    SelectSources,
    SqlCalculator,
)
from provenn.criteria import parse_type
from provenn.database.tables import name_history, names
from provenn.database.transactions import Writing
from provenn.definitions.catalog_store import add_catalogs
from provenn.digests import CatalogDigest, content_digest
from provenn.errors import ContradictionError
from provenn.files.columns import FileColumn
from provenn.formats.opening import open_database
from provenn.knowledge.declarations import declare_fact
from provenn.logic import disjoint, nonempty

__all__ = ["MadeArchive", "make_archive", "make_catalogs", "name_of"]

MEASURED = [f"mag_{band}" for band in "ubvrizjh"]
"""The columns that criteria read."""

OTHERS = [f"column_{number}" for number in range(15)]
CRITERIA = 200
"""How many criteria there are on one base."""


@dataclass(frozen=True, slots=True)
class MadeArchive:
    """What was made.

    Parameters
    ----------
    lineage
        Who is made from whom, by number; the base sets that became selections are still base sets there.
    digests
        The digest of each catalog, by number.
    """

    lineage: Lineage
    digests: list[CatalogDigest]


def name_of(number: int) -> str:
    """Return the name of a catalog, which one in ten has: those whose number is divisible by ten."""
    return f"c{number}"


def make_archive(
    place: Path | str, size: int = 100_000, *, seed: int = 0, bases: int = 4, facts: int = 20, compares: bool = False
) -> MadeArchive:
    """Make an archive, and all that is in it, in one transaction.

    Parameters
    ----------
    place
        Where; there must be none yet.
    size
        How many catalogs.
    seed
        Which archive of that size.
    bases
        How many base catalogs.
    facts
        How many facts are declared.
    compares
        Whether a tenth of the criteria compare two columns.
    """
    lineage = generate(size, seed)
    catalogs = make_catalogs(lineage, seed, bases, compares=compares)
    digests = [one.digest for one in catalogs]
    with open_database(place, create=True, who="generator") as database, database.writing() as writing:
        add_catalogs(writing, *catalogs)
        _name(writing, digests)
        _declare(writing, digests, Random(seed), bases, facts)
    return MadeArchive(lineage, digests)


def make_catalogs(lineage: Lineage, seed: int = 0, bases: int = 4, *, compares: bool = False) -> list[Catalog]:
    """Return the catalogs of a lineage, by number; no two are the same; with `compares`, criteria compare columns."""
    maker = _Maker(Random(seed), bases, compares=compares)
    for operation, left, right in lineage.rows():
        maker.make(Operation(operation), left, right)
    return maker.made


class _Maker:
    """Makes catalogs one after the other."""

    def __init__(self, random: Random, bases: int, *, compares: bool) -> None:
        self.random = random
        self.bases = [_base(number) for number in range(bases)]
        self.selections = [
            [SelectSources.of(one, text) for text in _criteria(random, compares=compares)] for one in self.bases
        ]
        self.derivations = [
            [DeriveAttributes.of(one, SqlCalculator.of({f"sum_{n}": f"mag_u + {n}"})) for n in range(20)]
            for one in self.bases
        ]
        self.placed: list[int] = []  # the numbers of the base catalogs
        self.made: list[Catalog] = []
        self.base_of: list[int] = []
        self.digests: set[str] = set()

    def make(self, operation: Operation, left: int, right: int) -> None:
        """Make the next catalog."""
        if operation is Operation.BASE and len(self.placed) < len(self.bases):
            self.placed.append(len(self.made))
            self._take(self.bases[len(self.placed) - 1], len(self.placed) - 1)
            return
        if operation is Operation.BASE:
            left, operation = self.random.choice(self.placed), Operation.SELECTION
        base = self.base_of[left]
        found = self._catalog(operation, self.made[left], self.made[right], base)
        while found.digest in self.digests:
            # The same was made before. A selection of it was not, or not yet all selections of selections.
            found = self._catalog(Operation.SELECTION, found, found, base)
        self._take(found, base)

    def _take(self, catalog: Catalog, base: int) -> None:
        self.made.append(catalog)
        self.base_of.append(base)
        self.digests.add(catalog.digest)

    def _catalog(self, operation: Operation, parent: Catalog, other: Catalog, base: int) -> Catalog:
        coin = self.random.random() < 0.5
        match operation:
            case Operation.SELECTION:
                # Criteria are about identities, so that one that was read for the base will do for all made from it.
                model = self.random.choice(self.selections[base])
                return SelectSources(parent, model.selection, model.text)
            case Operation.EQUAL if coin:
                return DeriveAttributes(parent, self.random.choice(self.derivations[base]).calculation)
            case Operation.EQUAL:
                there = [name for name in parent.schema.names if name not in MEASURED]
                kept = [name for name in there if self.random.random() < 0.8]
                return KeepAttributes.of(parent, [*MEASURED, *kept])
            case Operation.INTERSECTION if coin:
                return CombineAttributes.of(parent, other)
            case Operation.INTERSECTION:
                return RestrictSources(parent, other)
            case Operation.UNION:
                return ConcatSources.of(parent, other)
            case _:
                return ExcludeSources(parent, other)


def _base(number: int) -> Base:
    columns = (
        FileColumn("id", parse_type("bigint"), nullable=False),
        *(FileColumn(name, parse_type("double"), nullable=True) for name in (*MEASURED, *OTHERS)),
    )
    prints = content_digest("files", [f"survey {number}"])
    location = f"/data/survey_{number}.parquet"
    return Base.of(
        Files("parquet", (), columns, (), prints, location, (("", prints),), 10**8), key="id", population="star"
    )


def _criteria(random: Random, *, compares: bool) -> list[str]:
    def one() -> str:
        name, low = random.choice(MEASURED), random.randrange(80, 220) / 10
        form = random.choice(["{0} < {1}", "{0} >= {1}", "{0} BETWEEN {1} AND {2}", "NOT ({0} < {1})", "{0} IS NULL"])
        return form.format(name, low, low + random.randrange(1, 30) / 10)

    def compare() -> str:
        name, other = random.sample(MEASURED, 2)
        return random.choice(["{0} < {1}", "{0} - {1} > {2}"]).format(name, other, random.randrange(1, 30) / 10)

    compared = [compare() for _ in range(CRITERIA // 10 if compares else 0)]
    joined = [f"{one()} {random.choice(['AND', 'OR'])} {one()}" for _ in range(CRITERIA // 3)]
    return [*compared, *joined, *(one() for _ in range(CRITERIA - len(joined) - len(compared)))]


def _name(writing: Writing, digests: list[CatalogDigest]) -> None:
    rows = [(name_of(number), digest) for number, digest in enumerate(digests) if number % 10 == 0]
    who, when = writing.who, datetime.now(UTC)
    execute = writing.connection.execute
    execute(insert(names), [{"name": a, "catalog": b, "changed_at": when, "changed_by": who} for a, b in rows])
    execute(insert(name_history), [{"name": a, "catalog": b, "at": when, "by": who} for a, b in rows])


def _declare(writing: Writing, digests: list[CatalogDigest], random: Random, bases: int, count: int) -> None:
    """Declare that some catalogs hold something, and that some of two bases have nothing in common, if that can be."""
    declared = 0
    while declared < count:
        one, other = (random.choice(digests) for _ in range(2))
        said = nonempty(one) if declared % 2 or bases == 1 else disjoint(one, other)
        try:
            declare_fact(writing, said, "made up")
        except ContradictionError:
            continue
        declared += 1
