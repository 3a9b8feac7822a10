"""Every function, operator and cast that criteria accept, on many values: what one Spark makes of them, as a file.

Two files are compared bit for bit: those of two Javas, or of two environments. `main` runs in a process of its own.
"""

import struct
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provenn.criteria import Attribute, parse_expression, parse_type, render
from provenn.criteria.calls import list_functions
from provenn.criteria.functions import FUNCTIONS
from provenn.spark.engine import Engine

__all__ = ["EXPRESSIONS", "FOREIGN", "TYPES", "covered_functions", "differing", "read_results", "write_inputs"]

TYPES = {
    "double": "double",
    "double2": "double",
    "angle": "double",
    "float": "float",
    "int": "int",
    "int2": "int",
    "small": "int",
    "bigint": "bigint",
    "string": "string",
    "string2": "string",
    "string3": "string",
    "number": "string",
    "moment": "string",
    "date": "date",
    "date2": "date",
    "timestamp": "timestamp",
    "local": "timestamp_ntz",
    "boolean": "boolean",
    "decimal": "decimal(30,12)",
    "place": "double",
    "list": "array<double>",
}
"""The columns of the inputs. `number` and `moment` are texts that stand for numbers, and for dates and times."""

_COLUMNS = {  # by the kind of an argument: what takes it, in turn
    "double": ("double", "double2"),
    "string": ("string", "string2", "string3"),
    "int": ("int", "int2", "small"),
    "bigint": ("bigint",),
    "date": ("date", "date2"),
    "timestamp": ("timestamp",),
    "any": ("double", "string", "timestamp", "decimal", "float"),
    "whole": ("3",),
    "text": ("'quarter'",),
}
_CHOSEN = {("sha2", 1): "256", ("make_date", 0): "small * 100000 + 2000"}
_FREE = {
    "abs": ["abs(double)", "abs(int)", "abs(decimal)"],
    "array_contains": ["array_contains(list, double)", "array_contains(list, 0.5)"],
    "bround": ["bround(double, 3)", "bround(float, 2)", "bround(decimal, 3)", "bround(int, -2)", "bround(angle, 9)"],
    "ceil": ["ceil(double)", "ceil(decimal)"],
    "coalesce": ["coalesce(int, small)"],
    "element_at": ["element_at(list, 2)", "element_at(list, -1)"],
    "floor": ["floor(double)", "floor(decimal)"],
    "get": ["get(list, small)", "(list)[0]"],
    "greatest": ["greatest(double, double2)", "greatest(string, string2)"],
    "if": ["if(boolean, double, double2)"],
    "ilike": ["string ILIKE '%s_%'", "ilike(string2, '%é%')"],
    "isnan": ["isnan(double)"],
    "isnotnull": ["isnotnull(int)"],
    "isnull": ["isnull(int)"],
    "least": ["least(double, double2)", "least(string, string2)"],
    "like": ["string LIKE '%s_%'"],
    "mod": ["mod(double, double2)", "mod(decimal, 7)", "int % small"],
    "negative": ["negative(double)"],
    "nullif": ["nullif(int, small)"],
    "nvl2": ["nvl2(int, string, string2)"],
    "pmod": ["pmod(double, double2)", "pmod(int, small)"],
    "positive": ["positive(double)"],
    "rlike": [
        r"string RLIKE '^[a-z]+\\d?'",
        r"rlike(string2, '\\bs')",
        r"string RLIKE '\\Bs'",
        r"string RLIKE '(?i)É'",
        r"string RLIKE '(?iu)é'",
        r"string RLIKE '(?iu)[a-zà-ÿ]$'",
        r"string RLIKE '^\\w+$'",
        r"string RLIKE '^\\S\\W'",
        r"string RLIKE '\\s'",
        r"string RLIKE '^.$'",
        r"string RLIKE '(?m)^s|s$'",
        r"string RLIKE '(.)\\1'",
        r"string RLIKE '[^\\x00-\\uffff]'",
    ],
    "round": ["round(double, 3)", "round(float, 2)", "round(decimal, 3)", "round(int, -2)", "round(angle, 9)"],
    "size": ["size(list)"],
    "to_date": ["to_date(moment)"],
    "to_timestamp": ["to_timestamp(moment)"],
    "try_add": ["double + double2", "decimal + 1.5", "int + int2"],
    "try_element_at": ["try_element_at(list, -3)"],
    "try_divide": ["double / double2", "decimal / 7", "int / small"],
    "try_mod": ["try_mod(int, small)"],
    "try_multiply": ["double * double2", "decimal * 1.7", "float * float"],
    "try_subtract": ["double - double2", "decimal - 0.3", "int - int2"],
    "healpix_index": ["healpix_index(8, angle, place)", "healpix_index(0, angle, place)"],
    "in_cone": ["in_cone(angle, place, 56.75, 24.12, 40)"],
    "in_box": ["in_box(angle, place, 20, 300, -30, 50)"],
    "in_moc": ["in_moc(angle, place, '3/1-400 5/5000-6000')"],
    "in_polygon": ["in_polygon(angle, place, 10, 10, 80, 10, 60, 60, 20, 50)"],
    # Casts by the name of a type.
    "tinyint": ["tinyint(double)", "tinyint(number)"],
    "smallint": ["smallint(double)", "smallint(number)"],
    "int": ["int(double)", "int(number)", "int(decimal)"],
    "bigint": ["bigint(double)", "bigint(number)", "bigint(float)"],
    "float": ["float(double)", "float(number)", "float(decimal)", "float(bigint)"],
    "double": ["double(float)", "double(number)", "double(decimal)", "double(bigint)"],
    "decimal": [
        "decimal(double)",
        "CAST(double AS decimal(38,18))",
        "CAST(angle AS decimal(38,18))",
        "CAST(float AS decimal(38,18))",
        "CAST(number AS decimal(38,18))",
    ],
    "string": [
        "string(double)",
        "string(angle)",
        "string(float)",
        "string(decimal)",
        "string(date)",
        "string(timestamp)",
        "string(local)",
        "string(bigint)",
        "string(boolean)",
    ],
    "boolean": ["boolean(string)", "boolean(number)", "boolean(double)"],
    "date": ["date(moment)", "date(timestamp)", "date(local)", "CAST(string AS date)", "CAST(number AS date)"],
    "timestamp": [
        "timestamp(moment)",
        "timestamp(date)",
        "timestamp(local)",
        "CAST(string AS timestamp)",
        "CAST(number AS timestamp)",
        "CAST(moment AS timestamp_ntz)",
        "CAST(timestamp AS timestamp_ntz)",
        "CAST(date AS timestamp_ntz)",
    ],
}
_OPERATORS = {
    "order of doubles": "CASE WHEN double < double2 THEN 'less' WHEN double = double2 THEN 'equal' ELSE 'more' END",
    "order of texts": "CASE WHEN string < string2 THEN 'less' WHEN string = string2 THEN 'equal' ELSE 'more' END",
    "order of moments": "CASE WHEN timestamp < date THEN 'less' WHEN local = timestamp THEN 'equal' ELSE 'more' END",
    "bits": "(int & int2) | (int ^ ~int2)",
    "joined texts": "string || string2",
    "in a list": "string IN ('s', 'S', 'ß', 'ss')",
}


