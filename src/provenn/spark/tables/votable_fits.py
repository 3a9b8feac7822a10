"""The rows of a VOTable that contains a FITS file: the stream is decoded into a file, which is read as FITS."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile
from typing import IO, Any
from xml.parsers import expat

import pyarrow as pa

from provenn.errors import BaseFilesError
from provenn.files.arrow_types import find_arrow_type
from provenn.files.columns import FileColumn
from provenn.files.fits_columns import find_fits_table
from provenn.spark.tables.fits_rows import read_fits_batches

__all__ = ["read_votable_fits_batches"]

_BLOCK = 1 << 20


def read_votable_fits_batches(
    file: IO[bytes], columns: Sequence[FileColumn], name: str, number: int, packed: int = 0
) -> Iterator[Any]:
    """Yield the rows of a table of a VOTable whose data are an embedded FITS file.

    Parameters
    ----------
    file
        The VOTable, at its beginning.
    columns
        The columns of the table, from its fields.
    name
        The name of the file in errors.
    number
        The number of the table.
    packed
        The size of the VOTable on disk, compressed or not.

    Raises
    ------
    BaseFilesError
        If there is no FITS file, or its columns differ from the fields.
    """
    schema = pa.schema([pa.field(column.name, find_arrow_type(column.type)) for column in columns])
    with TemporaryFile() as inner:
        extension = _StreamDecoder(inner, name, number).decode(file)
        inner.seek(0)
        table = find_fits_table(inner, f"the FITS file in {name}", extension, packed)
        types = [find_arrow_type(column.type) for column in table.columns]
        if len(types) != len(schema) or not all(map(_keeps_values, types, schema.types)):
            raise BaseFilesError(
                f"the fields of {name} do not match the columns of its FITS file",
                hint="write it again, with STILTS: ofmt=votable",
            )
        for batch in read_fits_batches(inner, table, f"the FITS file in {name}", packed):
            yield batch.rename_columns(schema.names).cast(schema)


def _keeps_values(stored: Any, wanted: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Return whether a cast keeps or refuses each value, as between whole numbers of any width."""
    if pa.types.is_list(stored) and pa.types.is_list(wanted):
        return _keeps_values(stored.value_type, wanted.value_type)
    return bool(stored == wanted or (pa.types.is_integer(stored) and pa.types.is_integer(wanted)))


class _StreamDecoder:
    """Decodes the stream of a table into a file while the VOTable is parsed."""

    def __init__(self, inner: IO[bytes], name: str, number: int) -> None:
        self._inner, self._name, self._number = inner, name, number
        self._table = -1
        self._open = False
        self._rest = ""
        self._extension: str | None = None

    def decode(self, file: IO[bytes]) -> str | None:
        """Decode the stream; return the number of the FITS extension, if the VOTable names one."""
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = self._end_element
        parser.CharacterDataHandler = self._decode_text
        try:
            while block := file.read(_BLOCK):
                parser.Parse(block)
        except (Error, ValueError) as error:
            raise BaseFilesError(f"the FITS file in {self._name} cannot be decoded: {error}") from error
        return self._extension

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(":")[2]
        self._table += element == "TABLE"
        if self._table != self._number:
            return
        if element == "FITS":
            self._extension = attributes.get("extnum")
        elif element == "STREAM":
            if attributes.get("encoding") != "base64":
                raise BaseFilesError(
                    f"the FITS file in {self._name} is not in base64", hint="write it again, with STILTS: ofmt=votable"
                )
            self._open = True

    def _end_element(self, tag: str) -> None:
        if self._open and tag.rpartition(":")[2] == "STREAM":
            self._inner.write(b64decode(self._rest, validate=True))
            self._open = False

    def _decode_text(self, text: str) -> None:
        if self._open:
            letters = self._rest + "".join(text.split())
            whole = len(letters) // 4 * 4
            # Padding ends the stream; before it, every four letters are three bytes.
            self._inner.write(b64decode(letters[:whole], validate=True))
            self._rest = letters[whole:]
