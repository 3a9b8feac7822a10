"""Examples of queries as a page of DALI, made from the catalogs that the viewer sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from provenn.tap.served_tables import ServedTable, quote_name
from provenn.tap.xml_text import clean_text

__all__ = ["format_examples", "list_examples"]

_HEAD: Final = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
    '<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head><title>Examples of queries</title></head>\n'
    '<body vocab="http://www.ivoa.net/rdf/examples#">\n<h1>Examples of queries</h1>\n'
)


def list_examples(tables: Sequence[ServedTable]) -> Iterator[tuple[str, str, str]]:
    """Yield the identifier, the heading and the query of each example."""
    yield (
        "tables",
        "The tables of this service",
        "SELECT table_name, description FROM TAP_SCHEMA.tables ORDER BY table_name",
    )
    yield (
        "units",
        "Columns with a unit",
        "SELECT table_name, column_name, unit, ucd FROM TAP_SCHEMA.columns WHERE unit IS NOT NULL",
    )
    if tables:
        first = tables[0]
        yield "first", f"The first rows of {first.catalog}", f"SELECT TOP 10 * FROM {first.name}"  # noqa: S608 - shown
        yield "count", f"How many rows {first.catalog} has", f"SELECT COUNT(*) AS n FROM {first.name}"  # noqa: S608 - shown
    placed = next((table for table in tables if table.position is not None), None)
    if placed is not None and placed.position is not None:
        longitude, latitude = map(quote_name, placed.position)
        cone = f"CONTAINS(POINT('ICRS', {longitude}, {latitude}), CIRCLE('ICRS', 10.68, 41.27, 1.0)) = 1"
        query = f"SELECT TOP 10 * FROM {placed.name} WHERE {cone}"  # noqa: S608 - shown
        yield "cone", f"Sources of {placed.catalog} within a degree of M31", query


def format_examples(tables: Sequence[ServedTable]) -> bytes:
    """Return the page of examples."""
    parts = [_HEAD]
    for identifier, heading, query in list_examples(tables):
        about = f"id={quoteattr(identifier)} resource={quoteattr('#' + identifier)}"
        parts.append(
            f'<div typeof="example" {about}>\n<h2 property="name">{escape(clean_text(heading))}</h2>\n'
            f'<pre property="query">{escape(clean_text(query))}</pre>\n</div>\n'
        )
    parts.append("</body>\n</html>\n")
    return "".join(parts).encode()
