"""Pictures in files: SVG and nothing else."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

from provenn.durable import write_durably
from provenn.errors import StoreError
from provenn.gate.local_paths import expand_home

__all__ = ["check_svg_path", "write_svg_file"]

_SUFFIXES: Final = ("", ".svg")
"""What the name of a picture may end in; a pipe needs no suffix."""


def check_svg_path(path: Path) -> None:
    """Refuse a path where no SVG file can be written, or whose name promises another kind of picture.

    Raises
    ------
    StoreError
        If the name ends in another suffix, or the folder does not exist.
    """
    if path.suffix.lower() not in _SUFFIXES:
        raise StoreError(f"pictures are SVG, and {path.name} has another suffix", hint=f"name it {path.stem}.svg")
    if not path.absolute().parent.exists():
        raise StoreError(f"{path.absolute().parent} does not exist", hint="create the folder first")


def write_svg_file(path: str | PathLike[str], svg: str) -> None:
    """Write a picture to a file, whole or not at all.

    Raises
    ------
    StoreError
        If the name has another suffix, or the file cannot be written.
    """
    file = expand_home(path)
    check_svg_path(file)
    try:
        write_durably(file, svg.encode())
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error.strerror}", hint="choose another place") from error
