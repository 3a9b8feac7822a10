"""The portable file of an archive: JSON lines in gzip, checked on reading; see docs/reference/archive-format.md.

A line is an object with one key, the kind of the line. The first line holds the format and the number of lines of each
kind, in the order of `KINDS`; the last line holds the digest of all bytes before.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from io import SEEK_END, BufferedReader
from typing import Any, BinaryIO

from provenn.errors import ArchiveError, ExpansionError, FileError, ProvennError
from provenn.files.column_bounds import BOUNDS
from provenn.gate.entrances import entrance
from provenn.gate.expansion import BoundedStream

__all__ = [
    "KINDS",
    "LONGEST",
    "Line",
    "format_moment",
    "parse_moment",
    "read_lines",
    "select_portable_notes",
    "write_lines",
]

VERSION = 2
"""The version of a file with large MOCs. A file without them has version 1, for earlier versions of provenn."""
KINDS = ("moc", "definition", "name", "fact", "calculator", "preference")
LONGEST = 16 * 2**20
"""The most bytes in a line, so that a reader needs no more memory, whatever the file unpacks to."""

_BLOCK = 1 << 16
_FORMAT = "archive"
_NOT_EXPORTED = "is not a file of `provenn archive export`"


def format_moment(moment: datetime) -> str:
    """Return a moment as text."""
    return moment.astimezone(UTC).isoformat()


def parse_moment(text: str) -> datetime:
    """Return the moment stated by a text."""
    parsed = datetime.fromisoformat(text)
    if parsed.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return parsed.astimezone(UTC)


def select_portable_notes(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the notes of a definition without the statistics of its files and the bounds of their columns.

    Both prove statements about sources, and nothing in a portable file shows that they are true: they are neither
    exported nor imported, so that an archive that is imported exports the same file.
    """
    return {key: value for key, value in notes.items() if key not in ("statistics", BOUNDS)}


class Line:
    """A line of a portable file; the types of parts are checked on access.

    Parameters
    ----------
    number
        The number of the line, from 1.
    kind
        The kind of the line, one of `KINDS`.
    content
        The object that the line holds.
    """

    __slots__ = ("content", "kind", "number")

    def __init__(self, number: int, kind: str, content: Mapping[str, Any]) -> None:
        self.number, self.kind, self.content = number, kind, content

    def get_value(self, key: str, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - the result of `read`
        """Return a part of the line, converted by `read`.

        Raises
        ------
        FileError
            If the part is missing, or `read` refuses it.
        """
        with self.report_errors(key):
            return read(self.content[key])

    def get_text(self, key: str) -> str:
        """Return a part as a text."""
        text: str = self.get_value(key, parse_text)
        return text

    def get_optional_text(self, key: str) -> str | None:
        """Return a part as a text or None."""
        text: str | None = self.get_value(key, lambda value: None if value is None else parse_text(value))
        return text

    def get_moment(self, key: str) -> datetime:
        """Return a part as a moment."""
        parsed: datetime = self.get_value(key, parse_moment)
        return parsed

    def get_mapping(self, key: str) -> dict[str, Any]:
        """Return a part as an object."""
        mapping: dict[str, Any] = self.get_value(key, _require_instance(dict))
        return mapping

    def get_list(self, key: str) -> list[Any]:
        """Return a part as a list."""
        items: list[Any] = self.get_value(key, _require_instance(list))
        return items

    def report_errors(self, part: str) -> _LineErrors:
        """Return a context in which errors become errors about a part of this line."""
        return _LineErrors(self, part)

    def make_error(self, problem: str, hint: str = "") -> FileError:
        """Return an error with the number of this line, the problem and a remedy."""
        full_hint = "nothing was imported" + (f"; {hint}" if hint else "")
        return FileError(f"line {self.number}, a {self.kind}: {problem}", hint=full_hint)


class _LineErrors:
    """A context in which errors become errors about a part of a line."""

    def __init__(self, line: Line, part: str) -> None:
        self._line, self._part = line, part

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileError | ExpansionError):
            return
        if isinstance(error, ProvennError):
            raise self._line.make_error(f"{self._part}: {error.message}", error.hint) from error
        if isinstance(error, LookupError | TypeError | ValueError | AttributeError | OverflowError | RecursionError):
            raise self._line.make_error(f"its {self._part} is missing or invalid") from error


def parse_text(value: object) -> str:
    """Return a value if every database accepts the value as a text; refuse other values."""
    if not isinstance(value, str) or "\0" in value:
        raise TypeError("no text")
    return value


def _require_instance(kind: type) -> Callable[[object], object]:
    """Return a function to refuse values of the wrong type."""

    def read(value: object) -> object:
        if not isinstance(value, kind):
            raise TypeError(f"no {kind.__name__}")
        return value

    return read


