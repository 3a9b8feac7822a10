"""Write nodes and conditions as SQL text, in three styles: canonical, for people, and for Spark to evaluate.

All three have the same meaning, and reading canonical text gives back the nodes and conditions it was written from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from provenn.criteria.domains import INFINITY, Key, decode_number, get_domain, predecessor
from provenn.criteria.literals import write_literal
from provenn.criteria.nodes import Call, ColumnNode, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.piece import SqlPiece
from provenn.criteria.ranges import Ranges
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.spark_forms import write_spark_form
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, ORDER, VOID, Type
from provenn.sky import FUNCTIONS

if TYPE_CHECKING:
    from provenn.sky import Region

__all__ = [
    "CANONICAL",
    "PEOPLE",
    "Style",
    "backquoted",
    "identities_in",
    "make_spark_style",
    "quote_name",
    "read_region_constant",
    "with_identities",
    "with_names",
    "write",
]

# How tightly a piece of text binds. Operands of bitwise operators and || go in parentheses, because parsers disagree on
# their precedence.
_OR, _AND, _NOT, _PREDICATE, _BITWISE, _SUM, _PRODUCT, _UNARY, _ATOM = range(9)

_INFIX = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}
_TIGHT = frozenset(["&", "|", "^", "||"])
_LIKE = frozenset(["like", "ilike", "rlike"])
_TRY = {"+": "try_add", "-": "try_subtract", "*": "try_multiply", "/": "try_divide", "%": "try_mod"}
_MOST_INTERVALS = 50  # the maximum of separate intervals in SQL for Spark
_MOST_REGIONS = 4  # the maximum of separate regions in SQL for Spark
_CONSTRUCTORS = frozenset(["array", "list"])  # names that begin an array before a bracket
_ROUND = "0.:' DFBLSY"  # trailing characters of round numbers and full minutes
_COMPARISONS = {  # by whether less, equal and greater fulfil the comparison
    (True, False, False): "<",
    (True, True, False): "<=",
    (False, True, False): "=",
    (True, False, True): "<>",
    (False, True, True): ">=",
    (False, False, True): ">",
}


CachedPart = TypeVar("CachedPart", bound=Call | Leaf | Junction)
_Interval = tuple[Key | None, Key | None]


@dataclass(frozen=True, slots=True)
class Style:
    """A style of SQL text.

    Parameters
    ----------
    name
        The function that returns the text of a column.
    plain
        Whether to write for people: no implicit casts, no suffixes where the type is clear.
    spark
        Whether to write for Spark: failures give NULL, and no filter pushed into files loses NaN or -0.0.
    """

    name: Callable[[ColumnNode], str]
    plain: bool = False
    spark: bool = False


def backquoted(name: str) -> str:
    """Return a name in backquotes."""
    return "`" + name.replace("`", "``") + "`"


def quote_name(name: str) -> str:
    """Return a name as people write it, in backquotes where necessary."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) else backquoted(name)


CANONICAL = Style(lambda column: backquoted(column.identity))
PEOPLE = Style(lambda column: quote_name(column.name), plain=True)


def make_spark_style(name: Callable[[ColumnNode], str]) -> Style:
    """Return the style for Spark, with a function that returns the text of a column."""
    return Style(name, spark=True)


_IDENTITY = re.compile(r"'(?:[^'\\]|\\.)*'|`((?:[^`]|``)*)`", re.DOTALL)


def with_names(text: str, names: Mapping[AttributeIdentity, str]) -> str:
    """Return a canonical text, or a label, with names in place of the identities that have one.

    >>> with_names("`hip.vmag` < 6.0D", {"hip.vmag": "vmag"})
    'vmag < 6.0D'
    """

    def insert_name(match: re.Match[str]) -> str:
        if match[1] is None:  # a string literal
            return match[0]
        identity = AttributeIdentity(match[1].replace("``", "`"))
        return quote_name(names[identity]) if identity in names else match[0]

    return _IDENTITY.sub(insert_name, text)


