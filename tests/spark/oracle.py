"""What catalogs mean, as DuckDB computes it: each definition read anew and written as plain SQL.

Nothing here uses the code under test. A catalog is a table whose columns are c0, c1, … in the order of its attributes,
as DuckDB does not tell names apart that differ in case.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatchmethod
from importlib import import_module

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import sqlglot
from sqlglot import exp

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    ExplodeArrays,
    FirstSources,
    GroupSources,
    HavingSources,
    KeepAttributes,
    LookupAttributes,
    MatchedSources,
    OpaqueQuery,
    OpaqueSelection,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.calculators import WindowFunctions
from tests.spark.dialect import MACROS, in_duckdb, type_in_duckdb
from tests.spark.oracle_aggregates import aggregate_in_duckdb, order_in_duckdb
from tests.spark.oracle_windows import window_in_duckdb
from tests.spark.row_numbers import number_rows

__all__ = ["Oracle", "spark_hash", "xxh64"]


class Oracle:
    """A database with a table for each catalog that was asked for.

    Parameters
    ----------
    tables
        The data of base catalogs, by digest; columns as in their schemas.
    """

    def __init__(self, tables: Mapping[str, pa.Table]) -> None:
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("SET threads = 1")
        self._database.execute(MACROS)
        self._tables = tables
        self._made: dict[str, str] = {}

    def table(self, catalog: Catalog) -> pa.Table:
        """Return the sources of a catalog, in the order of the key; columns as in its schema."""
        order = ", ".join(self._key(catalog))
        table = self._database.sql(f"SELECT * FROM {self._table(catalog)} ORDER BY {order}").to_arrow_table()  # noqa: S608
        return table.rename_columns(list(catalog.schema.names))

    # --- catalogs as tables ---

    def _table(self, catalog: Catalog) -> str:
        if catalog.digest not in self._made:
            meaning = self._meaning(catalog)
            name = f"t{len(self._made)}"
            if isinstance(meaning, pa.Table):
                renamed = meaning.rename_columns([f"c{n}" for n in range(meaning.num_columns)])
                self._database.register("given", renamed)
                meaning = "FROM given"
            shown = ", ".join(
                f"CAST(c{n} AS {type_in_duckdb(str(attribute.type))}) AS c{n}"
                for n, attribute in enumerate(catalog.schema.attributes)
            )
            self._database.execute(f"CREATE TABLE {name} AS SELECT {shown} FROM ({meaning})")  # noqa: S608
            self._made[catalog.digest] = name
        return self._made[catalog.digest]

    def _columns(self, catalog: Catalog) -> dict[str, str]:
        return {attribute.name: f"c{n}" for n, attribute in enumerate(catalog.schema.attributes)}

    def _key(self, catalog: Catalog) -> list[str]:
        """Return the columns of the key, in the order of the population's."""
        columns = self._columns(catalog)
        key_columns = {}
        for attribute in reversed(catalog.schema.attributes):
            for position in range(len(catalog.population.key)):
                if attribute.identity == catalog.population.key_identity(position):
                    key_columns[position] = columns[attribute.name]
        return [key_columns[position] for position in sorted(key_columns)]

    def _same_source(self, catalog: Catalog, other: Catalog, left: str = "l", right: str = "r") -> str:
        pairs = zip(self._key(catalog), self._key(other), strict=True)
        return " AND ".join(f"{left}.{mine} = {right}.{its}" for mine, its in pairs)

    # --- each class ---

    @singledispatchmethod
    def _meaning(self, catalog: Catalog) -> str | pa.Table:
        raise NotImplementedError(catalog.kind)

    @_meaning.register
    def _base(self, catalog: Base) -> pa.Table:
        return self._tables[catalog.digest]

    @_meaning.register
    def _select(self, catalog: SelectSources) -> str:
        criterion = in_duckdb(catalog.text, self._columns(catalog.parent))
        return f"SELECT * FROM {self._table(catalog.parent)} WHERE {criterion}"  # noqa: S608

    @_meaning.register
    def _restrict(self, catalog: RestrictSources) -> str:
        same = self._same_source(catalog.parent, catalog.other)
        inside = f"SELECT 1 FROM {self._table(catalog.other)} r WHERE {same}"  # noqa: S608
        return f"SELECT * FROM {self._table(catalog.parent)} l WHERE EXISTS ({inside})"  # noqa: S608

    @_meaning.register
    def _exclude(self, catalog: ExcludeSources) -> str:
        same = self._same_source(catalog.parent, catalog.other)
        inside = f"SELECT 1 FROM {self._table(catalog.other)} r WHERE {same}"  # noqa: S608
        return f"SELECT * FROM {self._table(catalog.parent)} l WHERE NOT EXISTS ({inside})"  # noqa: S608

    @_meaning.register
    def _sample(self, catalog: SampleSources) -> pa.Table:
        table = self.table(catalog.parent)
        positions = [int(column[1:]) for column in self._key(catalog.parent)]
        kinds = [str(kind) for kind in catalog.population.key]
        keys = zip(*(table.column(position).to_pylist() for position in positions), strict=True)
        hashes = (spark_hash([("bigint", catalog.seed), *zip(kinds, key, strict=True)]) for key in keys)
        return table.filter(pa.array([number % 2**63 < catalog.fraction * 2**63 for number in hashes], pa.bool_()))

    @_meaning.register
    def _keep(self, catalog: KeepAttributes) -> str:
        columns = self._columns(catalog.parent)
        return self._shown((columns[name] for name in catalog.names), f"FROM {self._table(catalog.parent)}")

    @_meaning.register
    def _rename(self, catalog: RenameAttributes) -> str:
        return f"FROM {self._table(catalog.parent)}"

    @_meaning.register
    def _combine(self, catalog: CombineAttributes) -> str:
        first, *others = catalog.members
        shown, source = {}, f"FROM {self._table(first)} m0"
        for position, member in enumerate(catalog.members):
            for name, column in self._columns(member).items():
                shown.setdefault(name, f"m{position}.{column}")
        for position, member in enumerate(others, 1):
            source += (
                f" JOIN {self._table(member)} m{position} ON {self._same_source(first, member, 'm0', f'm{position}')}"
            )
        return self._shown((shown[name] for name in catalog.schema.names), source)

    @_meaning.register
    def _concat(self, catalog: ConcatSources) -> str:
        parts = []
        for position, member in enumerate(catalog.members):
            conditions = ["TRUE"]
            for before in catalog.members[:position]:
                same = self._same_source(member, before)
                conditions.append(f"NOT EXISTS (SELECT 1 FROM {self._table(before)} r WHERE {same})")  # noqa: S608
            source = f"FROM {self._table(member)} l WHERE {' AND '.join(conditions)}"
            parts.append(
                self._shown((self._counterpart(name, catalog, member) for name in catalog.schema.names), source)
            )
        return " UNION ALL ".join(parts)

    def _counterpart(self, name: str, catalog: ConcatSources, member: Catalog) -> str:
        """Return the column of a member that goes into an attribute: of the key the key, else of the same name."""
        keys = [catalog.population.key_identity(n) for n in range(len(catalog.population.key))]
        identity, mine = catalog.members[0].schema[name].identity, self._columns(member)
        if identity in keys and member != catalog.members[0]:
            return self._key(member)[keys.index(identity)]
        return mine[name] if name in mine else mine[next(column for column in mine if column.lower() == name.lower())]

    @_meaning.register
    def _derive(self, catalog: DeriveAttributes) -> str | pa.Table:
        old = self._columns(catalog.parent)
        calculation = catalog.calculation
        if isinstance(calculation, PythonCalculator):
            table = self.table(catalog.parent)
            new = _calculated(calculation, table)
            for name in catalog.schema.names[len(old) :]:
                table = table.append_column(name, new[name])
            return table
        if isinstance(calculation, WindowFunctions):
            key = self._key(catalog.parent)
            texts = {one.name: window_in_duckdb(one.text, old, key, str(one.type)) for one in calculation.outputs}
        else:
            texts = {output.name: in_duckdb(output.text, old) for output in calculation.outputs}
        shown = [*old.values(), *(texts[name] for name in catalog.schema.names[len(old) :])]
        return self._shown(shown, f"FROM {self._table(catalog.parent)}")

    @_meaning.register
    def _cross_match(self, catalog: CrossMatch) -> pa.Table:
        left, right = self.table(catalog.left), self.table(catalog.right)
        apart = _separations(_vectors(catalog, left, 0), _vectors(catalog, right, 2))
        rule = catalog.rule
        candidates = np.where((apart <= rule.radius) & (apart >= rule.min_radius), apart, np.inf)
        if rule.radius_column is not None:
            own = _numbers(catalog.left, left, rule.radius_column[0]) * _ARCSECONDS[rule.radius_column[1]]
            candidates = np.where(candidates <= own[:, None], candidates, np.inf)
        left_places, right_places = np.nonzero(_kept(candidates, catalog.matches))
        columns = [*left.take(pa.array(left_places)).columns, *right.take(pa.array(right_places)).columns]
        return pa.table([*columns, pa.array(apart[left_places, right_places])], names=list(catalog.schema.names))

    @_meaning.register
    def _matched(self, catalog: MatchedSources) -> str:
        own = self._key(catalog.parent)
        pairs = self._key(catalog.pairs)
        pairs = pairs[: len(own)] if catalog.side == "left" else pairs[-len(own) :]
        same = " AND ".join(f"l.{column} = r.{pair_column}" for column, pair_column in zip(own, pairs, strict=True))
        inside = f"SELECT 1 FROM {self._table(catalog.pairs)} r WHERE {same}"  # noqa: S608
        return f"SELECT * FROM {self._table(catalog.parent)} l WHERE EXISTS ({inside})"  # noqa: S608

    # --- references between populations ---

    def _named_by(self, catalog: Catalog, identities: Iterable[str], table: str) -> list[str]:
        """Return the columns of a table with some identities."""
        attributes = catalog.schema.attributes
        places = [
            next(n for n, attribute in enumerate(attributes) if attribute.identity == identity)
            for identity in identities
        ]
        return [f"{table}.c{place}" for place in places]

    @_meaning.register
    def _lookup(self, catalog: LookupAttributes) -> str:
        own = self._named_by(catalog.parent, catalog.reference.identities, "l")
        same = " AND ".join(f"{mine} = r.{its}" for mine, its in zip(own, self._key(catalog.other), strict=True))
        mine, its = self._columns(catalog.parent), self._columns(catalog.other)
        shown = {new: f"r.{its[old]}" for old, new in catalog.names} | {name: f"l.{mine[name]}" for name in mine}
        how = "LEFT JOIN" if catalog.missing == "null" else "JOIN"
        source = f"FROM {self._table(catalog.parent)} l {how} {self._table(catalog.other)} r ON {same}"
        return self._shown((shown[name] for name in catalog.schema.names), source)

    @_meaning.register
    def _having(self, catalog: HavingSources) -> str:
        others = self._named_by(catalog.members, catalog.reference.identities, "r")
        same = " AND ".join(f"l.{mine} = {its}" for mine, its in zip(self._key(catalog.parent), others, strict=True))
        inside = f"SELECT 1 FROM {self._table(catalog.members)} r WHERE {same}"  # noqa: S608
        word = "EXISTS" if catalog.is_in else "NOT EXISTS"
        return f"SELECT * FROM {self._table(catalog.parent)} l WHERE {word} ({inside})"  # noqa: S608

    @_meaning.register
    def _group(self, catalog: GroupSources) -> str:
        by = self._named_by(catalog.parent, catalog.reference.identities, "l")
        columns, key = self._columns(catalog.parent), self._key(catalog.parent)
        values = [
            aggregate_in_duckdb(aggregation.text, columns, key, str(aggregation.type))
            for aggregation in catalog.aggregations
        ]
        present = " AND ".join(f"{column} IS NOT NULL" for column in by)
        source = f"FROM {self._table(catalog.parent)} l WHERE {present} GROUP BY {', '.join(by)}"
        return self._shown([*by, *values], source)

    @_meaning.register
    def _first(self, catalog: FirstSources) -> str:
        by = self._named_by(catalog.parent, catalog.by, "l")
        order = [*order_in_duckdb(catalog.text, self._columns(catalog.parent)), *self._key(catalog.parent)]
        present = " AND ".join(f"{column} IS NOT NULL" for column in by)
        window = f"row_number() OVER (PARTITION BY {', '.join(by)} ORDER BY {', '.join(order)})"
        table = self._table(catalog.parent)
        return f"SELECT * FROM {table} l WHERE {present} QUALIFY {window} <= {catalog.number}"  # noqa: S608

    @_meaning.register
    def _explode(self, catalog: ExplodeArrays) -> str:
        arrays = self._named_by(catalog.parent, catalog.arrays, "l")
        longest = ", ".join(f"coalesce(len({array}), 0)" for array in arrays)
        values = []
        for column in catalog.columns:
            (array,) = self._named_by(catalog.parent, [column.array], "l")
            field = "" if column.field is None else column.field.replace("'", "''")
            values.append(f"{array}[p + 1]" if column.field is None else f"struct_extract({array}[p + 1], '{field}')")
        key = [f"l.{key_column}" for key_column in self._key(catalog.parent)]
        source = f"FROM {self._table(catalog.parent)} l, range(greatest(0, {longest})) AS positions(p)"
        return self._shown([*key, "p", *values], source)

    # --- opaque SQL, transpiled ---

    @_meaning.register
    def _filter_by_sql(self, catalog: OpaqueSelection) -> str:
        tables = {"parent": catalog.parent, **_name_inputs(catalog.others)}
        condition = self._transpile(f"SELECT 1 WHERE {catalog.text}", tables).partition("WHERE")[2]
        return f"SELECT * FROM {self._table(catalog.parent)} AS parent WHERE {condition}"  # noqa: S608

    @_meaning.register
    def _query_by_sql(self, catalog: OpaqueQuery) -> str | pa.Table:
        text = self._transpile(catalog.text, _name_inputs(catalog.inputs))
        names = ", ".join(f"c{n}" for n in range(len(catalog.columns)))
        shown = ", ".join(f"CAST(c{n} AS {type_in_duckdb(str(one.type))})" for n, one in enumerate(catalog.columns))
        rows = self._database.sql(f"SELECT {shown} FROM ({text}) AS rows({names})").to_arrow_table()  # noqa: S608
        if not catalog.is_bag:
            return rows
        values = list(zip(*(column.to_pylist() for column in rows.columns), strict=True))
        kinds = [str(one.type) for one in catalog.columns]
        numbered = number_rows(values, [one.name for one in catalog.columns], kinds)
        columns = list(zip(*((*key, *values) for key, values in numbered), strict=True))
        columns = columns or [()] * (len(kinds) + 2)
        arrow = [pa.string(), pa.int32(), *(field.type for field in rows.schema)]
        return pa.table(
            [pa.array(values, kind) for values, kind in zip(columns, arrow, strict=True)],
            names=[f"c{n}" for n in range(len(arrow))],
        )

    def _transpile(self, text: str, catalogs: Mapping[str, Catalog]) -> str:
        """Return a query in DuckDB's dialect; columns that DuckDB cannot tell apart have the names of their tables."""
        tree = sqlglot.parse_one(text, read="spark")
        aliases = {table.alias_or_name: catalogs[table.name] for table in tree.find_all(exp.Table)}
        aliases |= {"parent": catalogs["parent"]} if "parent" in catalogs else {}
        for column in list(tree.find_all(exp.Column)):
            is_clear = column.table != "parent" and _has_clear_names(aliases.get(column.table))
            if column.table in aliases and not is_clear:
                name = self._columns(aliases[column.table])[column.name]
                column.set("this", exp.to_identifier(name))
        for table in list(tree.find_all(exp.Table)):
            if table.name in catalogs:
                source: exp.Expr = exp.to_table(self._table(catalogs[table.name]))
                if _has_clear_names(catalogs[table.name]):
                    shown = (
                        exp.alias_(exp.column(name), exp.to_identifier(own, quoted=True))
                        for own, name in self._columns(catalogs[table.name]).items()
                    )
                    source = exp.select(*shown).from_(source).subquery()
                table.replace(exp.alias_(source, table.alias_or_name, table=True))
        return tree.sql(dialect="duckdb")

    def _shown(self, columns: Iterable[str], source: str) -> str:
        return f"SELECT {', '.join(f'{column} AS c{n}' for n, column in enumerate(columns))} {source}"


