"""All attacks of this folder, one after the other: how many were made, or the first that was not refused."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from itertools import islice, product
from pathlib import Path
from unittest.mock import patch

from provenn.catalogs import Base, Files
from provenn.catalogs.calculators.sources import find_source
from tests.archive.samples import write_parquet
from tests.gate import code_attacks, format_attacks
from tests.gate.bombs import BOMBS, refuse_bomb
from tests.gate.lies import LIES, refuse_lie

__all__ = ["try_bombs", "try_code", "try_formats", "try_lies"]


def try_code(folder: Path, most: int) -> int:
    """Name code in calculators; none of it is to be run."""
    folder.mkdir()
    with _without_permits(folder), code_attacks.allowed_module(folder) as file:
        source = code_attacks.source_of(file)
        marker = folder / "marker"
        named = (f"{code_attacks.MODULE}:{name}" for name in code_attacks.PATHS if name != "outer")
        good = code_attacks.definition(f"{code_attacks.MODULE}:plain", source)
        definitions = [
            *(code_attacks.definition(function, source) for function in named),
            *(code_attacks.definition(function, _source(function)) for function in code_attacks.UNALLOWED),
            *({**good, **change} for change in code_attacks.STRANGE),
            *(code_attacks.captured(code, marker) for code in code_attacks.CAPTURED),
        ]
        return _try_each((lambda one=one: code_attacks.run_attack(one, folder) for one in definitions), most)


def try_formats(folder: Path, most: int) -> int:
    """Name formats and options in definitions; none of them is to be read."""
    folder.mkdir()
    changes = [
        *({"format": name, "options": ()} for name in format_attacks.FORMATS),
        *({"format": one, "options": ((name, "x"),)} for one, name in product(_FORMATS, format_attacks.OPTIONS)),
        *({"options": (pair,)} for pair in format_attacks.VALUES),
    ]

    def refuse(change: dict) -> str:
        return format_attacks.refuse_reading(format_attacks.changed_base(folder, **change))

    with _without_permits(folder):
        return _try_each((lambda one=one: refuse(one) for one in changes), most)


def try_bombs(folder: Path, most: int) -> int:
    """Light bombs; none is to go off."""

    def light(name: str) -> None:
        folder.mkdir()
        try:
            refuse_bomb(name, folder)
        finally:
            shutil.rmtree(folder)

    with _without_permits(folder.parent):
        return _try_each((lambda name=name: light(name) for name in BOMBS), most)


def try_lies(folder: Path, most: int) -> int:
    """Tell lies in definitions; none is to be believed."""
    folder.mkdir()
    base = Base.of(Files.at(write_parquet(folder / "stars.parquet")), key="hip", population="star")
    return _try_each((lambda name=name: refuse_lie(name, base) for name in LIES), most)


_FORMATS = ("csv", "json", "parquet", "orc", "text", "fits", "votable", "ecsv", "given")


def _source(function: str) -> str:
    """Return the hash of the module that an attack names, if there is one."""
    module = function.partition(":")[0]
    file = find_source(module) if module.replace(".", "").isidentifier() else None
    return code_attacks.source_of(file) if file else "0" * 64


def _try_each(attempts: Iterable[Callable[[], object]], most: int) -> int:
    return sum(1 for attempt in islice(attempts, most) if attempt() is not Ellipsis)


def _without_permits(folder: Path) -> object:
    """Let nothing be allowed but what an attack allows."""
    settings = {"XDG_CONFIG_HOME": str(folder / "configuration"), "PROVENN_ALLOW": "", "PROVENN_CALCULATORS": ""}
    return patch.dict(os.environ, settings)
