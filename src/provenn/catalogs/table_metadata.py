"""What files say of a table as a whole: keywords such as EPOCH and RADESYS, comments, who made it.

It is no part of a catalog's identity. It is kept with a base catalog, and written into exported files as far as all
tables that they come from say the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, time
from math import isfinite
from typing import Any

from provenn.catalogs.digest import canonical_json

__all__ = [
    "agreed",
    "clean",
    "decoded",
    "encoded",
    "frame_keywords",
    "frame_number",
    "is_of_frame",
    "is_of_time",
    "written_frame",
]

_DEEPEST, _MOST = 4, 10_000
"""How many mappings and lists may lie in one another, and how many values there may be in all."""
_LONGEST = 64 * 1024
"""The most characters that the metadata of a table have."""

_TIME = frozenset({"TIMESYS", "MJDREF", "MJDREFI", "MJDREFF", "JDREF", "JDREFI", "JDREFF", "TREFPOS", "TIMEUNIT"})
_FRAME = frozenset({"RADESYS", "EQUINOX", "EPOCH", "RADECSYS"}) | _TIME


def is_of_frame(keyword: str) -> bool:
    """Tell whether a keyword says how positions or times are measured, by its name in FITS."""
    return keyword.upper() in _FRAME


def is_of_time(keyword: str) -> bool:
    """Tell whether a keyword says how times are measured."""
    return keyword.upper() in _TIME


def frame_number(keyword: str, text: object) -> float | None:
    """Return the number that a keyword has which says how positions or times are measured; None if it has none.

    >>> frame_number("MJDREF", "55197.0"), frame_number("RADESYS", "ICRS"), frame_number("limit", "5")
    (55197.0, None, None)
    """
    is_number = isinstance(text, str) and re.fullmatch(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?", text)
    return float(str(text)) if is_of_frame(keyword) and is_number else None


def clean(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata as JSON has them: texts, numbers, logicals, and lists and mappings of these.

    What goes too deep becomes text, and so do NaN and infinities. What is too much is left out, from the end.
    """
    found: dict[str, Any] = {}
    left, nodes = _LONGEST, iter(range(_MOST))
    for key, value in given.items():
        name = _printable(str(key)).strip()
        plain = _plain(value, _DEEPEST, nodes)
        left -= len(name) + len(canonical_json(plain))
        if not name or plain in (None, "", [], {}):
            continue
        if left < 0:
            break
        found[name] = plain
    return found


def _plain(value: Any, depth: int, nodes: Iterator[int]) -> Any:  # noqa: ANN401 - whatever a header holds
    if next(nodes, None) is None:  # a small file can refer to one value from very many places
        return None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if isfinite(value) else str(float(value))
    if isinstance(value, bytes):
        return _printable(value.decode("utf-8", "replace"))
    if isinstance(value, date | time):
        return value.isoformat()
    if hasattr(value, "tolist") and hasattr(value, "dtype") and not hasattr(value, "unit"):  # of NumPy
        return _plain(value.tolist() if value.size <= _MOST else str(value), depth, nodes)
    if isinstance(value, Mapping | list | tuple) and not depth:
        return "…"
    if isinstance(value, Mapping):
        return {_printable(str(key)): _plain(one, depth - 1, nodes) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, depth - 1, nodes) for one in value]
    return _printable(str(value)[:_LONGEST])


def _printable(text: str) -> str:
    """Return a text that every database and every header takes: no NUL, no half of a character."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", " ", text)


def encoded(metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return metadata as texts by keyword, each in JSON, which is how they are stored."""
    return tuple(sorted((key, canonical_json(value)) for key, value in clean(metadata).items()))


