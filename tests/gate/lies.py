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
    FirstSources,
    GroupSources,
    HavingSources,
    KeepAttributes,
    LookupAttributes,
    OpaqueQuery,
    OpaqueSelection,
    RenameAttributes,
    ResultColumn,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.calculators import Expressions
from provenn.catalogs.calculators.sql import SqlCalculator
from provenn.catalogs.calculators.window_functions import WindowCalculator, WindowFunctions
from provenn.catalogs.references import Reference
from provenn.catalogs.selection import Selection
from provenn.criteria import AttributeIdentity, Type, parse_type
from provenn.errors import ProvennError
from tests.catalogs.opaque_texts import FORGED_CONDITIONS, FORGED_QUERIES

__all__ = ["INJECTED", "LIES", "lying_expression", "lying_selection", "refuse_lie"]

INJECTED = "string) || java_method('java.lang.System', 'setProperty', '{name}', 'yes') || CAST('<' AS string"


def lying_selection(base: Base) -> SelectSources:
    """Return a catalog that selects few sources, and claims the set of many."""
    few, many = (Selection.of(text, base.schema) for text in ("vmag < 1", "vmag < 6"))
    return SelectSources(base, replace(few, true=many.true, atoms=many.atoms), "vmag < 1")


def lying_expression(base: Base, **changes: object) -> DeriveAttributes:
    expressions = Expressions.of(SqlCalculator.of({"z": "string(hip)"}), base.schema)
    return DeriveAttributes(base, Expressions((replace(expressions.outputs[0], **changes),)))


def lying_window(base: Base, **changes: object) -> DeriveAttributes:
    functions = WindowFunctions.of(WindowCalculator.of({"z": "rank() OVER (ORDER BY vmag)"}), base.schema)
    return DeriveAttributes(base, WindowFunctions((replace(functions.outputs[0], **changes),)))


def refer(base: Base, name: str, population: str = "star") -> Reference:
    """Return an attribute as a reference, whether it can be one or not."""
    return Reference((base.schema[name].identity,), population)


def lying_group(base: Base, **changes: object) -> GroupSources:
    """Return groups whose aggregate is not what it says."""
    true = GroupSources.of(base, "hip", {"n": "count(*)"}, population="object")
    return replace(true, aggregations=(replace(true.aggregations[0], **changes),))


def lying_query(base: Base) -> OpaqueQuery:
    """Return a query that is still honest."""
    return OpaqueQuery.of([base], "SELECT hip FROM input_1", [("hip", "bigint", False)], key="hip", population="star")


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
    "type of a window": lambda base: lying_window(base, type=parse_type("double")),
    "SQL as type of a window": lambda base: lying_window(base, type=Type(INJECTED.format(name="x"))),
    "NULL of a window": lambda base: lying_window(base, nullable=True),
    "function of a window": lambda base: lying_window(base, canonical="java_method('java.lang.System', 'exit', 3)"),
    "no window": lambda base: lying_window(base, canonical="string(hip)"),
    "no key": lambda base: KeepAttributes(base, ("vmag",)),
    "no attribute": lambda base: RenameAttributes(base, (("missing", "v"),)),
    "no fraction": lambda base: SampleSources(base, 2.5, 1),
    "no overlap": lambda base: ConcatSources((base, base), "whatever"),
    "one member": lambda base: CombineAttributes((base,)),
    "reference by a number": lambda base: HavingSources(base, base, refer(base, "vmag"), True, ("vmag",)),
    "reference to nothing": lambda base: LookupAttributes(
        base, base, Reference((AttributeIdentity("missing"),), "star"), (), "drop", ("hip",)
    ),
    "reference to another population": lambda base: HavingSources(
        base, base, refer(base, "hip", "galaxy"), True, ("hip",)
    ),
    "unknown treatment": lambda base: LookupAttributes(base, base, refer(base, "hip"), (), "maybe", ("hip",)),  # type: ignore[arg-type] # the lie
    "aggregate of another type": lambda base: lying_group(base, type=parse_type("int")),
    "aggregate that is a function": lambda base: lying_group(
        base, canonical="java_method('java.lang.System', 'exit', 3)"
    ),
    "aggregate without normal form": lambda base: lying_group(base, canonical="COUNT( * )"),
    "group by a number": lambda base: GroupSources(base, refer(base, "vmag", "bin"), ("vmag",), ()),
    "order that is a function": lambda base: FirstSources(
        base,
        refer(base, "hip").identities,
        ("java_method('java.lang.System', 'exit', 3) ASC NULLS FIRST",),
        1,
        ("hip",),
        "x",
    ),
    "first by a number": lambda base: FirstSources(
        base, refer(base, "vmag").identities, FirstSources.of(base, "hip", "vmag").order, 1, ("vmag",), "vmag"
    ),
    "condition with another text": lambda base: replace(
        OpaqueSelection.of(base, "parent.vmag < 1"), text="`parent`.`vmag` < 6"
    ),
    "condition without normal form": lambda base: replace(
        OpaqueSelection.of(base, "parent.vmag < 1"),
        condition=f"parent.`{base.schema['vmag'].identity}`   < 1",
    ),
    "condition on nothing": lambda base: replace(
        OpaqueSelection.of(base, "parent.vmag < 1"), condition="`parent`.`missing` < 1"
    ),
    "query without normal form": lambda base: replace(lying_query(base), text="select hip from input_1"),
    "query with an unused input": lambda base: replace(lying_query(base), inputs=(base, base)),
    "query with SQL as type": lambda base: replace(
        lying_query(base),
        columns=(*lying_query(base).columns, ResultColumn("x", Type(INJECTED.format(name="x")), True)),
    ),
    "query with SQL as nested type": lambda base: replace(
        lying_query(base),
        columns=(
            *lying_query(base).columns,
            ResultColumn("x", Type("array<int>) || reflect('a') || CAST(1 AS array<int>"), True),
        ),
    ),
    **{
        f"query: {text[:50]}": lambda base, text=text: replace(lying_query(base), text=text)
        for text in FORGED_QUERIES
        if text.isascii()
    },
    **{
        f"condition: {text[:50]}": lambda base, text=text: replace(
            OpaqueSelection.of(base, "parent.vmag < 1", [base]), condition=text, text=text, others=(base,)
        )
        for text in FORGED_CONDITIONS
    },
}


def refuse_lie(name: str, base: Base) -> str:
    """Tell a lie; return why it was refused, or fail."""
    try:
        LIES[name](base).check_consistency()
    except ProvennError as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{name}: it was believed")
