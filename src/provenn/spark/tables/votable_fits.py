"""The rows of a VOTable that carries a FITS file: the stream is decoded into a file, and read as FITS is."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, Any
from xml.parsers import expat

import pyarrow as pa

from provenn.catalogs.file_columns import Column
from provenn.catalogs.fits_columns import fits_table
from provenn.errors import BaseFilesError
from provenn.spark.tables.arrow_types import arrow_type
from provenn.spark.tables.fits_rows import fits_batches

__all__ = ["votable_fits_batches"]

_BLOCK = 1 << 20


def votable_fits_batches(file: IO[bytes], columns: Sequence[Column], name: str, number: int) -> Iterator[Any]:
    """Yield the rows of a table of a VOTable, whose data are a FITS file within it.

    Parameters
    ----------
    file
        The VOTable, at its beginning.
    columns
        What the table holds, as its fields say.
    name
        What to call it in errors.
    number
        The number of the table.

    Raises
    ------
    BaseFilesError
        If there is no such FITS file, or it holds something else than the fields say.
    """
    schema = pa.schema([pa.field(one.name, arrow_type(one.type)) for one in columns])
    with TemporaryFile() as inner:
        extension = _Unpacking(inner, name, number).run(file)
        inner.seek(0)
        table = fits_table(inner, f"the FITS file in {name}", extension)
        kinds = [arrow_type(one.type) for one in table.columns]
        if len(kinds) != len(schema) or not all(map(_same_values, kinds, schema.types)):
            raise BaseFilesError(
                f"the fields of {name} are not of the types of the columns of the FITS file in it",
                hint="write it again, with STILTS: ofmt=votable",
            )
        for batch in fits_batches(inner, table, f"the FITS file in {name}"):
            yield batch.rename_columns(schema.names).cast(schema)


def _same_values(stored: Any, wanted: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Tell whether values of a type are kept, or refused, in another: whole numbers of any width are."""
    if pa.types.is_list(stored) and pa.types.is_list(wanted):
        return _same_values(stored.value_type, wanted.value_type)
    return bool(stored == wanted or (pa.types.is_integer(stored) and pa.types.is_integer(wanted)))


class _Unpacking:
    """The stream of a table, decoded into a file while the VOTable is parsed."""

    def __init__(self, inner: IO[bytes], name: str, number: int) -> None:
        self._inner, self._name, self._number = inner, name, number
        self._table = -1
        self._open = False
        self._rest = ""
        self._extension: str | None = None

    def run(self, file: IO[bytes]) -> str | None:
        """Decode it; return the number of the part of the FITS file that is meant, if the VOTable says so."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            while block := file.read(_BLOCK):
                parser.Parse(block)
        except (Error, ValueError) as error:
            raise BaseFilesError(f"the FITS file in {self._name} cannot be decoded: {error}") from error
        return self._extension

    def _start(self, tag: str, given: dict[str, str]) -> None:
        what = tag.rpartition(":")[2]
        self._table += what == "TABLE"
        if self._table != self._number:
            return
        if what == "FITS":
            self._extension = given.get("extnum")
        elif what == "STREAM":
            if given.get("encoding") != "base64":
                raise BaseFilesError(
                    f"the FITS file in {self._name} is not in base64", hint="write it again, with STILTS: ofmt=votable"
                )
            self._open = True

    def _end(self, tag: str) -> None:
        if self._open and tag.rpartition(":")[2] == "STREAM":
            self._inner.write(b64decode(self._rest, validate=True))
            self._open = False

    def _text(self, text: str) -> None:
        if self._open:
            letters = self._rest + "".join(text.split())
            whole = len(letters) // 4 * 4
            # What is padded ends the stream; before that, every four letters are three bytes.
            self._inner.write(b64decode(letters[:whole], validate=True))
            self._rest = letters[whole:]
