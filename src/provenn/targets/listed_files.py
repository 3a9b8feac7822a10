"""The statements of each file of the planned base catalogs about itself, as far as conditions need the statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from provenn.catalogs import Base, Catalog, cone, list_bases
from provenn.criteria import AttributeIdentity
from provenn.database.transactions import Reading
from provenn.definitions.stored_file_bounds import read_file_bounds
from provenn.digests import CatalogDigest
from provenn.files.column_bounds import PARTS, PIXELS, ColumnBounds
from provenn.files.file_bounds import decode_file_bounds, decode_file_parts, decode_file_pixels
from provenn.files.file_set import compute_files_digest
from provenn.knowledge.file_facts import read_pixels
from provenn.knowledge.file_relevance import StatedFile
from provenn.targets.row_samples import find_needed_attributes

__all__ = ["DividedCore", "ListedFiles", "can_choose_files", "collect_listed_files"]

DividedCore = tuple[CatalogDigest, str]
"""A core, and what identifies its division into parts."""

_Owner = tuple[CatalogDigest, Sequence[str]]
"""A base catalog as it was ingested, and the fingerprints of its files, sorted."""


@dataclass(frozen=True, slots=True)
class ListedFiles:
    """The statements of files about the attributes in conditions, in stored form.

    Parameters
    ----------
    identities
        The attributes in conditions.
    texts
        The bounds of columns in the files of base catalogs, by catalog and column.
    """

    identities: frozenset[AttributeIdentity] = frozenset()
    texts: Mapping[tuple[CatalogDigest, str], str] = field(default_factory=dict)

    def describe(self, base: Base) -> dict[str, StatedFile]:
        """Return the statements of the files of a base catalog, by fingerprint; empty without known statements.

        Sound: the fingerprint of a file also identifies its footer and the names of its folders, and a row of a file
        has the same values in every version with this file.
        """
        own = {text for _, text in base.files.fingerprints}
        columns = _list_columns(base, self.identities)
        files: dict[str, StatedFile] = {}
        for owner in _list_owners(base):
            if any((owner[0], name) in self.texts for name in (*columns, PIXELS)):
                files.update(self._describe_owner(base, owner, columns))
        return {text: stated for text, stated in files.items() if text in own}

    def find_parts(self, base: Base) -> dict[DividedCore, dict[str, str]]:
        """Return the part of each file of a base catalog by fingerprint, for each core with which it shares parts.

        Sound: all keys of a part were compared when core and layer were ingested (`provenn.archive.layers`). Files that
        were renamed may be other parts of a core later: parts of different divisions have nothing in common.
        """
        prints = sorted(text for _, text in base.files.fingerprints)
        files = compute_files_digest(prints)
        shared: dict[DividedCore, dict[str, str]] = {}
        for (digest, column), text in self.texts.items():
            if digest == base.digest and column.startswith(PARTS):
                core = CatalogDigest(column.removeprefix(PARTS))
                division, parts = decode_file_parts(files, core, text, len(prints))
                if all(parts):
                    shared[core, division] = dict(zip(prints, parts, strict=True))
        return shared

    def _describe_owner(
        self, base: Base, owner: _Owner, columns: Mapping[str, AttributeIdentity]
    ) -> Iterator[tuple[str, StatedFile]]:
        """Yield the fingerprints of the files of a base catalog, each with the statements of the file."""
        digest, prints = owner
        files, count = compute_files_digest(prints), len(prints)
        kinds = {column.name: column.type for column in base.files.columns}
        bounds: dict[AttributeIdentity, list[ColumnBounds]] = {
            identity: decode_file_bounds(files, name, self.texts.get((digest, name), ""), count, kinds[name])
            for name, identity in columns.items()
        }
        names = {name: str(kind) for name, kind in kinds.items()}
        for place, pixel_text in enumerate(decode_file_pixels(files, self.texts.get((digest, PIXELS), ""), count)):
            position, pixels = read_pixels(pixel_text, names, base.key, base.origin)
            own = tuple((identity, bounds[identity][place]) for identity in sorted(bounds))
            yield prints[place], StatedFile(own, position, pixels)


def collect_listed_files(reading: Reading, catalogs: Iterable[Catalog]) -> ListedFiles:
    """Return the statements of the files of base catalogs about the attributes in conditions.

    Parameters
    ----------
    reading
        The transaction.
    catalogs
        The catalogs that are planned, which the viewer sees.
    """
    lineage = cone(*catalogs)
    identities = find_needed_attributes(lineage)
    bases = [catalog for catalog in list_bases(lineage) if can_choose_files(catalog)]
    columns = {name for base in bases for name in _list_columns(base, identities)}
    if not columns:
        return ListedFiles()
    owners = {digest for base in bases for digest, _ in _list_owners(base)}
    parts = {PARTS + base.digest for base in bases}
    return ListedFiles(identities, read_file_bounds(reading, owners, {*columns, PIXELS, *parts}))


def can_choose_files(base: Base) -> bool:
    """Return whether Spark can read some files of a base catalog, whose content is known, without the others."""
    files = base.files
    is_read_in_place = files.format == "parquet" or (files.format == "csv" and not files.row_key)
    return is_read_in_place and len(files.fingerprints) > 1 and files.basis in ("content", "store")


def _list_columns(base: Base, identities: frozenset[AttributeIdentity]) -> dict[str, AttributeIdentity]:
    """Return the columns of a base catalog whose attributes are in conditions."""
    return {
        attribute.name: attribute.identity
        for attribute in base.schema.attributes
        if attribute.identity in identities and attribute.name not in base.files.row_key
    }


def _list_owners(base: Base) -> list[_Owner]:
    """Return the base catalogs for which the files of a base catalog were read, each with all its files."""
    if base.joins:
        return [(digest, sorted(texts)) for digest, texts in base.joins]
    own = [text for _, text in base.files.fingerprints]
    return [(base.part_of or base.digest, sorted([*own, *base.gone]))]
