"""Hypothesis strategies for the words of the logic: labels, terms, statements, relationships."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from provenn.logic import Relationship, Statement
from provenn.logic.statements import And, Not, Or, Property, SetComparison
from provenn.logic.terms import Term, nothing, term

__all__ = ["drawn", "label_lists", "labels", "relationships", "simple_statements", "statements", "terms"]


T = TypeVar("T")


def drawn(strategy: st.SearchStrategy[T], number: int, start: int) -> list[T]:
    """Some examples at once, always the same: for tests that ask Spark about all of them together."""
    results = []

    @seed(start)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def draw(one: T) -> None:
        results.append(one)

    draw()
    return results


def labels() -> st.SearchStrategy[str]:
    """Anything that can name a set: plain names and odd ones."""
    return st.one_of(st.sampled_from(["A", "B", "C", "bright", "and", "x y", 'a"b', "a\\b", "ü"]), st.text(min_size=1))


def label_lists(names: Sequence[str] = "ABCD", least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[str, ...]]:
    """Some of the names, in any order."""
    return st.lists(st.sampled_from(list(names)), min_size=least, max_size=most, unique=True).map(tuple)


def terms(names: Sequence[str] = "ABC", leaves: int = 4) -> st.SearchStrategy[Term]:
    """Set terms over the names and the empty set."""
    leaf = st.one_of(st.sampled_from(list(names)).map(term), st.just(nothing)) if names else st.just(nothing)
    return st.recursive(
        leaf,
        lambda part: st.one_of(
            part.map(lambda item: ~item),
            st.builds(lambda element, join, other: join(element, other), part, st.sampled_from(_JOINS), part),
        ),
        max_leaves=leaves,
    )


_JOINS = [Term.__and__, Term.__or__, Term.__sub__, Term.__xor__]


def simple_statements(names: Sequence[str] = "ABC", leaves: int = 3) -> st.SearchStrategy[SetComparison | Property]:
    """Comparisons and properties about the names."""
    item = terms(names, leaves)
    return st.one_of(
        st.builds(SetComparison, st.sampled_from(["==", "!=", "<=", "<", ">=", ">"]), item, item),
        st.builds(Property, st.sampled_from(["empty", "nonempty", "outside"]), st.tuples(item)),
        st.builds(
            Property,
            st.sampled_from(["disjoint", "overlapping", "outside"]),
            st.lists(item, min_size=2, max_size=3).map(tuple),
        ),
    )


def statements(names: Sequence[str] = "ABC", parts: int = 4, leaves: int = 3) -> st.SearchStrategy[Statement]:
    """Statements about the names: comparisons and properties, joined by and, or, not."""
    return st.recursive(
        simple_statements(names, leaves),
        lambda part: st.one_of(part.map(Not), st.builds(And.of, part, part), st.builds(Or.of, part, part)),
        max_leaves=parts,
    )


def relationships(names: Sequence[str] = "ABCD", least: int = 0, most: int = 3) -> st.SearchStrategy[Relationship]:
    """Relationships between some of the names, in any order: any hypercubes, often few, often regular."""
    return label_lists(names, least, most).flatmap(
        lambda chosen: st.one_of(_any_hypercubes(chosen), statements(chosen).map(lambda s: _stated(s, chosen)))
    )


def _any_hypercubes(chosen: tuple[str, ...]) -> st.SearchStrategy[Relationship]:
    cells = 2 ** len(chosen)
    arrays = st.integers(0, 2**cells - 1).map(lambda bits: _array(bits, len(chosen)))
    return st.lists(arrays, max_size=12).map(lambda some: Relationship.from_arrays(chosen, some))


def _stated(statement: Statement, chosen: tuple[str, ...]) -> Relationship:
    return Relationship.of(statement, labels=chosen)


def _array(bits: int, dimensions: int) -> np.ndarray:
    cells = 2**dimensions
    return np.array([bits >> cell & 1 for cell in range(cells)], bool).reshape((2,) * dimensions)
