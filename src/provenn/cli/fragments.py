"""``provenn fragments``: the fragments of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, open_archive_at
from provenn.cli.completion import complete_catalog_names
from provenn.cli.output import AsJson, write_json, write_nothing, write_table
from provenn.sizes import format_size

if TYPE_CHECKING:
    from provenn.archive.stored_fragments import Stored

__all__ = ["fragment_data", "show_fragments"]


def show_fragments(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="Only fragments that hold the sources of this catalog.",
            show_default=False,
            autocompletion=complete_catalog_names,
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also fragments that are no longer used.")] = False,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List the stored fragments: their attributes, and the catalog whose sources they cover.

    Try:

    - `provenn fragments`
    - `provenn fragments bright --all`
    """
    with open_archive_at(archive_path) as archive:
        fragments = archive.fragments(catalog, dropped=everything)
        if as_json:
            write_json([fragment_data(stored) for stored in fragments])
            return
        if not fragments:
            write_nothing("no fragments", "provenn store NAME stores the data of a catalog")
            return
        header = ["fragment", "sources of", "attributes", "rows", "size", "since", "by", "used"]
        rest_on_facts = any(stored.rests_on for stored in fragments)
        rows = [
            [
                f"#{stored.fragment.id}",
                stored.name,
                ", ".join(stored.attributes),
                f"{stored.fragment.rows:,}",
                format_size(stored.fragment.size),
                f"{stored.fragment.stored_at:%Y-%m-%d}",
                stored.fragment.stored_by,
                f"{stored.fragment.uses}x",
                *([", ".join(f"fact #{fact.id}" for fact in stored.rests_on)] if rest_on_facts else []),
                *([stored.unusable] if everything else []),
            ]
            for stored in fragments
        ]
        extra_header = [*(["rests on"] if rest_on_facts else []), *(["no longer used"] if everything else [])]
        write_table([*header, *extra_header], rows)


def fragment_data(stored: Stored) -> dict[str, Any]:
    """Return a fragment as JSON data."""
    fragment = stored.fragment
    return {
        "number": fragment.id,
        "name": stored.name,
        "catalog": fragment.catalog,
        "attributes": list(stored.attributes),
        "identities": [identity for identity, _ in fragment.columns],
        "rows": fragment.rows,
        "size": fragment.size,
        "seconds": fragment.seconds,
        "location": fragment.location,
        "stored_at": fragment.stored_at.isoformat(),
        "stored_by": fragment.stored_by,
        "used_at": fragment.used_at.isoformat(),
        "uses": fragment.uses,
        "facts": list(fragment.facts),
        "rests_on": [fact_data(fact) for fact in stored.rests_on],
        "unusable": stored.unusable or None,
        "dropped_by": fragment.dropped_by,
        "dropped_at": fragment.dropped_at and fragment.dropped_at.isoformat(),
        "removed_at": fragment.removed_at and fragment.removed_at.isoformat(),
    }
