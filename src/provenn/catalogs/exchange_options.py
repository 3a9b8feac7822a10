"""Options of exchanged definitions, from untrusted files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provenn.errors import DefinitionError

__all__ = ["ExchangeForm", "ExchangeOptions", "require_text"]

ExchangeOptions = Mapping[str, Any]
"""The options of a verb, by name: JSON from an exchanged file."""

ExchangeForm = tuple[str, dict[str, Any]]
"""The verb of a definition and its options, in the user's words."""


def require_text(value: object) -> str:
    """Return an option that must be a text.

    Raises
    ------
    DefinitionError
        If the option is something else.
    """
    if not isinstance(value, str):
        raise DefinitionError(f"expected text, got {value!r}")
    return value
