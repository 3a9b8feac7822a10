"""The work of a TAP job: the query is answered into a file, until the job is aborted or its time is used up."""

import logging
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic
from typing import Any, Final

from provenn import deadline
from provenn.archive import Archive
from provenn.errors import DeadlineError, ProvennError, TapError
from provenn.hints import phrase_for_page
from provenn.tap.answer_files import write_answer
from provenn.tap.answering import QueryRequest, TapAnswer, answer_from_metadata, compute_answer
from provenn.tap.fetching import fetch_table
from provenn.tap.parameters import TapQuery, UploadReference, read_query
from provenn.tap.served_tables import ServedTable
from provenn.tap.service_limits import ServiceLimits
from provenn.tap.upload import convert_uploads
from provenn.tap.uws import UwsJob
from provenn.tap.votable_writing import VOTableNotes

__all__ = ["Annotate", "TapWork", "keep_notes", "limit_rows", "make_notes", "run_work"]

_LOG = logging.getLogger("provenn.web")

_FAILED: Final = "the server failed to answer this query; the administrator finds the reason in the log of the server"


Annotate = Callable[[VOTableNotes, TapAnswer], VOTableNotes]
"""Adds to the notes of an answer."""


def keep_notes(notes: VOTableNotes, _answer: TapAnswer) -> VOTableNotes:
    """Return the notes of an answer as they are."""
    return notes


@dataclass(slots=True)
class TapWork:
    """A job with its folder, its uploads, the signal that stops it, and the announcement of changes."""

    job: UwsJob
    folder: Path
    uploads: Mapping[str, Path]
    annotate: Annotate
    stop: threading.Event = field(default_factory=threading.Event)
    until: float | None = None
    is_direct: bool = False
    listeners: list[Callable[[], None]] = field(default_factory=list)

    @property
    def path(self) -> Path:
        """The file of the answer."""
        return self.folder / "answer"

    def should_stop(self) -> bool:
        """Return whether the job was aborted, or has used up its time."""
        return self.stop.is_set() or (self.until is not None and monotonic() > self.until)

    def listen(self, _progress: object) -> None:
        """Interrupt the work of Spark if the job should stop."""
        if self.should_stop():
            raise KeyboardInterrupt


def limit_rows(query: TapQuery, limits: ServiceLimits) -> int:
    """Return the largest number of rows in the answer to a query."""
    return limits.rows if query.most is None else min(query.most, limits.most_rows)


def run_work(
    archive: Archive,
    work: TapWork,
    list_tables: Callable[[], Sequence[ServedTable]],
    limits: ServiceLimits,
    tell_plan: Callable[[str], None],
) -> dict[str, Any]:
    """Answer the query of a job into its file; return the changes of the job, also after a failure.

    Parameters
    ----------
    archive
        The archive, as the person sees it.
    work
        The job.
    list_tables
        Returns the tables that the person sees.
    limits
        The limits of the service.
    tell_plan
        Receives the plan in words before anything is computed.
    """
    try:
        with deadline.limit(work.should_stop):
            return _compute(archive, work, list_tables, limits, tell_plan)
    except (KeyboardInterrupt, DeadlineError):
        message = f"this query takes longer than {work.job.duration} seconds"
        return {"phase": "ERROR", "error": message, "is_transient": True}
    except ProvennError as error:
        return {"phase": "ERROR", "error": _describe_error(error, work.folder)}
    except Exception as error:  # noqa: BLE001 - the client is told of the failure, and the log of its reason
        _LOG.error("the TAP job %s failed", work.job.number, exc_info=error)
        return {"phase": "ERROR", "error": _FAILED, "is_transient": True}


def _compute(
    archive: Archive,
    work: TapWork,
    list_tables: Callable[[], Sequence[ServedTable]],
    limits: ServiceLimits,
    tell_plan: Callable[[str], None],
) -> dict[str, Any]:
    """Compute the answer of a job into its file."""
    query = read_query(work.job.parameters)
    watched = archive.watched(work.listen, notify=False)
    paths = {upload.table: _find_upload(work, upload, limits) for upload in query.uploads}
    if paths:
        watched = _see_uploads(watched, work.folder)
    request = QueryRequest(query.text, limit_rows(query, limits), convert_uploads(paths, work.folder))
    tables = list_tables()
    answer = answer_from_metadata(watched, request, tables)
    answer = answer or compute_answer(watched, request, tables, tell_plan)
    deadline.check()
    notes = work.annotate(make_notes(answer, query), answer)
    write_answer(answer.table, work.path, query.answer_format, notes)
    size = work.path.stat().st_size
    return {"phase": "COMPLETED", "plan": answer.plan, "result": (query.answer_format.media_type, size)}


def _find_upload(work: TapWork, upload: UploadReference, limits: ServiceLimits) -> Path:
    """Return the file of an uploaded table; a table elsewhere is fetched now.

    Raises
    ------
    TapError
        If the request has no such part, or the table cannot be fetched.
    """
    if not upload.address:
        if upload.part not in work.uploads:
            hint = "send the table as a file in multipart/form-data"
            raise TapError(f"the request has no part {upload.part[:40]!r}", hint=hint)
        return work.uploads[upload.part]
    path = work.folder / f"fetched-{secrets.token_hex(4)}"
    path.write_bytes(fetch_table(upload.address, limits.upload))
    return path


def make_notes(answer: TapAnswer, query: TapQuery) -> VOTableNotes:
    """Return what the file of an answer says beside the rows."""
    infos = [("QUERY", query.text), *(("rests_on", words) for words in answer.rests_on)]
    return VOTableNotes(infos, answer.overflow)


def _describe_error(error: ProvennError, folder: Path) -> str:
    """Return an error with its hint in words; the path of a folder on the server stays private."""
    hint = phrase_for_page(error.hint)
    text = f"{error.message}\n{hint}" if hint else error.message
    return text.replace(str(folder), "the job")


def _see_uploads(archive: Archive, folder: Path) -> Archive:
    """Return an archive that also reads the files of a job's folder, and records nothing.

    A run would otherwise record the uploaded table with what it learned about it.
    """
    context = archive.context
    roots = context.workshop.roots
    database = replace(context.database, read_only=True)
    workshop = context.workshop.for_person(database, None if roots is None else (*roots, str(folder)))
    return Archive(replace(context, database=database, workshop=workshop))
