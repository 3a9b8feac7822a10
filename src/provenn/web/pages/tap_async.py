"""The jobs of the TAP service, as UWS demands: create, start, watch, abort and delete them."""

import asyncio
from time import monotonic
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse, RedirectResponse, Response

from provenn.errors import ProvennError, TapError, UnknownJobError
from provenn.tap.parameters import Parameters, read_query
from provenn.tap.uws import (
    ACTIVE,
    UwsJob,
    filter_jobs,
    format_job,
    format_jobs,
    format_moment,
    format_parameters,
    format_results,
    read_moment,
)
from provenn.tap.xml_text import format_error
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
    read_address,
    read_request,
)

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_LIST: Final = "/tap/async"
_LONGEST_WAIT: Final = 50.0
"""The most seconds that a request waits for a change; the server stops requests after a minute."""

_CONTROLS: Final = ("PHASE", "ACTION", "EXECUTIONDURATION", "DESTRUCTION", "WAIT")


@router.get(_LIST)
def list_jobs(jobs: ServedTapJobs, request: Request) -> Response:
    """List the jobs of the person."""
    shown = filter_jobs(jobs.list_jobs(), read_address(request))
    return make_xml(format_jobs(shown, find_address(request, _LIST)))


@router.post(_LIST)
async def create_job(jobs: ServedTapJobs, request: Request) -> Response:
    """Create a job, and start it if the request says so."""
    asked = await read_request(request)

    def create() -> UwsJob:
        phase = asked.parameters.find("PHASE")
        kept = Parameters(tuple(pair for pair in asked.parameters.pairs if pair[0] not in _CONTROLS))
        job = jobs.create(kept, asked.uploads, link_lineage(request))
        try:
            _change_limits(jobs, job.number, asked.parameters)
            return _start(jobs, job.number, phase) if phase is not None else job
        except ProvennError:
            jobs.delete(job.number)  # the client never learns its number
            raise

    job = await to_thread.run_sync(create)
    return RedirectResponse(_find_job_address(request, job.number), 303)


@router.get(_LIST + "/{number}")
async def show_job(jobs: ServedTapJobs, request: Request, number: str) -> Response:
    """Show a job; with WAIT, when its phase changes or the time is over."""
    job = await _wait_for_change(jobs, jobs.find_job(number), read_address(request))
    return make_xml(format_job(job, _find_job_address(request, number)))


@router.post(_LIST + "/{number}")
async def change_job(jobs: ServedTapJobs, request: Request, number: str) -> Response:
    """Start, abort, delete or change a job."""
    asked = await read_request(request)
    action = asked.parameters.find("ACTION")
    if action is not None:
        if action.upper() != "DELETE":
            raise TapError(f"unknown ACTION {action[:40]!r}", hint="use ACTION=DELETE")
        return await delete_job(jobs, request, number)

    def change() -> None:
        jobs.find_job(number)
        _change_parameters(jobs, number, asked)
        _change_limits(jobs, number, asked.parameters)
        phase = asked.parameters.find("PHASE")
        if phase is not None:
            _start(jobs, number, phase)

    await to_thread.run_sync(change)
    return RedirectResponse(_find_job_address(request, number), 303)


@router.delete(_LIST + "/{number}")
async def delete_job(jobs: ServedTapJobs, request: Request, number: str) -> Response:
    """Abort a job, and delete it with its answer."""
    await to_thread.run_sync(jobs.delete, number)
    return RedirectResponse(find_address(request, _LIST), 303)


@router.get(_LIST + "/{number}/{part}")
async def show_part(jobs: ServedTapJobs, request: Request, number: str, part: str) -> Response:
    """Show a part of a job."""
    job = jobs.find_job(number)
    address = _find_job_address(request, number)
    match part:
        case "phase":
            job = await _wait_for_change(jobs, job, read_address(request))
            return PlainTextResponse(job.phase)
        case "executionduration":
            return PlainTextResponse(str(job.duration))
        case "destruction":
            return PlainTextResponse(format_moment(job.destruction))
        case "quote":
            return PlainTextResponse("")
        case "owner":
            return PlainTextResponse(job.owner)
        case "parameters":
            return make_xml(format_parameters(job))
        case "results":
            return make_xml(format_results(job, address))
        case "error" if job.error:
            return make_xml(format_error(job.error), "application/x-votable+xml")
        case "plan" if job.plan:
            return PlainTextResponse(job.plan)
    raise UnknownJobError(f"the job {number} has no {part[:40]}")


