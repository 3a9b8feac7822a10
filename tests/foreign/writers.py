"""Writers of tables that are not provenn, each with its own reader, and what each can hold."""

import gzip
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from astropy.io import ascii, fits, votable  # noqa: A004 - as it is called
from astropy.table import Table
from pyarrow import parquet

from tests.foreign.tables import Drawn, Rows, arrow_table, astropy_table, from_arrow, from_astropy
from tests.programs import program
from tests.waiting import LIMIT

__all__ = ["WRITERS", "Writer", "spark_writers"]

SIGNED = frozenset({"int8", "int16", "int32", "int64"})
UNSIGNED = frozenset({"uint8", "uint16", "uint32", "uint64"})
FLOATS = frozenset({"float32", "float64"})
PLAIN = SIGNED | UNSIGNED | FLOATS | {"bool", "text"}
TIMES = frozenset({"date", "moment", "utc", "nanoseconds"})
EVERYTHING = PLAIN | TIMES | {"bytes", "decimal", "list", "pair"}


@dataclass(frozen=True)
class Writer:
    """A writer.

    Parameters
    ----------
    suffix
        How the names of its files end.
    write, read
        It, and its own reader.
    kinds, nullable
        The kinds of columns that it has, and those of them in which a value may be missing.
    texts
        What it makes of a text that it can hold.
    same
        What cannot be told apart in it: ``nan_is_null``, ``empty_is_null``.
    given
        How a file is ingested.
    by_spark
        Whether Spark reads it, and not a conversion.
    """

    suffix: str
    write: Callable[[Drawn, Path], None]
    read: Callable[[Path], Rows]
    kinds: frozenset[str] = EVERYTHING
    nullable: frozenset[str] = EVERYTHING
    texts: Callable[[str], str] = str
    same: dict[str, bool] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)
    by_spark: bool = False


def ascii_text(text: str) -> str:
    """Return a text that FITS and tables of fixed width hold: not empty, no blanks around it, in ASCII."""
    return re.sub(r"[^abXY0-9#%,']", "_", text) or "a"


def word(text: str) -> str:
    """Return a text that is no number and no NULL, for formats that guess."""
    return f"w{re.sub(r'[^abXY é,#%]', '_', text)}w"


# --- Parquet ---


def write_pandas(drawn: Drawn, path: Path) -> None:
    """Write a data frame, whose columns of whole numbers and logicals can be NULL; its index has no name."""
    frame = arrow_table(drawn).to_pandas(types_mapper=_nullable)
    frame.index = pd.Index(np.arange(drawn.rows) * 10)
    frame.to_parquet(path)


def _nullable(kind: pa.DataType) -> Any:
    names = {"bool": "boolean"} | {
        f"{sign.lower()}int{bits}": f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)
    }
    name = names.get(str(kind))
    return pd.api.types.pandas_dtype(name) if name else None


def read_pandas(path: Path) -> Rows:
    frame = pd.read_parquet(path)
    rows = {"__index_level_0__": frame.index.tolist()}
    for name in frame.columns:
        if str(frame[name].dtype).startswith("datetime64"):
            rows |= {name: from_arrow(pa.table({name: pa.array(frame[name])}))[name]}
        else:
            rows[name] = [_pandas_cell(item) for item in frame[name].tolist()]
    return rows


def _pandas_cell(item: Any) -> Any:
    if isinstance(item, np.ndarray):
        return item.tolist()
    return None if item is pd.NA or item is None else item


def write_astropy(drawn: Drawn, path: Path) -> None:
    """Write a table, whose bytes are text, as those are that come from FITS."""
    kind, values = drawn.columns["c_bytes"]
    texts = [None if value is None else value.hex().encode() for value in values]
    astropy_table(Drawn(drawn.rows, drawn.columns | {"c_bytes": (kind, texts)})).write(path)


def read_astropy(path: Path) -> Rows:
    rows = from_astropy(Table.read(path))
    return {
        name: [value.decode() if isinstance(value, bytes) else value for value in values]
        for name, values in rows.items()
    }


def write_duckdb(drawn: Drawn, path: Path) -> None:
    given = arrow_table(drawn)  # noqa: F841 - DuckDB finds it by name
    duckdb.connect().execute(f"COPY (SELECT * FROM given) TO '{path}' (FORMAT parquet)")  # noqa: S608 - a path of ours


def read_duckdb(path: Path) -> Rows:
    return from_arrow(duckdb.connect().read_parquet(str(path)).to_arrow_table())


