"""Catalogs of DataFrames: the plan of a DataFrame is read as a query, and its leaves as catalogs of the archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from provenn.archive.context import Context
from provenn.archive.new_catalogs import define_catalog, ingest_base
from provenn.archive.notices import Notice
from provenn.archive.querying import translate_node
from provenn.catalogs import Base, Catalog
from provenn.database.transactions import Reading
from provenn.definitions import base_locations, catalog_names, catalog_store
from provenn.errors import FilesMissingError, QueryError, UnknownCatalogError
from provenn.files.file_set import TABLE
from provenn.hints import Hint
from provenn.loaded_classes import is_loaded_instance

if TYPE_CHECKING:
    from provenn.queries.translation import Translation
    from provenn.queries.tree import Node
    from provenn.spark.plan_reading_leaves import KnownTable, SparkRelation

__all__ = ["Keys", "adopt_dataframe", "is_dataframe"]

Keys = Mapping[str, str | Sequence[str] | None]
"""The key of each table or file that the archive does not know, by its name or path; None for a key of its rows."""

_CLASSIC: Final = ("pyspark.sql.classic.dataframe", "DataFrame")
_CONNECT: Final = ("pyspark.sql.connect.dataframe", "DataFrame")
_EXACT_FORMATS: Final = ("parquet", "orc")
"""Formats whose files define their values; texts are read in one way by provenn, and in others by Spark."""
_HARMLESS_OPTIONS: Final = frozenset(
    {"path", "paths", "basepath", "mergeschema", "recursivefilelookup", "pathglobfilter", "modifiedbefore"}
    | {"modifiedafter", "serialization.format"}
)
"""Options that decide which files are read, and no values."""


def is_dataframe(value: object) -> bool:
    """Return whether a value is a DataFrame of Spark."""
    return is_loaded_instance(value, *_CLASSIC) or is_loaded_instance(value, *_CONNECT)


def adopt_dataframe(
    context: Context, dataframe: object, name: str | None, keys: Keys, tables: Mapping[str, Catalog]
) -> Translation:
    """Define the catalog of a DataFrame, and name the catalog; see `Archive.adopt`."""
    leaves = ArchiveLeaves(context, {key.lower(): catalog for key, catalog in tables.items()}, keys)
    node = _read_tree(dataframe, leaves)
    if leaves.missing:
        leaves.ingest_missing()  # only now: a DataFrame that cannot be read changes nothing
        node = _read_tree(dataframe, leaves)
    with context.database.reading() as reading:
        translation = translate_node(context, reading, node, leaves.used, is_request=True)  # its limit counts
    define_catalog(context, translation.catalog, name)
    label = name or "the DataFrame"
    context.workshop.notices.tell(Notice("not understood", f"{label}: {remark}") for remark in translation.remarks)
    return translation


def _read_tree(dataframe: object, leaves: ArchiveLeaves) -> Node:
    """Return the tree of a DataFrame."""
    if is_loaded_instance(dataframe, *_CLASSIC):
        from provenn.spark.plan_reading import read_dataframe  # noqa: PLC0415 - few archives adopt

        return read_dataframe(dataframe, leaves)
    if is_loaded_instance(dataframe, *_CONNECT):
        from provenn.spark.connect_reading import read_connect_dataframe  # noqa: PLC0415 - needs gRPC

        return read_connect_dataframe(dataframe, leaves)
    raise QueryError(
        f"expected a DataFrame of Spark, got a {type(dataframe).__module__}.{type(dataframe).__qualname__}",
        hint="ingest() takes tables in memory",
    )


@dataclass(slots=True)
class ArchiveLeaves:
    """The catalogs of an archive behind the leaves of a plan.

    Parameters
    ----------
    context
        The context of the archive.
    tables
        Catalogs by the names of tables and views, or the paths of files, in lower case.
    keys
        The keys of files and tables to ingest.
    used
        The catalogs of the leaves so far, by the names of the tables in the tree.
    missing
        Files and tables that are to be ingested, by the name of the new catalog, with their keys.
    """

    context: Context
    tables: Mapping[str, Catalog]
    keys: Keys
    used: dict[str, Catalog] = field(default_factory=dict)
    missing: dict[str, tuple[SparkRelation, str | Sequence[str] | None]] = field(default_factory=dict)

    def find_view(self, name: tuple[str, ...]) -> KnownTable | None:
        """Return the catalog given by the caller for a view, or marked by provenn on a DataFrame."""
        from provenn.spark.plan_reading_leaves import MARK  # noqa: PLC0415 - see above

        if name[-1].startswith(MARK):
            return self._know(name[-1], self.context.read(_find_marked, name[-1].removeprefix(MARK)))
        catalog = self.tables.get(".".join(name).lower()) or self.tables.get(name[-1].lower())
        return None if catalog is None else self._know(".".join(name), catalog)

    def find_relation(self, relation: SparkRelation) -> KnownTable:
        """Return the catalog of files or of a table of Spark.

        Raises
        ------
        QueryError
            If there is none, or if there are several.
        """
        from provenn.spark.plan_reading_leaves import KnownTable  # noqa: PLC0415 - see above

        catalogs = [self.tables[root.lower()] for root in relation.roots if root.lower() in self.tables]
        if len(catalogs) == 1 == len(relation.roots):
            return self._know(str(relation), catalogs[0])
        bases = self.context.read(_find_bases, relation)
        if len(bases) > 1:
            raise QueryError(
                f"several catalogs have the files of {relation}: {', '.join(sorted(bases))}",
                hint=Hint(f'say which one: tables={{"{relation}": "{min(bases)}"}}', command="remove the other names"),
            )
        for base in bases.values():
            self.context.workshop.check_bases([base])
            return self._know(str(relation), base)
        name = self._add_missing(relation)
        return KnownTable(name, relation.columns)  # read again after it was ingested

    def _know(self, name: str, catalog: Catalog) -> KnownTable:
        from provenn.spark.plan_reading_leaves import KnownTable  # noqa: PLC0415 - see above

        self.used[name] = catalog
        return KnownTable(name, tuple((attribute.name, str(attribute.type)) for attribute in catalog.schema.attributes))

    def _add_missing(self, relation: SparkRelation) -> str:
        """Note files or a table to ingest, and return the name of their catalog.

        Raises
        ------
        QueryError
            If the caller gives no key for them.
        """
        name = relation.name[-1] if relation.name else Path(relation.roots[0]).stem
        words = [str(relation), name, *relation.roots, ".".join(relation.name)]
        key_words = [word for word in words if word in self.keys]
        if not key_words:
            reason = "cannot be compared with a catalog" if _is_text(relation) else "are not known to the archive"
            raise QueryError(
                f"the data of {relation} {reason}",
                hint=Hint(
                    f'say what identifies a row: keys={{"{name}": ["id"]}}, or which catalog it is: '
                    f'tables={{"{relation}": "…"}}',
                    command="ingest the data first: provenn ingest NAME PATH --key COLUMN --population WORD",
                ),
            )
        if len(relation.roots) > 1:
            raise QueryError(
                f"the DataFrame reads {len(relation.roots)} paths at once", hint="ingest them by a folder or a pattern"
            )
        taken = self.context.read(catalog_names.find_named_digest, name)
        if taken is not None:
            raise QueryError(
                f"the name {name} is on another catalog than the data of {relation}",
                hint=Hint(
                    f'ingest the data with another name, and pass tables={{"{relation}": "…"}}',
                    command="ingest the data with another name",
                ),
            )
        self.missing[name] = (relation, self.keys[key_words[0]])
        return name

    def ingest_missing(self) -> None:
        """Ingest the noted files and tables."""
        for name, (relation, key) in self.missing.items():
            if relation.roots and relation.format:
                ingest_base(self.context, name, relation.roots[0], key=key, population=name)
            else:
                ingest_base(self.context, name, ".".join(relation.name), key=key, population=name, format=TABLE)
        new = dict(self.missing)
        self.missing.clear()
        bases = {name: self.context.read(_get_named, name) for name in new}
        self.tables = {**self.tables, **{str(new[name][0]).lower(): base for name, base in bases.items()}}


def _get_named(reading: Reading, name: str) -> Catalog:
    digest = catalog_names.find_named_digest(reading, name)
    if digest is None:
        raise catalog_names.make_unknown_name_error(reading, name)
    return catalog_store.get_catalog(reading, digest)


def _find_marked(reading: Reading, digest: str) -> Catalog:
    """Return the catalog marked on a DataFrame of provenn."""
    try:
        return catalog_store.get_catalog(reading, catalog_store.resolve_catalog(reading, digest))
    except UnknownCatalogError as error:
        raise QueryError(
            "the DataFrame is made from a target that is not a catalog, or from another archive",
            hint=Hint("define the target as a catalog first: target.catalog()", command="define it as a catalog first"),
        ) from error


def _is_text(relation: SparkRelation) -> bool:
    return bool(relation.format) and relation.format not in _EXACT_FORMATS


def _find_bases(reading: Reading, relation: SparkRelation) -> dict[str, Base]:
    """Return the named base catalogs with exactly the files, or the table, of a relation, by name."""
    names = {record.catalog: record.name for record in catalog_names.list_names(reading)}
    places = base_locations.find_base_locations(reading, tuple(names))
    foreign_options = set(relation.options) - _HARMLESS_OPTIONS
    bases: dict[str, Base] = {}
    for digest, place in places.items():
        is_table = bool(relation.name) and place.location.split(".")[-1] == relation.name[-1]
        if not is_table and (foreign_options or _is_text(relation) or not _may_hold(place.location, relation)):
            continue
        base = catalog_store.get_catalog(reading, digest)
        if isinstance(base, Base) and _has_same_rows(base, relation):
            bases[names[digest]] = base
    return bases


def _may_hold(location: str, relation: SparkRelation) -> bool:
    """Return whether a location may belong to the files: the path itself, a folder above, or a pattern."""
    start = location.partition("*")[0].rstrip("/")
    return any(root.startswith(start) or start.startswith(root.rstrip("/")) for root in relation.roots)


def _has_same_rows(base: Base, relation: SparkRelation) -> bool:
    """Return whether a base catalog has the table, or exactly the files, of a relation."""
    files = base.files
    if files.format == TABLE:
        return bool(relation.name) and _complete_name(files.location.split(".")) == _complete_name(relation.name)
    if files.format != relation.format or not relation.addresses or files.row_key:
        return False
    try:
        return {file.address for file in files.list_own_files()} == set(relation.addresses)
    except FilesMissingError:
        return False


def _complete_name(parts: Sequence[str]) -> tuple[str, ...]:
    """Return the full name of a table in Spark's own catalog."""
    usual = ("spark_catalog", "default")[: max(0, 3 - len(parts))]
    return (*usual, *(part.strip("`").lower() for part in parts))
