"""What a shell offers when Tab is pressed: names of catalogs, calculators and attributes of the archive at hand.

A shell waits for this, so an SQLite database is read as it is, without the rest of provenn; an archive in PostgreSQL
offers nothing. Nor does anything that goes wrong: a shell has no place for messages. Shells put into the command line
what they are given, as it is, so a name that means something else to them (spaces, quotes, a dollar) is not offered.
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

__all__ = ["attribute_names", "calculator_names", "catalog_names", "provider_names"]

_MOST = 200
_SECONDS = 0.5
_PLAIN = re.compile(r"[\w.+,/][\w.+,/-]*")  # also what bash does not take for two words

_CATALOGS = "SELECT name FROM names WHERE name >= ? AND name < ? ORDER BY name LIMIT ?"
_CALCULATORS = "SELECT DISTINCT name FROM calculators WHERE name >= ? AND name < ? ORDER BY name LIMIT ?"
# From one name to the next by the index: many catalogs may define attributes of the same name.
_DEFINED = "EXISTS (SELECT 1 FROM definers WHERE definers.catalog = attributes.catalog AND defined)"  # by a person
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
"""  # noqa: S608 - of texts of this module alone


def catalog_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of catalogs."""
    return _selected(ctx, _CATALOGS, incomplete)


def calculator_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of calculators."""
    return _selected(ctx, _CALCULATORS, incomplete)


def provider_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names of calculators and catalogs."""
    return calculator_names(ctx, incomplete) + catalog_names(ctx, incomplete)


def attribute_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return names that attributes have, in the population of the catalog that comes before them."""
    catalog = ctx.params.get("catalog") or ctx.params.get("sources")
    return _selected(ctx, _ATTRIBUTES, incomplete, catalog) if catalog else []


def _selected(ctx: typer.Context, query: str, beginning: str, *first: Any) -> list[str]:  # noqa: ANN401 - as sqlite3
    # The database is the file that provenn.archive names, which is slow to import.
    archive = ctx.params.get("archive") or os.environ.get("PROVENN_ARCHIVE") or "."
    file = Path(archive).absolute() / "provenn.sqlite"
    end = monotonic() + _SECONDS
    try:
        with closing(sqlite3.connect(f"file:{quote(str(file))}?mode=ro", uri=True, timeout=_SECONDS)) as database:
            database.set_progress_handler(lambda: monotonic() > end, 10_000)
            rows = database.execute(query, (*first, beginning, beginning + "\U0010ffff", _MOST))
            return [name for (name,) in rows if _PLAIN.fullmatch(name)]
    except Exception:  # noqa: BLE001 - see above
        return []
