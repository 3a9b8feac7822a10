"""Jobs as documents of UWS 1.1, the pattern of jobs in the Virtual Observatory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal
from xml.etree import ElementTree as ET

from provenn.errors import TapError
from provenn.tap.parameters import Parameters
from provenn.tap.xml_text import add_element, clean_text, serialise

__all__ = [
    "ACTIVE",
    "PHASES",
    "Phase",
    "UwsJob",
    "filter_jobs",
    "format_job",
    "format_jobs",
    "format_moment",
    "format_parameters",
    "format_results",
    "read_moment",
]

Phase = Literal["PENDING", "QUEUED", "EXECUTING", "COMPLETED", "ERROR", "ABORTED"]

PHASES: Final = ("PENDING", "QUEUED", "EXECUTING", "COMPLETED", "ERROR", "ABORTED", "UNKNOWN", "HELD", "SUSPENDED")
"""The phases that a client may name in a filter; a job of this server has one of the first six, or `ARCHIVED` never."""

ACTIVE: Final[tuple[Phase, ...]] = ("PENDING", "QUEUED", "EXECUTING")
"""The phases of a job that can still change."""


@dataclass(frozen=True, slots=True)
class UwsJob:
    """A job.

    Parameters
    ----------
    number
        Its identifier.
    parameters
        The parameters of its request.
    owner
        The person, or an empty text on a server without accounts.
    phase
        Its phase.
    created, started, ended
        When it was created, started and ended.
    duration
        The most seconds that it may run.
    destruction
        When the job and its answer are deleted.
    result
        The media type and the number of bytes of its answer; None without an answer.
    error
        Why it failed; empty if it did not.
    is_transient
        Whether the same request may succeed later.
    run_id
        The label that the client gave.
    plan
        The plan and its proofs in words; empty until the job has begun.
    """

    number: str
    parameters: Parameters
    owner: str
    created: datetime
    destruction: datetime
    duration: int
    phase: Phase = "PENDING"
    started: datetime | None = None
    ended: datetime | None = None
    result: tuple[str, int] | None = None
    error: str = ""
    is_transient: bool = False
    run_id: str = ""
    plan: str = field(default="", repr=False)

    @property
    def is_over(self) -> bool:
        """Whether the job has ended."""
        return self.phase not in ACTIVE


def format_moment(moment: datetime) -> str:
    """Return a moment as DALI writes it.

    >>> format_moment(datetime(2026, 11, 18, 9, 30, tzinfo=UTC))
    '2026-11-18T09:30:00.000Z'
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def read_moment(text: str) -> datetime:
    """Return a moment that a client wrote; without a time zone it is UTC.

    Raises
    ------
    TapError
        If it is not a moment.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # in UTC, the first or last day of the calendar may lie outside of it
        raise TapError(
            f"expected a moment in ISO 8601, got {text[:40]!r}", hint="for example 2026-11-18T09:30:00Z"
        ) from None


def filter_jobs(jobs: Iterable[UwsJob], parameters: Parameters) -> list[UwsJob]:
    """Return the jobs that a list shows, the newest first: with PHASE, AFTER and LAST.

    Raises
    ------
    TapError
        If a filter is not valid.
    """
    shown = sorted(jobs, key=lambda job: job.created, reverse=True)
    phases = [phase.strip().upper() for phase in parameters.find_all("PHASE")]
    for phase in phases:
        if phase not in (*PHASES, "ARCHIVED"):
            raise TapError(f"unknown PHASE {phase[:40]!r}", hint=f"use one of {', '.join(PHASES)}")
    if phases:
        shown = [job for job in shown if job.phase in phases]
    after = parameters.find("AFTER")
    if after is not None:
        moment = read_moment(after)
        shown = [job for job in shown if job.created > moment]
    last = parameters.find("LAST")
    if last is not None:
        if not (last.isascii() and last.isdigit() and 0 < len(last) < 10 and int(last)):
            raise TapError(f"expected a positive number as LAST, got {last[:40]!r}")
        shown = shown[: int(last)]
    return shown


def format_job(job: UwsJob, address: str) -> bytes:
    """Return a job as a document; `address` is the address of the job."""
    root = ET.Element("uws:job", {"version": "1.1"})
    add_element(root, "uws:jobId", job.number)
    if job.run_id:
        add_element(root, "uws:runId", job.run_id)
    _add_optional(root, "uws:ownerId", job.owner or None)
    add_element(root, "uws:phase", job.phase)
    _add_optional(root, "uws:quote", None)
    add_element(root, "uws:creationTime", format_moment(job.created))
    _add_optional(root, "uws:startTime", None if job.started is None else format_moment(job.started))
    _add_optional(root, "uws:endTime", None if job.ended is None else format_moment(job.ended))
    add_element(root, "uws:executionDuration", str(job.duration))
    add_element(root, "uws:destruction", format_moment(job.destruction))
    _add_parameters(root, job)
    _add_results(root, job, address)
    if job.error:
        kind = "transient" if job.is_transient else "fatal"
        summary = add_element(root, "uws:errorSummary", attributes={"type": kind, "hasDetail": "true"})
        add_element(summary, "uws:message", job.error)
    return serialise(root, "uws", "xlink", "xsi")


def format_jobs(jobs: Iterable[UwsJob], address: str) -> bytes:
    """Return a list of jobs as a document; `address` is the address of the list."""
    root = ET.Element("uws:jobs", {"version": "1.1"})
    for job in jobs:
        attributes = {"id": job.number, "xlink:href": f"{address}/{job.number}"}
        reference = add_element(root, "uws:jobref", attributes=attributes)
        add_element(reference, "uws:phase", job.phase)
        if job.run_id:
            add_element(reference, "uws:runId", job.run_id)
        _add_optional(reference, "uws:ownerId", job.owner or None)
        add_element(reference, "uws:creationTime", format_moment(job.created))
    return serialise(root, "uws", "xlink", "xsi")


def format_parameters(job: UwsJob) -> bytes:
    """Return the parameters of a job as a document."""
    return serialise(_add_parameters(None, job), "uws", "xlink", "xsi")


def format_results(job: UwsJob, address: str) -> bytes:
    """Return the results of a job as a document."""
    return serialise(_add_results(None, job, address), "uws", "xlink", "xsi")


def _add_optional(parent: ET.Element, tag: str, text: str | None) -> None:
    """Add an element that may be nil."""
    add_element(parent, tag, text, {} if text is not None else {"xsi:nil": "true"})


def _add_parameters(parent: ET.Element | None, job: UwsJob) -> ET.Element:
    element = ET.Element("uws:parameters") if parent is None else ET.SubElement(parent, "uws:parameters")
    for name, value in job.parameters.pairs:
        ET.SubElement(element, "uws:parameter", {"id": clean_text(name)}).text = clean_text(value)
    return element


def _add_results(parent: ET.Element | None, job: UwsJob, address: str) -> ET.Element:
    element = ET.Element("uws:results") if parent is None else ET.SubElement(parent, "uws:results")
    if job.result is not None:
        media_type, size = job.result
        attributes = {"id": "result", "xlink:href": f"{address}/results/result"}
        attributes |= {"mime-type": media_type, "size": str(size)}
        ET.SubElement(element, "uws:result", attributes)
    if job.plan and job.phase == "COMPLETED":
        attributes = {"id": "plan", "xlink:href": f"{address}/plan", "mime-type": "text/plain"}
        ET.SubElement(element, "uws:result", attributes)
    return element
