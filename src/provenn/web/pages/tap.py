"""The TAP service: what it is (VOSI), examples, and queries that the client waits for (sync)."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.background import BackgroundTask

from provenn.errors import DeadlineError, TapError, UnknownCatalogError, UnknownJobError
from provenn.tap.answer_files import write_answer
from provenn.tap.answering import TapAnswer
from provenn.tap.examples import format_examples
from provenn.tap.parameters import TapQuery, read_query
from provenn.tap.tap_schema import TAP_SCHEMA_TABLES
from provenn.tap.vosi import format_availability, format_capabilities, format_table, format_tables
from provenn.web.questions import CURRENT
from provenn.web.quota_limits import CountedFile
from provenn.web.tap_jobs import TapJobs
from provenn.web.tap_requests import (
    ServedTapJobs,
    TapRequest,
    check_may_compute,
    find_address,
    link_lineage,
    make_xml,
    read_request,
)
from provenn.web.tap_running import Annotate, make_notes

__all__ = ["SINCE", "compute_while_waiting", "router"]

router = APIRouter(include_in_schema=False)

SINCE: Final = datetime.now(UTC)
"""The start of the server."""

_MANY: Final = 500
"""With more tables than this, the list of tables leaves out the columns unless the client asks for them."""


@router.get("/tap")
def show_service(request: Request) -> RedirectResponse:
    """Lead from the address of the service to its capabilities."""
    return RedirectResponse(find_address(request, "/tap/capabilities"), 303)


@router.get("/tap/capabilities")
def show_capabilities(jobs: ServedTapJobs, request: Request) -> Response:
    """Show what the service can do."""
    return make_xml(format_capabilities(find_address(request, "/tap"), jobs.limits))


@router.get("/tap/availability")
def show_availability() -> Response:
    """Show that the service answers."""
    return make_xml(format_availability(SINCE))


@router.get("/tap/tables")
def list_tables(jobs: ServedTapJobs, detail: str = "") -> Response:
    """List the tables that the person sees."""
    tables = jobs.list_tables()
    if detail not in ("", "min", "max"):
        raise TapError(f"unknown detail {detail[:40]!r}", hint="use min or max")
    with_columns = detail == "max" or (not detail and len(tables) <= _MANY)
    return make_xml(format_tables(tables, with_columns=with_columns))


@router.get("/tap/tables/{name:path}")
def show_table(jobs: ServedTapJobs, name: str) -> Response:
    """Show a table with its columns."""
    for table in (*jobs.list_tables(), *TAP_SCHEMA_TABLES):
        names = [table.name, table.catalog, f"{table.schema}.{table.name}"]  # a query may name the schema, too
        if name.lower() in map(str.lower, names):
            return make_xml(format_table(table))
    raise UnknownCatalogError(f"there is no table {name[:100]}", hint="/tap/tables lists the tables")


@router.get("/tap/examples")
def show_examples(jobs: ServedTapJobs) -> Response:
    """Show examples of queries."""
    return make_xml(format_examples(jobs.list_tables()), "application/xhtml+xml")


@router.get("/tap/sync")
@router.post("/tap/sync")
async def answer_query(jobs: ServedTapJobs, request: Request) -> Response:
    """Answer a query while the client waits."""
    asked = await read_request(request)
    query = read_query(asked.parameters)
    answer = await to_thread.run_sync(jobs.answer_now, query)
    if answer is not None:
        return await to_thread.run_sync(_make_answer, answer, query)
    check_may_compute()
    return await compute_while_waiting(jobs, asked, link_lineage(request))


async def compute_while_waiting(jobs: TapJobs, asked: TapRequest, annotate: Annotate) -> Response:
    """Return the answer to a query that is computed while the client waits.

    The query runs on a job thread. The question gives up its turn meanwhile, so that waiting queries delay no pages;
    if the client is gone, the work of the query stops.
    """
    job = await to_thread.run_sync(lambda: jobs.create(asked.parameters, asked.uploads, annotate, is_direct=True))
    number = job.number
    loop = asyncio.get_running_loop()
    changed = asyncio.Event()

    def report_change() -> None:
        loop.call_soon_threadsafe(changed.set)

    def abort() -> None:
        with suppress(UnknownJobError):
            jobs.abort(number)
        changed.set()

    question = CURRENT.get()
    try:
        await to_thread.run_sync(lambda: jobs.start(number, is_direct=True, done=report_change))
        if question is not None:
            question.on_stop(abort)
            question.give_up_turn()
        while not job.is_over:
            await changed.wait()
            changed.clear()
            job = jobs.find_job(number)
    except BaseException:
        jobs.delete(number)
        raise
    if job.phase != "COMPLETED":
        jobs.delete(number)
        if job.phase == "ABORTED":
            raise DeadlineError
        raise TapError(job.error)
    _, path = await to_thread.run_sync(jobs.open_answer, number)
    media_type = job.result[0] if job.result is not None else ""
    response = CountedFile(path, media_type=media_type, background=BackgroundTask(jobs.delete, number))
    response.report_size = jobs.count_download
    return response


def _make_answer(answer: TapAnswer, query: TapQuery) -> Response:
    """Return an answer that needed no data."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "answer"
        write_answer(answer.table, path, query.answer_format, make_notes(answer, query))
        content = path.read_bytes()
    return Response(content, media_type=query.answer_format.media_type)
