"""Nodes and conditions as SQL text, in three styles: canonical, for people, and for Spark to evaluate.

All mean the same, and canonical text is read back to what it was written from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from provenn.criteria.domains import INFINITY, Key, domain, number, predecessor
from provenn.criteria.literals import literal
from provenn.criteria.nodes import Call, Column, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, INTEGRAL, ORDER, VOID, Type
from provenn.sky import FUNCTIONS, Region, can_be_united, region_of, region_sql, union_sql

__all__ = [
    "CANONICAL",
    "PEOPLE",
    "Style",
    "backquoted",
    "identities_in",
    "region_in",
    "shown",
    "spark",
    "with_names",
    "write",
]

# How tightly a piece of text binds. Bitwise operators and || take no other operator without parentheses: parsers
# disagree on those.
_OR, _AND, _NOT, _PREDICATE, _BITWISE, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)

_INFIX = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}
_TIGHT = frozenset(["&", "|", "^", "||"])
_LIKE = frozenset(["like", "ilike", "rlike"])
_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide", "%": "try_mod"}
_MOST_INTERVALS = 50  # that are written one by one for Spark
_MOST_REGIONS = 4  # that are joined one by one for Spark
_ROUND = "0.:' DFBLSY"  # what a round number, or a full minute, ends in
_COMPARISONS = {  # by whether less, equal and greater are meant
    (True, False, False): "<",
    (True, True, False): "<=",
    (False, True, False): "=",
    (True, False, True): "<>",
    (False, True, True): ">=",
    (False, False, True): ">",
}


_Interval = tuple[Key | None, Key | None]


class _Piece(NamedTuple):
    text: str
    binds: int

    def within(self, level: int) -> str:
        """Return the text as it stands where only what binds at least as tightly as `level` may stand."""
        return self.text if self.binds >= level else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Style:
    """How to write.

    Parameters
    ----------
    name
        The text of a column.
    plain
        For people: no implicit casts, no suffixes where the type is clear.
    spark
        For evaluation: what fails is NULL, and no filter is pushed into files that would lose NaN or -0.0.
    """

    name: Callable[[Column], str]
    plain: bool = False
    spark: bool = False


def backquoted(name: str) -> str:
    """Return a name in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def shown(name: str) -> str:
    """Return a name as people write it: in backquotes where it must be."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else backquoted(name)


CANONICAL = Style(lambda column: backquoted(column.identity))
PEOPLE = Style(lambda column: shown(column.name), plain=True)


def spark(name: Callable[[Column], str]) -> Style:
    """Return the style for Spark, given the text of every column."""
    return Style(name, spark=True)


_NAMED = re.compile(r"'(?:[^'\\]|\\.)*'|`((?:[^`]|``)*)`", re.DOTALL)


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a canonical text, or a label, with names for the identities that have one.

    >>> with_names("`hip.vmag` < 6.0D", {"hip.vmag": "vmag"})
    'vmag < 6.0D'
    """

    def named(found: re.Match[str]) -> str:
        if found[1] is None:  # a string
            return found[0]
        identity = found[1].replace("``", "`")
        return shown(names[identity]) if identity in names else found[0]

    return _NAMED.sub(named, text)


def identities_in(text: str) -> tuple[str, ...]:
    """Return the identities that a canonical text, or a label, mentions, each once.

    >>> identities_in("`hip.vmag` < `hip.bmag` + 1.0D")
    ('hip.vmag', 'hip.bmag')
    """
    found = (one[1] for one in _NAMED.finditer(text) if one[1] is not None)
    return tuple(dict.fromkeys(one.replace("``", "`") for one in found))


def write(root: Node | Condition, style: Style) -> str:
    """Return the text of a node or a condition."""
    return (_condition(root, style) if isinstance(root, Truth | Leaf | Junction) else _node(root, style)).text


def _node(node: Node, style: Style) -> _Piece:
    match node:
        case Column():
            return _Piece(style.name(node), _ATOM)
        case Constant(kind, key):
            if key is None:
                bare = kind == VOID or style.plain
                return _Piece("NULL" if bare else f"CAST(NULL AS {str(kind).upper()})", _ATOM)
            text = (style.plain and node.written) or _constant(kind, key, style)
            return _Piece(text, _UNARY if text.startswith("-") else _ATOM)
        case Test(condition):
            return _condition(condition, style)
        case Call():
            return _call(node, style)