def with_identities(text: str, identities: Mapping[AttributeIdentity, AttributeIdentity]) -> str:
    """Return a canonical text, or a label, with other identities.

    >>> with_identities("`pairs.vmag` < 6.0D", {"pairs.vmag": "hip.vmag"})
    '`hip.vmag` < 6.0D'
    """

    def replace_identity(match: re.Match[str]) -> str:
        identity = None if match[1] is None else AttributeIdentity(match[1].replace("``", "`"))
        return match[0] if identity is None or identity not in identities else backquoted(identities[identity])

    return _IDENTITY.sub(replace_identity, text)


def identities_in(text: str) -> tuple[AttributeIdentity, ...]:
    """Return the identities that a canonical text, or a label, mentions, without repetitions.

    >>> identities_in("`hip.vmag` < `hip.bmag` + 1.0D")
    ('hip.vmag', 'hip.bmag')
    """
    quoted = (match[1] for match in _IDENTITY.finditer(text) if match[1] is not None)
    return tuple(dict.fromkeys(AttributeIdentity(identity.replace("``", "`")) for identity in quoted))


def write(root: Node | Condition, style: Style) -> str:
    """Return the text of a node or a condition."""
    return (
        _write_condition(root, style) if isinstance(root, Truth | Leaf | Junction) else _write_node(root, style)
    ).text


def _write_node(node: Node, style: Style) -> SqlPiece:
    match node:
        case ColumnNode():
            return SqlPiece(style.name(node), _ATOM)
        case Constant(kind, key):
            if key is None:
                bare = kind == VOID or style.plain
                return SqlPiece("NULL" if bare else f"CAST(NULL AS {str(kind).upper()})", _ATOM)
            text = (style.plain and node.source_text) or _write_constant(kind, key, style)
            return SqlPiece(text, _UNARY if text.startswith("-") else _ATOM)
        case Test(condition):
            return _write_condition(condition, style)
        case Call():
            return _write_cached(node, _write_call, style)


def _write_constant(kind: Type, key: Key, style: Style) -> str:
    """Write a constant that is not NULL."""
    text = write_literal(kind, key, plain=style.plain and kind.name == "decimal")
    if kind.name == "decimal" and kind.precision > max(len(str(abs(int(key)))), kind.scale):
        return f"CAST({text} AS {str(kind).upper()})"  # the number alone would be a narrower decimal
    return text


def _write_call(call: Call, style: Style) -> SqlPiece:
    from provenn.sky import region_of, region_sql  # noqa: PLC0415 - few criteria have regions

    pieces = [_write_node(argument, style) for argument in call.arguments]
    form = write_spark_form(call, [piece.parenthesize(_ATOM) for piece in pieces]) if style.spark else None
    if form is not None:
        return SqlPiece(form, _ATOM)
    match call.operator:
        case "coerce" if style.plain:
            return pieces[0]
        case "coerce" | "cast":
            function = "TRY_CAST" if style.spark and call.nulls is not Nulls.ANY else "CAST"
            return SqlPiece(f"{function}({pieces[0].text} AS {str(call.type).upper()})", _ATOM)
        case "case":
            return SqlPiece(_write_case(pieces), _ATOM)
        case "field":
            whole = pieces[0].parenthesize(_ATOM)
            return SqlPiece(f"{f'({whole})' if whole.lower() in _CONSTRUCTORS else whole}[{pieces[1].text}]", _ATOM)
        case operator if operator in _LIKE:
            escape = f" ESCAPE {pieces[2].text}" if len(pieces) > 2 else ""
            left, right = (piece.parenthesize(_BITWISE) for piece in pieces[:2])
            return SqlPiece(f"{left} {operator.upper()} {right}{escape}", _PREDICATE)
        case "-" | "~" as operator if len(pieces) == 1:
            return SqlPiece(operator + pieces[0].parenthesize(_ATOM), _UNARY)
        case operator if operator in FUNCTIONS and style.spark:
            ra, dec = (piece.parenthesize(_ATOM) for piece in pieces[:2])
            constants = [read_region_constant(node) for node in call.arguments[2:] if isinstance(node, Constant)]
            return SqlPiece(region_sql(region_of(operator, constants), ra, dec), _ATOM)
        case operator if operator in _TRY and style.spark and _may_fail(call):
            return SqlPiece(f"{_TRY[operator]}({pieces[0].text}, {pieces[1].text})", _ATOM)
        case operator if operator in _INFIX:
            binds = _INFIX[operator]
            return SqlPiece(f"{pieces[0].parenthesize(binds)} {operator} {pieces[1].parenthesize(binds + 1)}", binds)
        case operator if operator in _TIGHT:
            return SqlPiece(f"{pieces[0].parenthesize(_UNARY)} {operator} {pieces[1].parenthesize(_UNARY)}", _BITWISE)
        case operator:
            return SqlPiece(f"{operator}({', '.join(piece.text for piece in pieces)})", _ATOM)


