"""The portable file of an archive: JSON lines in gzip, told and checked; docs/reference/archive-format.md describes it.

A line is an object with one key, which says what it is. The first says what the file is and how many lines of each
kind follow, in the order of `KINDS`; the last holds the digest of all bytes before it.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, BinaryIO

from provenn.errors import ArchiveError, FileError, ProvennError

__all__ = ["KINDS", "LONGEST", "Line", "moment", "moment_text", "read_lines", "write_lines"]

VERSION = 2
"""Of a file that holds large MOCs; one without them has version 1, which earlier versions of provenn read."""
KINDS = ("moc", "definition", "name", "fact", "calculator", "preference")
LONGEST = 16 * 2**20
"""The most bytes that a line has; so whoever reads a file needs no more memory, whatever it unpacks to."""

_FORMAT = "archive"
_NOT_ONE = "is no file of `provenn archive export`"


def moment_text(moment: datetime) -> str:
    """Return a moment as it is written."""
    return moment.astimezone(UTC).isoformat()


def moment(text: str) -> datetime:
    """Return the moment that is written."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found.astimezone(UTC)


class Line:
    """What a line holds, each part with the kind of value that it must have.

    Parameters
    ----------
    number
        Which line it is, from 1.
    kind
        What it is.
    content
        What it says.
    """

    __slots__ = ("content", "kind", "number")

    def __init__(self, number: int, kind: str, content: Mapping[str, Any]) -> None:
        self.number, self.kind, self.content = number, kind, content

    def get(self, key: str, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - what `read` returns
        """Return a part of it, as `read` makes it of the value.

        Raises
        ------
        FileError
            If there is no such part, or `read` refuses it.
        """
        with self.readable(key):
            return read(self.content[key])

    def text(self, key: str) -> str:
        """Return a text."""
        found: str = self.get(key, plain_text)
        return found

    def optional(self, key: str) -> str | None:
        """Return a text, or None."""
        found: str | None = self.get(key, lambda value: None if value is None else plain_text(value))
        return found

    def moment(self, key: str) -> datetime:
        """Return a moment."""
        found: datetime = self.get(key, moment)
        return found

    def mapping(self, key: str) -> dict[str, Any]:
        """Return an object."""
        found: dict[str, Any] = self.get(key, _instance(dict))
        return found

    def several(self, key: str) -> list[Any]:
        """Return a list."""
        found: list[Any] = self.get(key, _instance(list))
        return found

    def readable(self, what: str) -> _Readable:
        """Say of whatever is wrong in the body that this line is."""
        return _Readable(self, what)

    def wrong(self, said: str) -> FileError:
        """Return the error that says what is wrong with it."""
        return FileError(f"line {self.number}, a {self.kind}: {said}", hint="nothing of the file was taken over")


class _Readable:
    def __init__(self, line: Line, what: str) -> None:
        self._line, self._what = line, what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileError):
            return
        if isinstance(error, ProvennError):
            raise self._line.wrong(f"{self._what}: {error.message}") from error
        if isinstance(error, LookupError | TypeError | ValueError | AttributeError | OverflowError | RecursionError):
            raise self._line.wrong(f"its {self._what} is missing, or is not as it should be") from error


def plain_text(value: object) -> str:
    """Return a text that every database takes."""
    if not isinstance(value, str) or "\0" in value:
        raise TypeError("no text")
    return value


def _instance(kind: type) -> Callable[[object], object]:
    def read(value: object) -> object:
        if not isinstance(value, kind):
            raise TypeError(f"no {kind.__name__}")
        return value

    return read


