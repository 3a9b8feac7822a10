"""Foreign calculators that name more than a plain function of a module that the owner has allowed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from importlib import invalidate_caches
from pathlib import Path
from typing import Any

import pandas as pd

from provenn.catalogs import PythonCalculator, calculator_from
from provenn.catalogs.calculators.allowed import check_allowed
from provenn.catalogs.calculators.captured import hash_source
from provenn.errors import ProvennError
from provenn.gate import permits
from tests.catalogs.calculators import example

__all__ = ["BEFORE_IMPORT", "CAPTURED", "PATHS", "STRANGE", "UNALLOWED", "allowed_module", "definition", "run_attack"]

MODULE = "provenn_attacked"

_SOURCE = """
import os, subprocess, sys
import pandas as pd
from functools import partial, wraps
from os import system
from pathlib import Path
from subprocess import run
from types import FunctionType

(Path(__file__).parent / "imported").touch()
_MARKER = Path(__file__).parent / "marker"

def plain(batch): return batch

class Tool:
    def __init__(self, *_): _MARKER.touch()
    @staticmethod
    def run(batch): _MARKER.touch(); return batch
    def plain(batch): _MARKER.touch(); return batch
    class Inner:
        @staticmethod
        def run(batch): _MARKER.touch(); return batch

def _decorator(function):
    @wraps(function)
    def wrapper(batch):
        _MARKER.touch()
        return function(batch)
    return wrapper

@_decorator
def decorated(batch): return batch

def rebound(batch): return batch
rebound = _decorator(plain)
rebound.__qualname__ = rebound.__name__ = "rebound"

def swapped(batch): return batch
def _other(batch): _MARKER.touch(); return batch
_other.__qualname__ = _other.__name__ = "swapped"
swapped = _other

forged = FunctionType(_other.__code__, globals(), "forged")
forged.__module__, forged.__qualname__ = __name__, "forged"

foreign = FunctionType(_other.__code__, {"_MARKER": _MARKER}, "foreign")

async def later(batch): _MARKER.touch()
short = lambda batch: _MARKER.touch()
fixed = partial(_other)

def __getattr__(name):
    _MARKER.touch()
    return lambda batch: batch

def outer():
    def hidden(batch): _MARKER.touch(); return batch
    return hidden
