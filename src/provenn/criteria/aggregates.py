"""Aggregates: a value of a group of sources, computed from the values of the members.

An aggregate does not depend on the order of the members, unless an ORDER BY states the order of the members; the key
then decides between members equal in the order. NULL and NaN count as in Spark: all aggregates but ``count(*)`` pass
over NULL, and NaN is the largest number. ``min_by(x, y)`` and ``max_by(x, y)`` pass over members without ``y``, and
give NULL if the chosen member has no ``x``. An overflowing sum of whole numbers is NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from provenn.criteria.criterion import Expression, build_expression
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeIdentity, AttributeLike
from provenn.criteria.types import BIGINT, DOUBLE, INTEGRAL, Type, decimal
from provenn.criteria.units import unit_of
from provenn.errors import CriterionError
from provenn.hints import Hint

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = [
    "Aggregate",
    "SortKey",
    "parse_aggregate",
    "parse_order",
    "read_aggregate",
    "read_argument",
    "read_sort_key",
]

_ALIASES: Final = {
    "mean": "avg",
    "std": "stddev",
    "stddev_samp": "stddev",
    "variance": "var_samp",
    "array_agg": "collect",
    "collect_list": "collect",
    "arg_min": "min_by",
    "arg_max": "max_by",
}
_NUMERIC = frozenset(["sum", "avg", "stddev", "stddev_pop", "var_samp", "var_pop", "median", "percentile"])
_DOUBLES = frozenset(["stddev", "stddev_pop", "var_samp", "var_pop", "median", "percentile"])
_PLAIN = frozenset(["min", "max", "any_value", *_NUMERIC]) - {"percentile"}
_BY = frozenset(["min_by", "max_by"])
_KNOWN = frozenset(["count", "percentile", "collect", *_PLAIN, *_BY])
_ORDERED = "ordered(0 ORDER BY "
"""What is written before an order, so that it is parsed as the order of a call."""

_ORDER_DEPENDENT = {
    "first": "max_by(x, y) or min_by(x, y) choose a member by an order",
    "last": "max_by(x, y) or min_by(x, y) choose a member by an order",
    "first_value": "max_by(x, y) or min_by(x, y) choose a member by an order",
    "last_value": "max_by(x, y) or min_by(x, y) choose a member by an order",
    "collect_set": "its order is not determined: collect(x ORDER BY y) has one",
    "percentile_approx": "it depends on the order of the rows: percentile(x, p) is exact",
    "approx_percentile": "it depends on the order of the rows: percentile(x, p) is exact",
    "approx_count_distinct": "it is not exact: count(DISTINCT x) is",
    "mode": "of several commonest values any may come: group by the value, count, and take the first",
}


@dataclass(frozen=True, slots=True)
class SortKey:
    """An expression to order sources by.

    Parameters
    ----------
    expression
        The expression.
    descending
        Whether the largest value comes first.
    nulls_first
        Whether sources without a value come first.
    """

    expression: Expression
    descending: bool
    nulls_first: bool

    @property
    def direction(self) -> str:
        """The direction in SQL."""
        return f"{'DESC' if self.descending else 'ASC'} NULLS {'FIRST' if self.nulls_first else 'LAST'}"

    @property
    def canonical(self) -> str:
        """The expression and its direction in normal form."""
        return f"{self.expression.canonical} {self.direction}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A value of a group, computed from its members. Equal if the canonical texts are equal.

    Parameters
    ----------
    function
        The name of the function, in lower case.
    arguments
        The expressions that are evaluated for each member; none for ``count(*)``.
    is_distinct
        Whether equal values count once.
    fraction
        The fraction of a percentile.
    order
        The order in which ``collect`` takes the members.
    type, nullable, unit
        The type of the value, whether it can be NULL, and its unit; an empty unit if unknown.
    """

    function: str
    arguments: tuple[Expression, ...] = field(compare=False)
    is_distinct: bool
    fraction: float | None
    order: tuple[SortKey, ...] = field(compare=False)
    type: Type = field(compare=False)
    nullable: bool = field(compare=False)
    unit: str = field(compare=False)
    canonical: str

    @property
    def reads(self) -> frozenset[AttributeIdentity]:
        """The attributes of members read by the aggregate."""
        expressions = (*self.arguments, *(ordering.expression for ordering in self.order))
        return frozenset(identity for expression in expressions for identity in expression.reads)