def _constant(kind: Type, key: Key, style: Style) -> str:
    text = literal(kind, key, plain=style.plain and kind.name == "decimal")
    if kind.name == "decimal" and kind.precision > max(len(str(abs(int(key)))), kind.scale):
        return f"CAST({text} AS {str(kind).upper()})"  # the number alone would be a narrower decimal
    return text


def _call(call: Call, style: Style) -> _Piece:
    pieces = [_node(argument, style) for argument in call.arguments]
    match call.operator:
        case "coerce" if style.plain:
            return pieces[0]
        case "coerce" | "cast":
            function = "TRY_CAST" if style.spark and call.nulls is not Nulls.ANY else "CAST"
            return _Piece(f"{function}({pieces[0].text} AS {str(call.type).upper()})", _ATOM)
        case "case":
            return _Piece(_case(pieces), _ATOM)
        case operator if operator in _LIKE:
            escape = f" ESCAPE {pieces[2].text}" if len(pieces) > 2 else ""
            left, right = (piece.within(_BITWISE) for piece in pieces[:2])
            return _Piece(f"{left} {operator.upper()} {right}{escape}", _PREDICATE)
        case "-" | "~" as operator if len(pieces) == 1:
            if style.spark and operator == "-" and call.type in INTEGRAL:
                return _Piece(f"try_subtract({literal(call.type, 0)}, {pieces[0].text})", _ATOM)
            return _Piece(operator + pieces[0].within(_ATOM), _UNARY)
        case operator if operator in FUNCTIONS and style.spark:
            ra, dec = (piece.within(_ATOM) for piece in pieces[:2])
            constants = [region_in(one) for one in call.arguments[2:] if isinstance(one, Constant)]
            return _Piece(region_sql(region_of(operator, constants), ra, dec), _ATOM)
        case operator if operator in _TRY and style.spark and _may_fail(call):
            return _Piece(f"{_TRY[operator]}({pieces[0].text}, {pieces[1].text})", _ATOM)
        case operator if operator in _INFIX:
            binds = _INFIX[operator]
            return _Piece(f"{pieces[0].within(binds)} {operator} {pieces[1].within(binds + 1)}", binds)
        case operator if operator in _TIGHT:
            return _Piece(f"{pieces[0].within(_UNARY)} {operator} {pieces[1].within(_UNARY)}", _BITWISE)
        case "abs" if style.spark and call.type in INTEGRAL:
            # The lowest integer has no absolute value of its type.
            wide = f"abs(CAST({pieces[0].text} AS DECIMAL(20,0)))"
            return _Piece(f"TRY_CAST({wide} AS {str(call.type).upper()})", _ATOM)
        case operator:
            return _Piece(f"{operator}({', '.join(piece.text for piece in pieces)})", _ATOM)


def region_in(constant: Constant) -> float | str:
    """Return what a constant tells of a region: degrees, or a text."""
    if constant.key is None:
        raise TypeError("NULL is no region")
    return constant.key if isinstance(constant.key, str) else float(number(constant.type, constant.key))


def _may_fail(call: Call) -> bool:
    return call.operator in "/%" or call.type not in (FLOAT, DOUBLE)


def _case(pieces: list[_Piece]) -> str:
    whens = zip(pieces[:-1:2], pieces[1::2], strict=True)
    branches = " ".join(f"WHEN {test.text} THEN {value.text}" for test, value in whens)
    return f"CASE {branches} ELSE {pieces[-1].text} END"


def _condition(condition: Condition, style: Style) -> _Piece:
    match condition:
        case Truth(value):
            unknown = "CAST(NULL AS BOOLEAN)" if style.spark else "NULL"
            return _Piece({True: "TRUE", False: "FALSE", None: unknown}[value], _ATOM)
        case Junction(operator, parts):
            binds = _AND if operator == "AND" else _OR
            united, rest = _united_regions(operator, parts, style) if style.spark else ([], parts)
            pieces = [*united, *(_condition(part, style) for part in rest)]
            if len(pieces) == 1:
                return pieces[0]
            return _Piece(f" {operator} ".join(piece.within(binds + 1) for piece in pieces), binds)
        case Leaf(term, where, at_null):
            if term.type in (BOOLEAN, ORDER):
                return _truth_leaf(term, where, at_null, style)
            return _value_leaf(term, where, at_null, style)


