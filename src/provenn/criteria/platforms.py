"""Find the platform traits that affect values: the version of Java, and the kind of machine.

Most functions have a single result by their specification. For others, Java promises only the closeness to the exact
value (``Math.sin``), or has changed the result (``Double.toString`` in Java 19). Stored values of these functions
belong to the platform that computed them. ``tests/spark/test_platforms.py`` compares all functions on several Javas.
"""

from __future__ import annotations

import re

from provenn.criteria.nodes import Call, Condition, Constant, Node, walk
from provenn.criteria.traits import Trait
from provenn.criteria.types import DOUBLE, FLOAT, STRING
from provenn.sky import FUNCTIONS as REGIONS

__all__ = ["Trait", "find_platform_traits"]


_JAVA = frozenset([Trait.JAVA])
_MACHINE = frozenset([Trait.MACHINE])
_BOTH = _JAVA | _MACHINE

# Java has specific code for each kind of processor for these. Regions use these functions.
_BY_PROCESSOR = frozenset(
    ["sin", "cos", "tan", "cot", "sec", "csc", "asin", "acos", "atan", "atan2", "hypot", "healpix_index", *REGIONS]
)
# Processor-specific code is new in Java 24 for tanh and in Java 25 for cbrt; related functions are to follow.
_BY_BOTH = frozenset(["cbrt", "tanh", "sinh", "cosh"])
_BY_DIGITS = frozenset(["round", "bround"])  # these round the decimal digits that Java writes
_FLOATING = (FLOAT, DOUBLE)

# A pattern that every Java matches in the same way: ASCII characters, sets of them, groups, repetitions. Word
# boundaries (\b), case folding and classes of other characters have changed with Unicode and Java.
_PLAIN_PATTERN = re.compile(r"(?:\\[dDsSwWAZ.^$*+?()\[\]{}|\\/-]|\(\?(?:[:=!]|<[=!])|[\x20-\x7e](?<!\\))*", re.ASCII)
_FLAGS = re.compile(r"\(\?[a-zA-Z]")


def find_platform_traits(root: Node | Condition) -> frozenset[Trait]:
    """Return the platform traits on which the value of an expression or a condition may depend."""
    traits: frozenset[Trait] = frozenset()
    for part in walk(root):
        if isinstance(part, Call):
            traits |= _find_call_traits(part)
    return traits


def _find_call_traits(call: Call) -> frozenset[Trait]:
    """Return the platform traits that affect a single call, without its arguments."""
    match call:
        case Call("cast" | "coerce", (inner,), kind) if inner.type in _FLOATING:
            return _JAVA if kind == STRING or kind.name == "decimal" else frozenset()
        case Call("rlike", (_, Constant(key=str() as pattern))):
            plain = _PLAIN_PATTERN.fullmatch(pattern) and not _FLAGS.search(pattern)
            return frozenset() if plain else _JAVA
        case Call(operator) if operator in _BY_DIGITS:
            return _JAVA if call.type in _FLOATING else frozenset()
        case Call(operator):
            return _BOTH if operator in _BY_BOTH else _MACHINE if operator in _BY_PROCESSOR else frozenset()
