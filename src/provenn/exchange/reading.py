"""Events of OpenLineage, read from a file and checked for their form and size. Nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from provenn.errors import LineageError

__all__ = ["LARGEST_ARRAY", "LARGEST_EVENT", "MOST_EVENTS", "Dataset", "Event", "Mention", "read_events"]

LARGEST_EVENT = 16 * 2**20
LARGEST_ARRAY = 256 * 2**20
MOST_EVENTS = 1_000_000
"""How many bytes an event and an array of events may have, and how many events there may be."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of others; one that has another version is another one. The version is empty if nobody says it."""

    namespace: str
    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.namespace.rstrip('/')}/{self.name}" + (f"@{self.version[:12]}" if self.version else "")


@dataclass(frozen=True, slots=True)
class Mention:
    """What an event says of a dataset: its facets, and those of its being read or written."""

    dataset: Dataset
    facets: Mapping[str, Any]
    role: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """An event.

    Parameters
    ----------
    number
        Which one of the file it is, from 1.
    job
        Namespace and name of the job, if it is about one.
    run
        The run of the job, if it is about one; otherwise empty.
    failed
        Whether it says that the run failed.
    inputs, outputs, mentioned
        Datasets that are read, that are written, and that are only spoken of.
    """

    number: int
    job: tuple[str, str] | None
    run: str
    failed: bool
    inputs: tuple[Mention, ...] = ()
    outputs: tuple[Mention, ...] = ()
    mentioned: tuple[Mention, ...] = ()


def read_events(file: IO[bytes]) -> Iterator[Event]:
    """Yield the events of a file: one a line, or an array of them.

    Raises
    ------
    LineageError
        If one cannot be read; it says which.
    """
    for number, content in enumerate(_contents(file), start=1):
        if number > MOST_EVENTS:
            raise LineageError(f"there are more than {MOST_EVENTS:,} events", hint="import them in parts")
        yield _event(number, content)


def _contents(file: IO[bytes]) -> Iterator[object]:
    number = 0
    while line := file.readline(LARGEST_EVENT + 1):
        if not line.strip():
            continue
        number += 1
        if number == 1 and (line.lstrip().startswith(b"[") or line.strip() == b"{"):
            yield from _whole(line, file)
            return
        if len(line) > LARGEST_EVENT:
            _refuse(number, f"is longer than {LARGEST_EVENT:,} bytes")
        yield _parsed(line, number)


def _whole(start: bytes, file: IO[bytes]) -> Iterator[object]:
    """Yield the events of an array, or the one event that is written in several lines."""
    content = start + file.read(LARGEST_ARRAY + 1)
    if len(content) > LARGEST_ARRAY:
        hint = "write one event a line"
        raise LineageError(f"an array of events is longer than {LARGEST_ARRAY:,} bytes", hint=hint)
    found = _parsed(content, 1)
    yield from found if isinstance(found, list) else [found]


def _parsed(content: bytes, number: int) -> object:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        _refuse(number, f"is not JSON: {error}")
    if b"\\u" in content and _unfit(found):
        _refuse(number, "has a text with half a character, or with the character 0, which no database holds")
    return found


def _unfit(value: object) -> bool:
    """Whether there is a text that a database does not take."""
    try:
        written = json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return b"\\u0000" in written.replace(rb"\\", b"")


def _refuse(number: int, why: str) -> NoReturn:
    raise LineageError(f"event {number} {why}", hint="events of OpenLineage are expected, one a line or in an array")


def _event(number: int, content: object) -> Event:
    event = _object(content, number, "it")
    if "job" in event:
        job = _object(event["job"], number, "its job")
        run = _object(event.get("run") or {}, number, "its run")
        return Event(
            number,
            (_text(job.get("namespace"), number, "job.namespace"), _text(job.get("name"), number, "job.name")),
            str(run.get("runId", "")),
            str(event.get("eventType", "")).upper() in ("FAIL", "ABORT"),
            _mentions(event.get("inputs"), number, "inputs", "inputFacets"),
            _mentions(event.get("outputs"), number, "outputs", "outputFacets"),
        )
    if "dataset" in event:
        return Event(number, None, "", False, mentioned=_mentions([event["dataset"]], number, "dataset", ""))
    _refuse(number, "is about neither a job nor a dataset")


def _mentions(given: object, number: int, what: str, role: str) -> tuple[Mention, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        _refuse(number, f"has {what} that are no list")
    found = []
    for one in given:
        dataset = _object(one, number, what)
        facets = _object(dataset.get("facets") or {}, number, f"a facet of {what}")
        version = facets.get("version")
        known = str(version.get("datasetVersion") or "") if isinstance(version, dict) else ""
        namespace, name = (_text(dataset.get(word), number, f"{what}.{word}") for word in ("namespace", "name"))
        about = Dataset(namespace, name, known)
        found.append(Mention(about, facets, _object(dataset.get(role) or {}, number, role)))
    return tuple(found)


def _object(value: object, number: int, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(number, f"cannot be read: {what} is not an object")
    return value


def _text(value: object, number: int, what: str) -> str:
    if not isinstance(value, str) or not value:
        _refuse(number, f"has no {what}")
    return value
