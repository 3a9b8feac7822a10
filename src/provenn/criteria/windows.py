"""Window functions: a value of a source, computed from sources of the same catalog.

The value is a function of the source, and of the set of all sources. A rank, and an aggregate of a whole partition or
of a range, treat sources alike that are equal in the order. All other functions depend on the place of a single source
in the order; the key then decides between sources equal in the order. A frame that ends at equal sources (RANGE) cannot
have this decided by the key, so a function that takes the value of one source of such a frame is refused.

NULL is a value to partition by. NULL and NaN are ordered and aggregated as in Spark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from provenn.criteria.aggregates import Aggregate, SortKey, read_aggregate, read_argument, read_sort_key
from provenn.criteria.criterion import Expression
from provenn.criteria.frames import UP_TO_EQUALS, WHOLE, Frame, find_whole_number, read_frame
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeLike
from provenn.criteria.types import DOUBLE, INT, Type
from provenn.criteria.units import unit_of
from provenn.errors import CriterionError

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["WindowFunction", "parse_window"]

_RANKS: Final = {"rank": INT, "dense_rank": INT, "percent_rank": DOUBLE, "cume_dist": DOUBLE}
_NEIGHBOURS = frozenset(["lag", "lead"])
_CHOSEN = frozenset(["first_value", "last_value", "nth_value"])
_AGGREGATES = frozenset(["count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "var_samp", "var_pop"])
_KNOWN = frozenset(["row_number", "ntile", *_RANKS, *_NEIGHBOURS, *_CHOSEN, *_AGGREGATES])
_USE_ROWS: Final = "write ROWS: ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A value of each source of a catalog. Equal if the canonical texts are equal.

    Parameters
    ----------
    function
        The name of the function, in lower case.
    arguments
        The expressions that are evaluated for sources; the default of ``lag`` and ``lead`` comes last.
    number
        The number of buckets, the distance of a neighbour, or the place of the chosen source.
    ignores_nulls
        Whether sources without a value are passed over.
    aggregate
        The aggregate of the sources in the frame; None for other functions.
    partition
        The expressions in which the sources of a partition agree, sorted.
    order
        The order of a partition.
    frame
        The part of the partition; None if the function has none.
    type, nullable, unit
        The type of the value, whether it can be NULL, and its unit; an empty unit if unknown.
    """

    function: str
    arguments: tuple[Expression, ...] = field(compare=False)
    number: int | None
    ignores_nulls: bool
    aggregate: Aggregate | None = field(compare=False)
    partition: tuple[Expression, ...] = field(compare=False)
    order: tuple[SortKey, ...] = field(compare=False)
    frame: Frame | None
    type: Type = field(compare=False)
    nullable: bool = field(compare=False)
    unit: str = field(compare=False)
    canonical: str

    @property
    def needs_key(self) -> bool:
        """Whether the key decides between sources equal in the order."""
        if self.aggregate is not None:
            return self.frame is not None and self.frame.unit == "ROWS" and not self.frame.is_whole
        return self.function not in _RANKS

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All expressions that are evaluated for sources."""
        return (*self.arguments, *self.partition, *(part.expression for part in self.order))


def parse_window(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> WindowFunction:
    """Parse a window function.

    Parameters
    ----------
    text
        A single window function, in Spark's dialect.
    schema
        The attributes by name.
    canonical
        Whether the text is canonical, and the schema is keyed by identity.

    Raises
    ------
    CriterionError
        If the text cannot be read, or the value would depend on the order of the rows.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> stars = {"mag": Attribute("d.mag", parse_type("float")), "kind": Attribute("d.kind", parse_type("string"))}
    >>> rank = parse_window("RANK() OVER (PARTITION BY kind ORDER BY mag)", stars)
    >>> rank.canonical, str(rank.type), rank.needs_key
    ('rank() OVER (PARTITION BY `d.kind` ORDER BY `d.mag` ASC NULLS FIRST)', 'int', False)
    >>> parse_window("max(mag) OVER (ORDER BY kind ROWS 1 PRECEDING)", stars).needs_key
    True
    """
    from provenn.criteria.syntax import parse  # noqa: PLC0415 - sqlglot takes long to import

    tree = parse(text)
    try:
        return _WindowReader(text, schema, canonical).read(tree)
    except Refusal as refusal:
        raise CriterionError(refusal.problem, text, hint=refusal.hint) from None


class _WindowReader:
    """Reads the syntax tree of a window function."""

    def __init__(self, text: str, schema: Mapping[str, AttributeLike], canonical: bool) -> None:
        self.text = text
        self.schema = schema
        self.canonical = canonical

    def read(self, tree: exp.Expr) -> WindowFunction:
        from sqlglot import exp  # noqa: PLC0415 - as above

        if not isinstance(tree, exp.Window):
            raise Refusal("a single window function is needed here", "for example rank() OVER (ORDER BY vmag)")
        if tree.args.get("alias") or tree.args.get("first") is not None or tree.args.get("over") not in (None, "OVER"):
            raise Refusal("a window must be written in full", "for example rank() OVER (ORDER BY vmag)")
        call, ignores_nulls = tree.this, isinstance(tree.this, exp.IgnoreNulls)
        if isinstance(call, exp.IgnoreNulls | exp.RespectNulls):
            call = call.this
        if isinstance(call, exp.Filter):
            raise Refusal("FILTER is not supported", "write the condition inside: sum(CASE WHEN … THEN … END)")
        if not isinstance(call, exp.Anonymous) or not isinstance(call.this, str):
            raise Refusal("a single window function is needed here", "for example rank() OVER (ORDER BY vmag)")
        partition = {part.canonical: part for part in map(self.read_part, tree.args.get("partition_by") or ())}
        order = tree.args.get("order")
        keys = () if order is None else tuple(map(self.read_key, order.expressions))
        frame = read_frame(tree.args.get("spec"))
        function = self.read_function(call, ignores_nulls, keys, frame)
        return _complete(function, tuple(partition[name] for name in sorted(partition)))

    def read_part(self, tree: exp.Expr) -> Expression:
        """Return an expression to partition by."""
        expression = self.read_expression(tree)
        if not expression.type.scalar:
            raise Refusal(f"a {expression.type} cannot be compared")
        return expression

    def read_key(self, tree: exp.Expr) -> SortKey:
        return read_sort_key(tree, self.text, self.schema, self.canonical)

    def read_expression(self, tree: exp.Expr) -> Expression:
        return read_argument(tree, self.text, self.schema, self.canonical)

    def read_function(
        self, call: exp.Anonymous, ignores_nulls: bool, order: tuple[SortKey, ...], frame: Frame | None
    ) -> WindowFunction:
        """Return the function without its partition."""
        name = str(call.this).lower()
        if name not in _KNOWN and name not in ("mean", "std", "stddev_samp", "variance"):
            raise Refusal(f"{name} is not a known window function", f"there are {', '.join(sorted(_KNOWN))}")
        if name in _NEIGHBOURS | _CHOSEN:
            read = self.read_neighbour if name in _NEIGHBOURS else self.read_chosen
            return read(name, call.expressions, ignores_nulls, _require_order(name, order), frame)
        if ignores_nulls:
            raise Refusal(f"IGNORE NULLS does not go with {name}")
        if name in _RANKS or name in ("row_number", "ntile"):
            return _rank(name, call.expressions, _require_order(name, order), frame)
        return self.read_aggregate(call, order, frame)

    def read_aggregate(self, call: exp.Anonymous, order: tuple[SortKey, ...], frame: Frame | None) -> WindowFunction:
        """Return an aggregate of the sources in the frame."""
        aggregate = read_aggregate(call, self.text, self.schema, self.canonical)
        if aggregate.is_distinct:
            raise Refusal("DISTINCT does not go with a window", "group by the value first")
        frame = frame or (UP_TO_EQUALS if order else WHOLE)
        if not order and not frame.is_whole:
            if frame.unit == "ROWS":
                raise Refusal("a frame of ROWS needs an order", "write ORDER BY inside OVER")
            frame = WHOLE  # without an order, all sources are equal in the order
        if frame.is_whole:
            frame, order = WHOLE, ()
        nullable = aggregate.nullable or (aggregate.function != "count" and not frame.has_current)
        return WindowFunction(
            aggregate.function,
            aggregate.arguments,
            None,
            False,
            aggregate,
            (),
            order,
            frame,
            aggregate.type,
            nullable,
            aggregate.unit,
            aggregate.canonical,
        )

    def read_neighbour(
        self,
        name: str,
        arguments: Sequence[exp.Expr],
        ignores_nulls: bool,
        order: tuple[SortKey, ...],
        frame: Frame | None,
    ) -> WindowFunction:
        """Return the value of a source before or after the current one."""
        from sqlglot import exp  # noqa: PLC0415 - as above

        from provenn.criteria.syntax import parse  # noqa: PLC0415

        _refuse_frame(name, frame)
        if not 1 <= len(arguments) <= 3:
            raise Refusal(f"{name} takes other arguments", f"for example {name}(x, 1)")
        value = self.read_expression(arguments[0])
        distance = _read_number(arguments[1], name, 0) if len(arguments) > 1 else 1
        expressions = [value]
        if len(arguments) == 3 and not isinstance(arguments[2], exp.Null):
            default = self.read_expression(arguments[2])
            if default.type != value.type:
                default = self.read_expression(parse(f"CAST({arguments[2].sql(dialect='spark')} AS {value.type})"))
            expressions.append(default)
        texts = [value.canonical, str(distance), *(default.canonical for default in expressions[1:])]
        nulls = " IGNORE NULLS" if ignores_nulls else ""
        nullable = any(expression.nullable for expression in expressions) or len(expressions) == 1
        return WindowFunction(
            name,
            tuple(expressions),
            distance,
            ignores_nulls,
            None,
            (),
            order,
            None,
            value.type,
            nullable,
            unit_of(value.node),
            f"{name}({', '.join(texts)}){nulls}",
        )

    def read_chosen(
        self,
        name: str,
        arguments: Sequence[exp.Expr],
        ignores_nulls: bool,
        order: tuple[SortKey, ...],
        frame: Frame | None,
    ) -> WindowFunction:
        """Return the value of the first, the last or the nth source of the frame."""
        if len(arguments) != (2 if name == "nth_value" else 1):
            raise Refusal(f"{name} takes other arguments", f"for example {name}(x{', 2' * (name == 'nth_value')})")
        value = self.read_expression(arguments[0])
        number = _read_number(arguments[1], name, 1) if name == "nth_value" else None
        frame = _choose_frame(name, frame or UP_TO_EQUALS, ignores_nulls)
        nulls = " IGNORE NULLS" if ignores_nulls else ""
        nullable = value.nullable or name == "nth_value" or not frame.has_current
        return WindowFunction(
            name,
            (value,),
            number,
            ignores_nulls,
            None,
            (),
            order,
            frame,
            value.type,
            nullable,
            unit_of(value.node),
            f"{name}({value.canonical}{'' if number is None else f', {number}'}){nulls}",
        )


def _choose_frame(name: str, frame: Frame, ignores_nulls: bool) -> Frame:
    """Return the frame from which a source is chosen, as a frame of ROWS.

    Sound for RANGE: the first source of a frame that begins with the partition and has the current source is the first
    of the partition, with the key deciding; the last one, of a frame that ends with the partition, likewise.
    """
    is_open = {"first_value": frame.start, "last_value": frame.end}.get(name, 0) is None
    if frame.is_whole or (is_open and frame.has_current and not ignores_nulls):
        return WHOLE
    if frame.unit == "RANGE":
        raise Refusal(f"which source {name} takes depends on chance where sources are equal in the order", _USE_ROWS)
    return frame


def _rank(name: str, arguments: Sequence[exp.Expr], order: tuple[SortKey, ...], frame: Frame | None) -> WindowFunction:
    """Return the place of a source in the order."""
    _refuse_frame(name, frame)
    if len(arguments) != (name == "ntile"):
        raise Refusal(f"{name} takes other arguments", f"for example {name}({'4' * (name == 'ntile')})")
    number = _read_number(arguments[0], name, 1) if name == "ntile" else None
    text = f"{name}({'' if number is None else number})"
    return WindowFunction(name, (), number, False, None, (), order, None, _RANKS.get(name, INT), False, "", text)


def _complete(function: WindowFunction, partition: tuple[Expression, ...]) -> WindowFunction:
    """Return a function with its partition and its canonical text."""
    parts = [f"PARTITION BY {', '.join(part.canonical for part in partition)}"] if partition else []
    if function.order:
        parts.append(f"ORDER BY {', '.join(key.canonical for key in function.order)}")
    is_usual = function.frame == (UP_TO_EQUALS if function.order else WHOLE) and function.aggregate is not None
    if function.frame is not None and not is_usual:
        parts.append(function.frame.canonical)
    return replace(function, partition=partition, canonical=f"{function.canonical} OVER ({' '.join(parts)})")


def _require_order(name: str, order: tuple[SortKey, ...]) -> tuple[SortKey, ...]:
    if not order:
        raise Refusal(f"{name}() needs an order", "write ORDER BY inside OVER")
    return order


def _refuse_frame(name: str, frame: Frame | None) -> None:
    if frame is not None:
        raise Refusal(f"{name} has no frame", f"leave out {frame.unit}")


def _read_number(tree: exp.Expr, name: str, least: int) -> int:
    """Return a whole number in the arguments of a function."""
    number = find_whole_number(tree)
    if number is None or not least <= number:
        raise Refusal(f"{name} takes a whole number, {least} or more, not {tree.sql(dialect='spark')}")
    return number
