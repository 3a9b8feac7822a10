"""Criteria and expressions: read from SQL, interpreted as sets and values, written for Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from provenn.criteria.atoms import Atom, ConditionSets
from provenn.criteria.conditions import is_nullable, negate_condition
from provenn.criteria.conversions import check_node_unit, require_unit
from provenn.criteria.known_units import write_unit
from provenn.criteria.nodes import ColumnNode, Condition, Node, walk
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeIdentity, AttributeLike
from provenn.criteria.types import VOID, Type
from provenn.criteria.writing import CANONICAL, PEOPLE, backquoted, make_spark_style, write
from provenn.errors import CriterionError
from provenn.logic.terms import Term

__all__ = [
    "Criterion",
    "Expression",
    "build_expression",
    "check_stated_unit",
    "names_in",
    "parse_criterion",
    "parse_expression",
    "render",
    "usual_unit",
]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A selection predicate. As a set: the sources for which the predicate is TRUE.

    Two criteria are equal if their canonical texts are equal, regardless of the user's spelling.

    Parameters
    ----------
    canonical
        Normal form over identities of attributes.
    text
        The normal form over names as the user wrote them.
    reads
        Identities of the attributes that the criterion reads, sorted.
    true, false
        The sets for which the criterion is TRUE and FALSE; it is NULL for the other sources.
    atoms
        The atoms of the two sets, sorted by label.
    """

    canonical: str
    text: str = field(compare=False)
    reads: tuple[AttributeIdentity, ...] = field(compare=False)
    true: Term = field(compare=False, repr=False)
    false: Term = field(compare=False, repr=False)
    atoms: tuple[Atom, ...] = field(compare=False, repr=False)
    condition: Condition = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Expression:
    """A value computed from attributes.

    Parameters
    ----------
    canonical
        Normal form over identities of attributes.
    text
        The normal form over names as the user wrote them.
    reads
        Identities of the attributes that the expression reads, sorted.
    type
        The type of the value in Spark.
    nullable
        Whether the value can be NULL.
    """

    canonical: str
    text: str = field(compare=False)
    reads: tuple[AttributeIdentity, ...] = field(compare=False)
    type: Type = field(compare=False)
    nullable: bool = field(compare=False)
    node: Node = field(compare=False, repr=False)


