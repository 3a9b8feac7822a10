"""Write catalogs as W3C PROV, with terms of the IVOA's Provenance Data Model 1.0; only this module imports ``prov``.

Entities have qualified names that contain a digest, so that catalog names, which are only labels, may be any text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from io import BytesIO, StringIO
from tempfile import TemporaryFile
from typing import IO, Any, Literal

from prov.constants import PROV
from prov.identifier import Namespace, QualifiedName
from prov.model import ProvDocument

from provenn._version import __version__
from provenn.catalogs import Base, Catalog
from provenn.exchange.records import Activity, Record

__all__ = ["ProvFormat", "write_prov"]

ProvFormat = Literal["prov-json", "prov-n", "prov-xml"]

_PROVENN = Namespace("provenn", "urn:provenn:")
_VOPROV = Namespace("voprov", "http://www.ivoa.net/documents/ProvenanceDM/ns/voprov/")
_RECORDS_PER_DOCUMENT = 200
_SOFTWARE = _PROVENN["software"]


def write_prov(entries: Iterable[Record | Activity], format: ProvFormat, file: IO[str]) -> None:  # noqa: A002 - as the command
    """Write catalogs, runs and fragments, with only a limited number in memory.

    Parameters
    ----------
    entries
        The catalogs and activities.
    format
        The serialisation of PROV.
    file
        The text file to write.
    """
    _WRITERS[format](_build_documents(entries), file)


def _build_documents(entries: Iterable[Record | Activity]) -> Iterator[ProvDocument]:
    """Yield documents that together form a single document; no record occurs in two of them."""
    agents: set[str] = set()
    document, count = _make_document(), 0
    document.agent(_SOFTWARE, _build_attributes("provenn", (PROV["SoftwareAgent"],), **{"voprov:version": __version__}))
    for entry in entries:
        user = entry.created_by if isinstance(entry, Record) else entry.user
        person = _name_person(user)
        if str(person) not in agents:
            agents.add(str(person))
            document.agent(person, _build_attributes(user, (PROV["Person"],), **{"voprov:name": user}))
        _add_entry(document, entry, person)
        count += 1
        if count == _RECORDS_PER_DOCUMENT:
            yield document
            document, count = _make_document(), 0
    yield document


def _make_document() -> ProvDocument:
    document = ProvDocument()
    document.add_namespace(_PROVENN)
    document.add_namespace(_VOPROV)
    return document


def _name_person(name: str) -> QualifiedName:
    return _PROVENN[f"person-{hashlib.sha256(name.encode()).hexdigest()[:16]}"]


def _name_entity(catalog: Catalog) -> QualifiedName:
    return _PROVENN[f"catalog-{catalog.digest}"]


def _build_attributes(label: str, types: Iterable[QualifiedName], **more: str) -> list[tuple[Any, Any]]:
    """Return a label, types and details as PROV attributes."""
    return [("prov:label", _clean_text(label)), *(("prov:type", kind) for kind in types), *_clean_pairs(more)]


def _clean_pairs(pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in pairs.items():
        yield name, _clean_text(text)


def _clean_text(text: str) -> str:
    """Return a text without the characters that XML does not allow."""
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text)


def _add_entry(document: ProvDocument, entry: Record | Activity, person: QualifiedName) -> None:
    if isinstance(entry, Activity):
        _add_activity(document, entry, person)
    else:
        _add_catalog(document, entry, person)


def _add_catalog(document: ProvDocument, record: Record, person: QualifiedName) -> None:
    catalog, at = record.definition, record.created_at
    entity, short = _name_entity(catalog), catalog.digest
    name = next(iter(record.names), short[:12])
    verb, options = catalog.exchange_form()
    kinds = (_PROVENN[catalog.kind], _VOPROV["DatasetEntity"])
    details = {"voprov:name": name, "voprov:comment": record.description, "provenn:population": catalog.population.name}
    document.entity(
        entity,
        [*_build_attributes(name, kinds, **details), *(("provenn:name", _clean_text(label)) for label in record.names)],
    )
    activity = document.activity(
        _PROVENN[f"{verb}-{short}"],
        at,
        at,
        _build_attributes(f"{verb}: {name}", (_PROVENN[verb],), **{"voprov:name": verb}),
    )
    plan = document.entity(
        _PROVENN[f"definition-{short}"],
        _build_attributes(
            record.description,
            (PROV["Plan"], _VOPROV["ActivityDescription"]),
            **{"voprov:name": verb, "voprov:description": record.description, "provenn:options": json.dumps(options)},
        ),
    )
    document.wasGeneratedBy(entity, activity, at, _PROVENN[f"generation-{short}"])
    document.wasAttributedTo(entity, person, _PROVENN[f"attribution-{short}"], {"prov:role": "creator"})
    document.wasAssociatedWith(activity, person, plan, _PROVENN[f"association-{short}"], {"prov:role": "creator"})
    document.wasAssociatedWith(activity, _SOFTWARE, None, _PROVENN[f"software-{short}"], {"prov:role": "operator"})
    used = [_name_entity(part) for part, _ in record.dependencies]
    if isinstance(catalog, Base):
        used.append(_PROVENN[f"files-{short}"])
        document.entity(
            used[0],
            _build_attributes(
                record.location,
                (_VOPROV["DatasetEntity"], _PROVENN["Files"]),
                **{
                    "voprov:location": record.location,
                    "provenn:format": catalog.files.format,
                    "provenn:fingerprint": catalog.files.digest,
                },
            ),
        )
    for position, part in enumerate(used):
        document.used(activity, part, at, _PROVENN[f"usage-{position}-{short}"])
        document.wasDerivedFrom(entity, part, activity, None, None, _PROVENN[f"derivation-{position}-{short}"])


def _add_activity(document: ProvDocument, activity: Activity, person: QualifiedName) -> None:
    short = f"{activity.kind}-{activity.number}"
    name = next(iter(activity.names), activity.catalog.digest[:12])
    kind = _PROVENN["Run" if activity.kind == "run" else "Fragment"]
    rows = {} if activity.rows is None else {"provenn:rows": str(activity.rows)}
    activity_record = document.activity(
        _PROVENN[short],
        activity.started_at,
        activity.ended_at,
        _build_attributes(
            f"{activity.name}: {name}",
            (kind,),
            **{"voprov:name": activity.name, "provenn:outcome": activity.outcome},
            **rows,
        ),
    )
    document.used(activity_record, _name_entity(activity.catalog), activity.started_at, _PROVENN[f"usage-{short}"])
    document.wasAssociatedWith(
        activity_record, person, None, _PROVENN[f"association-{short}"], {"prov:role": "operator"}
    )


# --- the formats, written document by document ---


def _write_provn(documents: Iterator[ProvDocument], file: IO[str]) -> None:
    for position, document in enumerate(documents):
        lines = document.get_provn().splitlines()
        start = next(place for place, line in enumerate(lines) if not line.strip())  # after the prefixes
        if position == 0:
            file.writelines(f"{line}\n" for line in lines[:start])
            file.write("\n")
        file.writelines(f"{line}\n" for line in lines[start + 1 : -1])
    file.write("endDocument\n")


def _write_json(documents: Iterator[ProvDocument], file: IO[str]) -> None:
    """Write a single JSON object; a temporary file collects each member, because a member must be contiguous."""
    members: dict[str, IO[str]] = {}
    prefix: dict[str, str] = {}
    try:
        for document in documents:
            written = StringIO()
            document.serialize(written, format="json")
            content = json.loads(written.getvalue())
            prefix |= content.pop("prefix")
            for member, records in content.items():
                if member not in members:
                    members[member] = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed below
                for name, value in records.items():
                    comma = ",\n" if members[member].tell() else ""
                    members[member].write(f"{comma}    {json.dumps(name)}: {json.dumps(value, sort_keys=True)}")
        file.write(f'{{\n  "prefix": {json.dumps(prefix, sort_keys=True)}')
        for member in sorted(members):
            file.write(f",\n  {json.dumps(member)}: {{\n")
            members[member].seek(0)
            while text := members[member].read(1 << 20):
                file.write(text)
            file.write("\n  }")
        file.write("\n}\n")
    finally:
        for part in members.values():
            part.close()


def _write_xml(documents: Iterator[ProvDocument], file: IO[str]) -> None:
    for position, document in enumerate(documents):
        written = BytesIO()
        document.serialize(written, format="xml")
        text = written.getvalue().decode()
        start, end = text.index(">", text.index("<prov:document")) + 1, text.rindex("</prov:document>")
        file.write(text[: start if position == 0 else 0])
        file.write(text[start:end].rstrip())
    file.write("\n</prov:document>\n")


_WRITERS: dict[ProvFormat, Callable[[Iterator[ProvDocument], IO[str]], None]] = {
    "prov-n": _write_provn,
    "prov-json": _write_json,
    "prov-xml": _write_xml,
}
