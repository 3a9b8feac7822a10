"""Formulas: how attributes are calculated, written down for people."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Formula"]


@dataclass(frozen=True, slots=True)
class Formula:
    """How a catalog calculates some of its attributes.

    Parameters
    ----------
    attributes
        The calculated attributes.
    language
        ``"SQL"`` or ``"Python"``.
    text
        The expression as it was written, or the import path of the function.
    version, parameters
        The registered version and parameters of a function; may be empty.
    hash
        For a function: the SHA-256 of the source of its module. For SQL: the identity of the attribute.
    """

    attributes: tuple[str, ...]
    language: str
    text: str
    version: str
    parameters: str
    hash: str
