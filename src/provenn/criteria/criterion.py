"""Criteria and expressions: read from SQL, understood as sets and values, written for Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from provenn.criteria.atoms import Atom, atoms_of, true_set
from provenn.criteria.conditions import negated, nullable
from provenn.criteria.conversions import check_stated, checked_unit
from provenn.criteria.known_units import unit_text
from provenn.criteria.nodes import Column, Condition, Node, walk
from provenn.criteria.refusal import Refusal
from provenn.criteria.schema import AttributeLike
from provenn.criteria.types import VOID, Type
from provenn.criteria.writing import CANONICAL, PEOPLE, backquoted, spark, write
from provenn.errors import CriterionError
from provenn.logic.terms import Term

__all__ = [
    "Criterion",
    "Expression",
    "check_stated_unit",
    "names_in",
    "parse_criterion",
    "parse_expression",
    "render",
    "usual_unit",
]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A selection predicate. As a set: the sources for which it is TRUE.

    Two criteria are equal if their canonical texts are, however they were written.

    Parameters
    ----------
    canonical
        Normal form over identities of attributes.
    text
        The same, over names as the user wrote them.
    reads
        Identities of the attributes that decide it, sorted.
    true, false
        The sets for which it is TRUE and FALSE; it is NULL for the other sources.
    atoms
        What the two sets are made of, by label.
    """

    canonical: str
    text: str = field(compare=False)
    reads: tuple[str, ...] = field(compare=False)
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
        The same, over names as the user wrote them.
    reads
        Identities of the attributes it is computed from, sorted.
    type
        The type of the value, as Spark has it.
    nullable
        Whether it can be NULL.
    """

    canonical: str
    text: str = field(compare=False)
    reads: tuple[str, ...] = field(compare=False)
    type: Type = field(compare=False)
    nullable: bool = field(compare=False)
    node: Node = field(compare=False, repr=False)


def parse_criterion(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Criterion:
    """Read a criterion.

    Parameters
    ----------
    text
        A Boolean SQL expression, in Spark's dialect.
    schema
        The attributes by name.
    canonical
        Whether the text is the canonical one of something that was read before, and the schema is by identity. Its
        units are converted already, so the units of attributes are not looked at.

    Raises
    ------
    CriterionError
        If it cannot be read, does not fit the types, or is not deterministic and row-wise.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> bright = parse_criterion("6 > VMAG", {"vmag": Attribute("hip.vmag", parse_type("double"))})
    >>> bright.text, bright.canonical
    ('VMAG < 6', '`hip.vmag` < 6.0D')
    >>> bright.false
    Term('"`hip.vmag` IS NOT NULL" - "`hip.vmag` < 6.0D"')
    """
    # sqlglot takes a fifth of a second to import, and only reading needs it.
    from provenn.criteria.reader import read_condition  # noqa: PLC0415
    from provenn.criteria.syntax import check_length  # noqa: PLC0415

    condition = read_condition(text, schema, canonical=canonical)
    written = write(condition, CANONICAL)
    check_length(written)  # it will be read again
    atoms = {atom.label: atom for atom in atoms_of(condition)}
    return Criterion(
        canonical=written,
        text=write(condition, PEOPLE),
        reads=_reads(condition),
        true=true_set(condition),
        false=true_set(negated(condition)),
        atoms=tuple(atoms[label] for label in sorted(atoms)),
        condition=condition,
    )


def parse_expression(text: str, schema: Mapping[str, AttributeLike], *, canonical: bool = False) -> Expression:
    """Read an expression.

    Parameters
    ----------
    text
        An SQL expression, in Spark's dialect.
    schema
        The attributes by name.
    canonical
        Whether the text is the canonical one of something that was read before, and the schema is by identity. Its
        units are converted already, so the units of attributes are not looked at.

    Raises
    ------
    CriterionError
        If it cannot be read, does not fit the types, or is not deterministic and row-wise.

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
    from provenn.criteria.syntax import check_length  # noqa: PLC0415

    node = read_node(text, schema, canonical=canonical)
    if node.type == VOID:
        raise CriterionError("NULL alone has no type", text, hint="say which: CAST(NULL AS double)")
    written = write(node, CANONICAL)
    check_length(written)
    return Expression(
        canonical=written,
        text=write(node, PEOPLE),
        reads=_reads(node),
        type=node.type,
        nullable=nullable(node),
        node=node,
    )


def check_stated_unit(expression: Expression, unit: str) -> None:
    """Check that an expression may be in the unit that is stated for it.

    Raises
    ------
    CriterionError
        If there is no such unit, or the expression is known to be in another one.

    Examples
    --------
    >>> from provenn.criteria import Attribute, parse_type
    >>> plx = {"plx": Attribute("hip.plx", parse_type("double"), unit="mas")}
    >>> check_stated_unit(parse_expression("1000 / plx", plx), "pc")
    """
    try:
        check_stated(expression.node, unit)
    except Refusal as refusal:
        raise CriterionError(refusal.problem, expression.text, hint=refusal.hint) from None


def usual_unit(text: str) -> str:
    """Return the usual spelling of a unit.

    Raises
    ------
    CriterionError
        If there is no such unit.

    Examples
    --------
    >>> usual_unit("km / s")
    'km.s-1'
    """
    try:
        return unit_text(checked_unit(text)) or text
    except Refusal as refusal:
        raise CriterionError(refusal.problem, text, hint=refusal.hint) from None


def names_in(text: str) -> tuple[str, ...]:
    """Return the names that a criterion or an expression mentions, each once; what they mean is not looked at.

    Raises
    ------
    CriterionError
        If it cannot be read.

    Examples
    --------
    >>> names_in("plx > 10 AND vmag + 5 < `b.mag`")
    ('plx', 'vmag', 'b.mag')
    """
    from provenn.criteria.reader import read_names  # noqa: PLC0415 - as above

    return read_names(text)


def render(what: Criterion | Expression, names: Mapping[str, str]) -> str:
    """Write a criterion or an expression for Spark to evaluate.

    Parameters
    ----------
    what
        The criterion or expression.
    names
        The column that holds each attribute, by its identity.

    Returns
    -------
    str
        SQL that never fails on a value, given a session with ``spark.sql.ansi.enabled=false`` and
        ``spark.sql.session.timeZone=UTC``.
    """
    root = what.condition if isinstance(what, Criterion) else what.node
    return write(root, spark(lambda column: backquoted(names[column.identity])))


def _reads(root: Node | Condition) -> tuple[str, ...]:
    return tuple(sorted({one.identity for one in walk(root) if isinstance(one, Column)}))
