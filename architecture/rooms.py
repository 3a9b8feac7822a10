"""The rooms: the layers that import-linter checks, each with the first sentence of its docstring and its size."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "FLOORS",
    "PACKAGE",
    "ROOT",
    "SIZES",
    "Floor",
    "Room",
    "Size",
    "measure_sizes",
    "read_layers",
    "read_rooms",
    "read_sizes",
]

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "provenn"
SIZES = Path(__file__).with_name("sizes.json")
"""The sizes as of the last picture, so that it does not change with every line of code."""


@dataclass(frozen=True, slots=True)
class Floor:
    """Rooms beside each other; each imports only from rooms to its right and from lower floors."""

    title: str
    rooms: tuple[str, ...]


FLOORS = (
    Floor("People and their programs", ("cli", "web", "tap", "demo")),
    Floor("Other programs", ("samp", "exchange", "dbt")),
    Floor("From a request to data", ("archive", "words", "targets")),
    Floor("Engines", ("spark", "look")),
    Floor("What an archive keeps", ("soundness", "transfer", "data", "knowledge")),
    Floor("How it is kept", ("formats", "definitions", "people", "database")),
    Floor("What catalogs are", ("queries", "catalogs", "files")),
    Floor("What knows of no catalogs", ("criteria", "sky", "logic", "display", "gate")),
    Floor("Small tools", ("processes", "loaded_classes", "batches", "sizes", "offered_names")),
    Floor("Foundations", ("digests", "deadline", "durable", "errors", "hints")),
)
"""The floors from top to bottom: a division of the layers, in their order."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a room."""

    modules: int
    lines: int


@dataclass(frozen=True, slots=True)
class Room:
    """A folder or module directly below the package.

    Parameters
    ----------
    name
        Its name.
    path
        Its path below the package: ``targets`` or ``errors.py``.
    sentence
        The first sentence of its docstring.
    size
        How much it holds.
    """

    name: str
    path: str
    sentence: str
    size: Size


def read_layers() -> tuple[str, ...]:
    """Return the layers that import-linter checks, from top to bottom."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return tuple(layer.strip("()") for layer in layers)


def read_rooms(sizes: Mapping[str, Size]) -> tuple[Room, ...]:
    """Return all rooms from top to bottom, with the sizes given."""
    return tuple(_read_room(name, sizes[name]) for name in read_layers())


def _read_room(name: str, size: Size) -> Room:
    """Return a room of the package."""
    is_folder = (PACKAGE / name).is_dir()
    file = PACKAGE / name / "__init__.py" if is_folder else PACKAGE / f"{name}.py"
    return Room(name, name if is_folder else f"{name}.py", _read_sentence(file), size)


def _read_sentence(file: Path) -> str:
    """Return the first sentence of a module's docstring, on one line."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z])", paragraph)[0]


def measure_sizes() -> dict[str, Size]:
    """Return the size of each room now."""
    return {name: _measure_size(name) for name in read_layers()}


def _measure_size(name: str) -> Size:
    """Return how many modules and lines a room holds."""
    files = [*(PACKAGE / name).rglob("*.py")] or [PACKAGE / f"{name}.py"]
    return Size(len(files), sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files))


def read_sizes() -> dict[str, Size]:
    """Return the sizes as of the last picture."""
    return {name: Size(*size) for name, size in json.loads(SIZES.read_text(encoding="utf-8")).items()}
