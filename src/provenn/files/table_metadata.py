"""The metadata of a table as a whole: keywords such as EPOCH and RADESYS, comments, authors.

Metadata are not part of a catalog's identity. provenn keeps the metadata with a base catalog, and writes metadata into
exported files as far as all original tables agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from math import isfinite
from typing import Any

from provenn.digests import canonical_json

__all__ = [
    "build_frame_elements",
    "clean_metadata",
    "decode_metadata",
    "encode_metadata",
    "find_common_metadata",
    "is_frame_keyword",
    "is_time_keyword",
    "parse_frame_number",
    "parse_year",
    "read_frame_keywords",
]

_DEEPEST, _MOST = 4, 10_000
"""The deepest nesting of mappings and lists, and the most values in all."""
_LONGEST = 64 * 1024
"""The most characters of the metadata of a table."""

_TIME = frozenset({"TIMESYS", "MJDREF", "MJDREFI", "MJDREFF", "JDREF", "JDREFI", "JDREFF", "TREFPOS", "TIMEUNIT"})
_FRAME = frozenset({"RADESYS", "EQUINOX", "EPOCH", "RADECSYS"}) | _TIME


def is_frame_keyword(keyword: str) -> bool:
    """Whether a keyword of FITS is about the frame of positions or times."""
    return keyword.upper() in _FRAME


def is_time_keyword(keyword: str) -> bool:
    """Whether a keyword of FITS is about the frame of times."""
    return keyword.upper() in _TIME


def parse_frame_number(keyword: str, text: object) -> float | None:
    """Return the number in the text of a frame keyword; None for any other keyword or text.

    >>> parse_frame_number("MJDREF", "55197.0"), parse_frame_number("RADESYS", "ICRS"), parse_frame_number("limit", "5")
    (55197.0, None, None)
    """
    is_number = isinstance(text, str) and re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", text)
    return float(str(text)) if is_frame_keyword(keyword) and is_number else None


def clean_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as JSON values: texts, numbers, logicals, and lists and mappings of these.

    Values nested too deeply become text, and so do NaN and infinities. Excess values are left out, from the end.
    """
    cleaned: dict[str, Any] = {}
    left, nodes = _LONGEST, iter(range(_MOST))
    for key, value in metadata.items():
        name = _replace_unprintable(str(key)).strip()
        plain = _simplify_value(value, _DEEPEST, nodes)
        left -= len(name) + len(canonical_json(plain))
        if not name or plain in (None, "", [], {}):
            continue
        if left < 0:
            break
        cleaned[name] = plain
    return cleaned


def _simplify_value(value: Any, depth: int, nodes: Iterator[int]) -> Any:  # noqa: ANN401 - whatever a header holds
    """Return a value as JSON, with at most `depth` levels and as many values as `nodes` has left."""
    if next(nodes, None) is None:  # a small file can refer to the same value from very many places
        return None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else str(float(value))
    if isinstance(value, bytes):
        return _replace_unprintable(value.decode("utf-8", "replace"))
    if isinstance(value, date | time):
        return value.isoformat()
    if hasattr(value, "tolist") and hasattr(value, "dtype") and not hasattr(value, "unit"):  # a NumPy value
        return _simplify_value(value.tolist() if value.size <= _MOST else str(value), depth, nodes)
    if isinstance(value, Mapping | list | tuple) and not depth:
        return "…"
    if isinstance(value, Mapping):
        return {_replace_unprintable(str(key)): _simplify_value(item, depth - 1, nodes) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_simplify_value(item, depth - 1, nodes) for item in value]
    return _replace_unprintable(str(value)[:_LONGEST])


def _replace_unprintable(text: str) -> str:
    """Return a text valid in every database and header: no NUL, no half of a character."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", " ", text)


def encode_metadata(metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return metadata in stored form: pairs of keyword and JSON text."""
    return tuple(sorted((key, canonical_json(value)) for key, value in clean_metadata(metadata).items()))


