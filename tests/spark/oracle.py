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

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from tests.spark.dialect import MACROS, TYPES, in_duckdb

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
        found = self._database.sql(f"SELECT * FROM {self._table(catalog)} ORDER BY {order}").to_arrow_table()  # noqa: S608
        return found.rename_columns(list(catalog.schema.names))

    # --- catalogs as tables ---

    def _table(self, catalog: Catalog) -> str:
        if catalog.digest not in self._made:
            made = self._meaning(catalog)
            name = f"t{len(self._made)}"
            if isinstance(made, pa.Table):
                renamed = made.rename_columns([f"c{n}" for n in range(made.num_columns)])
                self._database.register("given", renamed)
                made = "FROM given"
            shown = ", ".join(
                f"CAST(c{n} AS {TYPES[str(one.type)]}) AS c{n}" for n, one in enumerate(catalog.schema.attributes)
            )
            self._database.execute(f"CREATE TABLE {name} AS SELECT {shown} FROM ({made})")  # noqa: S608
            self._made[catalog.digest] = name
        return self._made[catalog.digest]

    def _columns(self, catalog: Catalog) -> dict[str, str]:
        return {one.name: f"c{n}" for n, one in enumerate(catalog.schema.attributes)}

    def _key(self, catalog: Catalog) -> list[str]:
        """Return the columns of the key, in the order of the population's."""
        columns = self._columns(catalog)
        found = {}
        for attribute in reversed(catalog.schema.attributes):
            for position in range(len(catalog.population.key)):
                if attribute.identity == catalog.population.key_identity(position):
                    found[position] = columns[attribute.name]
        return [found[position] for position in sorted(found)]

    def _same_source(self, one: Catalog, other: Catalog, left: str = "l", right: str = "r") -> str:
        pairs = zip(self._key(one), self._key(other), strict=True)
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
        positions = [int(one[1:]) for one in self._key(catalog.parent)]
        kinds = [str(kind) for kind in catalog.population.key]
        keys = zip(*(table.column(position).to_pylist() for position in positions), strict=True)
        hashes = (spark_hash([("bigint", catalog.seed), *zip(kinds, key, strict=True)]) for key in keys)
        return table.filter(pa.array([one % 2**63 < catalog.fraction * 2**63 for one in hashes], pa.bool_()))

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
        for position, one in enumerate(catalog.members):
            for name, column in self._columns(one).items():
                shown.setdefault(name, f"m{position}.{column}")
        for position, one in enumerate(others, 1):
            source += f" JOIN {self._table(one)} m{position} ON {self._same_source(first, one, 'm0', f'm{position}')}"
        return self._shown((shown[name] for name in catalog.schema.names), source)

    @_meaning.register
    def _concat(self, catalog: ConcatSources) -> str:
        parts = []
        for position, one in enumerate(catalog.members):
            conditions = ["TRUE"]
            for before in catalog.members[:position]:
                same = self._same_source(one, before)
                conditions.append(f"NOT EXISTS (SELECT 1 FROM {self._table(before)} r WHERE {same})")  # noqa: S608
            source = f"FROM {self._table(one)} l WHERE {' AND '.join(conditions)}"
            parts.append(self._shown((self._counterpart(name, catalog, one) for name in catalog.schema.names), source))
        return " UNION ALL ".join(parts)

    def _counterpart(self, name: str, catalog: ConcatSources, member: Catalog) -> str:
        """Return the column of a member that goes into an attribute: of the key the key, else of the same name."""
        keys = [catalog.population.key_identity(n) for n in range(len(catalog.population.key))]
        identity, mine = catalog.members[0].schema[name].identity, self._columns(member)
        if identity in keys and member != catalog.members[0]:
            return self._key(member)[keys.index(identity)]
        return mine[name] if name in mine else mine[next(one for one in mine if one.lower() == name.lower())]

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
        texts = {output.name: in_duckdb(output.text, old) for output in calculation.outputs}
        shown = [*old.values(), *(texts[name] for name in catalog.schema.names[len(old) :])]
        return self._shown(shown, f"FROM {self._table(catalog.parent)}")

    @_meaning.register
    def _cross_match(self, catalog: CrossMatch) -> pa.Table:
        left, right = self.table(catalog.left), self.table(catalog.right)
        apart = _separations(_vectors(catalog, left, 0), _vectors(catalog, right, 2))
        here, there = np.nonzero(apart <= catalog.radius)
        if catalog.matches == "best":  # rows are in the order of the key: of equal ones, the first
            here = np.unique(here)
            there = np.array([np.nanargmin(apart[one]) for one in here], dtype=int)
        columns = [*left.take(pa.array(here)).columns, *right.take(pa.array(there)).columns]
        return pa.table([*columns, pa.array(apart[here, there])], names=list(catalog.schema.names))

    @_meaning.register
    def _matched(self, catalog: MatchedSources) -> str:
        own = self._key(catalog.parent)
        pairs = self._key(catalog.pairs)
        pairs = pairs[: len(own)] if catalog.side == "left" else pairs[-len(own) :]
        same = " AND ".join(f"l.{one} = r.{other}" for one, other in zip(own, pairs, strict=True))
        inside = f"SELECT 1 FROM {self._table(catalog.pairs)} r WHERE {same}"  # noqa: S608
        return f"SELECT * FROM {self._table(catalog.parent)} l WHERE EXISTS ({inside})"  # noqa: S608

    def _shown(self, columns: Iterable[str], source: str) -> str:
        return f"SELECT {', '.join(f'{one} AS c{n}' for n, one in enumerate(columns))} {source}"


