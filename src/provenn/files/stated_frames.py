"""The frame and epoch of positions as the metadata of a table state them.

Keywords are those of FITS: RADESYS, EQUINOX, EPOCH. `provenn.files.table_metadata` translates COOSYS of VOTables, also
those in footers of Parquet files, into the same keywords. Without RADESYS, the FITS standard (4.0, section 8.3) infers
the frame from the equinox: FK4 before 1984, FK5 since.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from provenn.files.table_metadata import parse_year

__all__ = ["StatedFrame", "read_stated_frame"]

_FIRST_FK5, _J2000 = 1984.0, 2000.0
_SYSTEMS = {"ICRS": "ICRS", "FK5": "FK5", "EQ_FK5": "FK5", "FK4": "FK4", "EQ_FK4": "FK4"}


@dataclass(frozen=True, slots=True)
class StatedFrame:
    """The frame and epoch of positions, as metadata state them.

    Parameters
    ----------
    frame
        ``"icrs"``; ``"fk5"``, of the equinox J2000; empty if it is not stated, or none of these.
    words
        The stated frame in words, such as "FK4, equinox 1950"; empty if it is not stated.
    epoch
        The epoch of the positions in Julian years; None if it is not stated.
    """

    frame: str
    words: str
    epoch: float | None


def read_stated_frame(metadata: Mapping[str, Any]) -> StatedFrame:
    """Return the frame and epoch of equatorial positions that the metadata of a table state.

    Several elements COOSYS count if a single one of them is equatorial. EPOCH alone is no epoch: by an old convention
    of FITS, it means the equinox.

    >>> read_stated_frame({"RADESYS": "FK5", "EQUINOX": 2000.0, "EPOCH": 1991.25})
    StatedFrame(frame='fk5', words='FK5, equinox 2000', epoch=1991.25)
    >>> read_stated_frame({"EQUINOX": 1950}).words, read_stated_frame({"EPOCH": 2000.0}).epoch
    ('FK4, equinox 1950', None)
    """
    keywords = {key.upper(): value for key, value in metadata.items()}
    if "COOSYS" in keywords:
        return _read_elements(keywords["COOSYS"])
    return _read_keywords(
        keywords.get("RADESYS", keywords.get("RADECSYS")), keywords.get("EQUINOX"), keywords.get("EPOCH")
    )


def _read_elements(elements: object) -> StatedFrame:
    """Return the only equatorial frame among elements COOSYS."""
    systems = [element for element in elements if isinstance(element, Mapping)] if isinstance(elements, list) else []
    equatorial = [element for element in systems if str(element.get("system", "")).upper() in _SYSTEMS]
    if len(equatorial) != 1:
        return StatedFrame("", "", None)
    (element,) = equatorial
    return _read_keywords(element["system"], element.get("equinox"), element.get("epoch"))


def _read_keywords(system: object, equinox: object, epoch: object) -> StatedFrame:
    """Return the frame and epoch for values of RADESYS, EQUINOX and EPOCH; None for a keyword that is missing."""
    year = _read_number(equinox)
    name = _SYSTEMS.get(str(system or "").strip().upper(), str(system or "").strip())
    if not name and year is not None:
        name = "FK5" if year >= _FIRST_FK5 else "FK4"
    if not name:
        return StatedFrame("", "", None)
    is_usual = year is None or year == _J2000
    frame = "icrs" if name == "ICRS" else "fk5" if name == "FK5" and is_usual else ""
    words = name if year is None or name == "ICRS" else f"{name}, equinox {year:g}"
    return StatedFrame(frame, words, _read_number(epoch))


def _read_number(value: object) -> float | None:
    """Return a Julian year, or a Besselian one of an equinox; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    year = parse_year(str(value).strip())
    return year if isinstance(year, float) else None
