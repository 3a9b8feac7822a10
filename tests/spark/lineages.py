"""Random worlds: base tables of one population, in files, and catalogs made from them and from one another."""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    Files,
    FirstSources,
    GroupSources,
    HavingSources,
    KeepAttributes,
    LookupAttributes,
    Population,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
)
from provenn.catalogs.calculators import WindowCalculator
from provenn.criteria import parse_type
from provenn.errors import AttributeConflictError, PopulationError
from tests.criteria.oracle import criteria
from tests.spark import functions

__all__ = ["ARROW", "NAMES", "VALUES", "World", "catalogs_on", "criteria_on", "weight", "worlds", "write_base"]


@dataclass(frozen=True)
class World:
    """Data, and what is defined on them.

    Parameters
    ----------
    tables
        The data of the base catalogs, by digest; key columns in the types of the population.
    catalogs
        All catalogs: the bases, then the others, each after those that it is made from.
    """

    tables: Mapping[str, pa.Table]
    catalogs: tuple[Catalog, ...]

    @property
    def ends(self) -> tuple[Catalog, ...]:
        """The catalogs from which no other is made."""
        used = {dependency.digest for catalog in self.catalogs for dependency in catalog.dependencies}
        return tuple(catalog for catalog in self.catalogs if catalog.digest not in used)

    def __repr__(self) -> str:
        """Tell all that is needed to see why a test failed."""
        numbers = {catalog.digest: n for n, catalog in enumerate(self.catalogs)}
        lines = []
        for n, catalog in enumerate(self.catalogs):
            words = (
                self.tables[catalog.digest].to_pylist()
                if isinstance(catalog, Base)
                else catalog.notes() or catalog.parameters()
            )
            lines.append(
                f"{n} = {catalog.kind} {[numbers[dependency.digest] for dependency in catalog.dependencies]} {words}"
            )
        return "\n" + "\n".join(lines)

    def _repr_pretty_(self, printer: object, _cycle: bool) -> None:
        printer.text(repr(self))


# --- base tables ---

NAMES = ("x", "X", "y", "n", "a.b", "a b", "a`b", "`", "select", "é", "1", "it's", '"', "a,b;c={}", "_c\\0", "ID", "id")
KEYS = (("bigint",), ("bigint",), ("int",), ("string",), ("smallint", "string"), ("string", "bigint"))
ARROW = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(5,2)": pa.decimal128(5, 2),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}


def _whole(bits: int) -> tuple[int, ...]:
    return (0, 1, -1, 2, 3, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


VALUES: dict[str, tuple[object, ...]] = {
    "tinyint": _whole(8),
    "smallint": _whole(16),
    "int": _whole(32),
    "bigint": _whole(64),
    "float": (0.0, -0.0, 1.0, float(np.float32(0.1)), math.nan, math.inf, -math.inf),
    "double": (0.0, -0.0, 1.0, -2.5, 0.1, 1e300, 5e-324, math.nan, math.inf, -math.inf),
    "decimal(5,2)": tuple(map(Decimal, ("0.00", "1.50", "-999.99", "999.99"))),
    "string": ("", "a", "A", "ab", " a", "é", "😀", "'", "\\", "a\0", "0123456789abcdef0123456789abcdef+"),
    "boolean": (True, False),
    "date": (date(1970, 1, 1), date(2020, 3, 1), date(1, 1, 1), date(9999, 12, 31)),
    "timestamp": tuple(
        datetime(*parts, tzinfo=UTC)
        for parts in ((1970, 1, 1), (2020, 3, 1, 12, 30), (1, 1, 1), (2020, 2, 29, 23, 59, 59, 999999))
    ),
}


@st.composite
def _bases(draw: st.DrawFn, folder: Path) -> list[tuple[Base, pa.Table]]:
    population = Population("star", tuple(map(parse_type, draw(st.sampled_from(KEYS)))))
    kinds = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4))
    usual = draw(st.lists(st.sampled_from(NAMES), min_size=5, max_size=5, unique=True))
    tables = {}
    for tag in range(draw(st.integers(1, 3))):
        own = draw(st.lists(st.sampled_from(NAMES), min_size=7, max_size=7, unique=True))
        names = draw(st.sampled_from([usual + own[:2], usual + own[:2], own]))
        key = names[-len(population.key) :]
        value_names = names[: len(kinds)]
        if set(key) & set(value_names):
            key = [f"{name} key" for name in key]
        columns = _keys(draw, population)
        size = len(columns[0])
        columns += [
            pa.array(draw(st.lists(st.sampled_from((None, *VALUES[kind])), min_size=size, max_size=size)), ARROW[kind])
            for kind in kinds
        ]
        units = {name: draw(st.sampled_from(["", "mag"])) for name in value_names}
        table = _table([*key, *value_names], columns, units)
        base = write_base(folder, table, key=key, population=population, files=draw(st.integers(1, 3)), tag=str(tag))
        tables[base.digest] = (base, table)
    return list(tables.values())


