"""Shell completion of the names of catalogs, calculators and attributes of the current archive.

A shell waits for the answer, so an SQLite database is read directly, without the rest of provenn; an archive in
PostgreSQL offers nothing. Errors offer nothing either, because a shell has no place for messages. Shells insert an
offered name into the command line unchanged, so a name with special characters (spaces, quotes, a dollar) is not
offered.
"""

import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

import typer

__all__ = ["complete_attribute_names", "complete_calculator_names", "complete_catalog_names", "complete_provider_names"]

_MOST = 200
_SECONDS = 0.5
_PLAIN = re.compile(r"[\w.+,/][\w.+,/-]*")  # characters at which bash does not split words

_CATALOGS = "SELECT name FROM names WHERE name >= ? AND name < ? ORDER BY name LIMIT ?"
_CALCULATORS = "SELECT DISTINCT name FROM calculators WHERE name >= ? AND name < ? ORDER BY name LIMIT ?"
# Steps from name to name through the index, because many catalogs may define attributes of the same name.
# A person must have defined the catalog.
_DEFINED = "EXISTS (SELECT 1 FROM definers WHERE definers.catalog = attributes.catalog AND defined)"
_ATTRIBUTES = f"""
    WITH RECURSIVE
        here(population) AS (
            SELECT population FROM catalogs WHERE digest IN (SELECT catalog FROM names WHERE name = ?)
        ),
        found(name) AS (
            SELECT * FROM (
                SELECT name FROM attributes
                WHERE population = (SELECT population FROM here) AND name >= ? AND {_DEFINED}
                ORDER BY name LIMIT 1
            )
            UNION ALL
            SELECT (
                SELECT name FROM attributes
                WHERE population = (SELECT population FROM here) AND name > found.name AND {_DEFINED}
                ORDER BY name LIMIT 1
            )
            FROM found WHERE found.name IS NOT NULL
        )
    SELECT name FROM found WHERE name < ? LIMIT ?
"""  # noqa: S608 - made of constants of this module only


def complete_catalog_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of catalogs that begin with the incomplete word."""
    return _query_names(ctx, _CATALOGS, incomplete)


def complete_calculator_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of calculators that begin with the incomplete word."""
    return _query_names(ctx, _CALCULATORS, incomplete)


def complete_provider_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of calculators and catalogs that begin with the incomplete word."""
    return complete_calculator_names(ctx, incomplete) + complete_catalog_names(ctx, incomplete)


def complete_attribute_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of attributes in the population of the catalog that precedes the incomplete word."""
    catalog = ctx.params.get("catalog") or ctx.params.get("sources")
    return _query_names(ctx, _ATTRIBUTES, incomplete, catalog) if catalog else []


def _query_names(ctx: typer.Context, query: str, prefix: str, *first: Any) -> list[str]:  # noqa: ANN401 - as sqlite3
    """Query names with a prefix, and return the names without special characters; nothing on errors.

    The `first` parameters of the query come before the prefix.
    """
    # The name of the file is that in provenn.archive, which is slow to import.
    archive_path = ctx.params.get("archive_path") or os.environ.get("PROVENN_ARCHIVE") or "."
    file = Path(archive_path).absolute() / "provenn.sqlite"
    end = monotonic() + _SECONDS
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=_SECONDS)) as database:
            database.set_progress_handler(lambda: monotonic() > end, 10_000)
            rows = database.execute(query, (*first, prefix, prefix + "\U0010ffff", _MOST))
            return [name for (name,) in rows if _PLAIN.fullmatch(name)]
    except Exception:  # noqa: BLE001 - a shell has no place for messages
        return []