# --- positions ---


def _vectors(catalog: CrossMatch, table: pa.Table, at: int) -> np.ndarray:
    """The unit vectors of the sources of one side; NaN without a position."""
    side = catalog.dependencies[at // 2]
    found = []
    for identity, unit in catalog.coordinates[at : at + 2]:
        place = next(n for n, one in enumerate(side.schema.attributes) if one.identity == identity)
        values = table.column(place).to_numpy(zero_copy_only=False).astype(float)
        found.append(values if unit == "rad" else np.radians(values))
    ra, dec = found
    dec = np.where(np.abs(dec) <= np.pi / 2, dec, np.nan)
    return np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)]).T


def _separations(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    across = np.linalg.norm(np.cross(one[:, None, :], other[None, :, :]), axis=2)
    return np.degrees(np.arctan2(across, np.einsum("ik,jk->ij", one, other))) * 3600


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
    names = [next(one for one in table.column_names if one == given) for given in calculator.inputs]
    inputs = pa.table({name: table.column(name) for name in names})
    if calculator.kind == "arrow":
        found = function(inputs, **calculator.parameters)
        return {name: found.column(name).cast(_ARROW[str(kind)]) for name, kind in calculator.outputs}
    found = function(inputs.to_pandas(types_mapper=_PANDAS.get), **calculator.parameters)
    return {
        name: pa.array([None if pd.isna(value) else value for value in found[name]], _ARROW[str(kind)])
        for name, kind in calculator.outputs
    }


# --- Spark's xxhash64 ---


def spark_hash(values: Sequence[tuple[str, object]]) -> int:
    """Return what Spark's ``xxhash64`` gives for values of types, as a number of 64 bits without sign."""
    found = 42
    for kind, value in values:
        whole = "<q" if kind == "bigint" else "<i"  # narrow integers are hashed in 32 bits
        found = xxh64(str(value).encode() if kind == "string" else struct.pack(whole, value), found)
    return found


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
    one, two, three, four, five = _PRIMES
    rest, size = content, len(content)
    if size >= 32:
        lanes = [seed + one + two, seed + two, seed, seed - one]
        while len(rest) >= 32:
            lanes = [_round(lane, word) for lane, word in zip(lanes, struct.unpack("<4Q", rest[:32]), strict=True)]
            rest = rest[32:]
        found = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            found = ((found ^ _round(0, lane)) * one + four) & _ALL
    else:
        found = seed + five
    found = (found + size) & _ALL
    while len(rest) >= 8:
        (word,) = struct.unpack("<Q", rest[:8])
        found = (_rotated(found ^ _round(0, word), 27) * one + four) & _ALL
        rest = rest[8:]
    if len(rest) >= 4:
        (word,) = struct.unpack("<I", rest[:4])
        found = (_rotated(found ^ (word * one & _ALL), 23) * two + three) & _ALL
        rest = rest[4:]
    for byte in rest:
        found = _rotated(found ^ (byte * five & _ALL), 11) * one & _ALL
    for shift, prime in ((33, two), (29, three), (32, 1)):
        found = (found ^ (found >> shift)) * prime & _ALL
    return found


def _round(lane: int, word: int) -> int:
    return _rotated(lane + word * _PRIMES[1], 31) * _PRIMES[0] & _ALL


def _rotated(value: int, by: int) -> int:
    value &= _ALL
    return (value << by | value >> (64 - by)) & _ALL
