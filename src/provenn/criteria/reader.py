"""Convert a syntax tree to nodes and conditions: resolve names, check types, refuse forms without a meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from sqlglot import exp

from provenn import deadline
from provenn.criteria.calls import build_call, check_function
from provenn.criteria.columns import read_column, write_column_name
from provenn.criteria.comparisons import (
    build_choice,
    build_comparison,
    build_membership,
    build_null_safe_equal,
    build_null_test,
    build_pattern_match,
    convert_to_node,
)
from provenn.criteria.conditions import build_is_true, convert_to_condition, join_by_and, join_by_or, negate_condition
from provenn.criteria.conversions import attach_unit
from provenn.criteria.expansion import check_size, get_size_limit, limit_expansion
from provenn.criteria.folding import parse_constant, read_number
from provenn.criteria.moments import check_clock
from provenn.criteria.nodes import Call, Condition, Constant, Junction, Leaf, Node, Truth
from provenn.criteria.operations import build_arithmetic, build_bitwise, build_cast, build_negative
from provenn.criteria.parts import build_part, find_field
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeLike, matching_names
from provenn.criteria.syntax import find_position, is_quantity, parse
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, STRING, VOID, Type, parse_type
from provenn.errors import CriterionError
from provenn.hints import Hint

__all__ = ["read_condition", "read_names", "read_node", "read_part"]

_COMPARISONS = {
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.GTE: ">=",
    exp.GT: ">",
}
_ARITHMETIC = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%"}
_BITWISE = {exp.BitwiseAnd: "&", exp.BitwiseOr: "|", exp.BitwiseXor: "^"}
_PATTERNS: dict[type[exp.Expr], str] = {exp.Like: "like", exp.ILike: "ilike", exp.RegexpLike: "rlike"}
_EXTRACTED = {
    **{name: name for name in ("year", "quarter", "month", "day", "hour", "minute", "dayofweek")},
    "week": "weekofyear",
    "doy": "dayofyear",
    "dow": "dayofweek",
}
_SUBQUERY = (
    "a subquery reads other rows",
    Hint(
        "use restrict() or exclude() with the other catalog",
        command="use `provenn restrict` or `provenn exclude` with the other catalog",
    ),
)
_CONSTRUCTOR = ("an array is not a value here", "put the name of an attribute in parentheses: (list)[0]")
_HINTS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Query: _SUBQUERY,
    exp.Exists: _SUBQUERY,
    exp.Window: ("a window reads more than one source", "use a calculator with the scope catalog"),
    exp.Filter: (
        "an aggregate reads more than one source",
        Hint("group() first, and select from the groups", command="`provenn group` first, and select from the groups"),
    ),
    exp.Alias: (
        "an operator is missing here, or a name is given",
        Hint(
            "name the result outside the expression: derive(name='…')", command="name the result first: NAME=EXPRESSION"
        ),
    ),
    exp.Interval: ("intervals are not supported", "use date_add, date_sub or datediff"),
    exp.Placeholder: ("parameters are not supported", "write the value instead"),
    exp.Parameter: ("parameters are not supported", "write the value instead"),
    exp.List: _CONSTRUCTOR,
    exp.Array: _CONSTRUCTOR,
    exp.Star: ("* is not a value", "name the attributes"),
    exp.Tuple: ("a list is not a value", "compare one by one, with AND"),
    exp.Concat: ("two strings follow each other", r"join them with ||; write a quote inside a string as \'"),
    exp.Collate: ("collations are fixed: strings compare by their bytes", "compare lower(…) instead"),
}


def read_condition(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Condition:
    """Read a criterion; units are ignored in canonical text."""
    with limit_expansion(get_size_limit(text)):
        return _CriterionReader(text, schema, canonical).read_condition(parse(text))


def read_node(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Node:
    """Read an expression; units are ignored in canonical text."""
    with limit_expansion(get_size_limit(text)):
        return _CriterionReader(text, schema, canonical).read_node(parse(text))


def read_part(tree: exp.Expr, text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Node:
    """Read an expression that is a part of a parsed text; units are ignored in canonical text."""
    with limit_expansion(get_size_limit(text)):
        return _CriterionReader(text, schema, canonical).read_node(tree)


def read_names(text: str) -> tuple[str, ...]:
    """Return the attribute names that a criterion or an expression mentions, without repetitions."""
    return tuple(dict.fromkeys(write_column_name(column) for column in parse(text).find_all(exp.Column, bfs=False)))


class _CriterionReader:
    """Convert syntax trees of a text to nodes and conditions, with a schema of attributes."""

    def __init__(self, text: str, schema: Mapping[str, AttributeLike], canonical: bool) -> None:
        self.text = text
        self.schema = schema
        self.canonical = canonical
        self.pending_size = 0  # the total size of the parts that are read but not yet in a composite

    def read_condition(self, tree: exp.Expr) -> Condition:
        """Read a tree as a condition; refuse values of other types."""
        meaning = self.read_tree(tree)
        if isinstance(meaning, Truth | Leaf | Junction):
            return meaning
        if meaning.type == VOID:
            return Truth(None)
        if meaning.type != BOOLEAN:
            self.refuse_tree(tree, f"a condition is needed here, not a {meaning.type}", "compare it with something")
        return convert_to_condition(meaning)

    def read_node(self, tree: exp.Expr) -> Node:
        """Read a tree as a value."""
        meaning = self.read_tree(tree)
        return convert_to_node(meaning) if isinstance(meaning, Truth | Leaf | Junction) else meaning

    def read_tree(self, tree: exp.Expr) -> Node | Condition:
        """Read a tree as a node or a condition; a refusal becomes an error with a position."""
        deadline.check()
        size_before = self.pending_size
        try:
            meaning = self.interpret_tree(tree)
            if not self.canonical:
                check_clock(meaning)
            self.pending_size = size_before + meaning.extent[0]
            check_size(self.pending_size)
            always_null = isinstance(meaning, Call) and meaning.type == VOID
            return Constant(VOID, None) if always_null else meaning
        except Refusal as refusal:
            self.refuse_tree(tree, refusal.problem, refusal.hint)

    def refuse_tree(self, tree: exp.Expr, problem: str, hint: str = "") -> NoReturn:
        """Raise an error that points to a tree in the text."""
        raise CriterionError(problem, self.text, find_position(tree), hint=hint) from None

    def interpret_tree(self, tree: exp.Expr) -> Node | Condition:
        """Return the node or condition of a tree, by the kind of its root."""
        kind = type(tree)
        if kind in _COMPARISONS:
            return build_comparison(
                _COMPARISONS[kind], self.read_operand(tree.this), self.read_operand(tree.expression)
            )
        if kind in _ARITHMETIC:
            return build_arithmetic(_ARITHMETIC[kind], self.read_node(tree.this), self.read_node(tree.expression))
        if kind in _BITWISE:
            return build_bitwise(
                _BITWISE[kind], self.read_tight_operand(tree, tree.this), self.read_tight_operand(tree, tree.expression)
            )
        if kind in _PATTERNS:
            return self.read_pattern(tree)
        match tree:
            case exp.Paren():
                return self.read_tree(tree.this)
            case exp.And() | exp.Or():
                parts = [self.read_condition(part) for part in tree.flatten()]
                return join_by_and(parts) if isinstance(tree, exp.And) else join_by_or(parts)
            case exp.Not():
                return negate_condition(self.read_condition(tree.this))
            case exp.Is():
                return self.read_is(tree)
            case exp.NullSafeEQ():
                return build_null_safe_equal(self.read_operand(tree.this), self.read_operand(tree.expression))
            case exp.NullSafeNEQ():
                return negate_condition(
                    build_null_safe_equal(self.read_operand(tree.this), self.read_operand(tree.expression))
                )
            case exp.Between() if not tree.args.get("symmetric"):
                value, low, high = (self.read_operand(tree.args[part]) for part in ("this", "low", "high"))
                return join_by_and([build_comparison(">=", value, low), build_comparison("<=", value, high)])
            case exp.In() if tree.expressions:
                return build_membership(
                    self.read_operand(tree.this), [self.read_operand(item) for item in tree.expressions]
                )
            case exp.Escape():
                return self.read_pattern(tree.this, tree.expression)
            case exp.Alias() if is_quantity(tree):
                return self.read_quantity(tree)
            case exp.Neg():
                return self.read_negative(tree)
            case exp.BitwiseNot():
                return build_bitwise("~", self.read_node(tree.this))
            case exp.DPipe():
                return build_call(
                    "concat", [self.read_tight_operand(tree, tree.this), self.read_tight_operand(tree, tree.expression)]
                )
            case exp.Case():
                return self.read_case(tree)
            case exp.Cast():
                return self.read_cast(tree)
            case exp.Anonymous() if isinstance(tree.this, str):
                check_function(tree.this)
                return build_call(tree.this, [self.read_node(argument) for argument in tree.expressions])
            case exp.Column():
                return read_column(tree, self.schema, canonical=self.canonical)
            case exp.Bracket() if len(tree.expressions) == 1:
                return build_part(self.read_node(tree.this), self.read_node(tree.expressions[0]))
            case exp.Dot(expression=exp.Identifier()):
                return find_field(self.read_node(tree.this), tree.expression.name)
            case exp.Extract():
                return self.read_extract(tree)
            case exp.Literal():
                return Constant(STRING, tree.name) if tree.is_string else read_number(tree.name)
            case exp.RawString():
                return Constant(STRING, tree.name)
            case exp.Boolean():
                return Truth(bool(tree.this))
            case exp.Null():
                return Constant(VOID, None)
        raise _explain_refusal(tree)

    def read_operand(self, tree: exp.Expr) -> Node:
        """Read a side of a comparison.

        Parsers disagree on the meaning of ``a = b < c``, so this form is refused.
        """
        if isinstance(tree, exp.Predicate | exp.Not | exp.Connector | exp.Escape):
            self.refuse_tree(tree, "put a condition inside a comparison in parentheses", _suggest_join(tree))
        return self.read_node(tree)

    def read_tight_operand(self, parent: exp.Expr, tree: exp.Expr) -> Node:
        """Read an operand of a bitwise operator or of ||, whose precedence differs between parsers."""
        if isinstance(tree, exp.Binary) and type(tree) is not type(parent):
            self.refuse_tree(tree, "put an operator next to a bitwise operator or || in parentheses")
        return self.read_node(tree)

    def read_is(self, tree: exp.Is) -> Condition:
        match tree.expression:
            case exp.Null():
                return build_null_test(self.read_node(tree.this))
            case exp.Boolean(this=True):
                return build_is_true(self.read_condition(tree.this))
            case exp.Boolean():
                return build_is_true(negate_condition(self.read_condition(tree.this)))
        raise Refusal("IS must be followed by NULL, TRUE, FALSE or DISTINCT FROM", "use = for other values")

    def read_pattern(self, tree: exp.Expr, escape: exp.Expr | None = None) -> Condition:
        if type(tree) not in _PATTERNS or isinstance(tree.expression, exp.Any | exp.All):
            raise Refusal("LIKE takes one pattern", "join several with OR, or use RLIKE 'one|other'")
        if escape is not None and not (escape.is_string and len(escape.name) == 1 and escape.name <= "\uffff"):
            raise Refusal("ESCAPE takes one quoted character")
        condition = build_pattern_match(
            _PATTERNS[type(tree)],
            self.read_operand(tree.this),
            self.read_operand(tree.expression),
            None if escape is None else escape.name,
        )
        return negate_condition(condition) if tree.args.get("negate") else condition

    def read_negative(self, tree: exp.Neg) -> Node:
        """Read a negation; the sign of a literal becomes part of the constant."""
        inner = tree.this
        literal = inner.this if _is_suffixed(inner) or is_quantity(inner) else inner
        if not isinstance(literal, exp.Literal) or (literal.is_string and literal is inner):
            return build_negative(self.read_node(inner))
        if is_quantity(inner):
            constant = self.read_quantity(inner, "-")
        else:
            constant = self.read_suffixed_number(inner, "-") if literal is not inner else read_number(literal.name, "-")
        if constant.key == 0 and constant.type in (FLOAT, DOUBLE):
            return build_negative(constant)  # -0.0 equals 0.0, but some functions distinguish them
        return constant

    def read_cast(self, tree: exp.Cast) -> Node:
        """Read CAST, a number with a type suffix, or a literal such as DATE '2026-01-31'."""
        if tree.args.get("format"):
            raise Refusal("CAST with a format is not supported")
        if _is_suffixed(tree):
            return self.read_suffixed_number(tree)
        kind = _read_type(tree.args["to"])
        if type(tree) is exp.Cast:  # DATE '2026-01-31' and the like
            key = parse_constant(tree.this.name, kind) if tree.this.is_string else None
            if key is None:
                hint = "write DATE 'yyyy-mm-dd' or TIMESTAMP 'yyyy-mm-dd hh:mm:ss'"
                raise Refusal(f"{tree.this.name!r} is not a {kind}", hint)
            return Constant(kind, key)
        return build_cast(self.read_node(tree.this), kind)

    def read_suffixed_number(self, tree: exp.Expr, sign: str = "") -> Constant:
        """Read a number with a type suffix: 5L, 1.5BD."""
        kind = _read_type(tree.args["to"])
        key = parse_constant(sign + tree.this.name, kind)
        if key is None:
            raise Refusal(f"{sign}{tree.this.name} is not a {kind}")
        return Constant(kind, key)

    def read_quantity(self, tree: exp.Expr, sign: str = "") -> Constant:
        """Read a number with its unit."""
        try:
            return attach_unit(read_number(tree.this.name, sign), tree.alias)
        except Refusal as refusal:
            missing = matching_names(tree.alias, self.schema)
            hint = f"or is an operator missing before {tree.alias}?" if missing else refusal.hint
            raise Refusal(refusal.problem, hint) from None

    def read_case(self, tree: exp.Case) -> Node | Condition:
        branches = tree.args["ifs"]
        if tree.this is None:
            tests = [self.read_condition(branch.this) for branch in branches]
        else:
            subject = self.read_operand(tree.this)
            tests = [build_comparison("=", subject, self.read_operand(branch.this)) for branch in branches]
        values = [self.read_node(branch.args["true"]) for branch in branches]
        default = tree.args.get("default")
        return build_choice(tests, values, Constant(VOID, None) if default is None else self.read_node(default))

    def read_extract(self, tree: exp.Extract) -> Node | Condition:
        """Read EXTRACT(YEAR FROM …) as the function of that name."""
        unit = tree.this.name.lower()
        function = _EXTRACTED.get(unit)
        if function is None:
            hint = f"one of {', '.join(name.upper() for name in _EXTRACTED)}"
            raise Refusal(f"EXTRACT does not take {unit.upper()}", hint)
        return build_call(function, [self.read_node(tree.expression)])


def _is_suffixed(tree: exp.Expr) -> bool:
    """Tell whether a cast represents a number with a suffix, as 5L or 1.5BD.

    An explicit CAST( ) always has a ``format`` argument, possibly empty.
    """
    if not isinstance(tree, exp.TryCast) or "format" in tree.args or not isinstance(tree.this, exp.Literal):
        return False
    return not tree.this.is_string or tree.args["to"].this == exp.DType.DECIMAL


def _read_type(tree: exp.Expr) -> Type:
    kind = parse_type(tree.sql("spark"))
    if not kind.scalar or kind.precision > 38 or kind.scale > kind.precision:
        raise Refusal(f"{kind} is not supported as the type of a cast")
    return kind


def _suggest_join(tree: exp.Expr) -> str:
    """Return how to join a condition with what follows it."""
    if tree.find(exp.DPipe):
        return "write OR for ||, which joins texts"
    return "or join two comparisons with AND: 10 < x AND x < 20"


def _explain_refusal(tree: exp.Expr) -> Refusal:
    """Return the refusal of a form that criteria do not support."""
    for kind, (problem, hint) in _HINTS.items():
        if isinstance(tree, kind):
            return Refusal(problem, hint)
    if isinstance(tree, exp.In):
        return Refusal(*_SUBQUERY) if tree.args.get("query") else Refusal("IN takes a list of values")
    if isinstance(tree, exp.Dot):
        return Refusal("functions belong to no module", f"write {tree.expression.sql('spark')}")
    return Refusal(f"{tree.key.upper()} is not supported", "the reference of criteria lists what is supported")
