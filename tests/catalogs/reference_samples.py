"""Random lineages of several populations that refer to one another, and their rows, spelt out with Python's dicts.

Rows are computed without extents, facts or identities. Any attributes whose types are those of a key may refer to it:
references that were meant, those that dangle, the key itself, counts, and attributes of partners.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, product
from random import Random

import pyarrow as pa

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    ExcludeSources,
    ExplodeArrays,
    FirstSources,
    GroupSources,
    HavingSources,
    KeepAttributes,
    LookupAttributes,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.errors import AttributeConflictError, PopulationError
from tests.catalogs.samples import base, derived
from tests.spark.oracle import spark_hash

__all__ = [
    "BASES",
    "ODD",
    "Base",
    "Key",
    "Rows",
    "Table",
    "Value",
    "build_arrow_table",
    "build_arrow_tables",
    "quote",
    "reference_lineages",
]

Value = float | int | str | tuple[object, ...] | None
Key = tuple[object, ...]
Rows = dict[Key, dict[str, Value]]


@dataclass(frozen=True)
class Table:
    """A catalog, and the rows that it means, by key."""

    catalog: Catalog
    rows: Rows

    def __repr__(self) -> str:
        """Show all that is needed to see why a test failed."""
        parts = [part.digest[:8] for part in self.catalog.dependencies]
        shown = self.rows if not parts else {**self.catalog.notes(), **dict(self.catalog.show_parameters())}
        return f"\n{self.catalog.digest[:8]} = {self.catalog.kind} {parts} {shown}"

    @property
    def key(self) -> list[str]:
        """The names of the key attributes."""
        return [attribute.name for attribute in self.catalog.schema.key]


@dataclass(frozen=True)
class Base:
    """A base catalog to draw: its population, its key, and the types of its columns."""

    population: str
    key: tuple[str, ...]
    columns: Mapping[str, str]
    tag: str = ""


BASES = (
    Base("object", ("hip",), {"hip": "bigint", "vmag": "double", "gal": "bigint", "parent": "bigint"}),
    Base(
        "detection",
        ("id",),
        {"id": "bigint", "objid": "bigint", "near": "bigint", "mag": "double", "night": "int", "ccd": "int"},
    ),
    Base("galaxy", ("gid",), {"gid": "bigint", "z": "double", "size": "int"}),
    Base("exposure", ("night", "ccd"), {"night": "int", "ccd": "int", "seeing": "double", "target": "bigint"}),
    Base("detection", ("id",), {"id": "bigint", "objid": "bigint", "mag": "double", "vmag": "double"}, "more"),
    Base("object", ("hip",), {"hip": "bigint", "vmag": "double", "gal": "bigint"}, "more"),
)
"""Objects that refer to galaxies and to each other, detections that refer to objects in two roles and to exposures."""

ODD = {
    "objid": "it's `objid`",
    "hip": 'h"ip',
    "gal": "g[0], al",
    "mag": "a.b",
    "vmag": "é {x}",
    "night": "points [n",
    "object": 'obj\'ect ["a"], `b`: é.c\\',
    "galaxy": "key:galaxy:0",
    "exposure": "a, b) in (",
}
"""Odd names of attributes and populations."""


def quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


MakeBase = Callable[[str, Mapping[str, str], tuple[str, ...], str, Rows], Catalog]
"""Makes a base catalog from a tag, the types of columns, the key, the population and the rows."""


def _make_base(tag: str, columns: Mapping[str, str], key: tuple[str, ...], population: str, _: Rows) -> Catalog:
    return base(tag, columns, key=key, population=population)


def reference_lineages(
    random: Random,
    most: int = 7,
    *,
    make_base: MakeBase = _make_base,
    without: Sequence[str] = (),
    keys: int = 4,
) -> list[Table]:
    """Two to four bases with random rows, and catalogs made from these and from one another.

    Parameters
    ----------
    random
        Decides what is drawn.
    most
        How many catalogs are defined on the bases at most.
    make_base
        Makes the base catalogs; by default of files that are nowhere.
    without
        The operations to leave out.
    keys
        How many different keys there are.
    """
    names = random.choice([{}, {}, ODD])
    bases = random.sample(BASES[2:], random.randint(0, 2))
    tables = [_draw_base(random, item, names, keys, make_base) for item in (*BASES[:2], *bases)]
    operations = {name: operation for name, operation in _OPERATIONS.items() if name not in without}
    chosen = [operation for name, operation in operations.items() for _ in range(_OFTEN.get(name, 1))]
    for _ in range(random.randint(2, most)):
        try:
            result = random.choice(chosen)(random, tables)
        except (AttributeConflictError, PopulationError):
            continue  # a name is taken, or a population has another key
        if result is not None and not _is_ambiguous(result, tables):
            tables.append(result)
    return tables


def _is_ambiguous(result: Table, tables: Sequence[Table]) -> bool:
    """Return whether a population of the same name has another key, which an archive refuses."""
    population = result.catalog.population
    known = {table.catalog.population.name: table.catalog.population for table in tables}
    return known.get(population.name, population) != population


def _draw_base(random: Random, item: Base, names: Mapping[str, str], keys: int, make_base: MakeBase) -> Table:
    columns = {names.get(name, name): kind for name, kind in item.columns.items()}
    key = tuple(names.get(name, name) for name in item.key)
    population = names.get(item.population, item.population)
    values: dict[str, tuple[Value, ...]] = {
        "double": (None, 0.0, 1.0, 2.0, 3.0, 4.0, math.nan),
        "bigint": (None, *range(keys + 1), *range(keys)),
        "int": (None, 0, 1, 2),
    }
    possible = list(product(*(range(keys + 1) if columns[name] == "bigint" else range(3) for name in key)))
    size = random.choice([0, 3, 5, 6, 8, 8, 8] if item.population == "detection" else [0, 2, 3, 5, 5])
    rows: Rows = {}
    for number in sorted(random.sample(possible, min(size, len(possible)))):
        row = {name: random.choice(values[kind]) for name, kind in columns.items() if name not in key}
        rows[number] = {**dict(zip(key, number, strict=True)), **row}
    rows = {number: {name: row[name] for name in columns} for number, row in rows.items()}
    return Table(make_base(f"{population} {item.tag}", columns, key, population, rows), rows)


# --- what a draw chooses ---


def _pick(random: Random, tables: Sequence[Table]) -> Table:
    """Choose a table, mostly one of the last."""
    return random.choice([*tables, *tables[-3:]])


def _pick_same(random: Random, tables: Sequence[Table], table: Table) -> Table:
    same = [other for other in tables if other.catalog.population == table.catalog.population]
    return _pick(random, same)


def _pick_typed(random: Random, table: Table, kinds: Sequence[str], size: int) -> list[str] | None:
    """Choose different attributes of some types."""
    identities: dict[str, list[str]] = {}
    for attribute in table.catalog.schema.attributes:
        if str(attribute.type) in kinds:
            identities.setdefault(attribute.identity, []).append(attribute.name)
    if len(identities) < size:
        return None
    return [random.choice(names) for names in random.sample(list(identities.values()), size)]


def _pick_reference(random: Random, table: Table, other: Table) -> list[str] | None:
    """Choose attributes with the types of a key, in its order."""
    names: list[str] = []
    for kind in map(str, other.catalog.population.key):
        schema = table.catalog.schema
        taken = {schema[name].identity for name in names}
        fitting = [name for name in schema.names if _kind(table, name) == kind and schema[name].identity not in taken]
        if not fitting:
            return None
        names.append(random.choice(fitting))
    return names


def _some(random: Random, names: Sequence[str], most: int) -> list[str]:
    return random.sample(list(names), random.randint(0, min(most, len(names))))


def _kind(table: Table, name: str) -> str:
    return str(table.catalog.schema[name].type)


def _new_name(random: Random, table: Table) -> str:
    return random.choice([name for name in ("v", "w'`", "B-V", "i,d") if name not in table.catalog.schema])


# --- operations within a population ---


def _select(random: Random, tables: list[Table]) -> Table | None:
    table = _pick(random, tables)
    names = [name for name in table.catalog.schema.names if _kind(table, name) in ("double", "bigint", "int")]
    text, test = _criterion(random, names)
    kept = {key: row for key, row in table.rows.items() if test(row)}
    return Table(SelectSources.of(table.catalog, text), kept)


def _criterion(random: Random, names: Sequence[str]) -> tuple[str, Callable[[dict[str, Value]], bool]]:
    """Draw a criterion, and a function that tests a row."""
    tests = []
    for _ in range(random.choice([1, 1, 2])):
        name, constant, (text, test) = random.choice(names), random.randint(0, 4), random.choice(list(_TESTS.values()))
        tests.append((text.format(quote(name), constant), partial(_test_row, test, name, constant)))
    if len(tests) == 1:
        return tests[0]
    (one, test), (other, other_test) = tests
    if random.random() < 0.5:
        return f"({one}) AND ({other})", lambda row: test(row) and other_test(row)
    return f"({one}) OR ({other})", lambda row: test(row) or other_test(row)


def _test_row(test: Callable[[Value, int], bool], name: str, constant: int, row: dict[str, Value]) -> bool:
    return test(row[name], constant)


def _below(value: Value, constant: int) -> bool:
    return value is not None and value < constant  # false for NaN, which is the largest number


_TESTS: dict[str, tuple[str, Callable[[Value, int], bool]]] = {
    "<": ("{} < {}", _below),
    ">=": ("{} >= {}", lambda value, constant: value is not None and not _below(value, constant)),
    "=": ("{} = {}", lambda value, constant: value is not None and value == constant),
    "is": ("{} IS NULL", lambda value, _: value is None),
    "present": ("{} IS NOT NULL", lambda value, _: value is not None),
    "complement": ("({} < {}) IS NOT TRUE", lambda value, constant: not _below(value, constant)),
}


def _restrict(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    other = _pick_same(random, tables, table)
    rows = {key: row for key, row in table.rows.items() if key in other.rows}
    return Table(RestrictSources(table.catalog, other.catalog), rows)


def _exclude(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    other = _pick_same(random, tables, table)
    rows = {key: row for key, row in table.rows.items() if key not in other.rows}
    return Table(ExcludeSources(table.catalog, other.catalog), rows)


def _sample(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    fraction = random.choice([0.25, 0.5])
    kinds = [str(kind) for kind in table.catalog.population.key]
    rows = {
        key: row
        for key, row in table.rows.items()
        if spark_hash([("bigint", 1), *zip(kinds, key, strict=True)]) % 2**63 < fraction * 2**63
    }
    return Table(SampleSources.of(table.catalog, fraction, seed=1), rows)


def _keep(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    names = _some(random, table.catalog.schema.names, 6)
    catalog = KeepAttributes.of(table.catalog, names)
    return Table(catalog, {key: {name: row[name] for name in catalog.names} for key, row in table.rows.items()})


def _rename(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    old, new = random.choice(table.catalog.schema.names), _new_name(random, table)
    rows = {key: {new if name == old else name: row[name] for name in row} for key, row in table.rows.items()}
    return Table(RenameAttributes.of(table.catalog, {old: new}), rows)


def _derive(random: Random, tables: list[Table]) -> Table | None:
    table = _pick(random, tables)
    chosen = _pick_typed(random, table, ("double", "bigint", "int"), 1)
    if chosen is None:
        return None
    name, new = chosen[0], _new_name(random, table)
    rows = {key: {**row, new: None if (value := row[name]) is None else value + 1} for key, row in table.rows.items()}
    return Table(derived(table.catalog, **{new: f"{quote(name)} + 1"}), rows)


def _combine(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    members = [table, _pick_same(random, tables, table)]
    catalog = CombineAttributes.of(*(member.catalog for member in members))
    common = set.intersection(*(set(member.rows) for member in members))
    rows = {
        key: {n: v for member in members for n, v in member.rows[key].items()} for key in table.rows if key in common
    }
    return Table(catalog, {key: {name: row[name] for name in catalog.schema.names} for key, row in rows.items()})


def _concat(random: Random, tables: list[Table]) -> Table:
    table = _pick(random, tables)
    members = [table, _pick_same(random, tables, table)]
    catalog = ConcatSources.of(*(member.catalog for member in members), overlap="first")
    places = {attribute.identity: place for place, attribute in enumerate(catalog.schema.key)}
    rows: Rows = {}
    for member in members:
        for key, row in member.rows.items():  # a key matches keys under any name, and may have several names
            rows.setdefault(
                key,
                {
                    attribute.name: key[places[attribute.identity]]
                    if attribute.identity in places
                    else row[attribute.name]
                    for attribute in catalog.schema.attributes
                },
            )
    return Table(catalog, rows)


# --- operations between populations ---


def _lookup(random: Random, tables: list[Table]) -> Table | None:
    table, other = _pick(random, tables), _pick(random, tables)
    on = _pick_reference(random, table, other)
    if on is None:
        return None
    missing, prefix = random.choice(["drop", "null", "error"]), random.choice(["", "p_", "q'"])
    wanted = random.choice([None, _some(random, other.catalog.schema.names, 3)])
    catalog = LookupAttributes.of(
        table.catalog, other.catalog, on=on, attributes=wanted, missing=missing, prefix=prefix
    )
    names = [name for name in other.catalog.schema.names if name not in other.key] if wanted is None else wanted
    rows: Rows = {}
    for key, row in table.rows.items():
        partner = other.rows.get(tuple(row[name] for name in on))
        if partner is not None or missing == "null":
            rows[key] = {**{prefix + name: None if partner is None else partner[name] for name in names}, **row}
    return Table(catalog, {key: {name: row[name] for name in catalog.schema.names} for key, row in rows.items()})


def _having(random: Random, tables: list[Table]) -> Table | None:
    table, members = _pick(random, tables), _pick(random, tables)
    on = _pick_reference(random, members, table)
    if on is None:
        return None
    is_in = random.random() < 0.5
    partners = {tuple(row[name] for name in on) for row in members.rows.values()}
    rows = {key: row for key, row in table.rows.items() if (key in partners) == is_in}
    return Table(HavingSources.of(table.catalog, members.catalog, on=on, is_in=is_in), rows)


def _group(random: Random, tables: list[Table]) -> Table | None:
    table, other = _pick(random, tables), _pick(random, tables)
    if random.randint(0, 3):  # a known population
        by, population = _pick_reference(random, table, other), other.catalog.population
    else:
        by, population = _pick_typed(random, table, ("bigint", "int"), random.randint(1, 2)), None
    if by is None:
        return None
    aggregates, functions = {}, {}
    for name in _some(random, ["n", "m", "l c", "s`"], 3):
        text, function = _aggregate(random, table)
        aggregates[name], functions[name] = text, function
    catalog = GroupSources.of(table.catalog, by, aggregates, population=population)
    rows: Rows = {}
    for key, members in _gather(table, by).items():
        values = {name: function([table.rows[member] for member in members]) for name, function in functions.items()}
        rows[key] = {**dict(zip(by, key, strict=True)), **values}
    return Table(catalog, rows)


def _gather(table: Table, by: Sequence[str]) -> dict[Key, list[Key]]:
    """Return the keys of the members of each group, in order."""
    present = sorted(key for key, row in table.rows.items() if all(row[name] is not None for name in by))
    groups: dict[Key, list[Key]] = {}
    for key in present:
        groups.setdefault(tuple(table.rows[key][name] for name in by), []).append(key)
    return groups


def _rank(value: Value) -> tuple[bool, float]:
    """Return the place of a number in Spark's order: NaN is the largest."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return is_nan, 0 if is_nan else value