def read_region_constant(constant: Constant) -> float | str:
    """Return the value of a constant of a region: degrees, or a text."""
    if constant.key is None:
        raise TypeError("NULL is no region")
    return constant.key if isinstance(constant.key, str) else float(decode_number(constant.type, constant.key))


def _may_fail(call: Call) -> bool:
    """Tell whether Spark may fail on an arithmetic call, so that the call needs a ``try_`` function."""
    return call.operator in "/%" or call.type not in (FLOAT, DOUBLE)


def _write_case(pieces: list[SqlPiece]) -> str:
    whens = zip(pieces[:-1:2], pieces[1::2], strict=True)
    branches = " ".join(f"WHEN {test.text} THEN {value.text}" for test, value in whens)
    return f"CASE {branches} ELSE {pieces[-1].text} END"


def _write_cached(part: CachedPart, write_part: Callable[[CachedPart, Style], SqlPiece], style: Style) -> SqlPiece:
    """Write a part; the canonical text is cached with the part, because sorting needs it repeatedly."""
    if style is not CANONICAL:
        return write_part(part, style)
    if part.canonical is None:
        object.__setattr__(part, "canonical", write_part(part, style))
    return part.canonical or write_part(part, style)


def _write_condition(condition: Condition, style: Style) -> SqlPiece:
    """Write a condition, from the cache if possible."""
    return (
        _write_new_condition(condition, style)
        if isinstance(condition, Truth)
        else _write_cached(condition, _write_new_condition, style)
    )


def _write_new_condition(condition: Condition, style: Style) -> SqlPiece:
    """Write a condition without the cache."""
    match condition:
        case Truth(value):
            unknown = "CAST(NULL AS BOOLEAN)" if style.spark else "NULL"
            return SqlPiece({True: "TRUE", False: "FALSE", None: unknown}[value], _ATOM)
        case Junction(operator, parts):
            binds = _AND if operator == "AND" else _OR
            united, rest = _unite_regions(operator, parts, style) if style.spark else ([], parts)
            pieces = [*united, *(_write_condition(part, style) for part in rest)]
            if len(pieces) == 1:
                return pieces[0]
            return SqlPiece(f" {operator} ".join(piece.parenthesize(binds + 1) for piece in pieces), binds)
        case Leaf(term, where, at_null):
            if term.type in (BOOLEAN, ORDER):
                return _write_truth_leaf(term, where, at_null, style)
            return _write_value_leaf(term, where, at_null, style)


def _unite_regions(
    operator: str, parts: Sequence[Condition], style: Style
) -> tuple[list[SqlPiece], Sequence[Condition]]:
    """Write the regions of a position as a single condition if they are many; return the other parts unchanged.

    For OR, the condition is the union; for AND, for positions outside all of the regions, it is NOT of the union. Both
    are NULL where a coordinate is NULL.
    """
    from provenn.sky import can_be_united, region_of, union_sql  # noqa: PLC0415 - few criteria have regions

    wanted = (True, False) if operator == "OR" else (False, True)
    by_position: dict[tuple[str, str], list[tuple[Condition, Region]]] = {}
    for part in parts:
        match part:
            case Leaf(Call(function, arguments), where, None) if function in FUNCTIONS:
                region = region_of(
                    function, [read_region_constant(node) for node in arguments[2:] if isinstance(node, Constant)]
                )
                if (0 in where, 1 in where) == wanted and can_be_united(region):
                    ra, dec = (_write_node(node, style).parenthesize(_ATOM) for node in arguments[:2])
                    by_position.setdefault((ra, dec), []).append((part, region))
    many = {position: members for position, members in by_position.items() if len(members) > _MOST_REGIONS}
    united = {id(part) for members in many.values() for part, _ in members}
    pieces = []
    for (ra, dec), members in many.items():
        union = union_sql([region for _, region in members], ra, dec)
        pieces.append(SqlPiece(union, _ATOM) if operator == "OR" else SqlPiece(f"NOT {union}", _NOT))
    return pieces, [part for part in parts if id(part) not in united]