def parse_aggregate(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Aggregate:
    """Parse an aggregate.

    Parameters
    ----------
    text
        A single call of an aggregate function, in Spark's dialect; ``collect(x ORDER BY y)`` makes an array.
    schema
        The attributes of the members, by name.
    canonical
        Whether the text is canonical, and the schema is keyed by identity.

    Raises
    ------
    CriterionError
        If the text cannot be read, or its value would depend on the order of the rows.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> members = {"mag": Attribute("d.mag", parse_type("float")), "mjd": Attribute("d.mjd", parse_type("double"))}
    >>> parse_aggregate("COUNT(*)", members).canonical, str(parse_aggregate("mean(mag)", members).type)
    ('count(*)', 'double')
    >>> parse_aggregate("collect(mag ORDER BY mjd)", members).canonical
    'collect(`d.mag` ORDER BY `d.mjd` ASC NULLS FIRST)'
    """
    from provenn.criteria.syntax import parse  # noqa: PLC0415 - sqlglot takes long to import

    tree = parse(text)
    try:
        return read_aggregate(tree, text, schema, canonical)
    except Refusal as refusal:
        raise CriterionError(refusal.problem, text, hint=refusal.hint) from None


def parse_order(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> tuple[SortKey, ...]:
    """Parse an order: expressions separated by commas, each with ASC or DESC, and NULLS FIRST or NULLS LAST.

    Raises
    ------
    CriterionError
        If the text cannot be read, or a value cannot be ordered.
    """
    from sqlglot import exp  # noqa: PLC0415 - as above

    from provenn.criteria.syntax import parse  # noqa: PLC0415

    hint = "name attributes, for example mjd DESC, id"
    try:
        tree = parse(f"{_ORDERED}{text}\n)")  # a comment at the end of the text must not hide the parenthesis
    except CriterionError as error:
        raise CriterionError(error.problem, text, hint=hint) from None
    match tree:
        case exp.Anonymous(expressions=[exp.Order(expressions=ordered)]):
            try:
                return tuple(read_sort_key(part, text, schema, canonical) for part in ordered)
            except CriterionError as error:
                column = None if error.column is None else error.column - len(_ORDERED)
                raise CriterionError(error.problem, text, column, hint=error.hint) from None
    raise CriterionError("this is not an order", text, hint=hint)


def read_aggregate(tree: exp.Expr, text: str, schema: Mapping[str, AttributeLike], canonical: bool) -> Aggregate:
    """Return the aggregate of a syntax tree.

    Raises
    ------
    Refusal
        If the tree is no aggregate of a set.
    CriterionError
        If an argument cannot be read.
    """
    from sqlglot import exp  # noqa: PLC0415 - as above

    if isinstance(tree, exp.Filter):
        raise Refusal("FILTER is not supported", "write the condition inside: sum(CASE WHEN … THEN … END)")
    if not isinstance(tree, exp.Anonymous) or not isinstance(tree.this, str):
        raise Refusal(
            "a single aggregate is needed here",
            Hint(
                "name each aggregate, such as avg(mag), and derive() what is made of them",
                command="name each aggregate, such as avg(mag), and `provenn derive` what is made of them",
            ),
        )
    name = tree.this.lower()
    function = _ALIASES.get(name, name)
    if function in _ORDER_DEPENDENT:
        raise Refusal(f"{name} is not an aggregate of a set", _ORDER_DEPENDENT[function])
    if function not in _KNOWN:
        raise Refusal(f"{name} is not a known aggregate", f"there are {', '.join(sorted(_KNOWN))}")
    arguments, is_distinct, fraction = list(tree.expressions), False, None
    order: tuple[SortKey, ...] = ()
    if function == "count" and len(arguments) == 1 and isinstance(arguments[0], exp.Star):
        return _make_aggregate(function, (), False, None, ())
    if len(arguments) == 1 and isinstance(arguments[0], exp.Distinct):
        if function not in ("count", "min", "max"):
            raise Refusal(f"DISTINCT goes with count, not with {name}", "group twice: first by the value as well")
        arguments, is_distinct = list(arguments[0].expressions), function == "count"
    if function == "collect":
        arguments, order = _read_collected(arguments, name, text, schema, canonical)
    if function == "percentile" and len(arguments) == 2:
        fraction = _read_fraction(arguments.pop())
    wanted = 2 if function in _BY else 1
    has_all = len(arguments) == wanted or (is_distinct and arguments)
    if not has_all or (function == "percentile" and fraction is None):
        example = {"percentile": "percentile(x, 0.5)"}.get(function, f"{name}({', '.join('xy'[:wanted])})")
        raise Refusal(f"{name} takes other arguments", f"for example {example}")
    expressions = tuple(read_argument(argument, text, schema, canonical) for argument in arguments)
    return _make_aggregate(function, expressions, is_distinct, fraction, order)


def _read_collected(
    arguments: Sequence[exp.Expr], name: str, text: str, schema: Mapping[str, AttributeLike], canonical: bool
) -> tuple[list[exp.Expr], tuple[SortKey, ...]]:
    """Return the collected value, and the order of collection."""
    from sqlglot import exp  # noqa: PLC0415 - as above

    if len(arguments) != 1 or not isinstance(arguments[0], exp.Order):
        raise Refusal("the order of an array must be said", f"for example {name}(mag ORDER BY mjd)")
    ordered = arguments[0]
    return [ordered.this], tuple(read_sort_key(part, text, schema, canonical) for part in ordered.expressions)


def read_sort_key(tree: exp.Expr, text: str, schema: Mapping[str, AttributeLike], canonical: bool) -> SortKey:
    """Return an expression of an order, with the direction."""
    expression = read_argument(tree.this, text, schema, canonical)
    if not expression.type.scalar:
        raise CriterionError(f"a {expression.type} cannot be ordered", text)
    return SortKey(expression, bool(tree.args.get("desc")), bool(tree.args.get("nulls_first")))


def read_argument(tree: exp.Expr, text: str, schema: Mapping[str, AttributeLike], canonical: bool) -> Expression:
    """Return the expression of a part of a syntax tree."""
    from provenn.criteria.reader import read_part  # noqa: PLC0415 - as above

    return build_expression(read_part(tree, text, schema, canonical=canonical), text)


def _read_fraction(tree: exp.Expr) -> float:
    """Return the fraction of a percentile."""
    literal = tree.this if hasattr(tree.this, "is_string") else tree  # a suffix such as D is a cast
    try:
        fraction = float(literal.name)
    except ValueError:
        fraction = -1.0
    if not 0 <= fraction <= 1:
        raise Refusal("a percentile takes a number between 0 and 1", "0.5 is the median")
    return fraction


def _make_aggregate(
    function: str,
    arguments: tuple[Expression, ...],
    is_distinct: bool,
    fraction: float | None,
    order: tuple[SortKey, ...],
) -> Aggregate:
    """Return an aggregate with type and canonical text."""
    first = arguments[0] if arguments else None
    if first is not None and function in _NUMERIC and not first.type.numeric:
        raise Refusal(f"{function} takes numbers, not a {first.type}")
    if function in ("min", "max", *_BY) and not all(argument.type.scalar for argument in arguments[-1:]):
        raise Refusal(f"{function} cannot compare values of this type")
    texts = ", ".join(argument.canonical for argument in arguments) or "*"
    if is_distinct:
        texts = f"DISTINCT {texts}"
    if fraction is not None:
        texts += f", {fraction!r}D"
    if order:
        texts += f" ORDER BY {', '.join(ordering.canonical for ordering in order)}"
    nullable = function not in ("count", "collect") and (
        function not in ("min", "max", "any_value", "min_by", "max_by", "median", "percentile")
        or any(argument.nullable for argument in arguments)
    )
    unit = "" if first is None or function in ("count", "var_samp", "var_pop") else unit_of(first.node)
    return Aggregate(
        function,
        arguments,
        is_distinct,
        fraction,
        order,
        _find_type(function, None if first is None else first.type),
        nullable,
        unit,
        f"{function}({texts})",
    )


def _find_type(function: str, kind: Type | None) -> Type:
    """Return the type of an aggregate, by Spark's rules."""
    if function == "count" or kind is None:
        return BIGINT
    if function in _DOUBLES:
        return DOUBLE
    if function == "collect":
        return Type(f"array<{kind}>")
    if function == "sum":
        if kind.name == "decimal":
            return decimal(min(kind.precision + 10, 38), kind.scale)
        return BIGINT if kind in INTEGRAL else DOUBLE
    if function == "avg":
        if kind.name == "decimal":
            return decimal(min(kind.precision + 4, 38), min(kind.scale + 4, 38))
        return DOUBLE
    return kind