def _aggregate(random: Random, table: Table) -> tuple[str, Callable[[list[dict[str, Value]]], Value]]:
    """Draw an aggregate, with a function of the members in the order of their keys."""
    numbers = [name for name in table.catalog.schema.names if _kind(table, name) in ("double", "bigint", "int")]
    x, y = random.choice(numbers), random.choice(numbers)

    def values(members: list[dict[str, Value]]) -> list[Value]:
        return [row[x] for row in members if row[x] is not None]

    def ranked(members: list[dict[str, Value]]) -> list[dict[str, Value]]:
        return sorted((row for row in members if row[y] is not None), key=lambda row: _rank(row[y]))

    def last(members: list[dict[str, Value]]) -> Value:
        found = ranked(members)
        return found[-1][x] if found else None

    def ordered(members: list[dict[str, Value]]) -> tuple[Value, ...]:
        falling = [list(group) for _, group in groupby(ranked(members), key=lambda row: _rank(row[y]))][::-1]
        rows = [row for group in falling for row in group] + [row for row in members if row[y] is None]
        return tuple(row[x] for row in rows if row[x] is not None)

    def mean(members: list[dict[str, Value]]) -> Value:
        numbers = [float(value) for value in values(members)]
        return sum(numbers) / len(numbers) if numbers else None

    distinct = lambda members: len({_rank(value) for value in values(members)})  # noqa: E731
    choices: list[tuple[str, Callable[[list[dict[str, Value]]], Value]]] = [
        ("count(*)", len),
        (f"count({quote(x)})", lambda members: len(values(members))),
        (f"count(DISTINCT {quote(x)})", distinct),
        (f"min({quote(x)})", lambda members: min(values(members), key=_rank, default=None)),
        (f"max({quote(x)})", lambda members: max(values(members), key=_rank, default=None)),
        (f"any_value({quote(x)})", lambda members: next(iter(values(members)), None)),
        (f"sum({quote(x)})", lambda members: sum(values(members)) if values(members) else None),
        (f"avg({quote(x)})", mean),
        (f"min_by({quote(x)}, {quote(y)})", lambda members: ranked(members)[0][x] if ranked(members) else None),
        (f"max_by({quote(x)}, {quote(y)})", last),
        (f"collect({quote(x)} ORDER BY {quote(y)} DESC)", ordered),
        (f"collect({quote(x)} ORDER BY {quote(y)} DESC NULLS LAST)", ordered),
    ]
    return random.choice([*choices, *choices[-2:]])