def parse_criterion(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Criterion:
    """Parse a criterion.

    Parameters
    ----------
    text
        A Boolean SQL expression, in Spark's dialect.
    schema
        The attributes by name.
    canonical
        Whether the text is canonical, and the schema is keyed by identity. Canonical text has its units already
        converted, so the units of attributes are ignored.

    Raises
    ------
    CriterionError
        If the text cannot be read, does not fit the types, or is not deterministic and row-wise.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> bright = parse_criterion("6 > VMAG", {"vmag": Attribute("hip.vmag", parse_type("double"))})
    >>> bright.text, bright.canonical
    ('VMAG < 6', '`hip.vmag` < 6.0D')
    >>> bright.false
    Term('"`hip.vmag` IS NOT NULL" - "`hip.vmag` < 6.0D"')
    """
    # Importing sqlglot takes a fifth of a second, and only reading needs it.
    from provenn.criteria.reader import read_condition  # noqa: PLC0415
    from provenn.criteria.syntax import check_readable  # noqa: PLC0415

    condition = read_condition(text, schema, canonical=canonical)
    canonical_text = write(condition, CANONICAL)
    check_readable(canonical_text, text)
    sets = ConditionSets(len(canonical_text))
    try:
        atoms = sets.collect_atoms(condition)
    except Refusal as refusal:
        raise CriterionError(refusal.problem, text, hint=refusal.hint) from None
    return Criterion(
        canonical=canonical_text,
        text=write(condition, PEOPLE),
        reads=_find_identities(condition),
        true=sets.build_true_set(condition),
        false=sets.build_true_set(negate_condition(condition)),
        atoms=tuple(atoms[label] for label in sorted(atoms)),
        condition=condition,
    )


def parse_expression(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Expression:
    """Parse an expression.

    Parameters
    ----------
    text
        An SQL expression, in Spark's dialect.
    schema
        The attributes by name.
    canonical
        Whether the text is canonical, and the schema is keyed by identity. Canonical text has its units already
        converted, so the units of attributes are ignored.

    Raises
    ------
    CriterionError
        If the text cannot be read, does not fit the types, or is not deterministic and row-wise.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> distance = parse_expression("1000 / plx", {"plx": Attribute("hip.plx", parse_type("float"))})
    >>> distance.canonical, str(distance.type), distance.nullable
    ('1000.0D / CAST(`hip.plx` AS DOUBLE)', 'double', True)
    >>> render(distance, {"hip.plx": "plx"})
    'try_divide(1000.0D, CAST(`plx` AS DOUBLE))'
    """
    from provenn.criteria.reader import read_node  # noqa: PLC0415 - as above

    return build_expression(read_node(text, schema, canonical=canonical), text)


def build_expression(node: Node, text: str) -> Expression:
    """Return the expression with a value, read from a text.

    Raises
    ------
    CriterionError
        If the value has no type, or its normal form is too long.
    """
    from provenn.criteria.syntax import check_readable  # noqa: PLC0415 - as above

    if node.type == VOID:
        raise CriterionError("NULL alone has no type", text, hint="state a type: CAST(NULL AS double)")
    canonical_text = write(node, CANONICAL)
    check_readable(canonical_text, text)
    return Expression(
        canonical=canonical_text,
        text=write(node, PEOPLE),
        reads=_find_identities(node),
        type=node.type,
        nullable=is_nullable(node),
        node=node,
    )


def check_stated_unit(expression: Expression, unit: str) -> None:
    """Check that an expression may be in the unit stated by the user.

    Raises
    ------
    CriterionError
        If the unit is not known, or the expression is known to be in another unit.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> plx = {"plx": Attribute("hip.plx", parse_type("double"), unit="mas")}
    >>> check_stated_unit(parse_expression("1000 / plx", plx), "pc")
    """
    try:
        check_node_unit(expression.node, unit)
    except Refusal as refusal:
        raise CriterionError(refusal.problem, expression.text, hint=refusal.hint) from None


def usual_unit(text: str) -> str:
    """Return the usual spelling of a unit.

    Raises
    ------
    CriterionError
        If the unit is not known.

    Examples
    --------
    >>> usual_unit("km / s")
    'km.s-1'
    """
    try:
        return write_unit(require_unit(text)) or text
    except Refusal as refusal:
        raise CriterionError(refusal.problem, text, hint=refusal.hint) from None


@lru_cache(maxsize=1_000)
def names_in(text: str) -> tuple[str, ...]:
    """Return the names that a criterion or an expression mentions, without repetitions.

    The names are not resolved.

    Raises
    ------
    CriterionError
        If the text cannot be read.

    Examples
    --------
    >>> names_in("plx > 10 AND vmag + 5 < `b.mag`")
    ('plx', 'vmag', 'b.mag')
    """
    from provenn.criteria.reader import read_names  # noqa: PLC0415 - as above

    return read_names(text)


def render(what: Criterion | Expression, names: Mapping[AttributeIdentity, str]) -> str:
    """Write a criterion or an expression for Spark to evaluate.

    Parameters
    ----------
    what
        The criterion or expression.
    names
        The column names by attribute identity.

    Returns
    -------
    str
        SQL that never fails on a value, given a session with ``spark.sql.ansi.enabled=false`` and
        ``spark.sql.session.timeZone=UTC``.
    """
    root = what.condition if isinstance(what, Criterion) else what.node
    return write(root, make_spark_style(lambda column: backquoted(names[column.identity])))


def _find_identities(root: Node | Condition) -> tuple[AttributeIdentity, ...]:
    return tuple(sorted({node.identity for node in walk(root) if isinstance(node, ColumnNode)}))
