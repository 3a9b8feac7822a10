"""Importing calculators, and preferences for the names of attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from provenn.catalogs.calculators import calculator_from
from provenn.database.tables import (
    calculators,
    preferences,
)
from provenn.digests import canonical_json
from provenn.transfer.importing.taking import ImportSession, insert_missing
from provenn.transfer.portable_files import Line

__all__ = ["take_calculators", "take_preferences"]


def take_calculators(session: ImportSession, lines: Sequence[Line]) -> int:
    """Import calculators with their registrations; return the number of new calculators."""
    rows: dict[Any, dict[str, Any]] = {}
    for line in lines:
        with line.report_errors("definition"):
            calculator = calculator_from(line.get_mapping("definition"))
            if calculator.digest != line.get_text("digest"):
                raise line.make_error("its digest does not match its content")
            definition = canonical_json(calculator.definition())
        author, at = session.choose_author(line.get_text("by")), line.get_moment("at")
        registration = {"definition": definition, "registered_at": at, "registered_by": author}
        name = line.get_text("name")
        rows[(name, calculator.digest)] = {"digest": calculator.digest, "name": name, **registration}
    return insert_missing(session.writing, calculators, ("name", "digest"), rows)


def take_preferences(session: ImportSession, lines: Sequence[Line]) -> int:
    """Import preferences for names of attributes without a preference here; return the number of new preferences."""
    rows: dict[Any, dict[str, Any]] = {}
    calculator_names = {row.digest: row.name for row in session.writing.connection.execute(select(calculators))}
    for line in lines:
        preference = {key: line.get_text(key) for key in ("attribute", "identity")}
        if preference["identity"] in calculator_names:  # older files name calculators by digest
            preference["identity"] = f"calculator:{calculator_names[preference['identity']]}"
        rows[(preference["attribute"],)] = {
            **preference,
            "at": line.get_moment("at"),
            "by": session.choose_author(line.get_text("by")),
        }
    query = select(*preferences.c["attribute", "identity"])
    current = {row.attribute: row.identity for row in session.writing.connection.execute(query)}
    imported = {row["attribute"]: row["identity"] for row in rows.values()}
    session.kept += sorted(
        attribute for attribute, identity in imported.items() if current.get(attribute, identity) != identity
    )
    return insert_missing(session.writing, preferences, ("attribute",), rows)