def write_hats(drawn: Drawn, path: Path) -> None:
    """Write the rows in parts of the sky, by hand."""
    table = arrow_table(drawn)
    table = table.append_column("ra", pa.array(np.linspace(0, 350, drawn.rows)))
    table = table.append_column("dec", pa.array(np.linspace(-80, 80, drawn.rows)))
    pixels = np.arange(drawn.rows) % 3
    for pixel in np.unique(pixels).tolist():
        place = path / "dataset" / "Norder=0" / "Dir=0"
        place.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table.filter(pa.array(pixels == pixel)), place / f"Npix={pixel}.parquet")
    lines = [f"0,{pixel}" for pixel in np.unique(pixels)]
    (path / "partition_info.csv").write_text("\n".join(["Norder,Npix", *lines, ""]))
    messages = ["dataproduct_type=object", f"hats_nrows={drawn.rows}", "hats_col_ra=ra", "hats_col_dec=dec"]
    (path / "hats.properties").write_text("\n".join(messages))


def read_hats(path: Path) -> Rows:
    tables = [parquet.ParquetFile(item).read() for item in sorted(path.rglob("Npix=*.parquet"))]
    return from_arrow(pa.concat_tables(tables))


# --- FITS ---


def write_fits_ascii(drawn: Drawn, path: Path) -> None:
    """Write a table of text, which has other columns: numbers of 64 bits and texts."""
    forms = {"int64": "I21", "float64": "D25.17", "text": "A8"}
    columns = [
        fits.Column(name, forms[kind], array=np.array(values, "U8" if kind == "text" else kind))
        for name, (kind, values) in drawn.columns.items()
    ]
    fits.HDUList([fits.PrimaryHDU(), fits.TableHDU.from_columns(columns)]).writeto(path)


def write_fits_variable(drawn: Drawn, path: Path) -> None:
    """Write arrays of different lengths, scaled numbers, and numbers of which one stands for NULL."""
    columns = [fits.Column("id", "K", array=np.arange(drawn.rows))]
    lists = drawn.columns["c_list"][1]
    cells = np.empty(drawn.rows, object)
    cells[:] = [np.array(item, "f8") for item in lists]
    columns.append(fits.Column("c_list", "PD()", array=cells))
    numbers = np.array(drawn.columns["c_int8"][1], "i4")
    columns.append(fits.Column("scaled", "J", array=numbers))
    columns.append(fits.Column("nullable", "I", null=-99, array=np.where(numbers % 3 == 0, numbers, -99).astype("i2")))
    table = fits.BinTableHDU.from_columns(columns)
    table.header.update(XSCAL3=0.5, XZERO3=10)
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(path)
    path.write_bytes(path.read_bytes().replace(b"XSCAL3", b"TSCAL3").replace(b"XZERO3", b"TZERO3"))


def read_fits(path: Path) -> Rows:
    return from_astropy(Table.read(path, hdu=1))


# --- VOTable ---


def votable_writer(form: str) -> Callable[[Drawn, Path], None]:
    """Return a writer of one of the forms of VOTables."""

    def write(drawn: Drawn, path: Path) -> None:
        result = votable.from_table(astropy_table(drawn))
        result.version = "1.4"
        votable.writeto(result, str(path), tabledata_format=form)

    return write


def read_votable(path: Path) -> Rows:
    return from_astropy(votable.parse_single_table(path, verify="ignore").to_table())


def write_votable_fits(drawn: Drawn, path: Path) -> None:
    """Write a VOTable that carries a FITS file, with STILTS."""
    astropy_table(drawn).write(path.with_suffix(".fits"))
    places = [f"in={path.with_suffix('.fits')}", f"out={path}", "ofmt=votable-fits-inline"]
    subprocess.run([program("stilts"), "tpipe", *places], check=True, timeout=LIMIT)


def read_votable_fits(path: Path) -> Rows:
    return read_fits(path.with_suffix(".fits"))


# --- text ---


def ascii_writer(form: str, **options: Any) -> Callable[[Drawn, Path], None]:
    """Return a writer of one of astropy's formats of text."""

    def write(drawn: Drawn, path: Path) -> None:
        astropy_table(drawn).write(path, format=f"ascii.{form}", **options)
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(path.read_bytes()))

    return write


def ascii_reader(form: str, **options: Any) -> Callable[[Path], Rows]:
    """Return a reader of one of astropy's formats of text."""

    def read(path: Path) -> Rows:
        return from_astropy(Table.read(path, format=f"ascii.{form}", **options))

    return read


def write_csv(drawn: Drawn, path: Path) -> None:
    arrow_table(drawn).to_pandas(types_mapper=_nullable).to_csv(path, index=False)


def read_csv(path: Path) -> Rows:
    """Read texts, and make of them what they are: pandas itself takes the least whole number for NULL."""
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=object)
    kinds = {"id": int, "c_int64": int, "c_float64": float, "c_bool": "True".__eq__}
    return {
        name: [None if isinstance(item, float) else kinds.get(name, str)(item) for item in frame[name].tolist()]
        for name in frame.columns
    }


_NUMBERS = SIGNED | FLOATS
_VOTABLE = frozenset({"int16", "int32", "int64", "float32", "float64", "bool", "text", "pair"})
_MASKED = _VOTABLE - {"bool", "pair"}
_NAN = {"nan_is_null": True}
_LOOSE = {"nan_is_null": True, "empty_is_null": True}

