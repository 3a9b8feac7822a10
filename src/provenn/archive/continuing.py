"""New files that continue the attributes of earlier ones, so that what is calculated of them is one attribute.

A source has one value of an attribute. So files may have the attributes of an earlier base catalog only if they share
no key with it, nor with any other base catalog that has these attributes: not only in the version to which they are
appended, but in the whole archive, where another version may have continued with other files. The keys of the version
itself are compared before (`compare_keys`). All others must be shown to have other keys by what their files state; if
that is impossible, the new files get attributes of their own, which is less to reuse, and never wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenn.catalogs import Base
from provenn.catalogs.key_ranges import have_other_keys
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_store
from provenn.definitions.attributes import find_bases_with_attribute
from provenn.digests import CatalogDigest
from provenn.errors import ArchiveBusyError

__all__ = ["check_continuation", "continue_attributes"]


def continue_attributes(reading: Reading, added: Base, kept: Sequence[Base], like: Base) -> Base:
    """Return the base catalog of new files with the attributes of an earlier one, if that is possible.

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
    others = _find_others(reading, like, [continued.digest, *(base.digest for base in kept)])
    return continued if all(have_other_keys(added, other) for other in others) else added


def check_continuation(writing: Writing, added: Base, kept: Sequence[Base]) -> None:
    """Make sure, when new files are written, that no base catalog came meanwhile that may have the same keys.

    Raises
    ------
    ArchiveBusyError
        If one did.
    """
    if added.continues is None:
        return
    others = _find_others(writing, added, [added.digest, *(base.digest for base in kept)])
    if not all(have_other_keys(added, other) for other in others):
        raise ArchiveBusyError("other files were appended meanwhile that may have the same keys", hint="try again")


def _find_others(reading: Reading, like: Base, known: Sequence[CatalogDigest]) -> list[Base]:
    """Return the base catalogs with the attributes of one, except for some known ones.

    A joined base catalog has the files of others, and a part has files of its whole: the archive holds these as well.
    What others keep to themselves counts too: it only decides whether the new files get attributes of their own.
    """
    own = [attribute for attribute in like.schema.attributes if attribute.name not in like.key]
    digests = find_bases_with_attribute(reading, own[0].identity) if own else ()
    others = [digest for digest in digests if digest not in known]
    stored = catalog_store.get_catalogs(replace(reading, viewer=None), others) if others else {}
    return [base for base in stored.values() if isinstance(base, Base) and not base.joins and base.part_of is None]
