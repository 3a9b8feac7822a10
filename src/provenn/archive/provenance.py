"""The provenance of a catalog: the files, calculations and facts of the lineage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from provenn.catalogs import Base, Catalog, cone, list_bases
from provenn.catalogs.formulas import Formula
from provenn.database.transactions import Reading
from provenn.definitions import base_locations
from provenn.digests import CatalogDigest
from provenn.files.evidence import describe_basis
from provenn.knowledge import stored_facts, verified_keys
from provenn.knowledge.stored_facts import Fact
from provenn.words.vocabulary import Vocabulary, name_facts

__all__ = ["BaseFiles", "Calculation", "Provenance", "trace_provenance"]


@dataclass(frozen=True, slots=True)
class BaseFiles:
    """The files of a base catalog as last seen; the files are not read.

    Attributes
    ----------
    name, digest
        The name and the digest of the catalog.
    location, format
        The place and the format of the files.
    files, rows
        The number of files, and of rows; rows are None if never counted.
    fingerprint
        The digest of the evidence that the files are unchanged.
    known_by
        The kind of this evidence, in words.
    key
        The columns that identify a source.
    verified
        Whether all keys were read, and are unique and never NULL.
    seen_at, seen_by
        The time of the last inspection, and the person.
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
    """A calculation of derived attributes in a lineage.

    Attributes
    ----------
    catalog
        The name of the derived catalog.
    attributes
        The derived attributes.
    language
        ``"SQL"`` or ``"Python"``.
    text
        The expression as it was written, or the import path of the function.
    version, parameters
        The registered version and parameters of a function; may be empty.
    hash
        For a function: the SHA-256 of the source of its module. For SQL: the identity of the attribute.
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
    """The provenance of a catalog.

    Attributes
    ----------
    bases
        The base files of the lineage.
    calculations
        The calculations of the lineage, nearest to the files first.
    facts
        The declared or observed facts about catalogs of the lineage, with names in their statements.
    """

    bases: tuple[BaseFiles, ...]
    calculations: tuple[Calculation, ...]
    facts: tuple[Fact, ...]


def trace_provenance(reading: Reading, catalog: Catalog, user_names: dict[CatalogDigest, str]) -> Provenance:
    """Return the provenance of a catalog of the archive; `user_names` maps the digest to the user's name."""
    lineage = cone(catalog)
    base_catalogs = list_bases(lineage)
    formulas = {member.digest: member.formulas() for member in lineage}
    deriving = [digest for digest, own_formulas in formulas.items() if own_formulas]
    vocabulary = Vocabulary.of(reading, [*(base.digest for base in base_catalogs), *deriving], user_names)
    digests = frozenset(member.digest for member in lineage)
    touching = stored_facts.find_facts_touching(reading, [base.digest for base in base_catalogs])
    about = [fact for fact in touching if not digests.isdisjoint(fact.statement.labels)]
    return Provenance(
        _describe_base_files(reading, base_catalogs, vocabulary),
        tuple(_name_formula(formula, vocabulary.word(digest)) for digest in deriving for formula in formulas[digest]),
        tuple(name_facts(reading, about)),
    )


def _describe_base_files(reading: Reading, base_catalogs: list[Base], vocabulary: Vocabulary) -> tuple[BaseFiles, ...]:
    """Return the last seen state of the files of base catalogs."""
    digests = [base.digest for base in base_catalogs]
    seen, verified = (
        base_locations.find_base_locations(reading, digests),
        verified_keys.find_verified_counts(reading, digests),
    )
    return tuple(
        BaseFiles(
            vocabulary.word(base.digest),
            base.digest,
            seen[base.digest].location,
            base.files.format,
            len(base.files.fingerprints),
            verified.get(base.digest, seen[base.digest].row_count),
            base.files.digest,
            describe_basis(base.files),
            base.key,
            base.digest in verified,
            seen[base.digest].seen_at,
            seen[base.digest].seen_by,
        )
        for base in base_catalogs
    )


def _name_formula(formula: Formula, name: str) -> Calculation:
    """Return a formula of a catalog as a calculation; `name` is the name of the catalog."""
    return Calculation(
        name,
        formula.attributes,
        formula.language,
        formula.text,
        formula.version,
        formula.parameters,
        formula.hash,
    )
