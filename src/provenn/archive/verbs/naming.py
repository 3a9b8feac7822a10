"""Names: put on catalogs, moved, deleted, shown to some or to all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from provenn.archive.handle import Catalog
from provenn.archive.verbs.held import Held, digest_of
from provenn.catalogs import cone as lineage_cone
from provenn.store import audit, catalog_store, names, settings
from provenn.store.names import Change
from provenn.store.visibility import Visibility, check_visibility

__all__ = ["Naming"]


class Naming(Held):
    """Names: put on catalogs, moved, deleted, shown to some or to all."""

    def name(
        self,
        which: Catalog | str,
        name: str,
        *,
        move: bool = False,
        visibility: Visibility | None = None,
        project: str | None = None,
    ) -> Catalog:
        """Put a name on a catalog; one that is on another catalog now is only moved if that is meant.

        Parameters
        ----------
        which
            The catalog.
        name
            The name. All names of an archive are of one namespace: what somebody has privately is taken.
        move
            Whether it may be on another catalog now. Only its owner moves it.
        visibility
            Who sees the name, and by it the catalog and all it is made from (`revealed` says what that shows):
            ``"private"``, its owner; ``"project"``, the members of a project, too; ``"public"``, everybody. By
            default a name that exists stays as it is, and a new one is as `default_visibility` says.
        project
            The project.

        Raises
        ------
        CatalogNameError
            If the name is unfit, or taken.
        NotYoursError
            If it belongs to somebody else.
        VisibilityError, ProjectError
            If there is no such visibility, or no such project.
        """
        one = self.catalog(which)
        with self._database.writing() as writing:
            if move and names.find(writing, name) is not None:
                names.move(writing, name, one.digest)
            names.assign(writing, name, one.digest, visibility, project)
            catalog_store.confirm(writing, one.definition)
        return one

    def revealed(self, which: Catalog | str) -> tuple[str, ...]:
        """Return your private names in the lineage of a catalog.

        Who sees a name of the catalog sees how these are defined, as its lineage, though not what you call them.
        """
        one = self.catalog(which)
        with self._database.reading() as reading:
            digests = [each.digest for each in lineage_cone(one.definition)]
            return names.private_names(reading, self.who, digests)

    @property
    def default_visibility(self) -> Visibility:
        """Who sees a new name for which nobody says it: ``"public"``, everybody; or ``"private"``, its owner."""
        with self._database.reading() as reading:
            return names.default_visibility(reading)

    @default_visibility.setter
    def default_visibility(self, visibility: Literal["private", "public"]) -> None:
        self._need_everything("decides who sees new names")
        check_visibility(visibility, None)
        with self._database.writing() as writing:
            settings.change(writing, settings.VISIBILITY, visibility)
            audit.record(writing, "default visibility", visibility)

    def names_of(self, which: Catalog | str) -> tuple[str, ...]:
        """Return the names of a catalog, sorted."""
        with self._database.reading() as reading:
            digest = digest_of(reading, which)
            return names.names_of(reading, [digest]).get(digest, ())

    def delete_name(self, name: str) -> None:
        """Delete a name. The catalog stays, and so does the history of the name."""
        with self._database.writing() as writing:
            names.remove(writing, name)

    def log(self, name: str) -> Sequence[Change]:
        """Return what happened to a name, the latest first."""
        with self._database.reading() as reading:
            return names.log(reading, name)
