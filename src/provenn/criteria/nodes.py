"""The parsed form of criteria and expressions: nodes for values, conditions for truth.

All are frozen and compared by meaning: a column is the identity of its attribute, regardless of its name. Composites
compute their extent (size and depth) and their hash on construction, and cache their canonical text. A junction also
caches its NOT and its IS TRUE. Parts are shared, and repeated walks through all of them would take too long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from provenn.criteria.domains import Key
from provenn.criteria.expansion import compute_extent
from provenn.criteria.piece import SqlPiece
from provenn.criteria.ranges import Ranges
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.types import BOOLEAN, Type

__all__ = ["Call", "ColumnNode", "Condition", "Constant", "Junction", "Leaf", "Node", "Nulls", "Test", "Truth", "walk"]


_SINGLE = (1, 1)


class Nulls(Enum):
    """When the value of a call is NULL."""

    ANY = "exactly when an argument is"
    ANY_OR_FAILED = "when an argument is, and when the evaluation fails"
    ALL = "exactly when all arguments are"
    NEVER = "never"
    UNKNOWN = "nothing is known of it"


@dataclass(frozen=True, slots=True)
class ColumnNode:
    """An attribute; `name` is the user's name for it.

    `unit` is the unit of the values: empty if unknown, None in canonical text, where all units are already converted.
    """

    identity: AttributeIdentity
    type: Type
    nullable: bool
    name: str = field(compare=False)
    unit: str | None = field(default="", compare=False)

    @property
    def extent(self) -> tuple[int, int]:
        """Size and depth: a single node."""
        return _SINGLE


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; the key None is NULL.

    `source_text` is the user's spelling, where it carries less than the type. `unit` is the unit that the user wrote
    after the number.
    """

    type: Type
    key: Key | None
    source_text: str = field(default="", compare=False)
    unit: str = field(default="", compare=False)

    @property
    def extent(self) -> tuple[int, int]:
        """Size and depth: a single node."""
        return _SINGLE


@dataclass(frozen=True, slots=True)
class Call:
    """An applied operator or function.

    Operators are named by their symbols. ``coerce`` is an implicit cast of Spark, which cannot fail; ``compare`` is the
    outcome of a comparison of two terms. A product or quotient with a `unit` is a conversion to that unit.
    """

    operator: str
    arguments: tuple[Node, ...]
    type: Type
    nulls: Nulls
    unit: str = field(default="", compare=False)
    extent: tuple[int, int] = field(init=False, compare=False, repr=False)
    hash_value: int = field(init=False, compare=False, repr=False)
    canonical: SqlPiece | None = field(init=False, default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", compute_extent(self.arguments))
        object.__setattr__(self, "hash_value", hash((self.operator, self.arguments, self.type, self.nulls)))

    def __hash__(self) -> int:
        return self.hash_value


@dataclass(frozen=True, slots=True)
class Test:
    """A condition that is used as a value."""

    condition: Condition
    type: Type = BOOLEAN
    extent: tuple[int, int] = field(init=False, compare=False, repr=False)
    hash_value: int = field(init=False, compare=False, repr=False)
    canonical: SqlPiece | None = field(init=False, default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", compute_extent((self.condition,)))
        object.__setattr__(self, "hash_value", hash(("test", self.condition)))

    def __hash__(self) -> int:
        return self.hash_value

    __test__ = False  # pytest would collect any class of this name


Node = ColumnNode | Constant | Call | Test


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition that is TRUE, FALSE or NULL for all sources."""

    value: bool | None

    @property
    def extent(self) -> tuple[int, int]:
        """Size and depth: a single node."""
        return _SINGLE


@dataclass(frozen=True, slots=True)
class Leaf:
    """A condition on the value of a term.

    The condition is TRUE where the value lies in `where`, FALSE elsewhere, and `at_null` where the value is NULL.
    """

    term: Node
    where: Ranges
    at_null: bool | None
    extent: tuple[int, int] = field(init=False, compare=False, repr=False)
    hash_value: int = field(init=False, compare=False, repr=False)
    canonical: SqlPiece | None = field(init=False, default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", compute_extent((self.term,)))
        object.__setattr__(self, "hash_value", hash((self.term, self.where, self.at_null)))

    def __hash__(self) -> int:
        return self.hash_value


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by AND or by OR: at least two, in canonical order, at most one per term."""

    operator: str
    parts: tuple[Condition, ...]
    extent: tuple[int, int] = field(init=False, compare=False, repr=False)
    hash_value: int = field(init=False, compare=False, repr=False)
    canonical: SqlPiece | None = field(init=False, default=None, compare=False, repr=False)
    negation: Condition | None = field(init=False, default=None, compare=False, repr=False)
    certainty: Condition | None = field(init=False, default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extent", compute_extent(self.parts))
        object.__setattr__(self, "hash_value", hash((self.operator, self.parts)))

    def __hash__(self) -> int:
        return self.hash_value


Condition = Truth | Leaf | Junction


def walk(root: Node | Condition) -> Iterator[Node | Condition]:
    """Yield all nodes and conditions of a tree, from left to right, parents before their parts."""
    stack: list[Node | Condition] = [root]
    while stack:
        part = stack.pop()
        yield part
        match part:
            case Call(arguments=parts) | Junction(parts=parts):
                stack.extend(reversed(parts))
            case Test(condition):
                stack.append(condition)
            case Leaf(term=term):
                stack.append(term)
