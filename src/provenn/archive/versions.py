"""Versions of a name: the catalog at a time, and the differences between two versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from provenn.catalogs import Catalog as Definition
from provenn.catalogs import list_joined_bases
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store, naming_history
from provenn.definitions.naming_history import NameChange
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError, UnknownCatalogError
from provenn.people.visibility import filter_visible

if TYPE_CHECKING:
    from provenn.archive.relation import Relation

__all__ = ["VersionDifference", "compare_versions", "describe_files", "find_past_catalog", "read_changes"]


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """The differences between two catalogs.

    Attributes
    ----------
    relation
        The proved relation of the old catalog to the new one.
    files
        How many files came and went, in words; empty if one of the catalogs is made from other catalogs.
    columns
        What came, went or changed among the attributes, a phrase each.
    """

    relation: Relation
    files: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        lines = [str(self.relation), *([self.files] if self.files else []), *self.columns]
        return "\n".join(lines)


def find_past_catalog(reading: Reading, name: str, version: int | None, when: datetime | str | None) -> CatalogDigest:
    """Return the digest of the former catalog of a name; see `Archive.at`."""
    if (version is None) == (when is None):
        raise DefinitionError("expected either a version or a time", hint="name one of them: version=2")
    if version is not None:
        return naming_history.find_version(reading, name, version)
    moment = _read_moment(when)
    past = [change for change in naming_history.read_name_history(reading, name) if change.at <= moment]
    if not past or past[0].catalog is None:
        raise UnknownCatalogError(f"{name} named no catalog at {moment:%Y-%m-%d %H:%M:%S}")
    return past[0].catalog


def read_changes(reading: Reading, name: str) -> Sequence[NameChange]:
    """Return the changes of a name, the latest first, with added and removed files; see `Archive.log`."""
    changes = naming_history.read_name_history(reading, name)
    digests = {change.catalog for change in changes if change.catalog is not None}
    visible = filter_visible(reading, digests)
    catalogs = catalog_store.get_catalogs(reading, sorted(visible)) if len(visible) > 1 else {}
    described = []
    for change, before in zip(changes, (*changes[1:], None), strict=True):
        old = None if before is None or before.catalog is None else catalogs.get(before.catalog)
        new = None if change.catalog is None else catalogs.get(change.catalog)
        files = describe_files(old, new) if old is not None and new is not None and old != new else ""
        described.append(replace(change, files=files))
    return described


def _read_moment(when: datetime | str | None) -> datetime:
    """Return a time with a zone."""
    try:
        moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    except ValueError:
        moment = None
    if not isinstance(moment, datetime):
        raise DefinitionError(f"expected a time, got {when!r}", hint="write it as 2026-11-16 or 2026-11-16T18:30")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def compare_versions(relation: Relation, old: Definition, new: Definition) -> VersionDifference:
    """Return the differences between two catalogs with a proved relation; see `Archive.diff`."""
    return VersionDifference(relation, describe_files(old, new), tuple(_list_column_changes(old, new)))


def describe_files(old: Definition, new: Definition) -> str:
    """Return the files added and removed between two versions, in words; empty unless both are versions of files."""
    before, after = _list_fingerprints(old), _list_fingerprints(new)
    if before is None or after is None:
        return ""
    came, went = after.keys() - before.keys(), before.keys() - after.keys()
    replaced = _list_names(after, came) & _list_names(before, went)
    numbers = {"+ {}": len(came) - len(replaced), "- {}": len(went) - len(replaced), "{} replaced": len(replaced)}
    return ", ".join(words.format(_count(number)) for words, number in numbers.items() if number > 0) or "unchanged"


def _count(number: int) -> str:
    return f"{number:,} file{'s' * (number != 1)}"


def _list_fingerprints(catalog: Definition) -> dict[str, str] | None:
    """Return the files of a version by their fingerprints, with their places."""
    bases = list_joined_bases(catalog)
    if bases is None:
        return None
    return {text: f"{base.files.location}/{name}" for base in bases for name, text in base.files.fingerprints}


def _list_names(files: Mapping[str, str], fingerprints: Collection[str]) -> frozenset[str]:
    return frozenset(files[text] for text in fingerprints)


def _list_column_changes(old: Definition, new: Definition) -> Sequence[str]:
    """Return the attributes added, removed, or changed in type or unit, a phrase each."""
    changes = [f"+ {name}" for name in new.schema.names if name not in old.schema.names]
    for attribute in old.schema.attributes:
        if attribute.name not in new.schema.names:
            changes.append(f"- {attribute.name}")
            continue
        other = new.schema[attribute.name]
        if other.type != attribute.type:
            changes.append(f"{attribute.name}: {attribute.type} became {other.type}")
        if other.unit != attribute.unit:
            changes.append(f"{attribute.name}: unit {attribute.unit or 'unknown'} became {other.unit or 'unknown'}")
    return changes