def decode_metadata(stored: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return metadata from the stored form; foreign text that is not JSON stays text."""
    metadata: dict[str, Any] = {}
    for key, text in stored:
        try:
            metadata[key] = json.loads(text)
        except (ValueError, RecursionError):
            metadata[key] = text
    return clean_metadata(metadata)


def find_common_metadata(tables: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metadata common to several files.

    >>> find_common_metadata([{"EPOCH": 2000.0, "DATE": "x"}, {"EPOCH": 2000.0, "DATE": "y"}])
    {'EPOCH': 2000.0}
    """
    first, *others = tables or [{}]
    return {key: value for key, value in first.items() if all(key in table and table[key] == value for table in others)}


# --- frames of the Virtual Observatory ---

_SYSTEMS = {"ICRS": "ICRS", "FK5": "FK5", "eq_FK5": "FK5", "FK4": "FK4", "eq_FK4": "FK4"}


def read_frame_keywords(coordinates: Sequence[Mapping[str, str]], times: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the FITS keywords for the elements COOSYS and TIMESYS of a VOTable.

    Several elements, or an element without FITS keywords, are kept unchanged: FITS keywords would lose the assignment
    to columns.
    """
    keywords: dict[str, Any] = {}
    systems = [dict(attributes) for attributes in _remove_duplicates(coordinates)]
    if len(systems) == 1 and systems[0].get("system", "ICRS") in _SYSTEMS:
        (system,) = systems
        keywords |= {"RADESYS": _SYSTEMS[system["system"]]} if "system" in system else {}
        keywords |= {"EPOCH": parse_year(system["epoch"])} if "epoch" in system else {}
        if "equinox" in system:  # the equinox of FK4 is always Besselian
            keywords["EQUINOX"] = parse_year(
                re.sub("^B", "", system["equinox"]) if keywords.get("RADESYS") == "FK4" else system["equinox"]
            )
    elif systems:
        keywords["COOSYS"] = systems
    clocks = [dict(attributes) for attributes in _remove_duplicates(times)]
    if len(clocks) == 1:
        (clock,) = clocks
        keywords |= {"TIMESYS": clock["timescale"]} if "timescale" in clock else {}
        keywords |= {"TREFPOS": clock["refposition"]} if "refposition" in clock else {}
        keywords |= _parse_time_origin(clock["timeorigin"]) if "timeorigin" in clock else {}
    elif clocks:
        keywords["TIMESYS elements"] = clocks
    return keywords


def build_frame_elements(metadata: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the attributes of the elements COOSYS and TIMESYS for keywords of FITS; empty without frame keywords.

    In FITS, EPOCH alone means the equinox, by an old convention. Beside RADESYS or EQUINOX, EPOCH is the epoch of
    positions.
    """
    keywords = {key.upper(): value for key, value in metadata.items()}
    system = {"FK5": "eq_FK5", "FK4": "eq_FK4"}.get(str(keywords.get("RADESYS", "")), str(keywords.get("RADESYS", "")))
    coordinates = {"system": system} if system in ("ICRS", "eq_FK5", "eq_FK4") else {}
    if coordinates and (equinox := _format_year(keywords.get("EQUINOX"), system)):
        coordinates["equinox"] = equinox
    if coordinates and (epoch := _format_year(keywords.get("EPOCH"), "")):
        coordinates["epoch"] = epoch
    clock = {"timescale": str(keywords["TIMESYS"])} if "TIMESYS" in keywords else {}
    if clock:
        clock["refposition"] = str(keywords.get("TREFPOS", "UNKNOWN"))
        days = _find_reference_date(keywords)
        clock |= {"timeorigin": repr(days)} if days is not None else {}
    return coordinates, clock


def _remove_duplicates(elements: Sequence[Mapping[str, str]]) -> list[tuple[tuple[str, str], ...]]:
    """Return the distinct elements, as sorted attributes without the ID."""
    return list(
        dict.fromkeys(
            tuple(sorted((key, text) for key, text in attributes.items() if key != "ID")) for attributes in elements
        )
    )


def parse_year(text: str) -> float | str:
    """Return the number of a Julian year, ``J2016.0`` or ``2016``; a Besselian year stays text."""
    match = re.fullmatch(r"J?(\d+(?:\.\d*)?)", text.strip())
    return float(match[1]) if match else text.strip()


def _format_year(value: object, system: str) -> str:
    """Return a year in the notation of VOTable, ``J2000.0`` or ``B1950.0``; empty for any other value."""
    if isinstance(value, str):
        return value if re.fullmatch(r"[BJ]?\d+(\.\d*)?", value) else ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return f"{'B' if system == 'eq_FK4' else 'J'}{float(value)!r}"


def _parse_time_origin(text: str) -> dict[str, Any]:
    """Return the FITS keyword of a time origin in a VOTable."""
    known = {"MJD-origin": 2400000.5, "JD-origin": 0.0}
    try:
        days = known[text] if text in known else float(text)
    except ValueError:
        return {"JDREF": text}
    return {"MJDREF": 0.0} if days == known["MJD-origin"] else {"JDREF": days}


def _find_reference_date(keywords: Mapping[str, Any]) -> float | None:
    """Return the Julian date of time zero, if keywords give the date."""
    for prefix, zero in (("MJDREF", 2400000.5), ("JDREF", 0.0)):
        parts = [
            keywords[key] for key in (prefix, f"{prefix}I", f"{prefix}F") if isinstance(keywords.get(key), int | float)
        ]
        if parts:
            return float(sum(parts) + zero)
    return None
