"""The findings of a check of a project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provenn.dbt.implied_tests import ImpliedTest

__all__ = ["Contradiction", "Findings", "LostRows", "SameRows", "UnionOverlap", "UnreadPart"]


@dataclass(frozen=True, slots=True)
class SameRows:
    """Models with the same rows.

    Parameters
    ----------
    models
        Their names.
    same_columns
        Whether they have the same values in each row as well, under whatever names.
    by_tests
        Whether this holds only as long as the tests pass.
    """

    models: tuple[str, ...]
    same_columns: bool
    by_tests: bool


@dataclass(frozen=True, slots=True)
class LostRows:
    """A model that may have fewer rows than a table among its inputs.

    Parameters
    ----------
    model, parent
        Their names.
    conditions
        The operations by which rows are lost, in words.
    """

    model: str
    parent: str
    conditions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnionOverlap:
    """Two members of a union.

    Parameters
    ----------
    model
        The model.
    members
        The numbers of the members in the union, from 1.
    relation
        Whether they can never share a row, surely do if one of them has rows, or may.
    is_all
        Whether rows of both stay in the result twice.
    """

    model: str
    members: tuple[int, int]
    relation: Literal["disjoint", "equal", "inside", "unknown"]
    is_all: bool


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Tests that can pass together only if a table is empty.

    Parameters
    ----------
    table
        The name of the table.
    tests
        The names of the tests, each of them necessary.
    """

    table: str
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of a project that was not understood.

    Parameters
    ----------
    name
        The model or test.
    reason
        Why.
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Findings:
    """All findings of a check of a project.

    Parameters
    ----------
    models, tests
        How many models and tests the project has.
    contradictions
        Tests that can pass together only if a table is empty.
    empty
        The models that have no rows, whatever the data.
    same_rows
        Models with the same rows.
    lost_rows
        Models that may have fewer rows than a table that they are made from.
    unions
        The members of unions.
    implied
        Tests that need not run.
    unread
        What was not understood.
    proofs
        The proofs of the implied tests in words, by the identities of the tests, if they were asked for.
    """

    models: int
    tests: int
    contradictions: tuple[Contradiction, ...]
    empty: tuple[str, ...]
    same_rows: tuple[SameRows, ...]
    lost_rows: tuple[LostRows, ...]
    unions: tuple[UnionOverlap, ...]
    implied: tuple[ImpliedTest, ...]
    unread: tuple[UnreadPart, ...]
    proofs: tuple[tuple[str, tuple[str, ...]], ...] = ()