def _first(random: Random, tables: list[Table]) -> Table | None:
    table = _pick(random, tables)
    by = _pick_typed(random, table, ("bigint", "int"), random.choice([1, 1, 2]))
    order = _pick_typed(random, table, ("bigint", "int", "double"), 1)
    if by is None or order is None:
        return None
    number, name = random.randint(1, 2), order[0]
    way, nulls = random.choice([("", True), ("DESC", False), ("ASC NULLS LAST", False), ("DESC NULLS FIRST", True)])
    catalog = FirstSources.of(table.catalog, by, f"{quote(name)} {way}", number)

    def place(key: Key) -> tuple[object, ...]:
        value = table.rows[key][name]
        if value is None:
            return not nulls, (False, 0), key
        is_nan, rank = _rank(value)
        return nulls, (not is_nan, -rank) if "DESC" in way else (is_nan, rank), key

    kept = {key for members in _gather(table, by).values() for key in sorted(members, key=place)[:number]}
    return Table(catalog, {key: row for key, row in table.rows.items() if key in kept})


def _explode(random: Random, tables: list[Table]) -> Table | None:
    fitting = [
        table for table in tables if any(_kind(table, name).startswith("array") for name in table.catalog.schema.names)
    ]
    if not fitting:
        return None
    table = _pick(random, fitting)
    arrays = [name for name in table.catalog.schema.names if _kind(table, name).startswith("array")]
    chosen = _some(random, arrays, 2) or arrays[:1]
    catalog = ExplodeArrays.of(table.catalog, chosen, population=random.choice([None, "po'int"]))
    names = catalog.schema.names
    rows: Rows = {}
    identities = {table.catalog.schema[name].identity: name for name in chosen}
    for key, row in table.rows.items():
        columns = [
            row[name] or () for name in dict.fromkeys(identities[table.catalog.schema[n].identity] for n in chosen)
        ]
        for position in range(max(map(len, columns))):
            values = [column[position] if position < len(column) else None for column in columns]
            rows[*key, position] = dict(zip(names, [*key, position, *values], strict=True))
    return Table(catalog, rows)


