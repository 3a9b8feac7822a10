"""A syntax tree to nodes and conditions: names resolved, types checked, what has no meaning here refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn

from sqlglot import exp

from provenn.criteria.calls import call, check_known
from provenn.criteria.comparisons import (
    as_node,
    choice,
    comparison,
    membership,
    null_safe_equal,
    null_test,
    pattern_match,
)
from provenn.criteria.conditions import all_of, any_of, flag, is_true, negated
from provenn.criteria.conversions import quantity
from provenn.criteria.folding import parse_constant, read_number
from provenn.criteria.functions import why_refused
from provenn.criteria.nodes import Call, Column, Condition, Constant, Junction, Leaf, Node, Truth
from provenn.criteria.operations import arithmetic, bitwise, cast, negative
from provenn.criteria.references import join_dotted
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeLike, matching_names
from provenn.criteria.syntax import is_quantity, parse, position
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, STRING, VOID, Type, parse_type
from provenn.errors import CriterionError, did_you_mean

__all__ = ["read_condition", "read_names", "read_node"]

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
_SUBQUERY = ("a subquery looks at other rows", "restrict() and exclude() relate a catalog to another one")
_HINTS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Query: _SUBQUERY,
    exp.Exists: _SUBQUERY,
    exp.Window: ("a window looks at more than one source", "a calculator with scope='catalog' may do that"),
    exp.Filter: ("an aggregate looks at more than one source", "a calculator with scope='catalog' may do that"),
    exp.Alias: ("an operator is missing here, or a name is given", "names are given outside: derive(name='…')"),
    exp.Interval: ("intervals are not known here", "use date_add, date_sub or datediff"),
    exp.Placeholder: ("parameters have no value here", "write the value itself"),
    exp.Parameter: ("parameters have no value here", "write the value itself"),
    exp.Dot: ("fields of an attribute are not known here", "derive the field as an attribute of its own"),
    exp.Bracket: ("elements of an attribute are not known here", "derive the element as an attribute of its own"),
    exp.Star: ("* is not a value", "name the attributes"),
    exp.Tuple: ("a list is not a value", "compare one by one, with AND"),
    exp.Concat: ("two strings stand side by side", r"join them with ||; write a quote inside a string as \'"),
    exp.Collate: ("collations are fixed: strings compare by their bytes", "compare lower(…) instead"),
}


def read_condition(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Condition:
    """Read a criterion; in canonical text, units are not looked at."""
    return _Reader(text, schema, canonical).condition(parse(text))


def read_node(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Node:
    """Read an expression; in canonical text, units are not looked at."""
    return _Reader(text, schema, canonical).node(parse(text))


def read_names(text: str) -> tuple[str, ...]:
    """Return the names of attributes that a criterion or an expression mentions, each once."""
    return tuple(dict.fromkeys(_name(one) for one in parse(text).find_all(exp.Column, bfs=False)))


def _name(tree: exp.Column) -> str:
    """Return the name of an attribute; of one with dots between its parts, all of them, as in ``DR1.z``."""
    parts = [part.name for part in tree.parts]
    return parts[0] if len(parts) == 1 else join_dotted(parts)


class _Reader:
    def __init__(self, text: str, schema: Mapping[str, AttributeLike], canonical: bool) -> None:
        self.text = text
        self.schema = schema
        self.canonical = canonical

    def condition(self, tree: exp.Expr) -> Condition:
        meaning = self.read(tree)
        if isinstance(meaning, Truth | Leaf | Junction):
            return meaning
        if meaning.type == VOID:
            return Truth(None)
        if meaning.type != BOOLEAN:
            self.fail(tree, f"a condition is needed here, not a {meaning.type}", "compare it with something")
        return flag(meaning)

    def node(self, tree: exp.Expr) -> Node:
        meaning = self.read(tree)
        return as_node(meaning) if isinstance(meaning, Truth | Leaf | Junction) else meaning

    def read(self, tree: exp.Expr) -> Node | Condition:
        try:
            meaning = self.meaning(tree)
            always_null = isinstance(meaning, Call) and meaning.type == VOID
            return Constant(VOID, None) if always_null else meaning
        except Refusal as refusal:
            self.fail(tree, refusal.problem, refusal.hint)

    def fail(self, tree: exp.Expr, problem: str, hint: str = "") -> NoReturn:
        raise CriterionError(problem, self.text, position(tree), hint=hint) from None

    def meaning(self, tree: exp.Expr) -> Node | Condition:
        kind = type(tree)
        if kind in _COMPARISONS:
            return comparison(_COMPARISONS[kind], self.operand(tree.this), self.operand(tree.expression))
        if kind in _ARITHMETIC:
            return arithmetic(_ARITHMETIC[kind], self.node(tree.this), self.node(tree.expression))
        if kind in _BITWISE:
            return bitwise(_BITWISE[kind], self.tight(tree, tree.this), self.tight(tree, tree.expression))
        if kind in _PATTERNS:
            return self.pattern(tree)
        match tree:
            case exp.Paren():
                return self.read(tree.this)
            case exp.And() | exp.Or():
                parts = [self.condition(part) for part in tree.flatten()]
                return all_of(parts) if isinstance(tree, exp.And) else any_of(parts)
            case exp.Not():
                return negated(self.condition(tree.this))
            case exp.Is():
                return self.is_(tree)
            case exp.NullSafeEQ():
                return null_safe_equal(self.operand(tree.this), self.operand(tree.expression))
            case exp.NullSafeNEQ():
                return negated(null_safe_equal(self.operand(tree.this), self.operand(tree.expression)))
            case exp.Between() if not tree.args.get("symmetric"):
                value, low, high = (self.operand(tree.args[part]) for part in ("this", "low", "high"))
                return all_of([comparison(">=", value, low), comparison("<=", value, high)])
            case exp.In() if tree.expressions:
                return membership(self.operand(tree.this), [self.operand(item) for item in tree.expressions])
            case exp.Escape():
                return self.pattern(tree.this, tree.expression)
            case exp.Alias() if is_quantity(tree):
                return self.quantity(tree)
            case exp.Neg():
                return self.negative(tree)
            case exp.BitwiseNot():
                return bitwise("~", self.node(tree.this))
            case exp.DPipe():
                return call("concat", [self.tight(tree, tree.this), self.tight(tree, tree.expression)])
            case exp.Case():
                return self.case(tree)
            case exp.Cast():
                return self.cast(tree)
            case exp.Anonymous() if isinstance(tree.this, str):
                check_known(tree.this)
                return call(tree.this, [self.node(argument) for argument in tree.expressions])
            case exp.Column():
                return self.column(tree)
            case exp.Literal():
                return Constant(STRING, tree.name) if tree.is_string else read_number(tree.name)
            case exp.RawString():
                return Constant(STRING, tree.name)
            case exp.Boolean():
                return Truth(bool(tree.this))
            case exp.Null():
                return Constant(VOID, None)
        raise _refusal(tree)

    def operand(self, tree: exp.Expr) -> Node:
        """Read a side of a comparison. Parsers disagree on what ``a = b < c`` means, so it has no meaning here."""
        if isinstance(tree, exp.Predicate | exp.Not | exp.Connector | exp.Escape):
            self.fail(tree, "a condition inside a comparison goes in parentheses", "or join two by AND")
        return self.node(tree)

    def tight(self, parent: exp.Expr, tree: exp.Expr) -> Node:
        """Read a side of a bitwise operator or of ||, for which parsers disagree on what binds tighter."""
        if isinstance(tree, exp.Binary) and type(tree) is not type(parent):
            self.fail(tree, "an operator beside a bitwise operator or || goes in parentheses")
        return self.node(tree)

    def is_(self, tree: exp.Is) -> Condition:
        match tree.expression:
            case exp.Null():
                return null_test(self.node(tree.this))
            case exp.Boolean(this=True):
                return is_true(self.condition(tree.this))
            case exp.Boolean():
                return is_true(negated(self.condition(tree.this)))
        raise Refusal("IS asks for NULL, TRUE, FALSE or DISTINCT FROM", "use = for other values")

    def pattern(self, tree: exp.Expr, escape: exp.Expr | None = None) -> Condition:
        if type(tree) not in _PATTERNS or isinstance(tree.expression, exp.Any | exp.All):
            raise Refusal("LIKE takes one pattern", "join several by OR, or use RLIKE 'one|other'")
        if escape is not None and not (escape.is_string and len(escape.name) == 1 and escape.name <= "\uffff"):
            raise Refusal("ESCAPE takes one character between quotes")
        found = pattern_match(
            _PATTERNS[type(tree)],
            self.operand(tree.this),
            self.operand(tree.expression),
            None if escape is None else escape.name,
        )
        return negated(found) if tree.args.get("negate") else found

    def negative(self, tree: exp.Neg) -> Node:
        inner = tree.this
        literal = inner.this if _is_suffixed(inner) or is_quantity(inner) else inner
        if not isinstance(literal, exp.Literal) or (literal.is_string and literal is inner):
            return negative(self.node(inner))
        if is_quantity(inner):
            constant = self.quantity(inner, "-")
        else:
            constant = self.suffixed(inner, "-") if literal is not inner else read_number(literal.name, "-")
        if constant.key == 0 and constant.type in (FLOAT, DOUBLE):
            return negative(constant)  # -0.0 is equal to 0.0, but not the same to all functions
        return constant

    def cast(self, tree: exp.Cast) -> Node:
        if tree.args.get("format"):
            raise Refusal("CAST takes no format here")
        if _is_suffixed(tree):
            return self.suffixed(tree)
        kind = _type(tree.args["to"])
        if type(tree) is exp.Cast:  # DATE '2026-01-31' and the like
            key = parse_constant(tree.this.name, kind) if tree.this.is_string else None
            if key is None:
                hint = "write DATE 'yyyy-mm-dd' or TIMESTAMP 'yyyy-mm-dd hh:mm:ss'"
                raise Refusal(f"{tree.this.name!r} is not a {kind}", hint)
            return Constant(kind, key)
        return cast(self.node(tree.this), kind)

    def suffixed(self, tree: exp.Expr, sign: str = "") -> Constant:
        """Read a number with its type: 5L, 1.5BD."""
        kind = _type(tree.args["to"])
        key = parse_constant(sign + tree.this.name, kind)
        if key is None:
            raise Refusal(f"{sign}{tree.this.name} is not a {kind}")
        return Constant(kind, key)

    def quantity(self, tree: exp.Expr, sign: str = "") -> Constant:
        """Read a number with its unit."""
        try:
            return quantity(read_number(tree.this.name, sign), tree.alias)
        except Refusal as refusal:
            missing = matching_names(tree.alias, self.schema)
            hint = f"or is an operator missing before {tree.alias}?" if missing else refusal.hint
            raise Refusal(refusal.problem, hint) from None

    def case(self, tree: exp.Case) -> Node | Condition:
        branches = tree.args["ifs"]
        if tree.this is None:
            tests = [self.condition(branch.this) for branch in branches]
        else:
            subject = self.operand(tree.this)
            tests = [comparison("=", subject, self.operand(branch.this)) for branch in branches]
        values = [self.node(branch.args["true"]) for branch in branches]
        default = tree.args.get("default")
        return choice(tests, values, Constant(VOID, None) if default is None else self.node(default))

    def column(self, tree: exp.Column) -> Column:
        name = _name(tree)
        matches = matching_names(name, self.schema)
        if len(matches) > 1:
            raise Refusal(f"{name} may be {' or '.join(matches)}", "write it as it is, upper and lower case")
        if not matches:
            reason = why_refused(name)
            hint = (
                _unit_hint(tree)
                or _qualified_hint(tree, self.schema)
                or did_you_mean(name, self.schema)
                or f"there are {', '.join(self.schema) or 'none'}"
            )
            raise Refusal(*(reason or (f"there is no attribute {name!r}", hint)))
        attribute = self.schema[matches[0]]
        unit = None if self.canonical else attribute.unit
        return Column(attribute.identity, attribute.type, attribute.nullable, name, unit)


def _is_suffixed(tree: exp.Expr) -> bool:
    """Tell whether a cast stands for a number with a suffix, 5L or 1.5BD; CAST( ) itself has a format, or none."""
    if not isinstance(tree, exp.TryCast) or "format" in tree.args or not isinstance(tree.this, exp.Literal):
        return False
    return not tree.this.is_string or tree.args["to"].this == exp.DType.DECIMAL


def _qualified_hint(tree: exp.Column, schema: Mapping[str, AttributeLike]) -> str:
    """Return what to do if the attributes are those of one catalog, and an attribute is written as that of another."""
    if not tree.args.get("table"):
        return ""
    if matching_names(tree.name, schema):
        return f"write {tree.name}: the attributes of this catalog are meant"
    return "attributes of another catalog are had by combine(), or in a target"


def _unit_hint(tree: exp.Column) -> str:
    """Return what to do if a name that is not known may have been meant as a unit."""
    glued = re.fullmatch(r"(\d[\d.]*)([A-Za-z]+)", tree.name)
    if glued:
        return f"if {glued[2]} is a unit, leave a space before it: {glued[1]} {glued[2]}"
    around = tree.parent
    if isinstance(around, exp.Mul | exp.Div) and is_quantity(around.this):
        sign = "*" if isinstance(around, exp.Mul) else "/"
        return f"a unit that is more than one word goes in backquotes: `{around.this.alias}{sign}{tree.name}`"
    return ""


def _type(tree: exp.Expr) -> Type:
    kind = parse_type(tree.sql("spark"))
    if not kind.scalar or kind.precision > 38 or kind.scale > kind.precision:
        raise Refusal(f"{kind} is not a type that a value can be cast to here")
    return kind


def _refusal(tree: exp.Expr) -> Refusal:
    for kind, (problem, hint) in _HINTS.items():
        if isinstance(tree, kind):
            return Refusal(problem, hint)
    if isinstance(tree, exp.In):
        return Refusal(*_SUBQUERY) if tree.args.get("query") else Refusal("IN takes a list of values")
    return Refusal(f"{tree.key.upper()} is not known here", "see the reference of criteria for what is")