def _united_regions(
    operator: str, parts: Sequence[Condition], style: Style
) -> tuple[list[_Piece], Sequence[Condition]]:
    """Write the regions of one position, if there are many, as one condition; return the other parts as they are.

    For OR, that is the union; for AND, of positions that are not in any of the regions, NOT of the union: both are NULL
    where a coordinate is.
    """
    wanted = (True, False) if operator == "OR" else (False, True)
    by_position: dict[tuple[str, str], list[tuple[Condition, Region]]] = {}
    for part in parts:
        match part:
            case Leaf(Call(function, arguments), where, None) if function in FUNCTIONS:
                region = region_of(function, [region_in(one) for one in arguments[2:] if isinstance(one, Constant)])
                if (0 in where, 1 in where) == wanted and can_be_united(region):
                    ra, dec = (_node(one, style).within(_ATOM) for one in arguments[:2])
                    by_position.setdefault((ra, dec), []).append((part, region))
    many = {position: found for position, found in by_position.items() if len(found) > _MOST_REGIONS}
    taken = {id(part) for found in many.values() for part, _ in found}
    pieces = []
    for (ra, dec), found in many.items():
        union = union_sql([region for _, region in found], ra, dec)
        pieces.append(_Piece(union, _ATOM) if operator == "OR" else _Piece(f"NOT {union}", _NOT))
    return pieces, [part for part in parts if id(part) not in taken]


def _truth_leaf(term: Node, where: Ranges, at_null: bool | None, style: Style) -> _Piece:
    write_where = _compared if term.type == ORDER else _boolean
    if at_null is None:
        return write_where(term, where, style)
    if term.type == BOOLEAN and not where.cuts and where.first != at_null:
        return _Piece(f"{_node(term, style).within(_BITWISE)} IS {'' if at_null else 'NOT '}NULL", _PREDICATE)
    # TRUE at NULL is what is left when the rest is taken away.
    inner = write_where(term, ~where if at_null else where, style).within(_BITWISE)
    return _Piece(f"{inner} IS {'NOT ' if at_null else ''}TRUE", _PREDICATE)


def _boolean(term: Node, where: Ranges, style: Style) -> _Piece:
    piece = _node(term, style)
    yes, no = piece.within(_NOT), f"NOT {piece.within(_PREDICATE)}"
    match 0 in where, 1 in where:
        case True, False:
            return piece
        case False, True:
            return _Piece(no, _NOT)
        case True, True:
            return _Piece(f"{yes} OR {no}", _OR)
        case _:
            return _Piece(f"{yes} AND {no}", _AND)


def _compared(term: Node, where: Ranges, style: Style) -> _Piece:
    if not isinstance(term, Call):
        raise TypeError(f"{term!r} is no comparison")
    left, right = (_node(side, style).within(_BITWISE) for side in term.arguments)
    meant = (0 in where, 1 in where, 2 in where)
    if meant in _COMPARISONS:
        return _Piece(f"{left} {_COMPARISONS[meant]} {right}", _PREDICATE)
    if where.first:
        return _Piece(f"{left} <= {right} OR {left} > {right}", _OR)
    return _Piece(f"{left} < {right} AND {left} >= {right}", _AND)


def _value_leaf(term: Node, where: Ranges, at_null: bool | None, style: Style) -> _Piece:
    text = _node(term, style).within(_BITWISE)
    if at_null is not None and not where.cuts and where.first != at_null:
        return _Piece(f"{text} IS {'' if at_null else 'NOT '}NULL", _PREDICATE)
    pushed = style.spark and isinstance(term, Column) and term.type in (FLOAT, DOUBLE)
    piece = _values(text, term.type, where, style, pushed=pushed)
    if at_null is None:
        return piece
    if at_null:
        return _Piece(f"{piece.text} OR {text} IS NULL", _OR)
    return _Piece(f"{piece.within(_AND)} AND {text} IS NOT NULL", _AND)


