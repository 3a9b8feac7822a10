"""What all verbs of an archive share: its database, its workshop, and how a catalog is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from provenn.archive.everything import Everything
from provenn.archive.handle import Catalog
from provenn.archive.workshop import Workshop
from provenn.catalogs import Catalog as Definition
from provenn.errors import NotYoursError
from provenn.store import catalog_store
from provenn.store.database import Database, Reading

if TYPE_CHECKING:
    from provenn.archive.archive import Archive

__all__ = ["Held", "asked_by", "digest_of"]


class Held:
    """What all verbs of an archive share: its database, its workshop, and how a catalog is found."""

    _database: Database
    _workshop: Workshop
    _everything: Everything

    @property
    def _itself(self) -> Archive:
        return cast("Archive", self)  # an archive has all verbs

    def _handle(self, which: Definition | str) -> Catalog:
        return Catalog(self._itself, which)

    @property
    def who(self) -> str:
        """The person recorded with what is written."""
        return self._database.who

    @property
    def confined(self) -> bool:
        """Whether only what this person may see exists."""
        return self._database.viewer is not None

    def catalog(self, which: Catalog | str) -> Catalog:
        """Return a catalog: itself, or by name, or by the beginning of its digest."""
        return which if isinstance(which, Catalog) else self.catalogs([which])[0]

    def catalogs(self, which: Iterable[str]) -> list[Catalog]:
        """Return several catalogs at once, by name or by the beginning of the digest."""
        with self._database.reading() as reading:
            digests = [catalog_store.resolve(reading, one) for one in which]
            found = catalog_store.get_all(reading, digests) if digests else {}
        return [self._handle(found[digest]) for digest in digests]

    def _need_everything(self, does: str) -> None:
        if self.confined:
            raise NotYoursError(f"only who sees the whole archive {does}", hint="ask who looks after the archive")


def digest_of(reading: Reading, which: Catalog | str) -> str:
    """Return the digest of a catalog that the viewer sees."""
    if isinstance(which, str):
        return catalog_store.resolve(reading, which)
    return which.digest if reading.viewer is None else catalog_store.resolve(reading, which.digest)


def asked_by(digests: Sequence[str], which: Sequence[Catalog | str]) -> dict[str, str]:
    """Return what the user calls catalogs, by digest; of two words for one catalog, the first."""
    said = [(digest, one) for digest, one in zip(digests, which, strict=True) if isinstance(one, str)]
    return dict(reversed(said))