def write_lines(file: BinaryIO, counts: Mapping[str, int], lines: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Write a file. The same lines make the same bytes.

    Parameters
    ----------
    file
        Where to.
    counts
        How many lines of each kind there are.
    lines
        Their kinds, and what they say.

    Raises
    ------
    ArchiveError
        If a line is too long.
    """
    digest = sha256()
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:

        def write(line: Mapping[str, Any]) -> None:
            said = json.dumps(line, sort_keys=True, separators=(",", ":"), allow_nan=False).encode() + b"\n"
            if len(said) > LONGEST:
                raise ArchiveError(f"{said[:80].decode()}… is too long to be exported: {len(said)} bytes")
            digest.update(said)
            packed.write(said)

        told = dict(counts) if counts["moc"] else {kind: count for kind, count in counts.items() if kind != "moc"}
        write({"provenn": _FORMAT, "version": VERSION if counts["moc"] else 1, "counts": told})
        for kind, content in lines:
            write({kind: content})
        write({"digest": digest.hexdigest()})


def read_lines(file: BinaryIO, name: str) -> Iterator[Line]:
    """Yield the lines of a file between the first and the last.

    What is yielded is to be undone if this raises at last: only then all of the file has been seen.

    Raises
    ------
    FileError
        If the file is something else, is not complete, was changed, is of a newer version, or has a line that is too
        long.
    """
    digest, number, rank = sha256(), 1, 0
    with gzip.GzipFile(fileobj=file) as packed:
        left = _counts(_parsed(first := _unpacked(packed, name), name), name)
        while True:
            digest.update(first)
            number += 1
            found = _parsed(first := _unpacked(packed, name), name)
            if len(found) != 1:
                raise FileError(f"{name} {_NOT_ONE}: line {number} is none of its lines")
            ((kind, content),) = found.items()
            if kind == "digest":
                break
            if kind not in KINDS[rank:] or not isinstance(content, dict):
                raise FileError(f"{name} {_NOT_ONE}: line {number} is out of place")
            rank = KINDS.index(kind)
            left[kind] -= 1
            if left[kind] < 0:
                raise FileError(f"{name} was changed: it has more lines of the kind {kind} than it says")
            yield Line(number, kind, content)
        if content != digest.hexdigest() or any(left.values()) or _unpacked(packed, name, last=True):
            raise FileError(f"{name} was changed after it was exported", hint="export it again, or copy it again")


def _counts(header: Mapping[str, Any], name: str) -> dict[str, int]:
    counts = header.get("counts")
    if header.get("provenn") != _FORMAT or not isinstance(counts, dict):
        raise FileError(f"{name} {_NOT_ONE}")
    version = header.get("version")
    if version not in (1, VERSION):
        raise FileError(
            f"{name} has version {str(version)[:20]!r}; this version of provenn reads versions up to {VERSION}",
            hint="pip install --upgrade provenn",
        )
    if version == 1:
        counts = {"moc": 0, **counts}
    if counts.keys() != set(KINDS) or not all(type(one) is int and one >= 0 for one in counts.values()):
        raise FileError(f"{name} {_NOT_ONE}: its first line does not say how many lines of each kind there are")
    return counts


def _unpacked(packed: gzip.GzipFile, name: str, *, last: bool = False) -> bytes:
    try:
        line = packed.readline(LONGEST + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FileError(f"{name} is damaged, not complete, or {_NOT_ONE}: {error}") from error
    if len(line) > LONGEST:
        raise FileError(f"{name} has a line of more than {LONGEST // 2**20} MB, which no export has")
    if not line.endswith(b"\n") and not last:
        raise FileError(f"{name} is not complete", hint="copy it again")
    return line


def _parsed(line: bytes, name: str) -> dict[str, Any]:
    try:
        text = line.decode()
        found = json.loads(text, parse_constant=_refuse)
        if "\\ud" in text.lower():
            json.dumps(found, ensure_ascii=False).encode()  # half a character is none, for any database
    except (ValueError, RecursionError) as error:
        raise FileError(f"{name} {_NOT_ONE}: it holds something else than lines of JSON") from error
    if not isinstance(found, dict):
        raise FileError(f"{name} {_NOT_ONE}: it holds something else than objects")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(constant)