def write_lines(file: BinaryIO, counts: Mapping[str, int], lines: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Write a portable file. The same lines give the same bytes.

    Parameters
    ----------
    file
        The output.
    counts
        The number of lines of each kind.
    lines
        The kind and the content of each line.

    Raises
    ------
    ArchiveError
        If a line is too long.
    """
    digest = sha256()
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:

        def write(line: Mapping[str, Any]) -> None:
            encoded = json.dumps(line, sort_keys=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"
            if len(encoded) > LONGEST:
                raise ArchiveError(f"{encoded[:80].decode()}… is too long to be exported: {len(encoded)} bytes")
            digest.update(encoded)
            packed.write(encoded)

        header_counts = (
            dict(counts) if counts["moc"] else {kind: count for kind, count in counts.items() if kind != "moc"}
        )
        write({"provenn": _FORMAT, "version": VERSION if counts["moc"] else 1, "counts": header_counts})
        for kind, content in lines:
            write({kind: content})
        write({"digest": digest.hexdigest()})


@entrance("portable file", "expansion", "length", "types", "digest")
def read_lines(file: BinaryIO, name: str) -> Iterator[Line]:
    """Yield the lines of a portable file between the first and the last.

    The caller must undo the effects of all lines if this raises at the end: only then the whole file has been checked.

    Raises
    ------
    FileError
        If the file has another format, is not complete, was changed, has a newer version, or has a line that is too
        long.
    ExpansionError
        If the file unpacks to more than the limit.
    """
    digest, number, rank = sha256(), 1, 0
    with gzip.GzipFile(fileobj=file) as unpacking:
        packed = BufferedReader(BoundedStream(unpacking, _measure_file(file), name), _BLOCK)
        left = _read_counts(_parse_line(first := _unpack_line(packed, name), name), name)
        while True:
            digest.update(first)
            number += 1
            parsed = _parse_line(first := _unpack_line(packed, name), name)
            if len(parsed) != 1:
                raise FileError(f"{name} {_NOT_EXPORTED}: line {number} is invalid")
            ((kind, content),) = parsed.items()
            if kind == "digest":
                break
            if kind not in KINDS[rank:] or not isinstance(content, dict):
                raise FileError(f"{name} {_NOT_EXPORTED}: line {number} is out of place")
            rank = KINDS.index(kind)
            left[kind] -= 1
            if left[kind] < 0:
                raise FileError(f"{name} was changed: it has more lines of the kind {kind} than it says")
            yield Line(number, kind, content)
        if content != digest.hexdigest() or any(left.values()) or _unpack_line(packed, name, last=True):
            raise FileError(f"{name} was changed after it was exported", hint="export it again, or copy it again")


def _read_counts(header: Mapping[str, Any], name: str) -> dict[str, int]:
    """Return the number of lines of each kind stated by the first line; refuse unknown versions."""
    counts = header.get("counts")
    if header.get("provenn") != _FORMAT or not isinstance(counts, dict):
        raise FileError(f"{name} {_NOT_EXPORTED}")
    version = header.get("version")
    if version not in (1, VERSION):
        raise FileError(
            f"{name} has version {str(version)[:20]!r}; this version of provenn reads versions up to {VERSION}",
            hint="pip install --upgrade provenn",
        )
    if version == 1:
        counts = {"moc": 0, **counts}
    if counts.keys() != set(KINDS) or not all(type(count) is int and count >= 0 for count in counts.values()):
        raise FileError(f"{name} {_NOT_EXPORTED}: its first line does not say how many lines of each kind there are")
    return counts


def _measure_file(file: BinaryIO) -> int:
    """Return the number of bytes in a file after the current position; 0 if the file cannot seek."""
    try:
        position = file.tell()
        end = file.seek(0, SEEK_END)
        file.seek(position)
    except OSError:
        return 0
    return end - position


def _unpack_line(packed: BufferedReader[BoundedStream], name: str, *, last: bool = False) -> bytes:
    """Return the next line; refuse damaged, too long and incomplete lines."""
    try:
        line = packed.readline(LONGEST + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{name} is damaged, not complete, or {_NOT_EXPORTED}: {error}") from error
    if len(line) > LONGEST:
        raise FileError(f"{name} has a line of more than {LONGEST // 2**20} MB, which no export has")
    if not line.endswith(b"\n") and not last:
        raise FileError(f"{name} is not complete", hint="copy it again")
    return line


def _parse_line(line: bytes, name: str) -> dict[str, Any]:
    """Return the object in a line."""
    try:
        text = line.decode()
        parsed = json.loads(text, parse_constant=_refuse)
        if "\\ud" in text.lower():
            json.dumps(parsed, ensure_ascii=False).encode()  # no database takes half a surrogate pair
    except (ValueError, RecursionError) as error:
        raise FileError(f"{name} {_NOT_EXPORTED}: some lines are not JSON") from error
    if not isinstance(parsed, dict):
        raise FileError(f"{name} {_NOT_EXPORTED}: some lines are not JSON objects")
    return parsed


def _refuse(constant: str) -> None:
    raise ValueError(constant)