_OPERATIONS: dict[str, Callable[[Random, list[Table]], Table | None]] = {
    "select": _select,
    "restrict": _restrict,
    "exclude": _exclude,
    "sample": _sample,
    "keep": _keep,
    "rename": _rename,
    "derive": _derive,
    "combine": _combine,
    "concat": _concat,
    "lookup": _lookup,
    "having": _having,
    "group": _group,
    "first": _first,
    "explode": _explode,
}
_OFTEN = {"select": 4, "lookup": 6, "having": 3, "group": 5, "first": 2, "explode": 3}


def build_arrow_table(columns: Mapping[str, str], rows: Rows) -> pa.Table:
    """Return the rows of a base catalog, given the types of its columns."""
    kinds = {"bigint": pa.int64(), "int": pa.int32(), "double": pa.float64()}
    return pa.table({name: pa.array([row[name] for row in rows.values()], kinds[columns[name]]) for name in columns})


def build_arrow_tables(tables: Sequence[Table]) -> dict[str, pa.Table]:
    """Return the rows of base catalogs, by digest."""
    bases = [table for table in tables if not table.catalog.dependencies]
    types = {table.catalog.digest: _list_types(table) for table in bases}
    return {table.catalog.digest: build_arrow_table(types[table.catalog.digest], table.rows) for table in bases}


def _list_types(table: Table) -> dict[str, str]:
    return {attribute.name: str(attribute.type) for attribute in table.catalog.schema.attributes}
