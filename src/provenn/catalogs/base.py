"""The catalog class without dependencies: the rows of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from os import PathLike
from typing import Self

from provenn.catalogs.catalog import Catalog, Facts, Parameters, make_inconsistency_error
from provenn.catalogs.exchange_options import ExchangeForm, ExchangeOptions
from provenn.catalogs.extent import Extent, intersection, leaf
from provenn.catalogs.extent import union as join_extents
from provenn.catalogs.former_rows import FormerRows
from provenn.catalogs.population import Population
from provenn.catalogs.profile import ClassProfile
from provenn.catalogs.schema import Attribute, Schema, make_own_identity
from provenn.catalogs.set_labels import make_file_label
from provenn.criteria import DefinedAttribute, matching_names
from provenn.digests import CatalogDigest
from provenn.errors import AttributeNotFoundError, DefinitionError, KeyColumnsError
from provenn.files.column_bounds import ColumnBounds, decode_bounds, encode_bounds, join_bounds
from provenn.files.column_statistics import encode_statistics, join_statistics
from provenn.files.columns import FileColumn
from provenn.files.evidence import describe_basis
from provenn.files.file_records import encode_files, restore_files
from provenn.files.file_set import Files
from provenn.files.row_keys import add_row_key
from provenn.files.snapshots import read_table_note
from provenn.files.type_names import restore_type
from provenn.hints import Hint
from provenn.logic import Statement, difference, equal, union
from provenn.logic.terms import Op, chain, term

__all__ = ["INGEST", "Base", "list_bases"]

INGEST = "ingest"
"""The verb of a base catalog in exchanged definitions."""

_NAME_KEY = Hint(
    "without a key, each row of a file is a source of a population of its own: name the key columns, or choose a new "
    "population",
    command="without a key, each row of a file is a source of a population of its own: name the columns with --key, or "
    "choose a new --population",
)

_INTEGRAL = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Base(Catalog):
    """The rows of files.

    The class takes on trust that the key is unique and never NULL. The reader of the data checks this.

    Parameters
    ----------
    population
        What one row is.
    key
        The columns that identify a source, in the order of the population's key.
    files
        The files.
    part_of
        The digest of the base catalog of these files and others, if this one is a part of it that a later version
        shares. The sources and values of the files are those of that catalog. Otherwise None.
    gone
        For a part: the fingerprints of the other files of that catalog, sorted.
    continues
        The digest of the base catalog whose attributes these files have, if they were appended to it: no key of these
        files is a key of any other base catalog of the archive with these attributes, so that a source has one value.
        Otherwise None, and the attributes are new.
    joins
        The base catalogs whose files these are, if they were appended one after the other at one place: the digest of
        each, with the fingerprints of its files, sorted. Otherwise empty.
    rewrites
        The former rows that these files hold, if the log of a table says that they were only written anew
        (`provenn.archive.rewritten_files`): the sources and values are those of the former files. Otherwise empty.
    """

    profile = ClassProfile(word="base", shape="drum", verbs=(INGEST,), part_counts=range(0), makes_base_set=True)
    population: Population
    key: tuple[str, ...]
    files: Files
    part_of: CatalogDigest | None = None
    gone: tuple[str, ...] = ()
    continues: CatalogDigest | None = None
    joins: tuple[tuple[CatalogDigest, tuple[str, ...]], ...] = ()
    rewrites: tuple[FormerRows, ...] = ()

    @classmethod
    def of(cls, files: Files, *, key: str | Sequence[str] | None, population: str | Population) -> Self:
        """Define a catalog of the rows of files.

        Parameters
        ----------
        files
            The files.
        key
            The column or columns that identify a source. With None a source is a row of a file, identified by the
            content of the file and the position of the row (`provenn.files.row_keys`).
        population
            What one row is. A name alone makes a population with the types of the key in the files.

        Raises
        ------
        AttributeNotFoundError
            If a key column does not exist.
        KeyColumnsError
            If the columns cannot be the key of the population.
        """
        if key is None:
            files = add_row_key(files)
            key = files.row_key
        columns = {column.name: column for column in files.columns}
        key_columns = [_find_column(name, columns) for name in ([key] if isinstance(key, str) else key)]
        for column in key_columns:
            if key_columns.count(column) > 1:
                raise KeyColumnsError(f"the key column {column.name} is named twice")
            if not column.type.scalar:
                raise KeyColumnsError(
                    f"the key column {column.name} has the type {column.type}, whose values cannot be compared"
                )
        if isinstance(population, str):
            population = Population(population, tuple(column.type for column in key_columns))
        _check_key(key_columns, population, is_row_key=bool(files.row_key))
        return cls(population, tuple(column.name for column in key_columns), files)

    @property
    def dependencies(self) -> tuple[Catalog, ...]:
        """An empty tuple."""
        return ()

    def moved(self, location: str | PathLike[str]) -> Self:
        """Return the same catalog with its files at a new location."""
        return replace(self, files=self.files.moved(location))

    def take(
        self, prints: Mapping[str, str], location: str, *, is_choice: bool = True, table: str | None = None
    ) -> Self:
        """Return the part of this catalog with some of its files; with all files, this catalog at a new location.

        Parameters
        ----------
        prints
            The fingerprints of the files of the part, by their names at the location.
        location
            The location.
        is_choice
            Whether the location may hold other files as well.
        table
            For the folder of a table with a log, its kind and version; empty for any other. None if it stays the same.
        """
        # Files without rows may have the same fingerprint, so the fingerprints are counted.
        left = Counter(text for _, text in self.files.fingerprints) - Counter(prints.values())
        gone = sorted([*self.gone, *left.elements()])
        files = self.files.take(prints, location, is_choice=is_choice, table=table)
        return replace(self, files=files, part_of=self.part_of or self.digest if gone else None, gone=tuple(gone))

    @property
    def origin(self) -> CatalogDigest:
        """The digest of the base catalog that defines the attributes."""
        return self.continues or self.part_of or self.digest

    def continue_base(self, origin: CatalogDigest) -> Self:
        """Return these files with the attributes of the base catalog to which they are appended.

        The caller makes sure that no other base catalog with these attributes has one of the keys.
        """
        return replace(self, continues=origin)

    def list_former_rows(self, fingerprints: Collection[str] | None = None) -> tuple[FormerRows, ...]:
        """Return the rows of this catalog, or of some of its files, as other files may hold them later.

        They are stated over base catalogs whose files were not written anew, so that a further compaction states no
        longer chain.
        """
        whole = self.part_of or self.digest
        gone = tuple(make_file_label(whole, text) for text in self.gone)
        chosen = (
            None if fingerprints is None else tuple(sorted({make_file_label(whole, text) for text in fingerprints}))
        )
        rows = self.rewrites or (FormerRows(whole),)
        return tuple(
            FormerRows(
                former.base,
                tuple(sorted({*former.without, *gone})),
                former.within if chosen is None else (*former.within, chosen),
            )
            for former in rows
        )

    def rewrite(self, origin: CatalogDigest, rows: Sequence[FormerRows]) -> Self:
        """Return these files with the sources and attributes of former files, which had the same rows.

        The caller makes sure that all former files have the attributes of the base catalog `origin`.
        """
        return replace(self, continues=origin, rewrites=tuple(sorted(rows)))

    def fits_columns(self, other: Base) -> bool:
        """Return whether another base catalog has the same key and columns, with the same types and units."""
        return (self.key, self.population, _list_column_types(self)) == (
            other.key,
            other.population,
            _list_column_types(other),
        )

    def can_join(self, other: Base) -> bool:
        """Return whether the files of this catalog and of another are read alike, from one place."""
        return (
            self.origin == other.origin
            and self.part_of is None
            and other.part_of is None
            and not self.rewrites
            and not other.rewrites
            and _describe_reading(self.files) == _describe_reading(other.files)
            and self.fits_columns(other)
        )

    def join(self, other: Base) -> Self:
        """Return the base catalog of the files of this catalog and of another, which `can_join` allows."""
        prints = {**dict(self.files.fingerprints), **dict(other.files.fingerprints)}
        rows = (self.files.row_count, other.files.row_count)
        files = replace(
            self.files.take(prints, self.files.location),
            columns=other.files.columns,
            row_count=None if None in rows else sum(filter(None, rows)),
            statistics=encode_statistics(
                join_statistics([self.files.column_statistics, other.files.column_statistics])
                if self.files.statistics and other.files.statistics
                else {}
            ),
            bounds=encode_bounds(join_bounds([_decode_bounds(self.files), _decode_bounds(other.files)])),
        )
        return replace(self, files=files, continues=self.origin, joins=(*self._list_joined(), *other._list_joined()))

    def list_parts(self) -> tuple[Base, ...]:
        """Return the base catalogs that were joined, in order; this catalog alone if none were."""
        return _split_joined(self, self.files) if self.joins else (self,)

    def find_parts(self, digests: Collection[CatalogDigest]) -> tuple[Self, ...]:
        """Return some of the base catalogs that were joined, by their digests, in order."""
        names: dict[str, list[str]] = {}
        for name, text in reversed(self.files.fingerprints):
            names.setdefault(text, []).append(name)
        # Files without rows may have the same fingerprint: each catalog takes as many of them as it has.
        prints = [(digest, {names[text].pop(): text for text in texts}) for digest, texts in self.joins]
        wanted = frozenset(digests)
        return tuple(
            replace(
                self,
                files=self.files.take(own, self.files.location),
                continues=None if digest == self.continues else self.continues,
                joins=(),
            )
            for digest, own in prints
            if digest in wanted
        )

    def _list_joined(self) -> tuple[tuple[CatalogDigest, tuple[str, ...]], ...]:
        return self.joins or ((self.digest, tuple(sorted(text for _, text in self.files.fingerprints))),)

    def parameters(self) -> Parameters:
        """Return population, key and files; files are identified by their content."""
        identity, _ = encode_files(self.files)
        types = [str(kind) for kind in self.population.key]
        # Base catalogs of older archives have no parts, and were not appended to others.
        part = {"part_of": self.part_of, "gone": list(self.gone)} if self.part_of else {}
        grown = {"continues": self.continues} if self.continues else {}
        joined = {"joins": [[digest, list(texts)] for digest, texts in self.joins]} if self.joins else {}
        rewritten = {"rewrites": [former.to_json() for former in self.rewrites]} if self.rewrites else {}
        return {
            **identity,
            "key": list(self.key),
            "population": [self.population.name, types],
            **part,
            **grown,
            **joined,
            **rewritten,
        }

    def notes(self) -> Parameters:
        """Return the location, fingerprints and descriptions of the files."""
        return encode_files(self.files)[1]

    @classmethod
    def restored(cls, parameters: Parameters, notes: Parameters, dependencies: Sequence[Catalog]) -> Self:  # noqa: ARG003
        """Return the catalog with these parameters and notes."""
        name, types = parameters["population"]
        population = Population(name, tuple(map(restore_type, types)))
        files = restore_files(parameters, notes)
        return cls(
            population,
            tuple(parameters["key"]),
            files,
            parameters.get("part_of"),
            tuple(parameters.get("gone", ())),
            parameters.get("continues"),
            tuple((digest, tuple(texts)) for digest, texts in parameters.get("joins", ())),
            tuple(FormerRows.from_json(former) for former in parameters.get("rewrites", ())),
        )

    def check_consistency(self) -> None:
        """Make sure that a part shares its files with the catalog that it names.

        The content decides: the fingerprints of both sets of files, with the rest of the definition, give the digest of
        that catalog. So nobody can give the values of one file to the sources of another. The same holds for the
        catalogs that were joined.
        """
        if self.joins:
            self._check_joined()
        if self.rewrites and (self.joins or self.continues is None or not all(map(FormerRows.is_sound, self.rewrites))):
            raise make_inconsistency_error("the former rows of its files are not rows of files")
        if self.part_of is None and not self.gone:
            return
        prints = {**dict(self.files.fingerprints), **{f"/gone/{number}": text for number, text in enumerate(self.gone)}}
        whole = replace(self, files=self.files.take(prints, self.files.location), part_of=None, gone=())
        if not self.gone or not self.files.agrees() or whole.digest != self.part_of:
            raise make_inconsistency_error("its files are not a part of the files of the catalog that it names")

    def _check_joined(self) -> None:
        own = sorted(text for _, text in self.files.fingerprints)
        listed = sorted(text for _, texts in self.joins for text in texts)
        is_sound = self.part_of is None and self.continues is not None and len(self.joins) > 1
        if (
            not is_sound
            or own != listed
            or not self.files.agrees()
            or [part.digest for part in self.list_parts()] != [digest for digest, _ in self.joins]
        ):
            raise make_inconsistency_error("its files are not those of the catalogs that it joins")

    @classmethod
    def local_statement(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest]) -> Statement | None:  # noqa: ARG003
        """Return None: a base is a fresh set."""
        return None

    @classmethod
    def new_attributes_of(cls, digest: CatalogDigest, parameters: Parameters) -> tuple[DefinedAttribute, ...]:
        """Return the columns of the files; the types of the key are those of the population."""
        name, types = parameters["population"]
        population = Population(name, tuple(map(restore_type, types)))
        key: list[str] = parameters["key"]
        columns = (
            DefinedAttribute(
                make_own_identity(parameters.get("continues") or parameters.get("part_of") or digest, column),
                restore_type(kind),
                nullable,
            )
            for column, kind, nullable in parameters["columns"]
            if column not in key
        )
        identified = (
            DefinedAttribute(population.key_identity(position), kind, nullable=False)
            for position, kind in enumerate(population.key)
        )
        return *columns, *identified

    @classmethod
    def facts_of(cls, digest: CatalogDigest, dependencies: Sequence[CatalogDigest], parameters: Parameters) -> Facts:  # noqa: ARG003
        """Return, for a part, that it has the sources of the whole outside the files that are gone.

        For joined files: that they have the sources of the joined catalogs. For files that were written anew: that they
        have the sources of the former rows. Sound: a key occurs once in the files of a
        base catalog, so a source is in one of its files. That the joined catalogs share no source is said once for all
        base catalogs with the same attributes (`provenn.knowledge.consequences`).
        """
        joined = [part for part, _ in parameters.get("joins", ())]
        if joined:
            return (union(digest, *joined),), ()
        whole = parameters.get("part_of")
        labels = [make_file_label(whole, text) for text in parameters["gone"]] if whole else []
        former_rows = [FormerRows.from_json(former) for former in parameters.get("rewrites", ())]
        if former_rows:
            former_set = chain(Op.OR, tuple(former.term for former in former_rows))
            return (equal(digest, chain(Op.MINUS, (former_set, *map(term, labels)))),), ()
        if whole is None:
            return (), ()
        return (difference(digest, whole, *labels),), ()

    @classmethod
    def describe(cls, parameters: Parameters, notes: Parameters, parts: Sequence[str]) -> str:  # noqa: ARG003
        """Return the location of the files and the number of rows in words; and whether they hold former rows."""
        number = notes["row_count"]
        rows = "the rows" if number is None else f"{number:,} row{'' if number == 1 else 's'}"
        kind, _, version = read_table_note(notes).partition(" ")
        table = f", a {kind} table, first seen in version {version}" if kind else ""
        former = "; by its log, these are the rows of former files" if parameters.get("rewrites") else ""
        return f"{rows} of {notes['location']}{table}{former}"

    def show_parameters(self) -> Sequence[tuple[str, str]]:
        """Return what is known of the files."""
        files = self.files
        return (
            ("files", files.location),
            ("table", files.table),
            ("how many", str(len(files.fingerprints))),
            ("known by", describe_basis(files)),
            ("format", files.format),
            ("options", ", ".join(f"{name}={value}" for name, value in files.options)),
            ("rows", "" if files.row_count is None else f"{files.row_count:,}"),
            ("metadata", ", ".join(f"{name}={value}" for name, value in files.metadata)),
        )

    def exchange_form(self) -> ExchangeForm:
        """Return the verb alone: files are not exchanged."""
        return INGEST, {}

    @classmethod
    def from_exchange(cls, verb: str, options: ExchangeOptions, parts: Sequence[Catalog]) -> Catalog:  # noqa: ARG003
        """Raise an error: files define a base catalog, not catalogs."""
        raise DefinitionError(f"{verb!r} of {len(parts)} datasets is not a definition")

    def _build_population(self) -> Population:
        return self.population

    def _build_schema(self) -> Schema:
        return Schema(tuple(map(self._make_attribute, self.files.columns)))

    def _build_extent(self) -> Extent:
        if self.joins:
            return join_extents(leaf(digest) for digest, _ in self.joins)
        whole = join_extents(former.extent for former in self.rewrites) if self.rewrites else None
        if self.part_of is None:
            return whole or leaf(self.digest)
        gone = (~leaf(make_file_label(self.part_of, text)) for text in self.gone)
        return intersection([whole or leaf(self.part_of), *gone])

    def _make_attribute(self, column: FileColumn) -> Attribute:
        descriptions = (column.unit, column.description, column.ucd)
        if column.name not in self.key:
            identity = make_own_identity(self.origin, column.name)
            return Attribute(column.name, identity, column.type, column.nullable, *descriptions)
        # A row without a key is no source.
        position = self.key.index(column.name)
        kind = self.population.key[position]
        return Attribute(column.name, self.population.key_identity(position), kind, False, *descriptions)


def list_bases(catalogs: Iterable[Catalog]) -> list[Base]:
    """Return the base catalogs among some catalogs, in their order."""
    return [catalog for catalog in catalogs if isinstance(catalog, Base)]


@lru_cache(maxsize=8)
def _split_joined(base: Base, files: Files) -> tuple[Base, ...]:  # noqa: ARG001 - equal catalogs may have their files elsewhere
    """Return the base catalogs that were joined; remembered, because a version may have many."""
    return base.find_parts([digest for digest, _ in base.joins])


def _decode_bounds(files: Files) -> dict[str, ColumnBounds]:
    """Return the bounds of all columns of files, by name."""
    kinds = {column.name: column.type for column in files.columns}
    return {name: decode_bounds(text, kinds[name]) for name, text in files.bounds if name in kinds}


def _list_column_types(base: Base) -> list[tuple[str, str, bool, str]]:
    """Return what must be the same in files with the same attributes: names, types, NULLs and units of columns."""
    return [(column.name, str(column.type), column.nullable, column.unit) for column in base.files.columns]


def _describe_reading(files: Files) -> tuple[object, ...]:
    """Return what must be the same in files that are read together."""
    place = files.location, bool(files.table)
    return files.format, files.options, files.partitions, place, files.row_key, files.basis, files.was_late


def _find_column(name: str, columns: dict[str, FileColumn]) -> FileColumn:
    """Return the only column that matches a name."""
    matches = matching_names(name, columns)
    if len(matches) != 1:
        raise AttributeNotFoundError(name, columns, matches)
    return columns[matches[0]]


def _check_key(key_columns: Sequence[FileColumn], population: Population, *, is_row_key: bool) -> None:
    """Refuse key columns with types that differ from the population; integers may be narrower."""
    fits = len(key_columns) == len(population.key) and all(
        column.type == kind
        or (
            column.type.name in _INTEGRAL
            and kind.name in _INTEGRAL
            and _INTEGRAL.index(column.type.name) <= _INTEGRAL.index(kind.name)
        )
        for column, kind in zip(key_columns, population.key, strict=True)
    )
    if not fits:
        described = ", ".join(f"{column.name} {column.type}" for column in key_columns)
        raise KeyColumnsError(
            f"the key of the population {population} cannot be ({described})",
            hint=_NAME_KEY if is_row_key else "name the key columns in that order, or choose another population",
        )
