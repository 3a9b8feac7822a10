"""Where a catalog comes from: the files at the bottom of its lineage, the calculators on the way, and the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from provenn.archive.words import Vocabulary, in_names
from provenn.catalogs import Base, Catalog, DeriveAttributes, PythonCalculator, cone
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.caveats import basis_words
from provenn.store import bases, facts, verifications
from provenn.store.database import Reading
from provenn.store.facts import Fact

__all__ = ["BaseFiles", "Calculation", "Provenance", "provenance_of"]


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """The files of a base catalog, as they were last seen. They are not looked at.

    Attributes
    ----------
    name, digest
        The catalog.
    location, format
        Where they are, and what.
    files, rows
        How many; rows are None if nobody has counted them.
    fingerprint
        The digest of all that tells whether they are still the same.
    known_by
        What that is made from, in words.
    key
        The columns that identify a source.
    verified
        Whether all keys were read, and found to be unique and never NULL.
    seen_at, seen_by
        When they were seen, and by whom.
    """

    name: str
    digest: str
    location: str
    format: str
    files: int
    rows: int | None
    fingerprint: str
    known_by: str
    key: tuple[str, ...]
    verified: bool
    seen_at: datetime
    seen_by: str


@dataclass(frozen=True, slots=True)
class Calculation:
    """What derives attributes somewhere in a lineage.

    Attributes
    ----------
    catalog
        Where it does, by name.
    attributes
        What it derives.
    language
        ``"SQL"`` or ``"Python"``.
    text
        The expression as it was written, or the import path of the function.
    version, parameters
        Of a function: as it was registered; may be empty.
    hash
        Of a function: the SHA-256 of the source of its module. Of SQL: the identity of the attribute.
    """

    catalog: str
    attributes: tuple[str, ...]
    language: str
    text: str
    version: str
    parameters: str
    hash: str


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a catalog comes from.

    Attributes
    ----------
    bases
        The files it is made from in the end.
    calculations
        What derives attributes in its lineage, those nearest to the files first.
    facts
        The facts, declared or observed, about catalogs of its lineage; names are in their statements.
    """

    bases: tuple[BaseFiles, ...]
    calculations: tuple[Calculation, ...]
    facts: tuple[Fact, ...]


def provenance_of(reading: Reading, catalog: Catalog, asked: dict[str, str]) -> Provenance:
    """Return where a catalog of the archive comes from; `asked` is what the user calls it, by digest."""
    lineage = cone(catalog)
    found = [one for one in lineage if isinstance(one, Base)]
    deriving = [one for one in lineage if isinstance(one, DeriveAttributes)]
    vocabulary = Vocabulary.of(reading, [one.digest for one in (*found, *deriving)], asked)
    digests = frozenset(one.digest for one in lineage)
    touching = facts.facts_touching(reading, [one.digest for one in found])
    about = [one for one in touching if not digests.isdisjoint(one.statement.labels)]
    return Provenance(
        _base_files(reading, found, vocabulary),
        tuple(said for one in deriving for said in _calculations(one, vocabulary.word(one.digest))),
        tuple(in_names(reading, about)),
    )


def _base_files(reading: Reading, found: list[Base], vocabulary: Vocabulary) -> tuple[BaseFiles, ...]:
    digests = [one.digest for one in found]
    seen, verified = bases.all_last_seen(reading, digests), verifications.verified(reading, digests)
    return tuple(
        BaseFiles(
            vocabulary.word(one.digest),
            one.digest,
            seen[one.digest].location,
            one.files.format,
            len(one.files.fingerprints),
            verified.get(one.digest, seen[one.digest].row_count),
            one.files.digest,
            basis_words(one.files),
            one.key,
            one.digest in verified,
            seen[one.digest].seen_at,
            seen[one.digest].seen_by,
        )
        for one in found
    )


def _calculations(catalog: DeriveAttributes, name: str) -> Iterator[Calculation]:
    match catalog.calculation:
        case PythonCalculator() as called:
            parameters = called.keywords if called.parameters else ""
            yield Calculation(name, called.names, "Python", called.function, called.version, parameters, called.source)
        case Expressions(outputs=outputs):
            for one in outputs:
                identity = catalog.schema[one.name].identity
                yield Calculation(name, (one.name,), "SQL", one.words, "", "", identity)
