"""Facts from the command line: statements given one by one, and files of them, one a line."""

import re
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import typer

from provenn.errors import FileError, StatementError
from provenn.logic import Statement, statement

__all__ = ["Place", "given_facts", "read_facts"]

_STANDARD_INPUT = Path("-")
# What comes before a comment: a # inside quotes begins none.
_SAID = re.compile(r"""(?:[^"'#]+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*""")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fact was given: a line of a file, or, without one, the command line."""

    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        return "--given" if self.file is None else f"{self.file}, line {self.line}"


def given_facts(given: Iterable[str], files: Iterable[Path]) -> dict[Statement, Place]:
    """Return all facts in the order they were given, each with the first place that gives it."""
    facts: dict[Statement, Place] = {}
    for text in given:
        facts.setdefault(statement(text), Place())
    for file in files:
        for fact, place in read_facts(file):
            facts.setdefault(fact, place)
    return facts


def read_facts(file: Path) -> Iterator[tuple[Statement, Place]]:
    """Read a file of statements, one a line; ``-`` is the standard input.

    What follows a ``#`` is a comment, and a line may be empty.

    Raises
    ------
    FileError
        If the file cannot be read, or is not UTF-8.
    StatementError
        If a line is not a statement; it names file, line and column.
    """
    name = "standard input" if file == _STANDARD_INPUT else str(file)
    for number, raw in enumerate(_lines(file, name), start=1):
        place = Place(name, number)
        said = _said(_decoded(raw, place))
        if said.strip():
            yield _read(said, place), place


def _lines(file: Path, name: str) -> Iterator[bytes]:
    try:
        with nullcontext(typer.get_binary_stream("stdin")) if file == _STANDARD_INPUT else file.open("rb") as stream:
            yield from stream
    except (OSError, RuntimeError) as error:  # typer's word for a standard input that is closed is RuntimeError
        raise FileError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from error


def _decoded(raw: bytes, place: Place) -> str:
    try:
        return raw.decode("utf-8-sig" if place.line == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise FileError(f"{place} is not UTF-8: byte {error.start + 1} is 0x{raw[error.start]:02x}") from error


def _said(line: str) -> str:
    if "#" not in line:
        return line
    found = _SAID.match(line)
    return found[0] if found and line.startswith("#", found.end()) else line


def _read(said: str, place: Place) -> Statement:
    try:
        return statement(said)
    except StatementError as error:
        raise StatementError(f"{place}: {error.problem}", error.text, error.column, hint=error.hint) from error
