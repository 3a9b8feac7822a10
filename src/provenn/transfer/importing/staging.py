"""Reading a portable file to the end and restoring all catalogs, before anything is written.

This takes most of the time of an import, and no process waits meanwhile: no transaction is open. The result is in the
memory of this process alone. So no reader sees an incomplete import, and a dying process leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby, islice
from typing import Any, BinaryIO

from provenn.catalogs import Base, Catalog, list_bases
from provenn.catalogs.population import Population
from provenn.catalogs.restoring import cone, restore
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.definitions.attributes import format_schema_names, list_new_attributes
from provenn.definitions.wordings import format_wording
from provenn.digests import CatalogDigest, canonical_json
from provenn.files.data_folder import DataFolder
from provenn.transfer.importing.held_catalogs import refuse_missing
from provenn.transfer.importing.mocs import take_mocs
from provenn.transfer.portable_files import KINDS, Line, parse_moment, parse_text, read_lines, select_portable_notes

__all__ = ["StagedBaseFiles", "StagedDefinition", "StagedFile", "stage_file"]

_AT_ONCE = 500

OpenReading = Callable[[], AbstractContextManager[Reading]]
"""A function that begins a reading transaction."""

_Creations = tuple[tuple[datetime, str], ...]

_LISTED = frozenset(["by", "on"])
"""The notes that are lists of names: of attributes that refer, or that group."""


@dataclass(frozen=True, slots=True)
class StagedBaseFiles:
    """The description of a base catalog's files in a portable file, with the last sighting."""

    location: str
    row_count: int | None
    content: str
    caveat: str
    is_recorded: bool
    seen: tuple[datetime, str]


@dataclass(frozen=True, slots=True)
class StagedDefinition:
    """A restored definition with a correct digest, as values for the rows.

    Parameters
    ----------
    line
        The line of the definition without its content, for messages.
    digest, kind, population, parameters, notes, extent
        The columns of the row.
    schema
        The names of the attributes, as the text that the database holds.
    dependencies
        The digests of the dependencies.
    attributes
        The names and identities of the attributes that the catalog defines.
    wording
        The words that people wrote when they defined the catalog.
    created
        Time and person of each definition, the first first.
    computed_by
        The people for whose runs alone the exporting archive held the catalog.
    files
        The description of its files; None if the catalog is not a base catalog.
    bases
        The digests of the base catalogs in the lineage.
    """

    line: Line
    digest: CatalogDigest
    kind: str
    population: str
    parameters: str
    notes: str
    extent: str
    schema: str
    dependencies: tuple[CatalogDigest, ...]
    attributes: tuple[tuple[str, str], ...]
    wording: str
    created: _Creations
    computed_by: frozenset[str]
    files: StagedBaseFiles | None
    bases: frozenset[CatalogDigest]


