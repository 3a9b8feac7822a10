"""Writing the definitions of a new version of a base catalog, with the observed facts about the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provenn.archive.concatenations import find_unproved_concatenations
from provenn.archive.continuing import check_continuation
from provenn.archive.new_version import NewVersion
from provenn.catalogs import Base, Catalog, list_joined_bases, list_version_bases
from provenn.database.transactions import Writing
from provenn.definitions import base_locations, catalog_store
from provenn.digests import CatalogDigest
from provenn.errors import DefinitionError
from provenn.knowledge import verified_keys
from provenn.knowledge.observations import observe_fact
from provenn.logic import Statement, disjoint
from provenn.logic.terms import Op, chain, term

__all__ = ["list_expected_facts", "record_locations", "write_definitions"]


def write_definitions(
    writing: Writing, version: NewVersion, catalogs: Sequence[Catalog], rows: Mapping[CatalogDigest, int]
) -> None:
    """Write the base catalogs and the observed fact of a new version, then its catalog and dependent catalogs.

    Parameters
    ----------
    writing
        The transaction.
    version
        The new version.
    catalogs
        Its catalog, and catalogs that are made from it.
    rows
        The number of keys that were compared with all others, by base catalog; see `compare_keys`.

    Raises
    ------
    DefinitionError
        If the files of the version are not proved to share no source.
    """
    record_locations(writing, version)
    stored = base_locations.find_base_locations(writing, [base.digest for base in version.kept])
    catalog_store.add_catalogs(writing, *(base for base in version.kept if base.digest not in stored))
    if version.added is not None:
        check_continuation(writing, version.added, (*version.kept, *version.rewritten))
    comparisons = version.list_comparisons()
    catalog = catalogs[0]
    ready = catalogs if isinstance(catalog, Base) else ()  # joined files need no proof that they share no source
    catalog_store.add_catalogs(writing, *(base for base, _ in comparisons), *ready)
    for base, _ in comparisons:
        if base.digest in rows:
            verified_keys.record_verification(writing, base.digest, rows[base.digest])
    if isinstance(catalog, Base):
        _record_joined_keys(writing, version, catalog, rows)
    else:
        _write_concatenation(writing, version, catalogs, rows)
    statement = version.log.state_relation(version.earlier.digest, catalog.digest)
    if statement is not None:
        observe_fact(writing, statement, version.log.reason)


def _write_concatenation(
    writing: Writing, version: NewVersion, catalogs: Sequence[Catalog], rows: Mapping[CatalogDigest, int]
) -> None:
    """Write the observed facts about the members of a version, then the version's catalog and dependent catalogs."""
    for base, others in version.list_comparisons():
        if others:
            observe_fact(writing, _state_apart(others, base), _explain_comparison(rows.get(base.digest)))
    _record_separated_files(writing, version)
    catalog_store.add_catalogs(writing, *catalogs[0].dependencies)
    if find_unproved_concatenations(writing, catalogs[:1]):
        raise DefinitionError("it is not proved that the files of the new version share no source")
    catalog_store.add_catalogs(writing, *catalogs)


def _explain_comparison(rows: int | None) -> str:
    if rows is None:
        return "different files: a source is a row of a file"
    return f"{rows:,} new keys compared with all others: none occurs twice"


def _record_separated_files(writing: Writing, version: NewVersion) -> None:
    """Record that files of the earlier version share no source, if the files are in new members now.

    Sound: the keys were compared when the files came, the comparison is still proved, and a part has fewer sources.
    """
    if find_unproved_concatenations(writing, [version.earlier]):
        return
    for statement in _state_separated_files(version):
        observe_fact(writing, statement, "files of one version: their keys were compared when they came")


def _state_separated_files(version: NewVersion) -> list[Statement]:
    """Return the statements that files share no source, for files formerly joined or in members with more files."""
    kept, earlier = {base.digest for base in version.kept}, list_version_bases(version.earlier) or ()
    has_parts = len(kept) > 1 and not kept <= {base.digest for base in earlier}
    statements = [disjoint(*sorted(kept))] if has_parts and not isinstance(version.earlier, Base) else []
    for joined in list_joined_bases(version.earlier) or ():
        digests = {digest for digest, _ in joined.joins}
        separated = [base.digest for base in version.members if (base.part_of or base.digest) in digests]
        statements += [disjoint(*separated)] if len(separated) > 1 else []
    return statements


def _record_joined_keys(
    writing: Writing, version: NewVersion, catalog: Base, rows: Mapping[CatalogDigest, int]
) -> None:
    """Record that the keys of joined files are verified, if all other keys are: new keys were compared."""
    if not catalog.joins or (version.added is not None and version.added.digest not in rows):
        return
    others = version.kept if version.went else (version.earlier,)
    counted = verified_keys.find_verified_counts(writing, [other.digest for other in others])
    if len(counted) == len(others):
        verified_keys.record_verification(writing, catalog.digest, sum((*counted.values(), *rows.values())))


def record_locations(writing: Writing, version: NewVersion) -> None:
    """Record where the files of base catalogs are now, if known at another place than before.

    A joined base catalog is a further base catalog with these files.
    """
    moved: list[Base] = list(version.moved)
    if moved and isinstance(version.earlier, Base) and version.earlier.joins and not version.went:
        prints = {name: text for base in version.kept for name, text in base.files.fingerprints}
        moved.append(version.earlier.take(prints, version.kept[0].files.location, table=version.log.table or None))
    for base in moved:
        if not catalog_store.add_catalogs(writing, base):
            base_locations.record_current_location(writing, base)


def list_expected_facts(version: NewVersion, catalog: Catalog) -> list[Statement]:
    """Return the facts to observe when a version is written, unless the keys turn out to be wrong."""
    if isinstance(catalog, Base):
        return []
    apart = [_state_apart(others, base) for base, others in version.list_comparisons() if others]
    return [*apart, *_state_separated_files(version)]


def _state_apart(members: Sequence[Base], added: Base) -> Statement:
    """Return the statement that new files share no source with the rest."""
    return disjoint(chain(Op.OR, tuple(term(base.digest) for base in members)), added.digest)
