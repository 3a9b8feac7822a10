"""``provenn fragments``: what is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, fact_data, opened
from provenn.cli.completion import catalog_names
from provenn.cli.output import AsJson, write_json, write_table, write_text
from provenn.cli.sizes import size_text

if TYPE_CHECKING:
    from provenn.archive.fragments import Stored

__all__ = ["fragment_data", "show_fragments"]


def show_fragments(
    catalog: Annotated[
        str | None,
        typer.Argument(
            metavar="CATALOG",
            help="Only fragments that hold the sources of this catalog.",
            show_default=False,
            autocompletion=catalog_names,
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also fragments that are not used any more.")] = False,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """List what is stored: which attributes, for the sources of which catalog.

    Try:

    - `provenn fragments`
    - `provenn fragments bright --all`
    """
    with opened(archive, as_json) as found:
        told = found.fragments(catalog, dropped=everything)
        if as_json:
            write_json([fragment_data(one) for one in told])
            return
        if not told:
            write_text("nothing is stored")
            return
        header = ["fragment", "sources of", "attributes", "rows", "size", "since", "by", "used"]
        resting = any(one.rests_on for one in told)
        rows = [
            [
                f"#{one.fragment.id}",
                one.name,
                ", ".join(one.attributes),
                f"{one.fragment.rows:,}",
                size_text(one.fragment.size),
                f"{one.fragment.stored_at:%Y-%m-%d}",
                one.fragment.stored_by,
                f"{one.fragment.uses}x",
                *([", ".join(f"fact #{fact.id}" for fact in one.rests_on)] if resting else []),
                *([one.unusable] if everything else []),
            ]
            for one in told
        ]
        more = [*(["rests on"] if resting else []), *(["not used any more"] if everything else [])]
        write_table([*header, *more], rows)


def fragment_data(one: Stored) -> dict[str, Any]:
    """Return a fragment for programs."""
    stored = one.fragment
    return {
        "number": stored.id,
        "name": one.name,
        "catalog": stored.catalog,
        "attributes": list(one.attributes),
        "identities": [identity for identity, _ in stored.columns],
        "rows": stored.rows,
        "size": stored.size,
        "seconds": stored.seconds,
        "location": stored.location,
        "stored_at": stored.stored_at.isoformat(),
        "stored_by": stored.stored_by,
        "used_at": stored.used_at.isoformat(),
        "uses": stored.uses,
        "facts": list(stored.facts),
        "rests_on": [fact_data(fact) for fact in one.rests_on],
        "unusable": one.unusable or None,
        "dropped_by": stored.dropped_by,
        "dropped_at": stored.dropped_at and stored.dropped_at.isoformat(),
        "removed_at": stored.removed_at and stored.removed_at.isoformat(),
    }