WRITERS: dict[str, Writer] = {
    "parquet by pyarrow": Writer(
        ".parquet", lambda drawn, path: parquet.write_table(arrow_table(drawn), path, row_group_size=2),
        lambda path: from_arrow(parquet.read_table(path)), by_spark=True,
    ),
    "parquet by pandas": Writer(".parquet", write_pandas, read_pandas, same=_NAN, by_spark=True),
    "parquet by polars": Writer(
        ".parquet", lambda drawn, path: pl.from_arrow(arrow_table(drawn)).write_parquet(path),
        lambda path: from_arrow(pl.read_parquet(path).to_arrow()), by_spark=True,
    ),
    "parquet by duckdb": Writer(  # its arrays that are NULL are refused
        ".parquet", write_duckdb, read_duckdb, nullable=EVERYTHING - {"pair"}, by_spark=True
    ),
    "parquet by astropy": Writer(
        ".parquet", write_astropy, read_astropy, PLAIN | {"bytes", "pair"}, by_spark=True,
        texts=lambda text: text or "a",  # a column of empty texts alone has no type
    ),
    "hats": Writer("", write_hats, read_hats, by_spark=True),
    "fits": Writer(
        ".fits", lambda drawn, path: astropy_table(drawn).write(path), read_fits, PLAIN | {"pair"},
        _NUMBERS - {"int8"} | {"text"}, ascii_text, _LOOSE,
    ),
    "fits as text": Writer(
        ".fits", write_fits_ascii, read_fits, frozenset({"int64", "float64", "text"}), frozenset(), ascii_text, _LOOSE
    ),
    "fits with arrays and scales": Writer(
        ".fits", write_fits_variable, read_fits, frozenset({"int64", "int8", "list"}), frozenset(), same=_NAN
    ),
    **{
        f"votable, {form}": Writer(
            ".vot", votable_writer(form), read_votable, _VOTABLE, nullable, ascii_text, _LOOSE
        )
        for form, nullable in (("tabledata", _MASKED), ("binary", _MASKED & FLOATS | {"text"}), ("binary2", _MASKED))
    },
    "ecsv with blanks": Writer(
        ".ecsv", ascii_writer("ecsv"), ascii_reader("ecsv"), PLAIN | {"pair"}, texts=str.strip,
        same={"empty_is_null": True},
    ),
    "ecsv with commas": Writer(
        ".csv.gz", ascii_writer("ecsv", delimiter=","), ascii_reader("ecsv"), PLAIN | {"pair"}, texts=str.strip,
        same={"empty_is_null": True},
    ),
    "ipac": Writer(
        ".tbl", ascii_writer("ipac"), ascii_reader("ipac"), SIGNED | {"float64", "text"}, texts=ascii_text, same=_LOOSE
    ),
    "mrt": Writer(
        ".mrt", ascii_writer("mrt"), ascii_reader("mrt"), frozenset({"int32", "int64", "text"}),
        frozenset({"text"}), ascii_text, _LOOSE,
    ),
    "csv by pandas": Writer(
        ".csv", write_csv, read_csv, frozenset({"int64", "float64", "text", "bool"}), texts=word, same=_LOOSE,
        by_spark=True,
    ),
    "tsv by astropy": Writer(
        ".tsv", ascii_writer("tab", fill_values=[(ascii.masked, "")]), ascii_reader("tab"),
        frozenset({"int64", "text"}), texts=word, same=_LOOSE, by_spark=True,
    ),
}  # fmt: skip
"""The writers that need nothing but themselves."""


def spark_writers(session: Any) -> dict[str, Writer]:
    """Return Spark as a writer, with moments as it writes them now, and as it wrote them once."""
    kinds = SIGNED | FLOATS | {"bool", "text", "bytes", "date", "moment", "utc", "decimal", "list"}

    def writer(moments: str) -> Writer:
        def write(drawn: Drawn, path: Path) -> None:
            session.conf.set("spark.sql.parquet.outputTimestampType", moments)
            try:
                session.createDataFrame(arrow_table(drawn)).write.parquet(str(path))
            finally:
                session.conf.unset("spark.sql.parquet.outputTimestampType")

        return Writer(
            ".parquet", write, lambda path: from_arrow(session.read.parquet(str(path)).toArrow()), kinds, by_spark=True
        )

    return {f"parquet by Spark, {moments}": writer(moments) for moments in ("TIMESTAMP_MICROS", "INT96")}


STILTS = {
    "votable with a FITS file, by STILTS": Writer(
        ".vot", write_votable_fits, read_votable_fits, _MASKED, FLOATS | {"text"}, ascii_text, _LOOSE
    ),
}  # fmt: skip
"""Those that need STILTS, which takes a second to start."""
