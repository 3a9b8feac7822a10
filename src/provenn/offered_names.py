"""Names that a package offers from its modules, each imported when it is used first.

A package that imports all its modules makes every command pay for all of them. Instead, a package imports its names for
type checkers only, under ``TYPE_CHECKING``, and takes ``__getattr__`` and ``__dir__`` from `offer_names`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["offer_names"]


def offer_names(
    package: str, names_by_module: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package
        The name of the package.
    names_by_module
        The offered names, separated by spaces, by the full name of the module that defines them.
    """
    module_by_name = {name: module for module, names in names_by_module.items() for name in names.split()}

    def find_name(name: str) -> Any:  # noqa: ANN401 - whatever the module defines
        if name not in module_by_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module_by_name[name]), name)
        setattr(import_module(package), name, value)  # the next access needs no search
        return value

    return find_name, lambda: sorted(module_by_name)