def _fixed(name: str) -> Iterator[str]:
    function = FUNCTIONS[name]
    for count in range(max(function.least, 0), len(function.arguments) + 1):
        taken: dict[str, int] = {}
        arguments = []
        for kind in function.arguments[:count]:
            number = taken.get(kind, 0)
            taken[kind] = number + 1
            arguments.append(_CHOSEN.get((name, len(arguments))) or _COLUMNS[kind][number])
        if function.repeats and count == len(function.arguments):
            arguments += [one for one in _COLUMNS[function.arguments[-1]][:4] if one not in arguments]
        yield f"{name}({', '.join(arguments)})"
        angles = [{"double": "angle", "double2": "place"}.get(one, one) for one in arguments]
        if angles != arguments:
            yield f"{name}({', '.join(angles)})"
            units = [f"{one} / 360" if one in ("angle", "place") else one for one in angles]
            yield f"{name}({', '.join(units)})"


def _expressions() -> dict[str, tuple[str, ...]]:
    fixed = {name: tuple(dict.fromkeys(_fixed(name))) for name in FUNCTIONS}
    free = {name: tuple(found) for name, found in _FREE.items()}
    return fixed | free | {name: (text,) for name, text in _OPERATORS.items()}


EXPRESSIONS = _expressions()
"""What is tried of each function, by its name, and of operators."""


def covered_functions() -> set[str]:
    """Return the functions of which something is tried."""
    return {name for name in EXPRESSIONS if name in list_functions()}


# --- inputs ---


