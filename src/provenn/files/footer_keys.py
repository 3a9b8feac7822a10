"""Adding keys and values to the footer of a Parquet file without writing its rows anew.

A reader of Parquet finds the footer by the last eight bytes of a file. So a new footer behind the old one replaces it.
The footer is a struct in the compact protocol of Thrift; its fifth field is the list of keys and values. All else is
copied as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from provenn.errors import StoreError

__all__ = ["TAIL", "add_footer_keys", "read_footer_size"]

TAIL = 8
"""The bytes behind a footer: its size, and the magic number."""

_MAGIC = b"PAR1"
_KEYS_FIELD = 5
_BYTE, _SHORT, _LONG, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT, _UUID = 3, 4, 6, 7, 8, 9, 10, 11, 12, 13
_FIXED = {1: 0, 2: 0, _BYTE: 1, _DOUBLE: 8, _UUID: 16}
"""How many bytes a value takes in a struct, by type; logicals are in the type itself."""


def read_footer_size(tail: bytes) -> int:
    """Return the number of bytes of a footer, by the last bytes of a file.

    Raises
    ------
    StoreError
        If the file is not Parquet.
    """
    if len(tail) != TAIL or not tail.endswith(_MAGIC):
        raise StoreError("expected the end of a Parquet file")
    return int.from_bytes(tail[:4], "little")


def add_footer_keys(footer: bytes, keys: Mapping[str, str]) -> bytes:
    """Return a footer with further keys and values, and the bytes that follow it at the end of a file.

    Parameters
    ----------
    footer
        The footer, which must have keys and values already, as every footer of Spark has.
    keys
        The new keys, none of which the footer has.

    Raises
    ------
    StoreError
        If the footer is damaged, or has no keys and values.
    """
    reader = _Reader(footer)
    start, number = reader.find_keys()
    header, size = _write_list_header(number + len(keys)), reader.place - start
    new = footer[:start] + header + footer[start + size :]
    end = _Reader(new, start)
    end.read_list_header()
    for _ in range(number):
        end.skip_value(_STRUCT)
    pairs = b"".join(_write_pair(key, value) for key, value in keys.items())
    complete = new[: end.place] + pairs + new[end.place :]
    return complete + len(complete).to_bytes(4, "little") + _MAGIC


def _write_pair(key: str, value: str) -> bytes:
    """Return a key and a value: a struct with two fields of text, one after the other."""
    texts = (text.encode() for text in (key, value))
    return b"".join(bytes([1 << 4 | _BINARY]) + _write_number(len(text)) + text for text in texts) + b"\0"


def _write_list_header(size: int) -> bytes:
    return bytes([size << 4 | _STRUCT]) if size < 15 else bytes([0xF0 | _STRUCT]) + _write_number(size)


def _write_number(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


@dataclass(slots=True)
class _Reader:
    """Reads the compact protocol."""

    content: bytes
    place: int = 0

    def find_keys(self) -> tuple[int, int]:
        """Return where the list of keys and values begins, and how many there are; stop behind the list's header."""
        field = 0
        while kind := self._read_byte():
            field = field + (kind >> 4) if kind >> 4 else self._read_signed()
            if field == _KEYS_FIELD and kind & 0x0F == _LIST:
                start = self.place
                element, number = self.read_list_header()
                if element == _STRUCT:
                    return start, number
                break
            self.skip_value(kind & 0x0F)
        raise StoreError("the footer of a Parquet file has no keys and values")

    def read_list_header(self) -> tuple[int, int]:
        """Return the type of the elements of a list, and their number."""
        header = self._read_byte()
        return header & 0x0F, header >> 4 if header >> 4 < 15 else self._read_number()

    def skip_value(self, kind: int) -> None:
        """Go behind a value of a struct."""
        if kind in _FIXED:
            self._move(_FIXED[kind])
        elif _SHORT <= kind <= _LONG:
            self._read_number()
        elif kind == _BINARY:
            self._move(self._read_number())
        elif kind in (_LIST, _SET):
            element, number = self.read_list_header()
            for _ in range(number):
                self._skip_element(element)
        elif kind == _MAP:
            number = self._read_number()
            kinds = self._read_byte() if number else 0
            for _ in range(number):
                self._skip_element(kinds >> 4)
                self._skip_element(kinds & 0x0F)
        elif kind == _STRUCT:
            while field := self._read_byte():
                if not field >> 4:
                    self._read_signed()
                self.skip_value(field & 0x0F)
        else:
            raise StoreError(f"the footer of a Parquet file has a value of the unknown type {kind}")

    def _skip_element(self, kind: int) -> None:
        """Go behind an element of a list or map, where logicals take a byte."""
        self.skip_value(_BYTE if kind in (1, 2) else kind)

    def _read_signed(self) -> int:
        number = self._read_number()
        return number >> 1 ^ -(number & 1)

    def _read_number(self) -> int:
        number, shift = 0, 0
        while True:
            group = self._read_byte()
            number |= (group & 0x7F) << shift
            if group < 0x80:
                return number
            shift += 7

    def _read_byte(self) -> int:
        self._move(1)
        return self.content[self.place - 1]

    def _move(self, size: int) -> None:
        self.place += size
        if self.place > len(self.content):
            raise StoreError("the footer of a Parquet file ends too early")
