"""Small catalogs for tests: bases without files, random lineages, and what they mean, spelt out with Python's dicts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hypothesis import strategies as st

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    Files,
    KeepAttributes,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
)
from provenn.catalogs.schema import Schema
from provenn.criteria import Atom, parse_type
from provenn.criteria.domains import encode_double
from provenn.digests import content_digest
from provenn.errors import AttributeConflictError
from provenn.files.columns import FileColumn

STARS = MappingProxyType({"hip": "bigint", "vmag": "double", "plx": "double"})


def base(
    tag: str = "hipparcos",
    columns: Mapping[str, str] = STARS,
    *,
    key: str | tuple[str, ...] = "hip",
    population: str = "star",
    units: Mapping[str, str] = MappingProxyType({}),
    ucds: Mapping[str, str] = MappingProxyType({}),
) -> Base:
    """A base catalog of files that are nowhere; another tag, other files."""
    result = tuple(
        FileColumn(name, parse_type(kind), True, units.get(name, ""), ucd=ucds.get(name, ""))
        for name, kind in columns.items()
    )
    files = Files("parquet", (), result, (), content_digest("files", [tag]), f"/nowhere/{tag}", (), None)
    return Base.of(files, key=key, population=population)


def derived(parent: Catalog, **expressions: str) -> DeriveAttributes:
    return DeriveAttributes.of(parent, SqlCalculator.of(expressions))


# --- what catalogs mean: rows as dicts ---

Value = float | int | None
Rows = dict[int, dict[str, Value]]


@dataclass(frozen=True)
class Table:
    """A catalog, and the rows it would have; `rows` are computed without extents, facts or identities."""

    catalog: Catalog
    rows: Rows


Operation = Callable[[st.DrawFn, list[Table]], Table | None]


def _select(draw: st.DrawFn, tables: list[Table]) -> Table:
    table = draw(st.sampled_from(tables))
    text, test = draw(_criteria(table.catalog.schema))
    kept = {key: row for key, row in table.rows.items() if test(row)}
    return Table(SelectSources.of(table.catalog, text), kept)


def _restrict(draw: st.DrawFn, tables: list[Table]) -> Table:
    first, other = draw(st.sampled_from(tables)), draw(st.sampled_from(tables))
    rows = {key: row for key, row in first.rows.items() if key in other.rows}
    return Table(RestrictSources(first.catalog, other.catalog), rows)


def _exclude(draw: st.DrawFn, tables: list[Table]) -> Table:
    first, other = draw(st.sampled_from(tables)), draw(st.sampled_from(tables))
    rows = {key: row for key, row in first.rows.items() if key not in other.rows}
    return Table(ExcludeSources(first.catalog, other.catalog), rows)


def _sample(draw: st.DrawFn, tables: list[Table]) -> Table:
    table = draw(st.sampled_from(tables))
    fraction = draw(st.sampled_from([0.25, 0.5, 1.0]))
    rows = {key: row for key, row in table.rows.items() if hash_of(key) < fraction}
    return Table(SampleSources.of(table.catalog, fraction, seed=1), rows)


def hash_of(key: int) -> float:
    """Stands for Spark's hash of a key, with seed 1."""
    return (key * 5 % 8) / 8


def _keep(draw: st.DrawFn, tables: list[Table]) -> Table:
    table = draw(st.sampled_from(tables))
    names = draw(st.lists(st.sampled_from(table.catalog.schema.names), unique=True))
    catalog = KeepAttributes.of(table.catalog, names)
    return Table(catalog, {key: {name: row[name] for name in catalog.names} for key, row in table.rows.items()})


def _rename(draw: st.DrawFn, tables: list[Table]) -> Table:
    table = draw(st.sampled_from(tables))
    old = draw(st.sampled_from(table.catalog.schema.names))
    new = draw(st.sampled_from([name for name in ("v", "w", "B-V", "id") if name not in table.catalog.schema]))
    rows = {key: {new if name == old else name: row[name] for name in row} for key, row in table.rows.items()}
    return Table(RenameAttributes.of(table.catalog, {old: new}), rows)


def _derive(draw: st.DrawFn, tables: list[Table]) -> Table | None:
    table = draw(st.sampled_from(tables))
    name = draw(st.sampled_from(table.catalog.schema.names))
    if table.catalog.schema[name].type.name != "double" or "twice" in table.catalog.schema:
        return None
    rows = {
        key: {**row, "twice": None if (value := row[name]) is None else 2 * value} for key, row in table.rows.items()
    }
    return Table(derived(table.catalog, twice=f"`{name}` * 2"), rows)


def _combine(draw: st.DrawFn, tables: list[Table]) -> Table | None:
    members = draw(st.lists(st.sampled_from(tables), min_size=2, max_size=3))
    try:
        catalog = CombineAttributes.of(*(member.catalog for member in members))
    except AttributeConflictError:
        return None
    common = set.intersection(*(set(member.rows) for member in members))
    return Table(catalog, {key: {n: v for member in members for n, v in member.rows[key].items()} for key in common})


