"""Methods of an archive to assign, move, delete and share names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from provenn.archive.verbs.part import ArchivePart

if TYPE_CHECKING:
    from provenn.archive.handle import Catalog
    from provenn.archive.versions import VersionDifference
    from provenn.definitions.naming_history import NameChange
    from provenn.people.visibility import Visibility

__all__ = ["Naming"]


class Naming(ArchivePart):
    """Methods of an archive to assign, move, delete and share names."""

    def name(
        self,
        which: Catalog | str,
        name: str,
        *,
        move: bool = False,
        visibility: Visibility | None = None,
        project: str | None = None,
    ) -> Catalog:
        """Put a name on a catalog; a name of another catalog is moved only with `move=True`.

        Parameters
        ----------
        which
            The catalog.
        name
            The name. All names of an archive share one namespace: private names of other people are taken, too.
        move
            Whether the name may be moved from another catalog. Only the owner of a name can move it.
        visibility
            The people who see the name, and by it the catalog and its lineage (see `revealed`): ``"private"``, the
            owner; ``"project"``, also the members of a project; ``"public"``, everybody. By default an existing name
            keeps its visibility, and a new name gets `default_visibility`.
        project
            The project.

        Raises
        ------
        CatalogNameError
            If the name is invalid, or taken.
        NotYoursError
            If the name belongs to another person.
        VisibilityError, ProjectError
            If the visibility or the project does not exist.
        """
        from provenn.archive.name_changes import name_catalog  # noqa: PLC0415 - a command starts without it

        catalog = self.catalog(which)
        self.context.write(name_catalog, catalog.definition, name, move=move, visibility=visibility, project=project)
        return catalog

    def revealed(self, which: Catalog | str) -> tuple[str, ...]:
        """Return your private names in the lineage of a catalog.

        People with access to the catalog see the definitions of these ancestors, though not your names for them.
        """
        from provenn.archive.name_changes import find_revealed_names  # noqa: PLC0415 - a command starts without it

        return self.context.read(find_revealed_names, self.catalog(which).definition)

    @property
    def default_visibility(self) -> Visibility:
        """The visibility of new names: ``"public"``, for everybody; or ``"private"``, for the owner."""
        from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it

        return self.context.read(catalog_names.read_default_visibility)

    @default_visibility.setter
    def default_visibility(self, visibility: Literal["private", "public"]) -> None:
        from provenn.archive.name_changes import change_default_visibility  # noqa: PLC0415 - a command starts without it

        self.context.require_full_view("decides who sees new names")
        self.context.write(change_default_visibility, visibility)

    def names_of(self, which: Catalog | str) -> tuple[str, ...]:
        """Return the names of a catalog, sorted."""
        from provenn.archive.references import find_names  # noqa: PLC0415 - a command starts without it

        return self.context.read(find_names, which)

    def delete_name(self, name: str) -> None:
        """Delete a name; the catalog and the history of the name stay."""
        from provenn.definitions import catalog_names  # noqa: PLC0415 - a command starts without it

        self.context.write(catalog_names.remove_name, name)

    def log(self, name: str) -> Sequence[NameChange]:
        """Return the changes of a name, the latest first, with the files that came and went."""
        from provenn.archive.versions import read_changes  # noqa: PLC0415 - a command starts without it

        return self.context.read(read_changes, name)

    def at(self, name: str, version: int | None = None, *, when: datetime | str | None = None) -> Catalog:
        """Return the catalog that a name was on: as its n-th version, from 1, or at a time.

        Parameters
        ----------
        name
            The name.
        version
            The number of the version; ``"stars@2"`` is version 2 of the name ``stars`` wherever a catalog is named.
        when
            The time, as a datetime or in ISO 8601: ``"2026-11-16"``. A time without a zone is in UTC.

        Raises
        ------
        UnknownCatalogError
            If there was no such name or version.
        DefinitionError
            If neither a version nor a valid time is given, or both are.
        """
        from provenn.archive.versions import find_past_catalog  # noqa: PLC0415 - a command starts without it

        return self.catalog(self.context.read(find_past_catalog, name, version, when))

    def diff(self, old: Catalog | str, new: Catalog | str) -> VersionDifference:
        """Return what came and went between two catalogs, such as two versions of a name: files, columns, sources."""
        from provenn.archive.proved_answers import ask_relation  # noqa: PLC0415 - a command starts without it
        from provenn.archive.versions import compare_versions  # noqa: PLC0415

        first, second = self.catalog(old), self.catalog(new)
        relation = ask_relation(self.context, first, second)
        return compare_versions(relation, first.definition, second.definition)
