"""Changes of names and of their visibility."""

from __future__ import annotations

from typing import Literal

from provenn.catalogs import Catalog as Definition
from provenn.catalogs import cone
from provenn.database import settings
from provenn.database.transactions import Reading, Writing
from provenn.definitions import catalog_names, catalog_store
from provenn.people import audit_log
from provenn.people.visibility import Visibility, check_visibility

__all__ = ["change_default_visibility", "find_revealed_names", "name_catalog"]


def name_catalog(
    writing: Writing,
    definition: Definition,
    name: str,
    *,
    move: bool = False,
    visibility: Visibility | None = None,
    project: str | None = None,
) -> None:
    """Put a name on a catalog; see `Archive.name`."""
    if move and catalog_names.find_named_digest(writing, name) is not None:
        catalog_names.move_name(writing, name, definition.digest)
    catalog_names.assign_name(writing, name, definition.digest, visibility, project)
    catalog_store.confirm_definitions(writing, definition)


def find_revealed_names(reading: Reading, definition: Definition) -> tuple[str, ...]:
    """Return the private names of the viewer in the lineage of a catalog; see `Archive.revealed`."""
    return catalog_names.find_private_names(reading, reading.who, [member.digest for member in cone(definition)])


def change_default_visibility(writing: Writing, visibility: Literal["private", "public"]) -> None:
    """Change the visibility of new names."""
    check_visibility(visibility, None)
    settings.change_setting(writing, settings.VISIBILITY, visibility)
    audit_log.record_action(writing, "default visibility", visibility)