def _write_truth_leaf(term: Node, where: Ranges, at_null: bool | None, style: Style) -> SqlPiece:
    """Write a leaf on a Boolean term or on a comparison of two terms."""
    write_where = _write_comparison if term.type == ORDER else _write_boolean
    if at_null is None:
        return write_where(term, where, style)
    if term.type == BOOLEAN and not where.cuts and where.first != at_null:
        return SqlPiece(
            f"{_write_node(term, style).parenthesize(_BITWISE)} IS {'' if at_null else 'NOT '}NULL", _PREDICATE
        )
    # A condition that is TRUE at NULL is written as the complement, with IS NOT TRUE.
    inner = write_where(term, ~where if at_null else where, style).parenthesize(_BITWISE)
    return SqlPiece(f"{inner} IS {'NOT ' if at_null else ''}TRUE", _PREDICATE)


def _write_boolean(term: Node, where: Ranges, style: Style) -> SqlPiece:
    """Write the truth values of a Boolean term where a leaf is TRUE."""
    piece = _write_node(term, style)
    yes, no = piece.parenthesize(_NOT), f"NOT {piece.parenthesize(_PREDICATE)}"
    match 0 in where, 1 in where:
        case True, False:
            return piece
        case False, True:
            return SqlPiece(no, _NOT)
        case True, True:
            return SqlPiece(f"{yes} OR {no}", _OR)
        case _:
            return SqlPiece(f"{yes} AND {no}", _AND)


def _write_comparison(term: Node, where: Ranges, style: Style) -> SqlPiece:
    """Write the outcomes of a comparison of two terms where a leaf is TRUE."""
    if not isinstance(term, Call):
        raise TypeError(f"{term!r} is no comparison")
    left, right = (_write_node(side, style).parenthesize(_BITWISE) for side in term.arguments)
    outcomes = (0 in where, 1 in where, 2 in where)
    if outcomes in _COMPARISONS:
        return SqlPiece(f"{left} {_COMPARISONS[outcomes]} {right}", _PREDICATE)
    if where.first:
        return SqlPiece(f"{left} <= {right} OR {left} > {right}", _OR)
    return SqlPiece(f"{left} < {right} AND {left} >= {right}", _AND)


def _write_value_leaf(term: Node, where: Ranges, at_null: bool | None, style: Style) -> SqlPiece:
    """Write a leaf on a term with other values than truth or comparison outcomes."""
    text = _write_node(term, style).parenthesize(_BITWISE)
    if at_null is not None and not where.cuts and where.first != at_null:
        return SqlPiece(f"{text} IS {'' if at_null else 'NOT '}NULL", _PREDICATE)
    pushed = style.spark and _is_stored(term) and term.type in (FLOAT, DOUBLE)
    piece = _write_ranges(text, term.type, where, style, pushed=pushed)
    if at_null is None:
        return piece
    if at_null:
        return SqlPiece(f"{piece.text} OR {text} IS NULL", _OR)
    return SqlPiece(f"{piece.parenthesize(_AND)} AND {text} IS NOT NULL", _AND)


def _is_stored(node: Node) -> bool:
    """Tell whether files store the values of a node: a column, or a field of a column."""
    while isinstance(node, Call) and node.operator == "field":
        node = node.arguments[0]
    return isinstance(node, ColumnNode)


