"""Which code may be run: that of modules, and captured source, which the user has allowed.

An archive is data, and may come from anybody; the import path of a calculator in it would run whatever module it names,
and captured source whatever it says. So the list is the user's own, never an archive's: what was handed to provenn in
this process, what is in the file ``calculators`` of the user's configuration, and what PROVENN_CALCULATORS names. A
module is allowed by its import path, with all that is in it; captured source by its hash alone, and by nothing else.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from provenn.catalogs.calculators.python import PythonCalculator
from provenn.errors import CalculatorError

__all__ = ["EVERYTHING", "allow", "allowed", "check_allowed", "forbid", "is_permit"]

EVERYTHING = "*"
"""Stands for all modules; not for captured source."""

_CAPTURED = re.compile("sha256:[0-9a-f]{64}")

_VARIABLE = "PROVENN_CALCULATORS"


def check_allowed(calculator: PythonCalculator) -> None:
    """Make sure that the user wants the code of a calculator to be run.

    Raises
    ------
    CalculatorError
        If not. No part of it has been imported or run then.
    """
    if calculator.given or _covered(calculator.permit, allowed()):
        return
    look = "read it with provenn calculators --code; " if calculator.code else ""
    raise CalculatorError(
        f"{calculator.function} is code that you have not allowed to run, though the archive refers to it",
        hint=f"{look}if you trust it: provenn allow {calculator.permit}",
    )


def is_permit(text: str) -> bool:
    """Whether a text can be allowed: an import path, `EVERYTHING`, or ``sha256:`` and a hash."""
    return text == EVERYTHING or _CAPTURED.fullmatch(text) is not None or all(map(str.isidentifier, text.split(".")))


def allowed() -> frozenset[str]:
    """Return what is allowed: modules, with all that is in them, and hashes of captured source."""
    named = os.environ.get(_VARIABLE, "").replace(",", " ").split()
    return _noted().union(named)


def allow(permit: str) -> None:
    """Allow a module, or captured source, from now on; where there is no place to note it, nothing happens."""
    if not _covered(permit, allowed()):
        with suppress(OSError):
            _write(_noted() | {permit})


def forbid(permit: str) -> None:
    """Take back that a module, or captured source, is allowed."""
    _write(_noted() - {permit})


def _covered(module: str, names: frozenset[str]) -> bool:
    if _CAPTURED.fullmatch(module):
        return module in names  # nothing but its own hash allows it
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
