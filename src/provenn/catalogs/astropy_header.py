"""The header that astropy writes into Parquet and ECSV: YAML that says what columns mean and which of them masks are.

Nothing of it is executed: objects of Python, and of astropy, are read as the plain values they are written with.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from provenn.errors import BaseFilesError

__all__ = ["AstropyHeader", "HeaderColumn", "Position", "read_header", "unit_text"]

_SERIALIZED = "__serialized_columns__"
_MASKED = ("MaskedColumn", "MaskedNDArray", "MaskedQuantity")
_DATA = ("data", "unmasked")


@dataclass(frozen=True, slots=True)
class HeaderColumn:
    """A stored column, as the header describes it.

    Parameters
    ----------
    name
        Its name in the file.
    datatype, subtype
        What ECSV calls its type; the subtype says what the JSON in its cells holds, such as ``float64[2,null]``.
    unit, description, ucd
        For people and their tools; empty if the header does not say.
    """

    name: str
    datatype: str
    subtype: str = ""
    unit: str = ""
    description: str = ""
    ucd: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """A simple position on the sky, a SkyCoord in ICRS: the columns that hold its two angles in degrees.

    Parameters
    ----------
    name
        What astropy calls it.
    ra, dec
        The names of the stored columns.
    description
        For people.
    """

    name: str
    ra: str
    dec: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class AstropyHeader:
    """What a header says.

    Parameters
    ----------
    columns
        The stored columns, by name, in order.
    masks
        Which column masks which, by the name of the masked one.
    positions
        The simple positions.
    moments
        The columns of text that hold times in UTC, as ISO 8601 writes them.
    meta
        The metadata of the table.
    delimiter
        What separates the values of an ECSV file.
    """

    columns: Mapping[str, HeaderColumn]
    masks: Mapping[str, str] = field(default_factory=dict)
    positions: tuple[Position, ...] = ()
    moments: frozenset[str] = frozenset()
    meta: Mapping[str, Any] = field(default_factory=dict)
    delimiter: str = " "

    @property
    def renamed(self) -> dict[str, tuple[str, HeaderColumn]]:
        """What the angles of positions are called, and described as, by the name of the stored column.

        The names are those that a table in memory gets: ``ra`` and ``dec`` if no other column is called so.
        """
        masks = set(self.masks.values())
        angles = {name for one in self.positions for name in (one.ra, one.dec)}
        taken = {name for name in self.columns if name not in masks and name not in angles}
        taken |= {one.name for one in self.positions}
        found = {}
        for position in self.positions:
            free = not taken & {"ra", "dec"}
            for axis, stored in (("ra", position.ra), ("dec", position.dec)):
                ucd = f"pos.eq.{axis}" + (";meta.main" if free else "")
                column = HeaderColumn(stored, "float64", "", "deg", position.description, ucd)
                found[stored] = (axis if free else f"{position.name}_{axis}", column)
            taken |= {"ra", "dec"}
        return found


def read_header(text: str, file: str, what: str) -> AstropyHeader:
    """Read a header.

    Parameters
    ----------
    text
        The YAML.
    file, what
        What to call the file, and the header in it, in errors.

    Raises
    ------
    BaseFilesError
        If it is no such header, or says of a mask something that is not understood: then values that are masked would
        be taken for real.
    """
    import yaml  # noqa: PLC0415 - few files have such a header

    try:
        given = yaml.load(text, _loader())  # noqa: S506 - a safe loader
        columns = {one["name"]: _column(one) for one in given["datatype"]}
        meta = _mapping(given.get("meta"))
        serialized = _mapping(meta.pop(_SERIALIZED, None))
        meta.pop("provenn", None)  # which catalog it was that provenn wrote; what was read of it since may be another
        delimiter = str(given.get("delimiter", " "))
    except (yaml.YAMLError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BaseFilesError(
            f"{file} has a header, {what}, that cannot be read: {_first_line(error)}",
            hint="write it again with the program that made it",
        ) from error
    masks: dict[str, str] = {}
    for name, spec in serialized.items():
        for masked, mask in _masks(spec, f"{name} of {file}"):
            if masked not in columns or mask not in columns:
                raise BaseFilesError(f"the column {masked} of {file} is not there, or its mask {mask} is not")
            masks[masked] = mask
    return AstropyHeader(
        columns,
        masks,
        tuple(found for name, spec in serialized.items() if (found := _position(name, spec, columns))),
        frozenset(filter(None, map(_moment, serialized.values()))),
        meta,
        delimiter,
    )


def unit_text(unit: object) -> str:
    """Return a unit of astropy, or its text, as VOTable and FITS both have it, if they can.

    >>> unit_text("km / s"), unit_text("mag"), unit_text("a b c")
    ('km.s**-1', 'mag', 'a b c')
    """
    text = str(unit)
    if " " not in text:
        return text
    from astropy import units  # noqa: PLC0415 - it takes a while to import

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of units that are not recommended any more
            return str(units.Unit(unit).to_string("vounit"))
    except ValueError:
        return text


def _mapping(value: object) -> dict[str, Any]:
    return {str(key): one for key, one in value.items()} if isinstance(value, Mapping) else {}


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n", 1)[0]


@cache
def _loader() -> Any:  # noqa: ANN401 - yaml has no types
    """Return a loader that makes plain values of everything, whatever its tag says that it is."""
    import yaml  # noqa: PLC0415 - see above

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def plain(loader: Any, _tag: str, node: Any) -> Any:  # noqa: ANN401 - yaml has no types
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    def pairs(loader: Any, node: Any) -> dict[str, Any]:  # noqa: ANN401 - yaml has no types
        """Make a mapping of an ordered one, which is written as a list of small ones."""
        return {key: value for one in loader.construct_sequence(node, deep=True) for key, value in one.items()}

    Loader.add_multi_constructor("", plain)
    Loader.add_constructor("tag:yaml.org,2002:omap", pairs)
    return Loader


def _column(given: Mapping[str, Any]) -> HeaderColumn:
    said = {key: given.get(key) for key in ("datatype", "subtype", "unit", "description")}
    texts = {key: "" if value is None else str(value) for key, value in said.items()}
    if isinstance(said["unit"], Mapping):
        texts["unit"] = str(said["unit"].get("unit", ""))
    meta = given.get("meta")
    ucd = str(meta.get("ucd") or "") if isinstance(meta, Mapping) else ""
    return HeaderColumn(
        str(given["name"]), texts["datatype"], texts["subtype"], unit_text(texts["unit"]), texts["description"], ucd
    )


def _masks(spec: object, what: str) -> Iterator[tuple[str, str]]:
    """Yield which column masks which in the tree of a column that is stored as several."""
    waiting, seen = [spec], set()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))  # YAML can refer to a node from many places, and even from within itself
        if "mask" not in node:
            waiting += [part for key, part in node.items() if key != "__info__"]
            continue
        data = next((name for key in _DATA if (name := _name(node.get(key)))), "")
        mask = _name(node["mask"])
        if not data or not mask or not str(node.get("__class__", "")).endswith(_MASKED):
            raise BaseFilesError(
                f"the mask of {what} is stored in a way that is not understood",
                hint="write the table as FITS, or fill its masked values",
            )
        yield data, mask


def _name(spec: object) -> str:
    """Return the name of the stored column that a node of the tree is; empty if it is something else."""
    return str(spec["name"]) if isinstance(spec, Mapping) and set(spec) == {"name"} else ""


def _leaf(spec: object) -> str:
    """Return the one stored column that holds the values of a node, below its unit and mask; empty if there is none."""
    for _ in range(3):
        inner = (
            next((spec[key] for key in ("value", *_DATA) if key in spec), None) if isinstance(spec, Mapping) else None
        )
        spec = spec if inner is None else inner
    return _name(spec)


_ABOUT_POSITIONS = {"__class__", "__info__", "frame", "representation_type", "ra", "dec"}


def _position(name: str, spec: object, columns: Mapping[str, HeaderColumn]) -> Position | None:
    """Return a simple position; None for anything else, such as one with a distance, a motion, or in another frame."""
    if not isinstance(spec, Mapping) or not str(spec.get("__class__")).endswith(".SkyCoord"):
        return None
    simple = set(spec) <= _ABOUT_POSITIONS and (spec.get("frame"), spec.get("representation_type")) in (
        ("icrs", "spherical"),
        ("icrs", "unitspherical"),
    )
    ra, dec = _leaf(spec.get("ra")), _leaf(spec.get("dec"))
    stored = [columns.get(one) for one in (ra, dec)]
    if not simple or any(one is None or one.unit != "deg" or one.subtype for one in stored):
        return None
    info = spec.get("__info__")
    return Position(name, ra, dec, str((info.get("description") if isinstance(info, Mapping) else "") or ""))


def _moment(spec: object) -> str:
    """Return the column that holds a time in UTC as text of ISO 8601; empty for anything else."""
    if not isinstance(spec, Mapping) or not str(spec.get("__class__")).endswith(".Time"):
        return ""
    iso = spec.get("scale") == "utc" and spec.get("format") in ("iso", "isot") and not spec.get("location")
    return _leaf(spec.get("value")) if iso else ""
