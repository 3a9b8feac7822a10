"""Lineage of others: datasets become catalogs, so that questions can be asked of pipelines that provenn did not run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from provenn.archive import Archive
from provenn.errors import CatalogNameError, LineageError
from provenn.exchange.gathering import Gathered, gathered
from provenn.exchange.reading import Dataset, read_events
from provenn.exchange.understanding import Assumptions, Understood, understood
from provenn.store import catalog_store, names, populations

__all__ = ["Imported", "ImportedCatalog", "import_lineage"]


@dataclass(frozen=True, slots=True)
class ImportedCatalog:
    """A dataset that became a catalog.

    Attributes
    ----------
    dataset
        What others call it: namespace, name and version.
    names
        The names of the catalog.
    digest
        Its digest.
    how
        ``"base"``: a set of its own; ``"inside"``: its sources lie among those of others; ``"exact"``: it is known
        which of theirs it has.
    missing
        What was not understood, in words; empty if nothing.
    """

    dataset: str
    names: tuple[str, ...]
    digest: str
    how: str
    missing: str


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported.

    Attributes
    ----------
    events
        How many events were read.
    new
        How many catalogs the archive did not hold before.
    catalogs
        What the datasets became, each after those it is made from.
    """

    events: int
    new: int
    catalogs: tuple[ImportedCatalog, ...]

    def __str__(self) -> str:
        said = [f"{self.events} events, {len(self.catalogs)} datasets, {self.new} new catalogs"]
        words = {
            "exact": "exact: it is known which sources they have",
            "inside": "inside: their sources lie among those of others",
            "base": "base: sets of their own",
        }
        for how, word in words.items():
            found = [one for one in self.catalogs if one.how == how]
            if found:
                said.append(f"{len(found)} {word}")
                said += [f"  {one.dataset}" + (f": {one.missing}" if one.missing else "") for one in found]
        return "\n".join(said)


def import_lineage(
    archive: Archive,
    file: IO[bytes],
    *,
    key: str | Sequence[str] = (),
    population: str = "",
    exact: bool = False,
    prefix: str = "",
) -> Imported:
    """Read events of OpenLineage and take their datasets for catalogs: all of them, or none.

    Only what is stated is claimed. A dataset whose key is taken over unchanged from others, as column lineage tells,
    lies inside them, and inside the conditions under which they are read. Everything else is a set of its own. The
    file is taken to tell of all jobs that write a dataset, and a dataset of one version for one set.

    Parameters
    ----------
    archive
        The archive.
    file
        Events, one a line or in an array; JSON.
    key
        The columns that identify a source, in every dataset that has them all.
    population
        What one row of these datasets is; by default it is called as the key.
    exact
        Whether to hold, besides, that a dataset has all the sources that conditions and joins allow, and that joins on
        the key are inner ones.
    prefix
        What to put before the names of the catalogs.

    Raises
    ------
    LineageError
        If an event cannot be read; it says which.
    CatalogNameError
        If a name is that of another catalog.
    """
    if population and not key:
        raise LineageError("a population is known by a key", hint="say which columns identify a source")
    said = gathered(read_events(file))
    columns = (key,) if isinstance(key, str) else tuple(key)
    with archive._database.writing() as writing:  # noqa: SLF001 - all of it, or nothing
        wanted = _populations(said) | {population or " ".join(columns)} - {""}
        there = {name: held for name in sorted(wanted) if (held := populations.population(writing, name))}
        found = understood(said, Assumptions(columns, population, exact, there))
        new = catalog_store.add(writing, *(one.definition for one in found)) if found else 0
        called = _names(found, said, prefix)
        for one in found:
            for name in called[one.dataset]:
                names.assign(writing, name, one.definition.digest)
    return Imported(
        said.events,
        new,
        tuple(
            ImportedCatalog(str(one.dataset), called[one.dataset], one.definition.digest, one.how, one.missing)
            for one in found
        ),
    )


def _populations(said: Gathered) -> set[str]:
    facets = (known.facets.get("provenn_population") for known in said.datasets.values())
    return {str(one["population"]) for one in facets if isinstance(one, dict) and one.get("population")}


def _names(found: Sequence[Understood], said: Gathered, prefix: str) -> dict[Dataset, tuple[str, ...]]:
    """Return names for datasets: their own, or more of it where several have the same. One that is unfit has none."""
    same = Counter(one.dataset.name for one in found)
    versions = Counter((one.dataset.namespace, one.dataset.name) for one in found)
    called = {}
    for one in found:
        dataset = one.dataset
        match said.datasets[dataset].facets.get("provenn_population"):
            case {"names": [*given]}:
                wanted = [str(name) for name in given]
            case _ if same[dataset.name] == 1:
                wanted = [dataset.name]
            case _:
                alone = versions[dataset.namespace, dataset.name] == 1
                wanted = [str(dataset if not alone else Dataset(dataset.namespace, dataset.name))]
        called[dataset] = tuple(prefix + name for name in wanted if _fit(prefix + name))
    return called


def _fit(name: str) -> bool:
    try:
        names.check_name(name)
    except CatalogNameError:
        return False
    return True
