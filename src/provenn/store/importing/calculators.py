"""Taking over calculators, and what names of attributes mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from provenn.catalogs.calculators import calculator_from
from provenn.catalogs.digest import canonical_json
from provenn.store.importing.taking import Import, insert_missing
from provenn.store.portable import Line
from provenn.store.tables import (
    calculators,
    preferences,
)

__all__ = ["take_calculators", "take_preferences"]


def take_calculators(taking: Import, lines: Sequence[Line]) -> int:
    """Take calculators over, as they were registered; return how many came."""
    rows: dict[Any, dict[str, Any]] = {}
    for line in lines:
        with line.readable("definition"):
            made = calculator_from(line.mapping("definition"))
            if made.digest != line.text("digest"):
                raise line.wrong("its digest is not that of what it says")
            definition = canonical_json(made.definition())
        who, at = taking.by(line.text("by")), line.moment("at")
        said = {"definition": definition, "registered_at": at, "registered_by": who}
        name = line.text("name")
        rows[(name, made.digest)] = {"digest": made.digest, "name": name, **said}
    return insert_missing(taking.writing, calculators, ("name", "digest"), rows)


def take_preferences(taking: Import, lines: Sequence[Line]) -> int:
    """Take over what names of attributes mean, unless they mean something here; return how many came."""
    rows: dict[Any, dict[str, Any]] = {}
    called = {row.digest: row.name for row in taking.writing.connection.execute(select(calculators))}
    for line in lines:
        said = {key: line.text(key) for key in ("attribute", "identity")}
        if said["identity"] in called:  # older files name calculators by digest
            said["identity"] = f"calculator:{called[said['identity']]}"
        rows[(said["attribute"],)] = {**said, "at": line.moment("at"), "by": taking.by(line.text("by"))}
    query = select(*preferences.c["attribute", "identity"])
    here = {row.attribute: row.identity for row in taking.writing.connection.execute(query)}
    meant = {row["attribute"]: row["identity"] for row in rows.values()}
    taking.kept += sorted(one for one, identity in meant.items() if here.get(one, identity) != identity)
    return insert_missing(taking.writing, preferences, ("attribute",), rows)
