"""The form of written files: format, place and options, all checked before Spark starts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria.types import BOOLEAN, DATE, INTEGRAL, STRING
from provenn.errors import FormatError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.suffixes import find_format
from provenn.hints import Hint
from provenn.spark.placing import check_target

if TYPE_CHECKING:
    from provenn.spark.hats_writing import HatsOptions

__all__ = ["FORMATS", "OutputForm", "WrittenFiles", "format_csv_header", "read_output_form"]

FORMATS = ("parquet", "csv", "fits", "votable", "ecsv", "hats")


@dataclass(frozen=True, slots=True)
class OutputForm:
    """The form of written files.

    Parameters
    ----------
    target
        The path of the file or folder.
    parent, name
        The folder that will hold it, and its name there.
    format
        The name of the format.
    folders
        The attributes whose values become names of folders.
    one_file
        Whether one file is written, and not a folder of files.
    hats
        The options of HATS, if that is the format.
    """

    target: str
    parent: DataFolder
    name: str
    format: str
    folders: tuple[Attribute, ...]
    one_file: bool
    hats: HatsOptions | None


@dataclass(frozen=True, slots=True)
class WrittenFiles:
    """The result of writing files.

    Parameters
    ----------
    path
        The path of the file or folder.
    rows
        The number of rows.
    size
        The number of bytes of all files together.
    left_out
        Keywords such as RADESYS that the files lack because their source tables disagree.
    """

    path: str
    rows: int
    size: int
    left_out: tuple[str, ...] = ()


def format_csv_header(schema: Schema) -> bytes:
    """Return the first line of a CSV file: the names of the attributes."""
    names = ('"' + name.replace('"', '""') + '"' if set(name) & set('", ') else name for name in schema)
    return f"{','.join(names)}\n".encode()


def read_output_form(
    schema: Schema,
    path: str | PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - Spark's word
    partition_by: Sequence[str] = (),
    single: bool | None = None,
    overwrite: bool = False,
    pixel_rows: int | None = None,
    margin: object = None,
    on: Sequence[str] | None = None,
    layer: str | PathLike[str] | None = None,
) -> OutputForm:
    """Return the form of the files that `provenn.spark.writing.write` would write with the same options.

    Raises
    ------
    FormatError
        If the format is unknown, or cannot hold the data.
    StoreError
        If the target exists or is the core of the layer, or its folder is missing or not writable.
    """
    text = fspath(path)
    if not text:
        raise StoreError("expected the path of a file or a folder, got ''", hint="for example bright.parquet")
    format_name = _choose_format(text, format)
    folders = tuple(schema[name] for name in partition_by)
    one_file = _wants_one_file(text, format_name, folders, single)
    _check_types(schema, format_name, folders)
    sky_options = {"pixel_rows": pixel_rows, "margin": margin, "on": on, "layer": layer}
    hats = _read_hats_options(schema, format_name, sky_options)
    target = DataFolder.of(text).location
    above, _, name = target.rpartition("/")
    parent = DataFolder.of(above or "/")
    if hats is not None and hats.core is not None and _is_inside(hats.core.folder, target):
        raise StoreError(
            f"the core of this layer lies in {target}, which this would replace", hint="choose another name"
        )
    check_target(parent, name, overwrite=overwrite)
    if parent.is_local:
        _check_writable(parent.location)
    return OutputForm(target, parent, name, format_name, folders, one_file, hats)


def _is_inside(place: str, folder: str) -> bool:
    """Return whether a place is a folder, or lies in it."""
    if "://" not in place + folder:
        place, folder = str(Path(place).resolve()), str(Path(folder).resolve())
    return f"{place}/".startswith(f"{folder}/")


def _check_writable(folder: str) -> None:
    """Refuse a folder in which this user cannot write."""
    if not os.access(folder, os.W_OK):
        is_fixed = os.statvfs(folder).f_flag & os.ST_RDONLY
        problem = "the file system is read-only" if is_fixed else "permission denied"
        raise StoreError(f"{folder} cannot be written: {problem}", hint="choose another place")


def _choose_format(path: str, requested: str | None) -> str:
    if requested is not None:
        if requested.lower() not in FORMATS:
            raise FormatError(f"provenn cannot write the format {requested}", hint=f"it writes {', '.join(FORMATS)}")
        return requested.lower()
    format_name = _find_written_format(path)
    if format_name is None:
        known = ", ".join(FORMATS)
        hint = Hint(f"pass format=, one of {known}", command=f"add --format, one of {known}")
        raise FormatError(f"the format of {path} cannot be told from its name", hint=hint)
    return format_name


def _read_hats_options(schema: Schema, format_name: str, sky_options: Mapping[str, Any]) -> HatsOptions | None:
    """Return the options of HATS, if that is the format; refuse them for any other format."""
    if format_name == "hats":
        from provenn.spark.hats_writing import HatsOptions, check_hats_schema  # noqa: PLC0415 - few files are HATS

        options = HatsOptions.of(**sky_options)
        check_hats_schema(schema, options)
        return options
    for name, value in sky_options.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise FormatError(
                f"only folders in HATS have parts of the sky, and {format_name} has none",
                hint=Hint(f'pass format="hats", or omit {name}=', command=f"add --format hats, or omit {option}"),
            )
    return None


def _find_written_format(path: str) -> str | None:
    """Return the format for the suffix of a path; None for a suffix of no format that provenn writes."""
    format_name = find_format(path)
    return format_name if format_name in FORMATS else None


def _wants_one_file(path: str, format_name: str, folders: Sequence[Attribute], single: bool | None) -> bool:
    if format_name == "hats":
        if folders or single:
            raise FormatError(
                "HATS is a folder divided by the sky alone",
                hint=Hint("omit single= and partition_by=", command="omit --single and --partition-by"),
            )
        return False
    if format_name in ("fits", "votable", "ecsv"):
        if folders or single is False:
            raise FormatError(
                f"{format_name} is written as one file", hint="folders of part files can be Parquet or CSV"
            )
        return True
    if folders and single:
        raise FormatError(
            "one file cannot be in several folders",
            hint=Hint("omit single= or partition_by=", command="omit --single or --partition-by"),
        )
    return not folders and (_find_written_format(path) is not None if single is None else single)


def _check_types(schema: Schema, format_name: str, folders: Sequence[Attribute]) -> None:
    for attribute in folders:
        if attribute.type not in (*INTEGRAL, STRING, DATE, BOOLEAN):
            raise FormatError(f"values of {attribute.name}, a {attribute.type}, cannot be names of folders")
    if len(folders) == len(schema):
        raise FormatError(
            "all attributes would become names of folders", hint="leave at least one attribute for the files"
        )
    if format_name == "csv":
        for attribute in schema.attributes:
            if not attribute.type.scalar:
                raise FormatError(
                    f"CSV cannot hold {attribute.name}, a {attribute.type}", hint="write Parquet, or leave it out"
                )