@router.post(_LIST + "/{number}/{part}")
async def change_part(jobs: ServedTapJobs, request: Request, number: str, part: str) -> Response:
    """Change a part of a job."""
    asked = await read_request(request)
    jobs.find_job(number)
    phase = asked.parameters.find("PHASE")
    match part:
        case "phase" if phase is not None:
            await to_thread.run_sync(_start, jobs, number, phase)
        case "executionduration" | "destruction":
            _change_limits(jobs, number, asked.parameters)
        case "parameters":
            await to_thread.run_sync(_change_parameters, jobs, number, asked)
        case _:
            raise TapError(f"the part {part[:40]!r} of a job cannot be changed so")
    return RedirectResponse(_find_job_address(request, number), 303)


@router.get(_LIST + "/{number}/results/result")
def download_answer(jobs: ServedTapJobs, number: str) -> Response:
    """Download the answer of a job."""
    job, path = jobs.open_answer(number)
    answer = CountedFile(path, media_type=job.result[0] if job.result is not None else None)
    answer.report_size = jobs.count_download
    return answer


def _find_job_address(request: Request, number: str) -> str:
    return find_address(request, f"{_LIST}/{number}")


def _start(jobs: TapJobs, number: str, phase: str) -> UwsJob:
    """Start or abort a job."""
    match phase.strip().upper():
        case "RUN":
            if not _is_quick(jobs, jobs.find_job(number)):
                check_may_compute()
            return jobs.start(number)
        case "ABORT":
            return jobs.abort(number)
    raise TapError(f"unknown PHASE {phase[:40]!r}", hint="use PHASE=RUN or PHASE=ABORT")


def _is_quick(jobs: TapJobs, job: UwsJob) -> bool:
    """Return whether a job needs no data; an invalid query needs none, and the job reports its error."""
    try:
        return jobs.answer_now(read_query(job.parameters)) is not None
    except ProvennError:
        return True


def _change_parameters(jobs: TapJobs, number: str, asked: TapRequest) -> None:
    kept = Parameters(tuple(pair for pair in asked.parameters.pairs if pair[0] not in _CONTROLS))
    if kept.pairs or asked.uploads:
        jobs.change_request(number, kept, asked.uploads)


def _change_limits(jobs: TapJobs, number: str, parameters: Parameters) -> None:
    duration = parameters.find("EXECUTIONDURATION")
    if duration is not None:
        plain = duration.strip()
        if not (plain.isascii() and plain.isdigit() and len(plain) < 10):
            raise TapError(f"expected a number of seconds as EXECUTIONDURATION, got {duration[:40]!r}")
        jobs.change(number, duration=int(plain))
    destruction = parameters.find("DESTRUCTION")
    if destruction is not None:
        jobs.change(number, destruction=read_moment(destruction))


async def _wait_for_change(jobs: TapJobs, job: UwsJob, parameters: Parameters) -> UwsJob:
    """Return a job when it has left its phase, or when the time is over that WAIT names."""
    wait = parameters.find("WAIT")
    phase = (parameters.find("PHASE") or job.phase).strip().upper()
    if wait is None or job.phase not in ACTIVE or job.phase != phase:
        return job
    plain = wait.strip()
    if not (plain.removeprefix("-").isdigit() and plain.isascii() and len(plain) < 10):
        raise TapError(f"expected a number of seconds as WAIT, got {wait[:40]!r}")
    seconds = _LONGEST_WAIT if int(plain) < 0 else min(float(plain), _LONGEST_WAIT)
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def report_change() -> None:
        loop.call_soon_threadsafe(changed.set)

    jobs.add_listener(job.number, report_change)
    question = CURRENT.get()
    if question is not None:
        question.on_stop(changed.set)
        question.give_up_turn()
    until = monotonic() + seconds
    while (job := jobs.find_job(job.number)).phase == phase and monotonic() < until:
        if question is not None and question.was_stopped:
            break
        try:
            await asyncio.wait_for(changed.wait(), until - monotonic())
        except TimeoutError:
            break
        changed.clear()
    return jobs.find_job(job.number)