def decoded(stored: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return metadata that were stored as texts; what came from elsewhere and is no JSON stays text."""
    found: dict[str, Any] = {}
    for key, text in stored:
        try:
            found[key] = json.loads(text)
        except (ValueError, RecursionError):
            found[key] = text
    return clean(found)


def agreed(several: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metadata that several files have in common.

    >>> agreed([{"EPOCH": 2000.0, "DATE": "x"}, {"EPOCH": 2000.0, "DATE": "y"}])
    {'EPOCH': 2000.0}
    """
    first, *others = several or [{}]
    return {key: value for key, value in first.items() if all(key in one and one[key] == value for one in others)}


# --- frames of the Virtual Observatory ---

_SYSTEMS = {"ICRS": "ICRS", "FK5": "FK5", "eq_FK5": "FK5", "FK4": "FK4", "eq_FK4": "FK4"}


def frame_keywords(coordinates: Sequence[Mapping[str, str]], times: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Return the keywords of FITS for what elements COOSYS and TIMESYS of a VOTable say.

    Where there are several, or one that has no keywords, they are kept as they are: which columns each is about
    would be lost.
    """
    found: dict[str, Any] = {}
    systems = [dict(one) for one in _distinct(coordinates)]
    if len(systems) == 1 and systems[0].get("system", "ICRS") in _SYSTEMS:
        (system,) = systems
        found |= {"RADESYS": _SYSTEMS[system["system"]]} if "system" in system else {}
        found |= {"EPOCH": _year(system["epoch"])} if "epoch" in system else {}
        if "equinox" in system:  # that of FK4 is of Bessel anyway
            found["EQUINOX"] = _year(
                re.sub("^B", "", system["equinox"]) if found.get("RADESYS") == "FK4" else system["equinox"]
            )
    elif systems:
        found["COOSYS"] = systems
    clocks = [dict(one) for one in _distinct(times)]
    if len(clocks) == 1:
        (clock,) = clocks
        found |= {"TIMESYS": clock["timescale"]} if "timescale" in clock else {}
        found |= {"TREFPOS": clock["refposition"]} if "refposition" in clock else {}
        found |= _origin(clock["timeorigin"]) if "timeorigin" in clock else {}
    elif clocks:
        found["TIMESYS elements"] = clocks
    return found


def written_frame(metadata: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the attributes of the elements COOSYS and TIMESYS that say what keywords of FITS do; empty if none.

    In FITS, EPOCH alone means the equinox, as it did once. Beside RADESYS or EQUINOX it is the epoch of positions.
    """
    given = {key.upper(): value for key, value in metadata.items()}
    system = {"FK5": "eq_FK5", "FK4": "eq_FK4"}.get(str(given.get("RADESYS", "")), str(given.get("RADESYS", "")))
    coordinates = {"system": system} if system in ("ICRS", "eq_FK5", "eq_FK4") else {}
    if coordinates and (equinox := _written_year(given.get("EQUINOX"), system)):
        coordinates["equinox"] = equinox
    if coordinates and (epoch := _written_year(given.get("EPOCH"), "")):
        coordinates["epoch"] = epoch
    clock = {"timescale": str(given["TIMESYS"])} if "TIMESYS" in given else {}
    if clock:
        clock["refposition"] = str(given.get("TREFPOS", "UNKNOWN"))
        days = _reference(given)
        clock |= {"timeorigin": repr(days)} if days is not None else {}
    return coordinates, clock


def _distinct(several: Sequence[Mapping[str, str]]) -> list[tuple[tuple[str, str], ...]]:
    return list(
        dict.fromkeys(tuple(sorted((key, text) for key, text in one.items() if key != "ID")) for one in several)
    )


def _year(text: str) -> float | str:
    """Return the number of a Julian year, ``J2016.0`` or ``2016``; one of Bessel stays as it is written."""
    match = re.fullmatch(r"J?(\d+(?:\.\d*)?)", text.strip())
    return float(match[1]) if match else text.strip()


def _written_year(value: object, system: str) -> str:
    if isinstance(value, str):
        return value if re.fullmatch(r"[BJ]?\d+(\.\d*)?", value) else ""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return f"{'B' if system == 'eq_FK4' else 'J'}{float(value)!r}"


def _origin(text: str) -> dict[str, Any]:
    known = {"MJD-origin": 2400000.5, "JD-origin": 0.0}
    try:
        days = known[text] if text in known else float(text)
    except ValueError:
        return {"JDREF": text}
    return {"MJDREF": 0.0} if days == known["MJD-origin"] else {"JDREF": days}


def _reference(given: Mapping[str, Any]) -> float | None:
    """Return the Julian date from which times are counted, if keywords say it."""
    for prefix, zero in (("MJDREF", 2400000.5), ("JDREF", 0.0)):
        parts = [given[key] for key in (prefix, f"{prefix}I", f"{prefix}F") if isinstance(given.get(key), int | float)]
        if parts:
            return float(sum(parts) + zero)
    return None