def _has_clear_names(catalog: Catalog | None) -> bool:
    """Whether no two attributes differ in case alone, so that DuckDB can tell them apart by name."""
    return catalog is not None and len({name.lower() for name in catalog.schema.names}) == len(catalog.schema.names)


def _name_inputs(catalogs: Sequence[Catalog]) -> dict[str, Catalog]:
    return {f"input_{number}": one for number, one in enumerate(catalogs, 1)}


# --- positions ---

_ARCSECONDS = {"deg": 3600.0, "arcsec": 1.0, "mas": 0.001}


def _numbers(catalog: Catalog, table: pa.Table, identity: str) -> np.ndarray:
    """The values of an attribute; NaN for NULL."""
    place = next(n for n, attribute in enumerate(catalog.schema.attributes) if attribute.identity == identity)
    return table.column(place).to_numpy(zero_copy_only=False).astype(float)


def _vectors(catalog: CrossMatch, table: pa.Table, at: int) -> np.ndarray:
    """The unit vectors of the sources of one side; NaN without a position."""
    side = catalog.dependencies[at // 2]
    angles = []
    for identity, unit in catalog.coordinates[at : at + 2]:
        place = next(n for n, attribute in enumerate(side.schema.attributes) if attribute.identity == identity)
        values = table.column(place).to_numpy(zero_copy_only=False).astype(float)
        angles.append(values if unit == "rad" else np.radians(values))
    ra, dec = angles
    dec = np.where(np.abs(dec) <= np.pi / 2, dec, np.nan)
    return np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)]).T


