"""Definitions with right digests, that hold a set or a type which does not follow from their words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    KeepAttributes,
    RenameAttributes,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.calculators.sql import SqlCalculator
from provenn.catalogs.selection import Selection
from provenn.criteria import Type, parse_type
from provenn.errors import ProvennError

__all__ = ["INJECTED", "LIES", "lying_expression", "lying_selection", "refuse_lie"]

INJECTED = "string) || java_method('java.lang.System', 'setProperty', '{name}', 'yes') || CAST('<' AS string"


def lying_selection(base: Base) -> SelectSources:
    """Return a catalog that selects few sources, and claims the set of many."""
    few, many = (Selection.of(text, base.schema) for text in ("vmag < 1", "vmag < 6"))
    return SelectSources(base, replace(few, true=many.true, atoms=many.atoms), "vmag < 1")


def lying_expression(base: Base, **changes: object) -> DeriveAttributes:
    expressions = Expressions.of(SqlCalculator.of({"z": "string(hip)"}), base.schema)
    return DeriveAttributes(base, Expressions((replace(expressions.outputs[0], **changes),)))


LIES: dict[str, Callable[[Base], Catalog]] = {
    "set": lying_selection,
    "atoms": lambda base: replace(
        lying_selection(base), selection=replace(Selection.of("vmag < 1", base.schema), atoms=())
    ),
    "type": lambda base: lying_expression(base, type=parse_type("int")),
    "SQL as type": lambda base: lying_expression(base, type=Type(INJECTED.format(name="x"))),
    "NULL": lambda base: lying_expression(base, nullable=True),
    "no canonical text": lambda base: lying_expression(base, canonical="string( hip )"),
    "function": lambda base: lying_expression(base, canonical="java_method('java.lang.System', 'exit', 3)"),
    "no key": lambda base: KeepAttributes(base, ("vmag",)),
    "no attribute": lambda base: RenameAttributes(base, (("missing", "v"),)),
    "no fraction": lambda base: SampleSources(base, 2.5, 1),
    "no overlap": lambda base: ConcatSources((base, base), "whatever"),
    "one member": lambda base: CombineAttributes((base,)),
}


def refuse_lie(name: str, base: Base) -> str:
    """Tell a lie; return why it was refused, or fail."""
    try:
        LIES[name](base).check_consistency()
    except ProvennError as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{name}: it was believed")
