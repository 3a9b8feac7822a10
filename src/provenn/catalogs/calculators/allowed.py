"""Whose code may be run: that of modules which the user has allowed.

An archive is data, and may come from anybody; the import path of a calculator in it would run whatever module it names.
So the list of modules is the user's own, never an archive's: those whose functions were handed to provenn in this
process, those in the file ``calculators`` of the user's configuration, and those that PROVENN_CALCULATORS names.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from provenn.catalogs.calculators.python import PythonCalculator
from provenn.errors import CalculatorError

__all__ = ["EVERYTHING", "allow", "allowed", "check_allowed", "forbid"]

EVERYTHING = "*"
"""Stands for all modules."""

_VARIABLE = "PROVENN_CALCULATORS"


def check_allowed(calculator: PythonCalculator) -> None:
    """Make sure that the user wants code of a calculator's module to be run.

    Raises
    ------
    CalculatorError
        If not. No part of it has been imported then.
    """
    module = calculator.function.partition(":")[0]
    if not calculator.given and not _covered(module, allowed()):
        raise CalculatorError(
            f"{calculator.function} is code that you have not allowed to run, though the archive refers to it",
            hint=f"if you trust it: provenn allow {module}",
        )


def allowed() -> frozenset[str]:
    """Return the modules that are allowed, with all that is in them."""
    named = os.environ.get(_VARIABLE, "").replace(",", " ").split()
    return _noted().union(named)


def allow(module: str) -> None:
    """Allow a module, with all that is in it, from now on; where there is no place to note it, nothing happens."""
    if not _covered(module, allowed()):
        with suppress(OSError):
            _write(_noted() | {module})


def forbid(module: str) -> None:
    """Take back that a module is allowed."""
    _write(_noted() - {module})


def _covered(module: str, names: frozenset[str]) -> bool:
    parts = module.split(".")
    return EVERYTHING in names or any(".".join(parts[:length]) in names for length in range(1, len(parts) + 1))


def _file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111 - Path may raise
    return Path(folder) / "provenn" / "calculators"


def _noted() -> frozenset[str]:
    try:
        return frozenset(_file().read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError):  # nobody has allowed anything there
        return frozenset()


def _write(modules: frozenset[str]) -> None:
    file = _file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_text("".join(f"{one}\n" for one in sorted(modules)), encoding="utf-8")
    new.replace(file)