def _separations(vectors: np.ndarray, other_vectors: np.ndarray) -> np.ndarray:
    across = np.linalg.norm(np.cross(vectors[:, None, :], other_vectors[None, :, :]), axis=2)
    return np.degrees(np.arctan2(across, np.einsum("ik,jk->ij", vectors, other_vectors))) * 3600


def _kept(candidates: np.ndarray, matches: object) -> np.ndarray:
    """Which candidates a match keeps; no candidates are infinitely far. Rows are in the order of the keys."""
    is_candidate = np.isfinite(candidates)
    if matches == "all":
        return is_candidate
    by_left, by_right = (np.argsort(np.argsort(candidates, axis=axis, kind="stable"), axis=axis) for axis in (1, 0))
    if matches == "mutual":
        return is_candidate & (by_left == 0) & (by_right == 0)
    return is_candidate & (by_left < (1 if matches == "best" else matches))


# --- Python calculators: the function itself, on all sources at once ---


_PANDAS = {
    pa.int8(): pd.Int8Dtype(),
    pa.int16(): pd.Int16Dtype(),
    pa.int32(): pd.Int32Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
_ARROW = {
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "tinyint": pa.int8(),
    "float": pa.float32(),
    "decimal(5,2)": pa.decimal128(5, 2),
}


def _calculated(calculator: PythonCalculator, table: pa.Table) -> dict[str, pa.Array]:
    """Return the outputs; what is missing for pandas is NULL."""
    if not table.num_rows:
        return {name: pa.array([], _ARROW[str(kind)]) for name, kind in calculator.outputs}
    module, _, name = calculator.function.partition(":")
    function = getattr(import_module(module), name)
    names = [next(column for column in table.column_names if column == wanted) for wanted in calculator.inputs]
    inputs = pa.table({name: table.column(name) for name in names})
    if calculator.kind == "arrow":
        result = function(inputs, **calculator.parameters)
        return {name: result.column(name).cast(_ARROW[str(kind)]) for name, kind in calculator.outputs}
    result = function(inputs.to_pandas(types_mapper=_PANDAS.get), **calculator.parameters)
    return {
        name: pa.array([None if pd.isna(value) else value for value in result[name]], _ARROW[str(kind)])
        for name, kind in calculator.outputs
    }


# --- Spark's xxhash64 ---


def spark_hash(values: Sequence[tuple[str, object]]) -> int:
    """Return what Spark's ``xxhash64`` gives for values of types, as a number of 64 bits without sign."""
    digest = 42
    for kind, value in values:
        whole = "<q" if kind == "bigint" else "<i"  # narrow integers are hashed in 32 bits
        digest = xxh64(str(value).encode() if kind == "string" else struct.pack(whole, value), digest)
    return digest


_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_ALL = 2**64 - 1


def xxh64(content: bytes, seed: int = 0) -> int:
    """Return the 64-bit xxHash of bytes, by its specification."""
    prime_1, prime_2, prime_3, prime_4, prime_5 = _PRIMES
    rest, size = content, len(content)
    if size >= 32:
        lanes = [seed + prime_1 + prime_2, seed + prime_2, seed, seed - prime_1]
        while len(rest) >= 32:
            lanes = [_round(lane, word) for lane, word in zip(lanes, struct.unpack("<4Q", rest[:32]), strict=True)]
            rest = rest[32:]
        state = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            state = ((state ^ _round(0, lane)) * prime_1 + prime_4) & _ALL
    else:
        state = seed + prime_5
    state = (state + size) & _ALL
    while len(rest) >= 8:
        (word,) = struct.unpack("<Q", rest[:8])
        state = (_rotated(state ^ _round(0, word), 27) * prime_1 + prime_4) & _ALL
        rest = rest[8:]
    if len(rest) >= 4:
        (word,) = struct.unpack("<I", rest[:4])
        state = (_rotated(state ^ (word * prime_1 & _ALL), 23) * prime_2 + prime_3) & _ALL
        rest = rest[4:]
    for byte in rest:
        state = _rotated(state ^ (byte * prime_5 & _ALL), 11) * prime_1 & _ALL
    for shift, prime in ((33, prime_2), (29, prime_3), (32, 1)):
        state = (state ^ (state >> shift)) * prime & _ALL
    return state


def _round(lane: int, word: int) -> int:
    return _rotated(lane + word * _PRIMES[1], 31) * _PRIMES[0] & _ALL


def _rotated(value: int, by: int) -> int:
    value &= _ALL
    return (value << by | value >> (64 - by)) & _ALL