"""

PATHS = (
    *("Tool", "Tool.run", "Tool.plain", "Tool.Inner.run", "Tool.Inner", "Tool.__init__"),
    *("os.system", "system", "subprocess.run", "run", "subprocess.os.system", "sys.modules", "sys.modules.os.system"),
    *(
        "pd.DataFrame.eval",
        "pd.eval",
        "pd.read_pickle",
        "pd.io.common.os.system",
        "Path",
        "Path.touch",
        "_MARKER.touch",
    ),
    *("decorated", "decorated.__wrapped__", "rebound", "swapped", "forged", "foreign", "later", "short", "fixed"),
    *("__getattr__", "missing", "missing.more", "__builtins__", "__builtins__.eval", "__loader__.get_data", "__spec__"),
    *("__import__", "__name__", "__doc__", "outer", "outer.hidden", "outer.<locals>.hidden", "hidden"),
    *("plain.__call__", "plain.__globals__", "plain.__code__", "plain()", "plain;Tool", "plain\n", " plain", "plain "),
    *("", ".", "plain.", ".plain", "plain:Tool", "ｐlain", "plaın", "рlain", "<lambda>", "*", "partial", "wraps"),
)
"""What is named of the allowed module; ``outer`` is a plain function, and harmless: it is the control."""

BEFORE_IMPORT = frozenset(PATHS) - {"rebound", "swapped", "outer"}
"""Those that are refused without importing the module; of the others only the imported module tells."""

UNALLOWED = (
    *("os:system", "subprocess:run", "shutil:rmtree", "posix:system", "builtins:eval", "builtins:exec", "pickle:loads"),
    *("provenn.demo.motion:motion", "provenn.demo.motion:pd.DataFrame.eval", "provenn.cli:main", "provenn:open"),
    *("provenn_unallowed:run", "provenn_unallowed.inner:run", "provenn_unallowed.inner.deep:run"),
    *("provenn_attacke:plain", "provenn_attackedd:plain", "prοvenn_attacked:plain", "ｐrovenn_attacked:plain"),
    *("Provenn_attacked:plain", "provenn_attacked .x:plain", "provenn-attacked:plain", "./provenn_attacked:plain"),
    *("__main__:plain", "__mp_main__:plain", "importlib:import_module", "runpy:run_path", "code:interact"),
)
"""Whole paths of code that nobody has allowed."""

STRANGE: tuple[dict[str, Any], ...] = (
    *({"function": value} for value in (None, 5, [], ["m", "f"], {}, b"m:f", True)),
    {"kind": "pickle"},
    {"kind": "sql "},
    {"kind": None},
    {"scope": "machine"},
    {"source": None},
    {"source": "0" * 64},
    {"parameters": None},
    {"parameters": [1]},
    {"code": 5},
)
"""Changes of a good definition that leave it without a meaning."""

CAPTURED = (
    "open(MARKER, 'w')\ndef plain(batch): return batch\n",
    "def plain(batch):\n    open(MARKER, 'w')\n    return batch\n",
    "def plain(batch=open(MARKER, 'w')): return batch\n",
    "class plain:\n    def __init__(self, *_): open(MARKER, 'w')\n",
)
"""Sources of functions, as if captured from a notebook."""


@contextmanager
def allowed_module(folder: Path) -> Iterator[Path]:
    """Write a module that the owner allows, beside a package that nobody allows; give its file."""
    file = folder / f"{MODULE}.py"
    file.write_text(_SOURCE, encoding="utf-8")
    for package in ("provenn_unallowed", "provenn_unallowed/inner"):
        (folder / package).mkdir(exist_ok=True)
        marking = f"open({str(folder / 'marker')!r}, 'w')\n"
        (folder / package / "__init__.py").write_text(f"{marking}def run(batch): {marking}")
    (folder / "provenn_unallowed/inner/deep.py").write_text("def run(batch): return batch\n")
    sys.path.insert(0, str(folder))
    invalidate_caches()
    permits.allow(MODULE)
    try:
        yield file
    finally:
        permits.forbid(MODULE)
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.startswith((MODULE, "provenn_unallowed"))]:
            del sys.modules[name]


def definition(function: object, source: str = "") -> dict[str, Any]:
    """Return the definition of a calculator as an attacker writes it."""
    good = PythonCalculator.of(example.photo_z, inputs=["vmag"], outputs={"z": "double"}).definition()
    return {**good, "function": function, "source": source or good["source"]}


def run_attack(message: dict[str, Any], folder: Path) -> str:
    """Do with a definition what a run does with it; return why it was refused, or fail.

    Nothing may be run: a file called ``marker`` tells that something was.
    """
    for trace in ("marker", "imported"):
        (folder / trace).unlink(missing_ok=True)
    try:
        calculator = calculator_from(message)
        check_allowed(calculator)
        calculator.load()(pd.DataFrame({"vmag": [1.0]}), **calculator.parameters)
    except (ProvennError, LookupError, TypeError, ValueError, AttributeError) as error:
        # Whoever restores a definition tells of the latter as of a definition that was changed.
        refusal = f"{type(error).__name__}: {error}"
    else:
        refusal = ""
    assert not (folder / "marker").exists(), f"{message['function']!r} was run"
    assert refusal, f"{message['function']!r} was not refused"
    return refusal


def captured(code: str, marker: Path) -> dict[str, Any]:
    """Return the definition of a calculator whose source came with it."""
    text = code.replace("MARKER", repr(str(marker)))
    return definition("__main__:plain", hash_source(text)) | {"code": text}


def evil_calculator(function: str, source: str, **parameters: object) -> PythonCalculator:
    """Return a calculator that no check has seen, as an attacker has it."""
    good = PythonCalculator.of(
        example.photo_z, inputs=["vmag"], outputs={"z": "double"}, parameters=parameters, kind="pandas"
    )
    return replace(good, function=function, source=source)


def source_of(file: Path) -> str:
    """Return the hash of a module."""
    return sha256(file.read_bytes()).hexdigest()
