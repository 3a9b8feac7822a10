"""The forms that a criterion or an expression takes once it is read: nodes of values, conditions of truth.

All are frozen and compared by meaning: a column is its attribute's identity, whatever it was called.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from provenn.criteria.domains import Key
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import BOOLEAN, Type

__all__ = ["Call", "Column", "Condition", "Constant", "Junction", "Leaf", "Node", "Nulls", "Test", "Truth", "walk"]


class Nulls(Enum):
    """When the value of a call is NULL."""

    ANY = "exactly when an argument is"
    ANY_OR_FAILED = "when an argument is, and when the evaluation fails"
    ALL = "exactly when all arguments are"
    NEVER = "never"
    UNKNOWN = "nothing is known of it"


@dataclass(frozen=True, slots=True)
class Column:
    """An attribute; `name` is what the user called it.

    `unit` is what its values are in: empty if that is not known, None in canonical text, where all is converted.
    """

    identity: str
    type: Type
    nullable: bool
    name: str = field(compare=False)
    unit: str | None = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant; the key None is NULL.

    `written` is how the user wrote it, where that says less than its type; `unit` is what the number is in, where a
    unit was written with it.
    """

    type: Type
    key: Key | None
    written: str = field(default="", compare=False)
    unit: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function, applied.

    Operators go by their symbols; ``coerce`` is a cast that Spark makes by itself, and cannot fail; ``compare`` is
    the outcome of a comparison of two terms. A product or quotient with a `unit` is a conversion to that unit.
    """

    operator: str
    arguments: tuple[Node, ...]
    type: Type
    nulls: Nulls
    unit: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Test:
    """A condition, used as a value."""

    condition: Condition
    type: Type = BOOLEAN

    __test__ = False  # pytest takes any class of this name for its own


Node = Column | Constant | Call | Test


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition that is TRUE, FALSE or NULL whatever the source."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """A condition on the value of one term: TRUE where it lies in `where`, FALSE elsewhere, `at_null` where NULL."""

    term: Node
    where: Ranges
    at_null: bool | None


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions joined by AND or by OR: at least two, in canonical order, at most one on each term."""

    operator: str
    parts: tuple[Condition, ...]


Condition = Truth | Leaf | Junction


def walk(root: Node | Condition) -> Iterator[Node | Condition]:
    """Yield all the nodes and conditions there are, from left to right, each before its parts."""
    stack: list[Node | Condition] = [root]
    while stack:
        one = stack.pop()
        yield one
        match one:
            case Call(arguments=parts) | Junction(parts=parts):
                stack.extend(reversed(parts))
            case Test(condition):
                stack.append(condition)
            case Leaf(term=term):
                stack.append(term)