def write_inputs(file: Path, rows: int, seed: int = 15) -> None:
    """Write a table with values of every type: ordinary ones, extreme ones, and random bits."""
    random = np.random.default_rng(seed)
    bits = random.integers(-(2**63), 2**63, rows, dtype=np.int64)
    third = np.arange(rows) % 3
    digits = np.round(random.uniform(-1000, 1000, rows), 3)
    double = np.where(third == 0, bits.view(np.float64), np.where(third == 1, digits, random.normal(0, 10, rows)))
    other = np.where(third == 0, np.roll(double, 1), np.where(third == 1, random.uniform(0, 4, rows), 0.5))
    narrow = random.integers(-(2**31), 2**31, rows, dtype=np.int64).astype(np.int32).view(np.float32)
    single = np.where(third == 0, narrow, random.uniform(0, 100, rows).astype(np.float32))
    whole = random.integers(-(2**31), 2**31, rows, dtype=np.int64)
    small = random.integers(-20, 40, rows)
    days = random.integers(-800_000, 2_900_000, rows)
    micros = random.integers(-60_000_000_000_000_000, 250_000_000_000_000_000, rows)
    strings = [_string(number, random) for number in range(rows)]
    exact = random.integers(-(10**17), 10**17, rows)
    arrays = {
        "row": pa.array(np.arange(rows)),
        "double": pa.array(double),
        "double2": pa.array(other),
        "angle": pa.array(random.uniform(0, 360, rows)),
        "float": pa.array(single, pa.float32()),
        "int": pa.array(whole, pa.int32()),
        "int2": pa.array(np.roll(small, 1), pa.int32()),
        "small": pa.array(small, pa.int32()),
        "bigint": pa.array(np.where(third == 0, bits, micros)),
        "string": pa.array(strings),
        "string2": pa.array([strings[-number // 2] for number in range(rows)]),
        "string3": pa.array([text[:2] for text in strings]),
        "number": pa.array([_number_text(number, random) for number in range(rows)]),
        "moment": pa.array([_moment_text(number, random) for number in range(rows)]),
        "date": pa.array(days.astype("datetime64[D]")),
        "date2": pa.array(np.roll(days, 1).astype("datetime64[D]")),
        "timestamp": pa.array(micros.astype("datetime64[us]"), pa.timestamp("us", "UTC")),
        "local": pa.array(np.roll(micros, 1).astype("datetime64[us]")),
        "boolean": pa.array(small > 0),
        "decimal": pa.array([Decimal(int(value)).scaleb(-12) for value in exact], pa.decimal128(30, 12)),
        "place": pa.array(random.uniform(-90, 90, rows)),
        "list": pa.array([other[:number] if number else None for number in small % 6]),
    }
    pq.write_table(pa.table(arrays), file, row_group_size=rows // 2 + 1)


_PARTS = [
    "s",
    "S",
    "ss",
    "ß",
    "İ",
    "ı",
    "I",
    "i",
    "é",
    "É",
    "Σ",
    "ς",
    "σ",
    "ǆ",
    "ﬁ",
    " ",
    "-",
    "_",
    "1",
    "'",
    "\n",
    "\t",
]
_PARTS += ["\u00a0", "\u2028", "\u0345", "\u0301", "a", "Z", "\U00010400", "\U0001f600", "\u1c89", "\ua7cb", "\u0000"]


def _string(number: int, random: np.random.Generator) -> str:
    """Return a text: all characters one after the other, and among them mixtures of those whose cases are odd."""
    code = number - number // 3
    if number % 3 < 2 and not 0xD800 <= code < 0xE000 and code < 0x30000:
        return chr(code) + "s" * (number % 2)
    return "".join(_PARTS[at] for at in random.integers(0, len(_PARTS), int(random.integers(0, 9))))


def _number_text(number: int, random: np.random.Generator) -> str:
    value = struct.unpack("<d", random.bytes(8))[0]
    match number % 8:
        case 0:
            return repr(value)
        case 1:
            return f"{random.integers(-(10**17), 10**17)}{random.integers(0, 10**17)}e{random.integers(-340, 320)}"
        case 2:
            return f"{random.uniform(-1e6, 1e6):.20f}"
        case 3:
            return str(random.integers(-(10**10), 10**10))
        case 4:
            return f" {random.normal():.3g}{'dDfF '[number // 8 % 5]}"
        case 5:
            return value.hex()
        case 6:
            return ["NaN", "inf", "-Infinity", "1e400", "1e-400", "0x10", "١٢", "", "t", "no", "yes", "1."][
                number // 8 % 12
            ]
        case _:
            middle = np.nextafter(np.float32(random.normal()), np.float32(9))
            return f"{(float(middle) + float(np.nextafter(middle, np.float32(9)))) / 2!r}"


_WORDS = ["now", "today", "tomorrow", "yesterday", "epoch", " Today ", "NOW UTC", "today Europe/Paris", "nowhere", ""]
_ZONES = [
    "",
    "Z",
    "+01:00",
    "-5",
    " UTC",
    " GMT",
    " Europe/Paris",
    " America/New_York",
    " EST",
    " UTC+3",
    "+1:30",
    " PST",
]


def _moment_text(number: int, random: np.random.Generator) -> str:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(
        seconds=int(random.integers(-60_000_000_000, 200_000_000_000))
    )
    day = date.isoformat(moment.date())
    clock = f"{moment:%H:%M:%S}.{random.integers(0, 10**9):09}"[: int(random.integers(5, 19))]
    match number % 8:
        case 0:
            return _WORDS[number // 8 % len(_WORDS)]
        case 1:
            return f"{'T' * (number // 8 % 2)}{clock}{_ZONES[number // 16 % len(_ZONES)]}"
        case 2:
            return day
        case 3:
            return f"{moment.year}-{moment.month}-{moment.day} {moment.hour}:{moment.minute}:{moment.second}"
        case 4:
            return f"{moment.year:04}{f'-{moment.month:02}' * (number // 8 % 2)}"
        case 5:
            return f" +{int(random.integers(10_000, 300_000))}-01-02T03:04:05 "
        case _:
            return f"{day}{' T'[number // 8 % 2]}{clock}{_ZONES[number // 16 % len(_ZONES)]}"


# --- results ---


FOREIGN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "Asia/Kathmandu",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.icu.caseMappings.enabled": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.files.maxPartitionBytes": "400000",
}
"""Settings of a session that somebody else has started: the first are pinned to others, the last stay."""


def foreign_engine() -> Engine:
    """Return an engine on a session of somebody else."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - for this process alone

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name, value in FOREIGN.items():
        builder = builder.config(name, value)
    return Engine(builder.getOrCreate())


def compute_battery(engine: Engine, source: str, result: str) -> str:
    """Evaluate all expressions on a table of inputs, and write what comes out; return the version of Java."""
    schema = {name: Attribute(name, parse_type(kind)) for name, kind in TYPES.items()}
    texts = [text for found in EXPRESSIONS.values() for text in found]
    session = engine.session
    session.read.parquet(source).createOrReplaceTempView("inputs")
    for start in range(0, len(texts), 25):  # in parts that Java compiles well
        part = texts[start : start + 25]
        rendered = [render(parse_expression(text, schema), {name: name for name in TYPES}) for text in part]
        columns = ", ".join(f"{sql} AS c{start + number}" for number, sql in enumerate(rendered))
        session.sql(f"SELECT row, {columns} FROM inputs").write.parquet(f"{result}/{start:04}")  # noqa: S608
    return str(session._jvm.java.lang.System.getProperty("java.version"))


def read_results(place: Path) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Yield each expression with its values, in the order of the inputs."""
    texts = [text for found in EXPRESSIONS.values() for text in found]
    for folder in sorted(part.name for part in place.iterdir()):
        files = sorted((place / folder).glob("part-*.parquet"))
        table = pa.concat_tables([pq.read_table(file) for file in files]).sort_by("row")
        for name in table.column_names[1:]:
            yield texts[int(name[1:])], table[name]


def differing(one: Path, other: Path) -> dict[str, int]:
    """Return in how many rows two results differ, by expression; NaN equals NaN, and 0.0 does not equal -0.0."""
    pairs = zip(read_results(one), read_results(other), strict=True)
    return {text: _count_differences(left, right) for (text, left), (_, right) in pairs}


def _count_differences(left: pa.ChunkedArray, right: pa.ChunkedArray) -> int:
    if left.type != right.type or len(left) != len(right):
        return len(left)
    views = {pa.float64(): np.int64, pa.float32(): np.int32}
    if left.type in views:
        nulls = pc.sum(pc.xor(left.is_null(), right.is_null())).as_py()
        one, other = (side.fill_null(0).to_numpy() for side in (left, right))
        same = (one.view(views[left.type]) == other.view(views[left.type])) | (np.isnan(one) & np.isnan(other))
        return int((~same).sum()) + nulls
    both = pc.and_(left.is_null(), right.is_null())
    same = pc.or_(pc.fill_null(pc.equal(left, right), fill_value=False), both)
    return len(left) - pc.sum(same).as_py()


if __name__ == "__main__":
    with foreign_engine() as on_foreign_session:
        compute_battery(on_foreign_session, *sys.argv[1:])