@dataclass(slots=True)
class StagedFile:
    """The contents of a portable file, read completely and checked.

    Attributes
    ----------
    definitions
        The definitions, by digest; each after its dependencies.
    populations
        The populations of the definitions.
    outside
        The dependencies of definitions that are in the archive and not in the file.
    lines
        All other lines, by kind, in order.
    mocs
        The number of large MOCs that were new, and that the data folder held.
    """

    definitions: dict[CatalogDigest, StagedDefinition] = field(default_factory=dict)
    populations: set[Population] = field(default_factory=set)
    outside: dict[CatalogDigest, Catalog] = field(default_factory=dict)
    lines: dict[str, list[Line]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    mocs: tuple[int, int] = (0, 0)


def stage_file(reading: OpenReading, file: BinaryIO, name: str, folder: DataFolder | None) -> StagedFile:
    """Read a portable file to the end, and restore the catalogs.

    Parameters
    ----------
    reading
        Begins a transaction, to look up dependencies that are not in the file.
    file, name
        The file, and its name for messages.
    folder
        The data folder for large MOCs. They are written there at once: until a definition names one, it is garbage.

    Raises
    ------
    FileError
        If the file cannot be read, or anything in it is not valid.
    """
    staged = StagedFile()
    restored: dict[CatalogDigest, Catalog] = {}
    for kind, lines in groupby(read_lines(file, name), key=lambda line: line.kind):
        while batch := list(islice(lines, 1 if kind == "moc" else _AT_ONCE)):  # a MOC may be large
            if kind == "moc":
                new_count = take_mocs(folder, batch)
                staged.mocs = (staged.mocs[0] + new_count, staged.mocs[1] + len(batch) - new_count)
            elif kind == "definition":
                _look_outside(reading, staged, restored, batch)
                for line in batch:
                    _stage_definition(staged, restored, line)
            else:
                staged.lines[kind] += batch
    return staged


def _look_outside(
    reading: OpenReading, staged: StagedFile, restored: dict[CatalogDigest, Catalog], lines: Sequence[Line]
) -> None:
    """Restore the dependencies of some definitions from the archive, if missing from the file."""
    batch_digests = {line.get_text("digest") for line in lines}
    missing = {
        digest: line
        for line in lines
        for digest in _read_dependencies(line)
        if digest not in restored and digest not in batch_digests
    }
    if not missing:
        return
    with reading() as transaction:
        refuse_missing(transaction, missing)
        staged.outside |= catalog_store.get_catalogs(transaction, list(missing))
    restored |= staged.outside


def _stage_definition(staged: StagedFile, restored: dict[CatalogDigest, Catalog], line: Line) -> None:
    """Restore the catalog of a line, check the digest, and add the rows to the staged file."""
    digest = CatalogDigest(line.get_text("digest"))
    if digest in staged.definitions:
        raise line.make_error("it occurs twice")
    dependencies = _read_dependencies(line)
    for dependency in dependencies:
        if dependency not in restored:
            raise line.make_error(f"there is no catalog {dependency[:64]!r} before it")
    with line.report_errors("definition"):
        catalog = restore(
            line.get_text("kind"),
            line.get_mapping("parameters"),
            _read_notes(line),
            [restored[dependency] for dependency in dependencies],
        )
        if catalog.digest != digest:
            raise line.make_error("its digest does not match its content")
        if isinstance(catalog, Base):
            catalog.files.check_allowed()
        catalog.check_consistency()
    restored[digest] = catalog
    staged.populations.add(catalog.population)
    staged.definitions[digest] = StagedDefinition(
        Line(line.number, line.kind, {}),
        digest,
        catalog.kind,
        catalog.population.name,
        canonical_json(catalog.parameters()),
        canonical_json(catalog.notes()),
        catalog.extent.digest,
        format_schema_names(catalog),
        dependencies,
        tuple(list_new_attributes(catalog)),
        format_wording(catalog),
        _read_creations(line),
        _read_computed_by(line),
        _describe_files(catalog, line),
        _find_bases(staged, catalog),
    )


def _find_bases(staged: StagedFile, catalog: Catalog) -> frozenset[CatalogDigest]:
    """Return the digests of the base catalogs in a lineage; most catalogs share the set of a dependency."""
    if isinstance(catalog, Base):
        return frozenset({catalog.digest})
    base_digests: frozenset[CatalogDigest] = frozenset()
    for dependency in catalog.dependencies:
        staged_definition = staged.definitions.get(dependency.digest)
        bases = staged_definition.bases if staged_definition is not None else frozenset(find_base_digests(dependency))
        base_digests = (
            base_digests if bases <= base_digests else bases if base_digests <= bases else base_digests | bases
        )
    return base_digests


def find_base_digests(catalog: Catalog) -> Iterable[CatalogDigest]:
    """Return the digests of the base catalogs in the lineage of a catalog."""
    return (member.digest for member in list_bases(cone(catalog)))


def _describe_files(catalog: Catalog, line: Line) -> StagedBaseFiles | None:
    """Return the description of a base catalog's files; None for other catalogs."""
    if not isinstance(catalog, Base):
        return None
    with line.report_errors("seen"):
        at, person = line.get_list("seen")
        seen = (parse_moment(at), parse_text(person))
    files = catalog.files
    return StagedBaseFiles(
        files.location, files.row_count, files.content, files.caveat or "", bool(files.contents), seen
    )


def _read_dependencies(line: Line) -> tuple[CatalogDigest, ...]:
    """Return the digests of the dependencies of a definition."""
    digests: tuple[CatalogDigest, ...] = line.get_value(
        "dependencies", lambda values: tuple(CatalogDigest(parse_text(value)) for value in values)
    )
    return digests


def _read_creations(line: Line) -> _Creations:
    """Return time and person of each definition of a catalog."""
    with line.report_errors("created"):
        created = tuple((parse_moment(at), parse_text(person)) for at, person in line.get_list("created"))
    if not created:
        raise line.make_error("its author is missing")
    return created


def _read_computed_by(line: Line) -> frozenset[str]:
    """Return the people for whose runs alone the exporting archive held a catalog; older files do not say."""
    if "computed_by" not in line.content:
        return frozenset()
    with line.report_errors("computed_by"):
        return frozenset(map(parse_text, line.get_list("computed_by")))


def _read_notes(line: Line) -> dict[str, Any]:
    """Return the notes of a definition, which no digest covers: texts, lists of texts, texts by name, a row count."""
    notes = select_portable_notes(line.get_mapping("notes"))
    for key, value in notes.items():
        texts = value.values() if isinstance(value, dict) and key not in ("text", "location") else [value]
        texts = value if isinstance(value, list) and key in _LISTED else texts
        is_count = key == "row_count" and (value is None or (type(value) is int and value >= 0))
        if not is_count and not all(isinstance(text, str) for text in texts):
            raise line.make_error(f"its {key} is invalid")
    return notes
