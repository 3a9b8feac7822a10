"""New files with the attributes of earlier files, so a calculation on all files gives a single attribute.

A source has a single value of an attribute. So new files may have the attributes of an earlier base catalog only if the
new files share no key with this catalog, nor with any further base catalog with these attributes: not only in the
appended version, but in the whole archive, because another version may have continued with different files. The keys of
the version itself are compared before (`compare_keys`). For all further base catalogs, the statements of their files
must prove different keys; if that is impossible, the new files get attributes of their own: less to reuse, and never
wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenn.catalogs import Base, list_bases
from provenn.catalogs.key_ranges import have_other_keys
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_store
from provenn.definitions.attributes import find_bases_with_attribute
from provenn.digests import CatalogDigest
from provenn.errors import ArchiveBusyError

__all__ = ["check_continuation", "continue_attributes"]


def continue_attributes(reading: Reading, added: Base, kept: Sequence[Base], like: Base) -> Base:
    """Return the base catalog of new files with the attributes of an earlier base catalog, if possible.

    Parameters
    ----------
    reading
        The transaction.
    added
        The base catalog of the new files.
    kept
        The base catalogs of the other files of the same version.
    like
        The base catalog of the earlier version whose attributes they would continue.
    """
    is_known = not like.files.is_old and like.files.caveat is None and added.files.caveat is None
    if not is_known or not added.fits_columns(like):
        return added
    continued = added.continue_base(like.origin)
    # A refresh that was interrupted may have left these very files: the same files have the same sources and values.
    others = _find_others(reading, like, [continued.digest, *_list_known(kept)])
    return continued if all(have_other_keys(added, other) for other in others) else added


def check_continuation(writing: Writing, added: Base, kept: Sequence[Base]) -> None:
    """Ensure, when new files are written, that no base catalog with possibly the same keys came meanwhile.

    Raises
    ------
    ArchiveBusyError
        If one did.
    """
    if added.continues is None:
        return
    others = _find_others(writing, added, [added.digest, *_list_known(kept)])
    if not all(have_other_keys(added, other) for other in others):
        raise ArchiveBusyError("other files were appended meanwhile that may have the same keys", hint="try again")


def _list_known(kept: Sequence[Base]) -> list[CatalogDigest]:
    """Return some base catalogs, and all base catalogs whose rows these hold completely."""
    former = (rows.base for base in kept if base.part_of is None for rows in base.rewrites if not rows.label_count)
    return [*(base.digest for base in kept), *former]


def _find_others(reading: Reading, like: Base, known: Sequence[CatalogDigest]) -> list[Base]:
    """Return the base catalogs with the attributes of a given base catalog, except for some known catalogs.

    A joined base catalog has the files of its members, and a part has files of its whole: the archive holds these as
    well. Rewritten files have rows of former files; the former files count if the archive holds them all. Private
    catalogs of all people count, too: private catalogs only affect whether the new files get new attributes.
    """
    own = [attribute for attribute in like.schema.attributes if attribute.name not in like.key]
    digests = find_bases_with_attribute(reading, own[0].identity) if own else ()
    others = [digest for digest in digests if digest not in known]
    stored = catalog_store.get_catalogs(replace(reading, viewer=None), others) if others else {}
    bases = [base for base in list_bases(stored.values()) if not base.joins and base.part_of is None]
    return [base for base in bases if not base.rewrites or not {rows.base for rows in base.rewrites} <= {*digests}]