def _values(text: str, kind: Type, where: Ranges, style: Style, *, pushed: bool) -> _Piece:
    """Write that a value lies in some ranges.

    A filter on a floating-point column is pushed into the files, whose statistics know nothing of NaN, and take
    -0.0 for less than 0.0: so NaN is named where it is meant, and zero is written as the range that it is.
    """
    if not where.cuts:
        return _Piece(f"{text} {'=' if where.first else '<>'} {text}", _PREDICATE)
    points, intervals = _split(kind, where)
    absent, left_out = _split(kind, ~where)
    pieces = []
    if intervals and not left_out:
        pieces.append(_listed(text, kind, absent, style, negated=True))
    else:
        if style.spark and len(intervals) > _MOST_INTERVALS:
            pieces, points, intervals = [_searched(text, kind, where, style, pushed=pushed)], [], []
        if pushed and 0 in points:
            points.remove(0)
            intervals.insert(0, (0, 1))
        pieces += [_interval(text, kind, *ends, style, pushed=pushed) for ends in intervals]
        if points:
            pieces.append(_listed(text, kind, points, style))
    if pushed and INFINITY[kind] + 1 in where:
        pieces.append(_Piece(f"isnan({text})", _PREDICATE))
    if len(pieces) == 1:
        return pieces[0]
    return _Piece(" OR ".join(piece.text for piece in pieces), _OR)


def _searched(text: str, kind: Type, where: Ranges, style: Style, *, pushed: bool) -> _Piece:
    """Write that a value lies in some of many ranges: it has passed an odd number of ends, counted by bisection.

    Spark takes minutes for a chain of a thousand comparisons, because it compares each with all others. The outermost
    ends come first, for Spark to push them into the files.
    """
    ends = ", ".join(literal(kind, key) for key in where.cuts)
    steps = ", ".join(str(1 << bit) for bit in reversed(range(len(where.cuts).bit_length())))
    passed = f"if(coalesce(get(array({ends}), n + s - 1) <= v, FALSE), n + s, n)"
    odd = f"aggregate(array({steps}), 0, (n, s) -> {passed}) % 2 = {0 if where.first else 1}"
    search = f"exists(array({text}), v -> CASE WHEN v IS NOT NULL THEN {odd} END)"
    if where.first:
        return _Piece(search, _PREDICATE)
    last = where.cuts[-1] if len(where.cuts) % 2 == 0 else None
    around = _interval(text, kind, where.cuts[0], last, style, pushed=pushed)
    return _Piece(f"{around.text} AND {search}", _AND)


def _split(kind: Type, where: Ranges) -> tuple[list[Key], list[_Interval]]:
    """Return the intervals of one value, by that value, and the others."""
    within = domain(kind)
    points: list[Key] = []
    intervals: list[_Interval] = []
    for low, high in where.intervals():
        first = low if low is not None or within is None else within.lowest
        last = predecessor(high) if high is not None else within and within.highest
        if first is not None and first == last:
            points.append(first)
        else:
            intervals.append((low, high))
    return points, intervals


def _listed(text: str, kind: Type, keys: list[Key], style: Style, *, negated: bool = False) -> _Piece:
    values = [literal(kind, key, plain=style.plain) for key in keys]
    if len(values) == 1:
        return _Piece(f"{text} {'<>' if negated else '='} {values[0]}", _PREDICATE)
    return _Piece(f"{text} {'NOT ' if negated else ''}IN ({', '.join(values)})", _PREDICATE)


def _interval(text: str, kind: Type, low: Key | None, high: Key | None, style: Style, *, pushed: bool) -> _Piece:
    bounds = []
    if low is not None:
        operator, value = _bound(kind, low, ">=", ">", style)
        bounds.append(f"{text} {operator} {'-' if pushed and low == 0 else ''}{value}")
    if high is not None:
        bounds.append("{} {} {}".format(text, *_bound(kind, high, "<", "<=", style)))
    return _Piece(" AND ".join(bounds), _PREDICATE if len(bounds) == 1 else _AND)


def _bound(kind: Type, key: Key, at: str, beside: str, style: Style) -> tuple[str, str]:
    """Return operator and value of the rounder of the two ways to write a cut: ``< 6`` or ``<= 5``."""
    value = literal(kind, key, plain=style.plain)
    previous = predecessor(key)
    if previous is not None:
        other = literal(kind, previous, plain=style.plain)
        if len(other.rstrip(_ROUND)) < len(value.rstrip(_ROUND)):
            return beside, other
    return at, value
