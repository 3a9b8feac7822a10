"""Documents of VOSI: the capabilities of the service, its tables, and its availability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final
from xml.etree import ElementTree as ET

from provenn._version import __version__
from provenn.queries.adql_features import ADQL_FEATURES, AdqlFeature
from provenn.tap.answer_formats import FORMATS
from provenn.tap.served_tables import SCHEMA, ServedColumn, ServedTable
from provenn.tap.service_limits import ServiceLimits
from provenn.tap.tap_schema import TAP_SCHEMA, TAP_SCHEMA_TABLES
from provenn.tap.uws import format_moment
from provenn.tap.xml_text import add_element, serialise

__all__ = [
    "format_availability",
    "format_capabilities",
    "format_cone_capabilities",
    "format_table",
    "format_tables",
]

_STANDARD: Final = "ivo://ivoa.net/std/"
_FEATURES: Final = f"{_STANDARD}TAPRegExt#features-"
_OUTPUTS: Final = {
    "votable": f"{_STANDARD}TAPRegExt#output-votable-binary2",
    "votable/td": f"{_STANDARD}TAPRegExt#output-votable-td",
}


def format_capabilities(address: str, limits: ServiceLimits) -> bytes:
    """Return the capabilities of the TAP service at an address.

    Parameters
    ----------
    address
        The address of the service.
    limits
        Its limits.
    """
    root = ET.Element("vosi:capabilities")
    tap = add_element(root, "capability", attributes={"standardID": f"{_STANDARD}TAP", "xsi:type": "tr:TableAccess"})
    _add_interface(tap, address, version="1.1", role="std")
    language = add_element(tap, "language")
    add_element(language, "name", "ADQL")
    for version in ("2.0", "2.1"):
        add_element(language, "version", version, {"ivo-id": f"{_STANDARD}ADQL#v{version}"})
    add_element(language, "description", "Astronomical Data Query Language")
    for group, features in groupby(ADQL_FEATURES, key=lambda feature: feature.group):
        _add_features(language, group, features)
    for answer_format in FORMATS:
        identifier = _OUTPUTS.get(answer_format.name)
        output = add_element(tap, "outputFormat", attributes={"ivo-id": identifier} if identifier else {})
        add_element(output, "mime", answer_format.media_type)
        add_element(output, "alias", answer_format.name)
    for method in ("inline", "http", "https"):
        add_element(tap, "uploadMethod", attributes={"ivo-id": f"{_STANDARD}TAPRegExt#upload-{method}"})
    _add_limit(tap, "retentionPeriod", limits.kept_seconds, limits.most_kept_seconds)
    _add_limit(tap, "executionDuration", limits.seconds, limits.most_seconds)
    _add_limit(tap, "outputLimit", limits.rows, limits.most_rows, unit="row")
    _add_limit(tap, "uploadLimit", limits.upload, limits.upload, unit="byte")
    for name, version in (("capabilities", ""), ("availability", ""), ("tables", "-1.1")):
        _add_vosi(root, f"VOSI#{name}{version}", f"{address}/{name}")
    examples = add_element(root, "capability", attributes={"standardID": f"{_STANDARD}DALI#examples"})
    _add_interface(examples, f"{address}/examples", kind="vr:WebBrowser")
    return serialise(root, "vosi", "vr", "vs", "tr", "xsi")


def format_cone_capabilities(address: str, most_rows: int, description: str, sample: tuple[float, float]) -> bytes:
    """Return the capabilities of a cone search at an address; `sample` is the position of a test query."""
    root = ET.Element("vosi:capabilities")
    cone = add_element(
        root, "capability", attributes={"standardID": f"{_STANDARD}ConeSearch", "xsi:type": "cs:ConeSearch"}
    )
    add_element(cone, "description", description)
    interface = _add_interface(cone, address, version="1.1", role="std")
    add_element(interface, "queryType", "GET")
    add_element(interface, "resultType", "application/x-votable+xml")
    add_element(cone, "maxSR", "180.0")
    add_element(cone, "maxRecords", str(most_rows))
    add_element(cone, "verbosity", "false")
    test = add_element(cone, "testQuery")
    for name, value in (("ra", sample[0]), ("dec", sample[1]), ("sr", 0.1)):
        add_element(test, name, repr(float(value)))
    for name in ("capabilities", "availability"):
        _add_vosi(root, f"VOSI#{name}", f"{address}/{name}")
    root.set("xmlns:cs", "http://www.ivoa.net/xml/ConeSearch/v1.0")
    return serialise(root, "vosi", "vr", "vs", "xsi")


def format_tables(tables: Sequence[ServedTable], *, with_columns: bool = True) -> bytes:
    """Return all tables as a document; without columns, clients ask for the columns of each table."""
    root = ET.Element("vosit:tableset", {"xsi:type": "vs:TableSet"})
    for name, of_schema in ((SCHEMA, tables), (TAP_SCHEMA, TAP_SCHEMA_TABLES)):
        schema = add_element(root, "schema")
        add_element(schema, "name", name)
        for table in of_schema:
            _fill_table(add_element(schema, "table"), table, with_columns=with_columns)
    return serialise(root, "vosit", "vs", "xsi")


def format_table(table: ServedTable) -> bytes:
    """Return a table as a document."""
    root = ET.Element("vosit:table", {"xsi:type": "vs:Table"})
    _fill_table(root, table, with_columns=True)
    return serialise(root, "vosit", "vs", "xsi")


def format_availability(since: datetime) -> bytes:
    """Return the availability of a service that answers; `since` is the start of the server."""
    root = ET.Element("avail:availability")
    add_element(root, "avail:available", "true")
    add_element(root, "avail:upSince", format_moment(since))
    add_element(root, "avail:note", f"provenn {__version__}")
    return serialise(root, "avail")


def _add_interface(
    capability: ET.Element, address: str, *, version: str = "", role: str = "", kind: str = "vs:ParamHTTP"
) -> ET.Element:
    attributes = {"xsi:type": kind, **({"role": role} if role else {}), **({"version": version} if version else {})}
    interface = add_element(capability, "interface", attributes=attributes)
    add_element(interface, "accessURL", address, {"use": "full" if kind == "vr:WebBrowser" else "base"})
    return interface


def _add_vosi(root: ET.Element, standard: str, address: str) -> None:
    capability = add_element(root, "capability", attributes={"standardID": f"{_STANDARD}{standard}"})
    interface = add_element(capability, "interface", attributes={"xsi:type": "vs:ParamHTTP", "role": "std"})
    add_element(interface, "accessURL", address, {"use": "full"})


def _add_features(language: ET.Element, group: str, features: Iterable[AdqlFeature]) -> None:
    listed = add_element(language, "languageFeatures", attributes={"type": f"{_FEATURES}{group}"})
    for feature in features:
        element = add_element(listed, "feature")
        add_element(element, "form", feature.form)
        if feature.description:
            add_element(element, "description", feature.description)


def _add_limit(tap: ET.Element, tag: str, usual: int, most: int, unit: str = "") -> None:
    element = add_element(tap, tag)
    for name, number in (("default", usual), ("hard", most)):
        add_element(element, name, str(number), {"unit": unit} if unit else {})


def _fill_table(element: ET.Element, table: ServedTable, *, with_columns: bool) -> None:
    element.set("type", "table")
    add_element(element, "name", table.name)
    if table.description:
        add_element(element, "description", table.description)
    if not with_columns:
        return
    for column in table.columns:
        _add_column(element, column)
    for key in table.keys:
        foreign = add_element(element, "foreignKey")
        add_element(foreign, "targetTable", key.target)
        for referring, target in key.pairs:
            pair = add_element(foreign, "fkColumn")
            add_element(pair, "fromColumn", referring)
            add_element(pair, "targetColumn", target)


def _add_column(table: ET.Element, column: ServedColumn) -> None:
    element = add_element(table, "column", attributes={"std": "true"} if column.standard else {})
    add_element(element, "name", column.name)
    for tag, text in (("description", column.description), ("unit", column.unit), ("ucd", column.ucd)):
        if text:
            add_element(element, tag, text)
    attributes = {"xsi:type": "vs:VOTableType"}
    attributes |= {"arraysize": column.type.arraysize} if column.type.arraysize else {}
    attributes |= {"extendedType": column.type.xtype} if column.type.xtype else {}
    add_element(element, "dataType", column.type.datatype, attributes)
    if column.key:
        add_element(element, "flag", "primary")
