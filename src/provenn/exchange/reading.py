"""Read OpenLineage events from a file and check their form and size; nothing from the file is executed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from provenn.errors import LineageError
from provenn.exchange.stated_plan_texts import find_plan, has_plan
from provenn.gate.entrances import entrance

__all__ = ["LARGEST_ARRAY", "LARGEST_EVENT", "MOST_EVENTS", "Dataset", "Event", "JobQuery", "Mention", "read_events"]

LARGEST_EVENT = 16 * 2**20
LARGEST_ARRAY = 256 * 2**20
MOST_EVENTS = 1_000_000
"""The maximum size of an event and of an array of events in bytes, and the maximum number of events."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A foreign dataset; each version is a separate dataset, and an unknown version is empty."""

    namespace: str
    name: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.namespace.rstrip('/')}/{self.name}" + (f"@{self.version[:12]}" if self.version else "")


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a dataset in an event, with the facets of the dataset and of its role as input or output."""

    dataset: Dataset
    facets: Mapping[str, Any]
    role: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobQuery:
    """The SQL of a job.

    Parameters
    ----------
    text
        The SQL.
    dialect
        Its dialect, as stated; empty if it is not stated.
    system
        The system that runs it, by the address of its datasets or by the program that reports it; empty if unknown.
    """

    text: str
    dialect: str
    system: str


@dataclass(frozen=True, slots=True)
class Event:
    """An OpenLineage event.

    Parameters
    ----------
    number
        The number of the event in the file, from 1.
    job
        The namespace and name of the job; None for an event about a dataset.
    run
        The run of the job; empty without a run.
    has_failed
        Whether the event reports the failure of the run.
    inputs, outputs, mentioned
        The datasets that the job reads and writes, and datasets that are only mentioned.
    query
        The SQL of the job; None if the event does not state it.
    has_plan
        Whether the event has a logical plan of Spark, or parts of one.
    plan
        The nodes of the plan in JSON, as `find_plan` returns them.
    """

    number: int
    job: tuple[str, str] | None
    run: str
    has_failed: bool
    inputs: tuple[Mention, ...] = ()
    outputs: tuple[Mention, ...] = ()
    mentioned: tuple[Mention, ...] = ()
    query: JobQuery | None = None
    has_plan: bool = False
    plan: str = ""


@entrance("lineage of others", "length", "types", "criteria")
def read_events(file: IO[bytes]) -> Iterator[Event]:
    """Yield the events of a file, which has one event per line, or an array of events.

    Raises
    ------
    LineageError
        If an event cannot be read; the message contains the number of the event.
    """
    for number, content in enumerate(_read_contents(file), start=1):
        if number > MOST_EVENTS:
            raise LineageError(f"there are more than {MOST_EVENTS:,} events", hint="import them in parts")
        yield _build_event(number, content)


def _read_contents(file: IO[bytes]) -> Iterator[object]:
    """Yield the parsed JSON of each event, and check its size."""
    number = 0
    while line := file.readline(LARGEST_EVENT + 1):
        if not line.strip():
            continue
        number += 1
        if number == 1 and (line.lstrip().startswith(b"[") or line.strip() == b"{"):
            yield from _read_whole_file(line, file)
            return
        if len(line) > LARGEST_EVENT:
            _refuse(number, f"is longer than {LARGEST_EVENT:,} bytes")
        yield _parse_event(line, number)


def _read_whole_file(start: bytes, file: IO[bytes]) -> Iterator[object]:
    """Yield the events of an array, or a single event that spans several lines."""
    content = start + file.read(LARGEST_ARRAY + 1)
    if len(content) > LARGEST_ARRAY:
        hint = "write one event per line"
        raise LineageError(f"an array of events is longer than {LARGEST_ARRAY:,} bytes", hint=hint)
    if not content.lstrip().startswith(b"["):
        yield _parse_event(content, 1)
        return
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        _refuse(1, f"is not JSON: {error}")
    yield from _read_members(text)


def _read_members(text: str) -> Iterator[object]:
    """Yield the members of an array incrementally, because a full parse takes thirty times as much memory."""
    decoder, number = json.JSONDecoder(), 0
    place = _skip_blanks(text, text.index("[") + 1)
    while text[place : place + 1] != "]" or number:
        number += 1
        try:
            member, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            _refuse(number, f"is not JSON: {error}")
        if end - place > LARGEST_EVENT:
            _refuse(number, f"is longer than {LARGEST_EVENT:,} characters")
        yield _check_for_database(member, text[place:end].encode(), number)
        place = _skip_blanks(text, end)
        if text[place : place + 1] == "]":
            break
        if text[place : place + 1] != ",":
            _refuse(number + 1, "does not follow a comma, or the array does not end")
        place = _skip_blanks(text, place + 1)
    if _skip_blanks(text, place + 1) != len(text):
        _refuse(number + 1, "comes after the end of the array")


def _skip_blanks(text: str, place: int) -> int:
    """Return the next position without white space."""
    while text[place : place + 1] in tuple(" \t\r\n"):
        place += 1
    return place


def _parse_event(content: bytes, number: int) -> object:
    try:
        event = json.loads(content)
    except (ValueError, RecursionError) as error:
        _refuse(number, f"is not JSON: {error}")
    return _check_for_database(event, content, number)


def _check_for_database(event: object, content: bytes, number: int) -> object:
    """Return an event, or refuse it if a text does not fit in a database."""
    if b"\\u" in content and _has_unfit_text(event):
        _refuse(number, "has text with invalid characters")
    return event


def _has_unfit_text(value: object) -> bool:
    """Tell whether a value contains a text that databases refuse."""
    try:
        encoded = json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return b"\\u0000" in encoded.replace(rb"\\", b"")


def _refuse(number: int, reason: str) -> NoReturn:
    raise LineageError(f"event {number} {reason}", hint="expected OpenLineage events, one per line or in an array")


def _build_event(number: int, content: object) -> Event:
    event = _require_object(content, number, "it")
    if "job" in event:
        job = _require_object(event["job"], number, "its job")
        run = _require_object(event.get("run") or {}, number, "its run")
        outputs = _read_mentions(event.get("outputs"), number, "outputs", "outputFacets")
        return Event(
            number,
            (
                _require_text(job.get("namespace"), number, "job.namespace"),
                _require_text(job.get("name"), number, "job.name"),
            ),
            str(run.get("runId", "")),
            str(event.get("eventType", "")).upper() in ("FAIL", "ABORT"),
            _read_mentions(event.get("inputs"), number, "inputs", "inputFacets"),
            outputs,
            query=_read_query(job.get("facets"), outputs),
            has_plan=has_plan(run.get("facets")),
            plan=find_plan(run.get("facets")),
        )
    if "dataset" in event:
        return Event(number, None, "", False, mentioned=_read_mentions([event["dataset"]], number, "dataset", ""))
    _refuse(number, "describes neither a job nor a dataset")


def _read_query(facets: object, outputs: tuple[Mention, ...]) -> JobQuery | None:
    """Return the SQL of a job; None if it is not stated, or not as text."""
    match facets:
        case {"sql": {"query": str(text)} as facet} if text.strip():
            dialect, producer = facet.get("dialect"), str(facet.get("_producer") or "")
            schemes = {mention.dataset.namespace.partition("://")[0] for mention in outputs}
            system = next(iter(schemes)) if len(schemes) == 1 else ""
            if "/integration/spark" in producer:
                system = "spark"
            return JobQuery(text, dialect if isinstance(dialect, str) else "", system)
    return None


def _read_mentions(entries: object, number: int, what: str, role: str) -> tuple[Mention, ...]:
    """Return the datasets in a list of an event."""
    if entries is None:
        return ()
    if not isinstance(entries, list):
        _refuse(number, f"has {what} that are not a list")
    mentions = []
    for entry in entries:
        dataset = _require_object(entry, number, what)
        facets = _require_object(dataset.get("facets") or {}, number, f"a facet of {what}")
        version = facets.get("version")
        version_text = str(version.get("datasetVersion") or "") if isinstance(version, dict) else ""
        namespace, name = (_require_text(dataset.get(word), number, f"{what}.{word}") for word in ("namespace", "name"))
        mentioned_dataset = Dataset(namespace, name, version_text)
        mentions.append(Mention(mentioned_dataset, facets, _require_object(dataset.get(role) or {}, number, role)))
    return tuple(mentions)


def _require_object(value: object, number: int, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(number, f"cannot be read: {what} is not an object")
    return value


def _require_text(value: object, number: int, what: str) -> str:
    if not isinstance(value, str) or not value:
        _refuse(number, f"has no {what}")
    return value