def _keys(draw: st.DrawFn, population: Population) -> list[pa.Array]:
    kinds = [str(kind) for kind in population.key]
    possible = list(product(*(VALUES[kind] for kind in kinds)))
    size = draw(st.sampled_from([5, 7, 9, 3, 1, 0]))  # not only a few: what is empty stays empty
    keys = draw(st.permutations(possible))[:size]
    columns = list(zip(*keys, strict=True)) or [()] * len(kinds)
    return [pa.array(values, ARROW[kind]) for values, kind in zip(columns, kinds, strict=True)]


def _table(names: Sequence[str], columns: Sequence[pa.Array], units: Mapping[str, str]) -> pa.Table:
    metadata = {name: {"unit": unit} for name, unit in units.items() if unit}
    fields = [
        pa.field(name, column.type, metadata=metadata.get(name)) for name, column in zip(names, columns, strict=True)
    ]
    return pa.table(list(columns), schema=pa.schema(fields))


def write_base(
    folder: Path,
    table: pa.Table,
    *,
    key: str | Sequence[str],
    population: str | Population = "star",
    files: int = 1,
    tag: str = "",
) -> Base:
    """Write a table to Parquet files below a folder, and take them for a base catalog; another tag, another folder."""
    content = repr((table.schema.to_string(), table.to_pylist(), files, tag)).encode()
    location = folder / hashlib.sha256(content).hexdigest()[:16]
    if not location.exists():
        location.mkdir()
        size = -(-table.num_rows // files)
        for number in range(files):
            parquet.write_table(table.slice(number * size, size), location / f"{number}.parquet")
    return Base.of(Files.at(location), key=key, population=population)


# --- catalogs on them ---

_COMPARABLE = ("tinyint", "smallint", "int", "bigint", "double", "string", "boolean", "date", "timestamp")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@st.composite
def criteria_on(draw: st.DrawFn, catalog: Catalog) -> str:
    """Criteria on one or two attributes of a catalog."""
    chosen = draw(st.lists(st.sampled_from(catalog.schema.attributes), min_size=1, max_size=2, unique_by=_name))
    known = [attribute for attribute in chosen if str(attribute.type) in _COMPARABLE]
    if not known:  # DuckDB compares floats and decimals with constants in other types than Spark does
        return f"{quoted(chosen[0].name)} IS {draw(st.sampled_from(['', 'NOT ']))}NULL"
    columns = [(f"{{{n}}}", str(attribute.type)) for n, attribute in enumerate(known)]
    tree = draw(criteria(*columns, between_columns=True, max_leaves=4))
    return tree.sql().format(*(quoted(attribute.name) for attribute in known))


def _name(attribute: object) -> str:
    return str(attribute.name)


_INTEGERS = ("{0} + 1", "{0} * {1}", "{0} - {1}", "-{0}", "{0} / {1}", "{0} % 3", "coalesce({0}, {1})", "abs({0})")
_EXPRESSIONS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), (*_INTEGERS, "CAST({0} AS string)", "{0} * 1.5D")),
    "double": ("{0} * 2.5D", "{0} / {1}", "{0} - {1}", "-{0}", "abs({0})", "coalesce({0}, 0.0D)", "nullif({0}, {1})"),
    "string": ("{0} || 'b'", "{0} || {1}", "length({0})", "coalesce({0}, '')", "CASE WHEN {0} > 'a' THEN {1} END"),
    "boolean": ("NOT {0}", "{0} AND {1}", "coalesce({0}, TRUE)"),
}