def _write_ranges(text: str, kind: Type, where: Ranges, style: Style, *, pushed: bool) -> SqlPiece:
    """Write that a value lies in some ranges.

    A filter on a floating-point column or field is pushed into the files, whose statistics ignore NaN and order -0.0
    below 0.0. So NaN is tested explicitly where the ranges contain it, and zero is written as a range.
    """
    if not where.cuts:
        return SqlPiece(f"{text} {'=' if where.first else '<>'} {text}", _PREDICATE)
    points, intervals = _split_ranges(kind, where)
    absent, left_out = _split_ranges(kind, ~where)
    pieces = []
    if intervals and not left_out:
        pieces.append(_write_list(text, kind, absent, style, negated=True))
    else:
        if style.spark and len(intervals) > _MOST_INTERVALS:
            pieces, points, intervals = [_write_search(text, kind, where, style, pushed=pushed)], [], []
        if pushed and 0 in points:
            points.remove(0)
            intervals.insert(0, (0, 1))
        pieces += [_write_interval(text, kind, *ends, style, pushed=pushed) for ends in intervals]
        if points:
            pieces.append(_write_list(text, kind, points, style))
    if pushed and INFINITY[kind] + 1 in where:
        pieces.append(SqlPiece(f"isnan({text})", _PREDICATE))
    if len(pieces) == 1:
        return pieces[0]
    return SqlPiece(" OR ".join(piece.text for piece in pieces), _OR)


def _write_search(text: str, kind: Type, where: Ranges, style: Style, *, pushed: bool) -> SqlPiece:
    """Write that a value lies in some of many ranges.

    The value has passed an odd number of ends, counted by bisection. Spark takes minutes for a chain of a thousand
    comparisons, because Spark compares each with all others. The outermost ends come first, for Spark to push into the
    files.
    """
    ends = ", ".join(write_literal(kind, key) for key in where.cuts)
    steps = ", ".join(str(1 << bit) for bit in reversed(range(len(where.cuts).bit_length())))
    passed = f"if(coalesce(get(array({ends}), n + s - 1) <= v, FALSE), n + s, n)"
    odd = f"aggregate(array({steps}), 0, (n, s) -> {passed}) % 2 = {0 if where.first else 1}"
    search = f"exists(array({text}), v -> CASE WHEN v IS NOT NULL THEN {odd} END)"
    if where.first:
        return SqlPiece(search, _PREDICATE)
    last = where.cuts[-1] if len(where.cuts) % 2 == 0 else None
    around = _write_interval(text, kind, where.cuts[0], last, style, pushed=pushed)
    return SqlPiece(f"{around.text} AND {search}", _AND)


def _split_ranges(kind: Type, where: Ranges) -> tuple[list[Key], list[_Interval]]:
    """Return the values of single-value intervals, and the other intervals."""
    within = get_domain(kind)
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


def _write_list(text: str, kind: Type, keys: list[Key], style: Style, *, negated: bool = False) -> SqlPiece:
    """Write that a value is, or is not, in a list."""
    values = [write_literal(kind, key, plain=style.plain) for key in keys]
    if len(values) == 1:
        return SqlPiece(f"{text} {'<>' if negated else '='} {values[0]}", _PREDICATE)
    return SqlPiece(f"{text} {'NOT ' if negated else ''}IN ({', '.join(values)})", _PREDICATE)


def _write_interval(
    text: str, kind: Type, low: Key | None, high: Key | None, style: Style, *, pushed: bool
) -> SqlPiece:
    """Write that a value lies in an interval."""
    bounds = []
    if low is not None:
        operator, value = _write_bound(kind, low, ">=", ">", style)
        bounds.append(f"{text} {operator} {'-' if pushed and low == 0 else ''}{value}")
    if high is not None:
        bounds.append("{} {} {}".format(text, *_write_bound(kind, high, "<", "<=", style)))
    return SqlPiece(" AND ".join(bounds), _PREDICATE if len(bounds) == 1 else _AND)


def _write_bound(kind: Type, key: Key, at: str, beside: str, style: Style) -> tuple[str, str]:
    """Return operator and value of a cut in the rounder of its two spellings: ``< 6`` or ``<= 5``."""
    value = write_literal(kind, key, plain=style.plain)
    previous = predecessor(key)
    if previous is not None:
        other = write_literal(kind, previous, plain=style.plain)
        if len(other.rstrip(_ROUND)) < len(value.rstrip(_ROUND)):
            return beside, other
    return at, value
