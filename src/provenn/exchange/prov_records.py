"""Catalogs as W3C PROV, with terms of the IVOA's Provenance Data Model 1.0. The only module that imports its library.

What is written has a qualified name made of a digest, so that the names of catalogs may be anything; they are labels.
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

from provenn import __version__
from provenn.catalogs import Base, Catalog
from provenn.exchange.definitions import verb_and_options
from provenn.exchange.records import Deed, Record

__all__ = ["ProvFormat", "write_prov"]

ProvFormat = Literal["prov-json", "prov-n", "prov-xml"]

_PROVENN = Namespace("provenn", "urn:provenn:")
_VOPROV = Namespace("voprov", "http://www.ivoa.net/documents/ProvenanceDM/ns/voprov/")
_AT_ONCE = 200
_SOFTWARE = _PROVENN["software"]


def write_prov(told: Iterable[Record | Deed], format: ProvFormat, file: IO[str]) -> None:  # noqa: A002 - as the command
    """Write catalogs, runs and fragments. However many there are, only some are held in memory.

    Parameters
    ----------
    told
        What to write.
    format
        PROV's serialisation.
    file
        Where to.
    """
    _WRITERS[format](_documents(told), file)


def _documents(told: Iterable[Record | Deed]) -> Iterator[ProvDocument]:
    """Yield documents that together are one: no record is in two of them."""
    agents: set[str] = set()
    document, held = _empty(), 0
    document.agent(_SOFTWARE, _said("provenn", (PROV["SoftwareAgent"],), **{"voprov:version": __version__}))
    for one in told:
        by = one.created_by if isinstance(one, Record) else one.by
        person = _person(by)
        if str(person) not in agents:
            agents.add(str(person))
            document.agent(person, _said(by, (PROV["Person"],), **{"voprov:name": by}))
        _add(document, one, person)
        held += 1
        if held == _AT_ONCE:
            yield document
            document, held = _empty(), 0
    yield document


def _empty() -> ProvDocument:
    document = ProvDocument()
    document.add_namespace(_PROVENN)
    document.add_namespace(_VOPROV)
    return document


def _person(name: str) -> QualifiedName:
    return _PROVENN[f"person-{hashlib.sha256(name.encode()).hexdigest()[:16]}"]


def _entity(catalog: Catalog) -> QualifiedName:
    return _PROVENN[f"catalog-{catalog.digest}"]


def _said(label: str, types: Iterable[QualifiedName], **more: str) -> list[tuple[Any, Any]]:
    return [("prov:label", _legible(label)), *(("prov:type", one) for one in types), *_legible_pairs(more)]


def _legible_pairs(pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in pairs.items():
        yield name, _legible(text)


def _legible(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return "".join(one if one.isprintable() or one in "\n\t" else "\ufffd" for one in text)


def _add(document: ProvDocument, one: Record | Deed, person: QualifiedName) -> None:
    if isinstance(one, Deed):
        _add_deed(document, one, person)
    else:
        _add_catalog(document, one, person)


def _add_catalog(document: ProvDocument, record: Record, person: QualifiedName) -> None:
    catalog, at = record.definition, record.created_at
    entity, short = _entity(catalog), catalog.digest
    name = next(iter(record.names), short[:12])
    verb, options = verb_and_options(catalog)
    kinds = (_PROVENN[catalog.kind], _VOPROV["DatasetEntity"])
    more = {"voprov:name": name, "voprov:comment": record.what, "provenn:population": catalog.population.name}
    document.entity(entity, [*_said(name, kinds, **more), *(("provenn:name", _legible(one)) for one in record.names)])
    activity = document.activity(
        _PROVENN[f"{verb}-{short}"], at, at, _said(f"{verb}: {name}", (_PROVENN[verb],), **{"voprov:name": verb})
    )
    plan = document.entity(
        _PROVENN[f"definition-{short}"],
        _said(
            record.what,
            (PROV["Plan"], _VOPROV["ActivityDescription"]),
            **{"voprov:name": verb, "voprov:description": record.what, "provenn:options": json.dumps(options)},
        ),
    )
    document.wasGeneratedBy(entity, activity, at, _PROVENN[f"generation-{short}"])
    document.wasAttributedTo(entity, person, _PROVENN[f"attribution-{short}"], {"prov:role": "creator"})
    document.wasAssociatedWith(activity, person, plan, _PROVENN[f"association-{short}"], {"prov:role": "creator"})
    document.wasAssociatedWith(activity, _SOFTWARE, None, _PROVENN[f"software-{short}"], {"prov:role": "operator"})
    used = [_entity(part) for part, _ in record.made_from]
    if isinstance(catalog, Base):
        used.append(_PROVENN[f"files-{short}"])
        document.entity(
            used[0],
            _said(
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


def _add_deed(document: ProvDocument, deed: Deed, person: QualifiedName) -> None:
    short = deed.number.replace(" ", "-")
    name = next(iter(deed.names), deed.catalog.digest[:12])
    kind = _PROVENN["Run" if deed.number.startswith("run") else "Fragment"]
    rows = {} if deed.rows is None else {"provenn:rows": str(deed.rows)}
    activity = document.activity(
        _PROVENN[short],
        deed.started_at,
        deed.ended_at,
        _said(
            f"{deed.number}: {name}", (kind,), **{"voprov:name": deed.number, "provenn:outcome": deed.outcome}, **rows
        ),
    )
    document.used(activity, _entity(deed.catalog), deed.started_at, _PROVENN[f"usage-{short}"])
    document.wasAssociatedWith(activity, person, None, _PROVENN[f"association-{short}"], {"prov:role": "operator"})


# --- the formats, a part of the whole at a time ---


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
    """Write one JSON object: its members are gathered in files of their own, for they must not be torn apart."""
    members: dict[str, IO[str]] = {}
    prefix: dict[str, str] = {}
    try:
        for document in documents:
            written = StringIO()
            document.serialize(written, format="json")
            content = json.loads(written.getvalue())
            prefix |= content.pop("prefix")
            for member, held in content.items():
                if member not in members:
                    members[member] = TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115 - closed below
                for name, value in held.items():
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
        for one in members.values():
            one.close()


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
