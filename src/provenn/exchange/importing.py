"""Import lineage of external systems: datasets become catalogs, so that an archive can relate them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO

from provenn.archive import Archive
from provenn.catalogs.population import Population
from provenn.database.transactions import Database, Reading
from provenn.definitions import catalog_names, catalog_store, populations
from provenn.errors import CatalogNameError, LineageError
from provenn.exchange.gathering import GatheredEvents, gather_events
from provenn.exchange.reading import Dataset, read_events
from provenn.exchange.understanding import Assumptions, UnderstoodDataset, understand_datasets

__all__ = ["Imported", "ImportedCatalog", "import_lineage"]


@dataclass(frozen=True, slots=True)
class ImportedCatalog:
    """A dataset, imported as a catalog.

    Attributes
    ----------
    dataset
        The namespace, name and version of the dataset.
    names
        The names of the catalog.
    digest
        The digest of the catalog.
    how
        ``"base"``: an independent set; ``"inside"``: a subset of the sources of other datasets; ``"exact"``: a known
        selection of their sources.
    missing
        A text about the parts that were not understood; empty if there are none.
    """

    dataset: str
    names: tuple[str, ...]
    digest: str
    how: str
    missing: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import.

    Attributes
    ----------
    events
        The number of events in the file.
    new
        The number of catalogs that are new to the archive.
    catalogs
        The imported catalogs, in order of dependency.
    """

    events: int
    new: int
    catalogs: tuple[ImportedCatalog, ...]

    def __str__(self) -> str:
        lines = [f"{self.events} events, {len(self.catalogs)} datasets, {self.new} new catalogs"]
        words_by_how = {
            "exact": "exact: their sources are fully known",
            "inside": "inside: their sources are a subset of others",
            "base": "base: independent sets",
        }
        for how, words in words_by_how.items():
            catalogs = [catalog for catalog in self.catalogs if catalog.how == how]
            if catalogs:
                lines.append(f"{len(catalogs)} {words}")
                lines += [
                    f"  {catalog.dataset}" + (f": {catalog.missing}" if catalog.missing else "") for catalog in catalogs
                ]
        return "\n".join(lines)


def import_lineage(
    archive: Archive,
    file: IO[bytes],
    *,
    key: str | Sequence[str] = (),
    population: str = "",
    exact: bool = False,
    prefix: str = "",
) -> Imported:
    """Read OpenLineage events and store their datasets as catalogs: all of them, or none.

    Only stated facts are claimed. A dataset whose key comes unchanged from other datasets, according to column lineage,
    lies inside them, and inside the conditions under which they are read. If the SQL of a job says which rows a dataset
    holds, and provenn understands it, the dataset is exact. Every other dataset is an independent set.
    The file is assumed to mention all jobs that write a dataset, and a dataset with a single version is assumed to be a
    single set.

    Parameters
    ----------
    archive
        The archive.
    file
        Events in JSON, one per line or in an array.
    key
        The columns that identify a source, in every dataset that has all of them.
    population
        The population of these datasets; by default, it has the name of the key.
    exact
        Whether to assume that a dataset has all the sources that conditions, joins and queries allow and no others,
        and that joins on the key are inner joins.
    prefix
        The prefix for the names of the catalogs.

    Raises
    ------
    LineageError
        If an event cannot be read; the message contains the number of the event.
    CatalogNameError
        If a name belongs to another catalog.
    """
    if population and not key:
        raise LineageError("a population needs a key", hint="name the columns that identify a source")
    claims = gather_events(read_events(file))
    columns = (key,) if isinstance(key, str) else tuple(key)
    database = archive.context.database  # the whole import is a single transaction
    wanted = sorted(_find_population_names(claims) | {population or " ".join(columns)} - {""})
    with database.reading() as reading:
        known = _read_populations(reading, wanted)
    # Understanding many events takes long, so it happens outside the transaction.
    lookups = _PopulationLookups(database)
    understood = understand_datasets(claims, Assumptions(columns, population, exact, known, lookups.find))
    with database.writing() as writing:
        current = _read_populations(writing, wanted)
        if current != known or lookups.have_changed(writing):  # another user defined a population meanwhile
            assumptions = Assumptions(
                columns, population, exact, current, lambda name: populations.find_population(writing, name)
            )
            understood = understand_datasets(claims, assumptions)
        new = catalog_store.add_catalogs(writing, *(result.definition for result in understood)) if understood else 0
        names_by_dataset = _choose_names(understood, claims, prefix)
        for result in understood:
            for name in names_by_dataset[result.dataset]:
                catalog_names.assign_name(writing, name, result.definition.digest)
    return Imported(
        claims.events,
        new,
        tuple(
            ImportedCatalog(
                str(result.dataset),
                names_by_dataset[result.dataset],
                result.definition.digest,
                result.how,
                result.missing,
            )
            for result in understood
        ),
    )


class _PopulationLookups:
    """Populations of the archive that queries ask for, each looked up in a transaction of its own."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.answers: dict[str, Population | None] = {}

    def find(self, name: str) -> Population | None:
        """Return the population with a name, or None."""
        if name not in self.answers:
            with self.database.reading() as reading:
                self.answers[name] = populations.find_population(reading, name)
        return self.answers[name]

    def have_changed(self, reading: Reading) -> bool:
        """Tell whether a later transaction finds other populations."""
        return any(populations.find_population(reading, name) != known for name, known in self.answers.items())


def _read_populations(reading: Reading, wanted: Sequence[str]) -> dict[str, Population]:
    """Return the populations with these names in the archive."""
    return {name: population for name in wanted if (population := populations.find_population(reading, name))}


def _find_population_names(claims: GatheredEvents) -> set[str]:
    """Return the names of the populations in the events."""
    facets = (dataset_claims.facets.get("provenn_population") for dataset_claims in claims.datasets.values())
    return {str(facet["population"]) for facet in facets if isinstance(facet, dict) and facet.get("population")}


def _choose_names(
    understood: Sequence[UnderstoodDataset], claims: GatheredEvents, prefix: str
) -> dict[Dataset, tuple[str, ...]]:
    """Return names for datasets: their own names, with namespace and version where names collide.

    An invalid name is dropped.
    """
    name_counts = Counter(result.dataset.name for result in understood)
    versions = Counter((result.dataset.namespace, result.dataset.name) for result in understood)
    names_by_dataset = {}
    for result in understood:
        dataset = result.dataset
        match claims.datasets[dataset].facets.get("provenn_population"):
            case {"names": [*stated_names]}:
                wanted = [str(name) for name in stated_names]
            case _ if name_counts[dataset.name] == 1:
                wanted = [dataset.name]
            case _:
                alone = versions[dataset.namespace, dataset.name] == 1
                wanted = [str(dataset if not alone else Dataset(dataset.namespace, dataset.name))]
        names_by_dataset[dataset] = tuple(prefix + name for name in wanted if _is_valid_name(prefix + name))
    return names_by_dataset


def _is_valid_name(name: str) -> bool:
    try:
        catalog_names.check_new_name(name)
    except CatalogNameError:
        return False
    return True