def _concat(draw: st.DrawFn, tables: list[Table]) -> Table | None:
    members = draw(st.lists(st.sampled_from(tables), min_size=2, max_size=3))
    try:
        catalog = ConcatSources.of(*(member.catalog for member in members), overlap="first")
    except AttributeConflictError:
        return None  # a key and another attribute by the same name, of different types
    names = catalog.schema.names
    key = catalog.schema.key[0].identity
    key_names = {attribute.name for attribute in catalog.schema.attributes if attribute.identity == key}
    rows: Rows = {}
    for member in members:
        for number, row in member.rows.items():  # a key matches keys under any name, and may have several names
            rows.setdefault(number, {name: number if name in key_names else row[name] for name in names})
    return Table(catalog, rows)


SET_OPERATIONS: list[Operation] = [_select, _restrict, _exclude, _sample, _keep, _combine, _concat]
OPERATIONS = [*SET_OPERATIONS, _select, _rename, _derive]


def _criteria(schema: Schema) -> st.SearchStrategy[tuple[str, Callable[[dict[str, Value]], bool]]]:
    item = st.tuples(st.sampled_from(schema.names), st.integers(1, 3), st.sampled_from(sorted(_TESTS))).map(
        lambda drawn: (
            _TESTS[drawn[2]][0].format(f"`{drawn[0]}`", drawn[1]),
            lambda row: _TESTS[drawn[2]][1](row[drawn[0]], drawn[1]),
        )
    )
    return st.one_of(
        item,
        st.tuples(item, item).map(
            lambda both: (f"{both[0][0]} AND {both[1][0]}", lambda r: both[0][1](r) and both[1][1](r))
        ),
        st.tuples(item, item).map(
            lambda both: (f"{both[0][0]} OR {both[1][0]}", lambda r: both[0][1](r) or both[1][1](r))
        ),
    )


_TESTS: dict[str, tuple[str, Callable[[Value, int], bool]]] = {
    "<": ("{} < {}", lambda value, constant: value is not None and value < constant),
    ">=": ("{} >= {}", lambda value, constant: value is not None and value >= constant),
    "=": ("{} = {}", lambda value, constant: value is not None and value == constant),
    "not": ("NOT ({} < {})", lambda value, constant: value is not None and not value < constant),
    "is": ("{} IS NULL", lambda value, _: value is None),
    "complement": ("({} < {}) IS NOT TRUE", lambda value, constant: value is None or not value < constant),
}


@st.composite
def lineages(draw: st.DrawFn, most: int = 8, bases: int = 2, operations: list[Operation] = OPERATIONS) -> list[Table]:
    """Some bases with random rows, and catalogs made from these and from one another."""
    tables = [_base(draw, tag) for tag in range(bases)]
    for _ in range(draw(st.integers(1, most))):
        result = draw(st.sampled_from(operations))(draw, tables)
        if result is not None:
            tables.append(result)
    return tables


@st.composite
def concatenations(draw: st.DrawFn) -> list[Table]:
    """Bases that overlap and differ, concatenated, and selections from what that gives; once or several times."""
    tables = [_base(draw, tag) for tag in range(3)]
    for _ in range(draw(st.integers(1, 3))):
        for operation in (_concat, _select):
            chosen = tables[-1:] if operation is _select else tables
            result = operation(draw, chosen)
            if result is not None:
                tables.append(result)
    return tables


def _base(draw: st.DrawFn, tag: int) -> Table:
    values = st.one_of(st.none(), st.integers(0, 4).map(float))
    keys = draw(st.sets(st.integers(0, 4), min_size=2))
    rows = {key: {"hip": key, "vmag": draw(values), "plx": draw(values)} for key in sorted(keys)}
    return Table(base(f"base {tag}"), rows)


# --- the values that atoms speak of ---


def values_by_identity(tables: list[Table]) -> dict[str, dict[int, Value]]:
    """The value that each source has of each identity, as far as some catalog tells."""
    values: dict[str, dict[int, Value]] = {}
    for table in tables:
        for attribute in table.catalog.schema.attributes:
            known = values.setdefault(attribute.identity, {})
            for key, row in table.rows.items():
                result = known.setdefault(key, row[attribute.name])
                assert result == row[attribute.name], "one identity, two values"
    return values


def holds(atom: Atom, key: int, values: dict[str, dict[int, Value]]) -> bool:
    """Whether a source is in the set of an atom."""
    if atom.term.startswith("sample("):
        return int(hash_of(key) * 2**63) < int(atom.cut or 0)
    value = values[atom.term[1:-1]].get(key)
    if atom.cut is None or value is None:
        return value is not None
    return (encode_double(value) if isinstance(value, float) else value) < int(atom.cut)
