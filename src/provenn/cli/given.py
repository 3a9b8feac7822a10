"""Facts from the command line: statements of ``--given``, and files with one statement per line."""

import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import typer

from provenn.errors import FileError, StatementError
from provenn.gate.entrances import entrance
from provenn.logic import Statement, statement

__all__ = ["FactPlace", "collect_facts", "read_facts"]

_STANDARD_INPUT = Path("-")
_LONGEST = 16 * 2**20
"""Bytes that a line may have."""

# The part of a line before a comment: a # inside quotes does not begin a comment.
_BEFORE_COMMENT = re.compile(r"""(?:[^"'#]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*""")


@dataclass(frozen=True, slots=True)
class FactPlace:
    """Where a fact was given: a line of a file or, without a file, the command line."""

    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return "--given" if self.file is None else f"{self.file}, line {self.line}"


def collect_facts(statements: Iterable[str], files: Iterable[Path]) -> dict[Statement, FactPlace]:
    """Return all facts in the order given, each with the first place of the fact."""
    facts: dict[Statement, FactPlace] = {}
    for text in statements:
        facts.setdefault(statement(text), FactPlace())
    for file in files:
        for fact, place in read_facts(file):
            facts.setdefault(fact, place)
    return facts


@entrance("file of facts", "length", "types")
def read_facts(file: Path) -> Iterator[tuple[Statement, FactPlace]]:
    """Read a file with one statement per line; ``-`` is the standard input.

    A ``#`` begins a comment, and a line may be empty.

    Raises
    ------
    FileError
        If the file cannot be read, or is not UTF-8.
    StatementError
        If a line is not a statement; the message has file, line and column.
    """
    name = "standard input" if file == _STANDARD_INPUT else str(file)
    for number, line in enumerate(_read_lines(file, name), start=1):
        place = FactPlace(name, number)
        text = _strip_comment(_decode_line(line, place))
        if text.strip():
            yield _parse_statement(text, place), place


def _read_lines(file: Path, name: str) -> Iterator[bytes]:
    """Yield the lines of a file as bytes, each cut just beyond the longest length allowed."""
    try:
        with nullcontext(typer.get_binary_stream("stdin")) if file == _STANDARD_INPUT else file.open("rb") as stream:
            yield from iter(partial(stream.readline, _LONGEST + 1), b"")
    except (OSError, RuntimeError) as error:  # typer raises RuntimeError when the standard input is closed
        raise FileError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error


def _decode_line(line: bytes, place: FactPlace) -> str:
    """Return a line as text, without line end; refuse long lines and lines in another encoding than UTF-8."""
    if len(line) > _LONGEST:
        raise FileError(f"{place} has more than {_LONGEST // 2**20} MB, too long for a statement")
    try:
        return line.decode("utf-8-sig" if place.line == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FileError(f"{place} is not UTF-8: byte {error.start + 1} is 0x{line[error.start]:02x}") from error


def _strip_comment(line: str) -> str:
    """Return a line without its comment."""
    if "#" not in line:
        return line
    match = _BEFORE_COMMENT.match(line)
    return match[0] if match and line.startswith("#", match.end()) else line


def _parse_statement(text: str, place: FactPlace) -> Statement:
    """Return the statement of a line; an error has the place of the line."""
    try:
        return statement(text)
    except StatementError as error:
        raise StatementError(f"{place}: {error.problem}", error.text, error.column, hint=error.hint) from error