def _select(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    return SelectSources.of(catalog, draw(criteria_on(catalog)))


def _restrict(_: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog:
    return RestrictSources(catalog, other)


def _exclude(_: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog:
    return ExcludeSources(catalog, other)


def _sample(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    seed = draw(st.sampled_from([0, 1, -1, 2**63 - 1]))
    return SampleSources.of(catalog, draw(st.sampled_from([0.25, 0.5, 0.9, 1])), seed)


def _keep(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    return KeepAttributes.of(catalog, draw(st.lists(st.sampled_from(catalog.schema.names), unique=True, max_size=6)))


def _rename(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    old = draw(st.lists(st.sampled_from(catalog.schema.names), min_size=1, max_size=2, unique=True))
    if len(old) == 2 and draw(st.booleans()):
        return RenameAttributes.of(catalog, dict(zip(old, reversed(old), strict=True)))
    return RenameAttributes.of(catalog, {old[0]: _new_name(draw, catalog)})


def _new_name(draw: st.DrawFn, catalog: Catalog) -> str:
    free = [name for name in (*NAMES, "new") if name not in catalog.schema.names]
    return draw(st.sampled_from(free or [f"new {len(catalog.schema.names)}"]))


def _derive(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    chosen = draw(st.sampled_from(catalog.schema.attributes))
    second = draw(
        st.sampled_from([attribute for attribute in catalog.schema.attributes if attribute.type == chosen.type])
    )
    forms = ("{0}", *_EXPRESSIONS.get(str(chosen.type), ("coalesce({0}, {1})",)))
    texts = [draw(st.sampled_from(forms)).format(quoted(chosen.name), quoted(second.name))]
    if draw(st.booleans()):
        texts.append(f"({draw(criteria_on(catalog))}) IS TRUE")
    name = _new_name(draw, catalog)
    return DeriveAttributes.of(catalog, SqlCalculator.of({name + " " * n: text for n, text in enumerate(texts)}))


_WINDOWS = (
    "rank() OVER (PARTITION BY {by} ORDER BY {value} DESC)",
    "dense_rank() OVER (ORDER BY {value} NULLS LAST)",
    "row_number() OVER (PARTITION BY {by} ORDER BY {value})",
    "ntile(2) OVER (ORDER BY {value} DESC NULLS FIRST)",
    "lag({value}) OVER (PARTITION BY {by} ORDER BY {other})",
    "lead({value}, 2) OVER (ORDER BY {other} DESC)",
    "first_value({value}) OVER (PARTITION BY {by} ORDER BY {other})",
    "last_value({value}) OVER (ORDER BY {other} ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
    "count({value}) OVER (PARTITION BY {by})",
    "max({value}) OVER (ORDER BY {other})",
    "min({value}) OVER (PARTITION BY {by} ORDER BY {other} ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)",
)
_SUMS = (
    "sum({value}) OVER (PARTITION BY {by} ORDER BY {other})",
    "sum({value}) OVER (ORDER BY {other} ROWS 1 PRECEDING)",
)


def _window(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    attributes = catalog.schema.attributes
    by = draw(st.sampled_from([one for one in attributes if str(one.type) not in ("float", "double")]))
    value, other = draw(st.sampled_from(attributes)), draw(st.sampled_from(attributes))
    is_whole = str(value.type) in ("tinyint", "smallint", "int", "bigint")
    form = draw(st.sampled_from(_WINDOWS + _SUMS if is_whole else _WINDOWS))
    text = form.format(by=quoted(by.name), value=quoted(value.name), other=quoted(other.name))
    return DeriveAttributes.of(catalog, WindowCalculator.of({_new_name(draw, catalog): text}))


_CALCULATORS = {  # function, kind, scope, types of the input, types of outputs, parameters
    "missing": ("pandas", "row", tuple(VALUES), ("boolean",), {}),
    "scaled": ("pandas", "row", ("double",), ("double",), {"factor": -0.5}),
    "halved": ("pandas", "row", ("tinyint", "smallint", "int", "bigint"), ("bigint",), {}),
    "marked": ("pandas", "row", ("string",), ("string", "int"), {"mark": "é"}),
    "same": ("arrow", "row", tuple(VALUES), None, {}),
    "numbered": ("pandas", "catalog", tuple(VALUES), ("bigint",), {}),
    "counted": ("arrow", "catalog", tuple(VALUES), ("bigint",), {}),
}


def _calculate(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog:
    chosen = draw(st.sampled_from(catalog.schema.attributes))
    fitting = [name for name, (_, _, kinds, _, _) in _CALCULATORS.items() if str(chosen.type) in kinds]
    function = draw(st.sampled_from(fitting))
    kind, scope, _, types, parameters = _CALCULATORS[function]
    name = _new_name(draw, catalog)
    outputs = dict(zip((name, f"{name} size"), types or (str(chosen.type),), strict=False))
    calculator = PythonCalculator.of(
        getattr(functions, function),
        inputs=[chosen.name],
        outputs=outputs,
        parameters={"output": name, **parameters},
        kind=kind,
        scope=scope,
    )
    return DeriveAttributes.of(catalog, calculator)


def _combine(draw: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog:
    if draw(st.booleans()):
        return CombineAttributes.of(catalog, other)
    return CombineAttributes.of(catalog, other, draw(st.sampled_from([catalog, other])))


def _concat(draw: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog:
    how = draw(st.sampled_from(["first", "disjoint", "three"]))
    if how == "disjoint":
        return ConcatSources.of(ExcludeSources(catalog, other), other, overlap="disjoint")
    return ConcatSources.of(*([catalog, other, catalog] if how == "three" else [catalog, other]), overlap="first")


def _refer(draw: st.DrawFn, catalog: Catalog) -> list[str] | None:
    """Attributes that may hold the key of a source, in its order: those that do, and any of the same types."""
    names: list[str] = []
    for kind in catalog.population.key:
        taken = {catalog.schema[name].identity for name in names}
        fitting = [
            attribute.name
            for attribute in catalog.schema.attributes
            if attribute.type == kind and attribute.identity not in taken
        ]
        if not fitting:
            return None
        names.append(draw(st.sampled_from(fitting)))
    return names


def _look_up(draw: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog | None:
    on = _refer(draw, catalog)
    if on is None:
        return None
    missing, prefix = draw(st.sampled_from(["drop", "null"])), draw(st.sampled_from(["", "p ", "`"]))
    wanted = draw(st.lists(st.sampled_from(other.schema.names), unique=True, max_size=3))
    return LookupAttributes.of(catalog, other, on=on, attributes=wanted, missing=missing, prefix=prefix)


def _keep_partners(draw: st.DrawFn, catalog: Catalog, other: Catalog) -> Catalog | None:
    on = _refer(draw, other)
    return None if on is None else HavingSources.of(catalog, other, on=on, is_in=draw(st.booleans()))


def _group(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog | None:
    """Groups of the same population, so that all that follows goes on with them."""
    by = _refer(draw, catalog)
    if by is None:
        return None
    value, order = (quoted(draw(st.sampled_from(catalog.schema.names))) for _ in range(2))
    texts = [
        "count(*)",
        f"count({value})",
        f"any_value({value})",
        f"min_by({value}, {order})",
        f"max_by({value}, {order})",
    ]
    chosen = draw(st.lists(st.sampled_from(texts), min_size=1, max_size=2, unique=True))
    names = [name for name in ("n", "m", "new n") if name not in by]
    return GroupSources.of(catalog, by, dict(zip(names, chosen, strict=False)), population=catalog.population)


def _first(draw: st.DrawFn, catalog: Catalog, _: Catalog) -> Catalog | None:
    by = [attribute.name for attribute in catalog.schema.attributes if str(attribute.type) not in ("float", "double")]
    name = draw(st.sampled_from(catalog.schema.names))
    direction = draw(st.sampled_from(["", "DESC", "DESC NULLS FIRST"]))
    order = f"{quoted(name)} {direction}"
    return FirstSources.of(catalog, draw(st.sampled_from(by)), order, draw(st.integers(1, 2)))


_OPERATIONS: tuple[Callable[[st.DrawFn, Catalog, Catalog], Catalog | None], ...] = (
    *(_select, _restrict, _exclude, _sample, _keep, _rename, _derive, _combine, _concat),
    *(_select, _derive, _combine, _concat, _look_up, _keep_partners, _group, _first, _window),
)


@st.composite
def catalogs_on(draw: st.DrawFn, catalogs: Sequence[Catalog], *, calculators: bool = True) -> Catalog | None:
    """One catalog more, mostly made from the last ones; None if what was drawn has no meaning."""
    last = st.sampled_from(catalogs[-2:])
    catalog, other = draw(last), draw(st.one_of(st.sampled_from(catalogs), last))
    operations = (*_OPERATIONS, _calculate) if calculators else _OPERATIONS
    try:
        return draw(st.sampled_from(operations))(draw, catalog, other)
    except (AttributeConflictError, PopulationError):
        return None


def weight(catalog: Catalog) -> int:
    """How often base tables are read for a catalog that is computed literally."""
    if isinstance(catalog, Base):
        return 1
    parts = [weight(dependency) for dependency in catalog.dependencies]
    if isinstance(catalog, ConcatSources):  # a member is read once more for each that comes after it
        return sum(part * (len(parts) - position) for position, part in enumerate(parts))
    return sum(parts)


@st.composite
def worlds(draw: st.DrawFn, folder: Path, *, most: int = 8, heaviest: int = 24, calculators: bool = True) -> World:
    """One to three base catalogs with their files below a folder, and up to `most` catalogs on them.

    Parameters
    ----------
    draw
        Given by Hypothesis.
    folder
        Where files are written, in folders that are named by what they hold.
    most
        How many catalogs are defined on the bases at most; so deep is the lineage at most.
    heaviest
        How often base tables are read at most for one of them.
    calculators
        Whether there are Python calculators.
    """
    bases = draw(_bases(folder))
    catalogs: dict[str, Catalog] = {base.digest: base for base, _ in bases}
    size = len(catalogs) + draw(st.sampled_from(range(most, 0, -1)))
    for _ in range(2 * most):  # some operations do not fit what they are given, some make what is there already
        catalog = draw(catalogs_on(tuple(catalogs.values()), calculators=calculators)) if len(catalogs) < size else None
        if catalog is not None and weight(catalog) <= heaviest:
            catalogs.update((part.digest, part) for part in (*catalog.dependencies, catalog))
    return World({base.digest: table for base, table in bases}, tuple(catalogs.values()))
