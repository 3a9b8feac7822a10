"""The header of astropy in Parquet and ECSV files: YAML about the meaning of columns, and about masks.

Reading executes nothing: objects of Python and of astropy are read as the plain values in the YAML.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from provenn.errors import BaseFilesError, ExpansionError
from provenn.gate.entrances import entrance
from provenn.gate.expansion import LONGEST_HEADER

__all__ = ["AstropyHeader", "HeaderColumn", "Position", "format_unit", "read_header"]

_SERIALIZED = "__serialized_columns__"
_MASKED = ("MaskedColumn", "MaskedNDArray", "MaskedQuantity")
_DATA = ("data", "unmasked")


@dataclass(frozen=True, slots=True)
class HeaderColumn:
    """A stored column, as described in the header.

    Parameters
    ----------
    name
        Its name in the file.
    datatype, subtype
        Its type in ECSV; the subtype describes JSON in the cells, such as ``float64[2,null]``.
    unit, description, ucd
        Metadata for people and tools; empty if the header has none.
    """

    name: str
    datatype: str
    subtype: str = ""
    unit: str = ""
    description: str = ""
    ucd: str = ""


@dataclass(frozen=True, slots=True)
class Position:
    """A simple position on the sky, a SkyCoord in ICRS: two stored columns with the angles in degrees.

    Parameters
    ----------
    name
        Its name in astropy.
    ra, dec
        The names of the stored columns.
    description
        A description for people.
    """

    name: str
    ra: str
    dec: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class AstropyHeader:
    """The content of a header.

    Parameters
    ----------
    columns
        The stored columns, by name, in order.
    masks
        The names of masks, by the name of the masked column.
    positions
        The simple positions.
    moments
        The text columns with times in UTC, in ISO 8601.
    meta
        The metadata of the table.
    delimiter
        The separator of values in an ECSV file.
    """

    columns: Mapping[str, HeaderColumn]
    masks: Mapping[str, str] = field(default_factory=dict)
    positions: tuple[Position, ...] = ()
    moments: frozenset[str] = frozenset()
    meta: Mapping[str, Any] = field(default_factory=dict)
    delimiter: str = " "

    @property
    def position_columns(self) -> dict[str, tuple[str, HeaderColumn]]:
        """The names and descriptions of the angles of positions, by stored column.

        The names are the same as for a table in memory: ``ra`` and ``dec`` unless a different column has this name.
        """
        masks = set(self.masks.values())
        angles = {name for position in self.positions for name in (position.ra, position.dec)}
        taken = {name for name in self.columns if name not in masks and name not in angles}
        taken |= {position.name for position in self.positions}
        columns = {}
        for position in self.positions:
            free = not taken & {"ra", "dec"}
            for axis, stored in (("ra", position.ra), ("dec", position.dec)):
                ucd = f"pos.eq.{axis}" + (";meta.main" if free else "")
                column = HeaderColumn(stored, "float64", "", "deg", position.description, ucd)
                columns[stored] = (axis if free else f"{position.name}_{axis}", column)
            taken |= {"ra", "dec"}
        return columns


@entrance("header of astropy", "expansion", "length", "types")
def read_header(text: str, file: str, what: str) -> AstropyHeader:
    """Read a header of astropy.

    Parameters
    ----------
    text
        The YAML.
    file, what
        The names of the file, and of the header in the file, in errors.

    Raises
    ------
    BaseFilesError
        If the text is no such header, or a mask is not understood: otherwise masked values would be taken for real
        values.
    ExpansionError
        If the header is too long, or becomes too long by references to its own parts.
    """
    import yaml  # noqa: PLC0415 - few files have such a header

    try:
        content = _load_yaml(text, f"{file} has a header, {what}, that")
        columns = {entry["name"]: _make_column(entry) for entry in content["datatype"]}
        meta = _read_mapping(content.get("meta"))
        serialized = _read_mapping(meta.pop(_SERIALIZED, None))
        meta.pop("provenn", None)  # the catalog that provenn wrote; the table may have changed since
        delimiter = str(content.get("delimiter", " "))
    except (yaml.YAMLError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise BaseFilesError(
            f"{file} has a header, {what}, that cannot be read: {_take_first_line(error)}",
            hint="write it again with the program that created it",
        ) from error
    masks: dict[str, str] = {}
    for name, spec in serialized.items():
        for masked, mask in _find_masks(spec, f"{name} of {file}"):
            if masked not in columns or mask not in columns:
                raise BaseFilesError(f"the column {masked} of {file} is missing, or its mask {mask} is missing")
            masks[masked] = mask
    return AstropyHeader(
        columns,
        masks,
        tuple(position for name, spec in serialized.items() if (position := _read_position(name, spec, columns))),
        frozenset(filter(None, map(_find_moment_column, serialized.values()))),
        meta,
        delimiter,
    )


def format_unit(unit: object) -> str:
    """Return a unit of astropy, or its text, in a spelling for both VOTable and FITS, if possible.

    >>> format_unit("km / s"), format_unit("mag"), format_unit("a b c")
    ('km.s**-1', 'mag', 'a b c')
    """
    text = str(unit)
    if " " not in text:
        return text
    from astropy import units  # noqa: PLC0415 - it takes a while to import

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about deprecated units
            return str(units.Unit(unit).to_string("vounit"))
    except ValueError:
        return text


def _load_yaml(text: str, what: str) -> Any:  # noqa: ANN401 - YAML
    """Return the content of YAML; limit the size after all references are followed."""
    if len(text) > LONGEST_HEADER:
        raise ExpansionError(f"{what} has more than {LONGEST_HEADER // 2**20} MB")
    loader = _make_loader()(text)
    try:
        node = loader.get_single_node()
        if _count_expanded(node) > LONGEST_HEADER:
            raise ExpansionError(f"{what} becomes longer than {LONGEST_HEADER // 2**20} MB by self-references")
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _count_expanded(root: Any) -> int:  # noqa: ANN401 - a node of YAML
    """Return the number of nodes and characters of YAML with all references followed; cycles count once."""
    sizes: dict[int, int] = {}
    waiting = [(root, False)]
    while waiting:
        node, entered = waiting.pop()
        value = getattr(node, "value", None)
        items = value if isinstance(value, list) else ()
        parts = [part for item in items for part in (item if isinstance(item, tuple) else (item,))]
        if entered:
            sizes[id(node)] += sum(sizes[id(part)] for part in parts)
        elif id(node) not in sizes:
            sizes[id(node)] = 1 + len(value) if isinstance(value, str) else 1
            waiting.append((node, True))
            waiting += [(part, False) for part in parts]
    return sizes.get(id(root), 0)


def _read_mapping(value: object) -> dict[str, Any]:
    """Return a mapping with text keys; empty for any other value."""
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def _take_first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).split("\n", 1)[0]


@cache
def _make_loader() -> Any:  # noqa: ANN401 - yaml has no types
    """Return a loader that reads every tag as plain values."""
    import yaml  # noqa: PLC0415 - see above

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        pass

    def construct_plain(loader: Any, _tag: str, node: Any) -> Any:  # noqa: ANN401 - yaml has no types
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        return loader.construct_scalar(node)

    def construct_ordered(loader: Any, node: Any) -> dict[str, Any]:  # noqa: ANN401 - yaml has no types
        """Return an ordered mapping, written in YAML as a list of small mappings, as a mapping."""
        return {key: value for mapping in loader.construct_sequence(node, deep=True) for key, value in mapping.items()}

    Loader.add_multi_constructor("", construct_plain)
    Loader.add_constructor("tag:yaml.org,2002:omap", construct_ordered)
    return Loader


def _make_column(entry: Mapping[str, Any]) -> HeaderColumn:
    """Return a stored column from its entry in the header."""
    values = {key: entry.get(key) for key in ("datatype", "subtype", "unit", "description")}
    texts = {key: "" if value is None else str(value) for key, value in values.items()}
    if isinstance(values["unit"], Mapping):
        texts["unit"] = str(values["unit"].get("unit", ""))
    meta = entry.get("meta")
    ucd = str(meta.get("ucd") or "") if isinstance(meta, Mapping) else ""
    return HeaderColumn(
        str(entry["name"]), texts["datatype"], texts["subtype"], format_unit(texts["unit"]), texts["description"], ucd
    )


def _find_masks(spec: object, what: str) -> Iterator[tuple[str, str]]:
    """Yield pairs of masked column and mask in the tree of a column stored as several columns."""
    waiting, seen = [spec], set()
    while waiting:
        node = waiting.pop()
        if not isinstance(node, Mapping) or id(node) in seen:
            continue
        seen.add(id(node))  # YAML can refer to a node from many places, even from within the node
        if "mask" not in node:
            waiting += [part for key, part in node.items() if key != "__info__"]
            continue
        data = next((name for key in _DATA if (name := _read_column_name(node.get(key)))), "")
        mask = _read_column_name(node["mask"])
        if not data or not mask or not str(node.get("__class__", "")).endswith(_MASKED):
            raise BaseFilesError(
                f"the mask of {what} is stored in an unknown way",
                hint="write the table as FITS, or fill its masked values",
            )
        yield data, mask


def _read_column_name(spec: object) -> str:
    """Return the name of the stored column in a node of the tree; empty for any other node."""
    return str(spec["name"]) if isinstance(spec, Mapping) and set(spec) == {"name"} else ""


def _find_leaf_column(spec: object) -> str:
    """Return the only stored column with the values of a node, below unit and mask; empty if there is none."""
    for _ in range(3):
        inner = (
            next((spec[key] for key in ("value", *_DATA) if key in spec), None) if isinstance(spec, Mapping) else None
        )
        spec = spec if inner is None else inner
    return _read_column_name(spec)


_ABOUT_POSITIONS = {"__class__", "__info__", "frame", "representation_type", "ra", "dec"}


def _read_position(name: str, spec: object, columns: Mapping[str, HeaderColumn]) -> Position | None:
    """Return a simple position; None for anything else, such as a distance, a motion, or a frame except ICRS."""
    if not isinstance(spec, Mapping) or not str(spec.get("__class__")).endswith(".SkyCoord"):
        return None
    simple = set(spec) <= _ABOUT_POSITIONS and (spec.get("frame"), spec.get("representation_type")) in (
        ("icrs", "spherical"),
        ("icrs", "unitspherical"),
    )
    ra, dec = _find_leaf_column(spec.get("ra")), _find_leaf_column(spec.get("dec"))
    stored = [columns.get(angle) for angle in (ra, dec)]
    if not simple or any(column is None or column.unit != "deg" or column.subtype for column in stored):
        return None
    info = spec.get("__info__")
    return Position(name, ra, dec, str((info.get("description") if isinstance(info, Mapping) else "") or ""))


def _find_moment_column(spec: object) -> str:
    """Return the column of a time in UTC as text in ISO 8601; empty for anything else."""
    if not isinstance(spec, Mapping) or not str(spec.get("__class__")).endswith(".Time"):
        return ""
    iso = spec.get("scale") == "utc" and spec.get("format") in ("iso", "isot") and not spec.get("location")
    return _find_leaf_column(spec.get("value")) if iso else ""
