"""Portable files that nobody exported: definitions as an attacker would write them, with digests that are right."""

from io import BytesIO

from provenn.catalogs import Catalog, cone
from provenn.transfer.portable_files import KINDS, write_lines

__all__ = ["portable_file"]

_AT = "2026-01-01T00:00:00+00:00"


def portable_file(*catalogs: Catalog, name: str = "evil", calculators: tuple = ()) -> bytes:
    """Return a portable file that holds catalogs with their lineage; the name is on the last one."""
    lines = [("definition", _definition(catalog)) for catalog in cone(*catalogs)]
    if catalogs:
        whose = {"owner": "eve", "visibility": "public", "project": None}
        digest = catalogs[-1].digest
        history = [[digest, _AT, "eve", *whose.values()]]
        lines.append(("name", {"name": name, "catalog": digest, **whose, "history": history}))
    for calculator in calculators:
        values = {"name": name, "digest": calculator.digest, "definition": calculator.definition()}
        lines.append(("calculator", {**values, "at": _AT, "by": "eve"}))
    counts = {kind: sum(kind == line for line, _ in lines) for kind in KINDS}
    file = BytesIO()
    write_lines(file, counts, lines)
    return file.getvalue()


def _definition(catalog: Catalog) -> dict:
    return {
        "digest": catalog.digest,
        "kind": catalog.kind,
        "parameters": catalog.parameters(),
        "notes": catalog.notes(),
        "dependencies": [dependency.digest for dependency in catalog.dependencies],
        "created": [[_AT, "eve"]],
        "seen": None if catalog.dependencies else [_AT, "eve"],
    }
