"""The pages of jobs: list, progress, cancellation and download."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from provenn.gate.entrances import entrance
from provenn.web.jobs import FORMATS, JobRequest, Jobs, TargetJob
from provenn.web.people import People
from provenn.web.quota_limits import CountedFile
from provenn.web.rendering import add_page

__all__ = ["ServedJobs", "router"]

router = APIRouter()


def _find_jobs(request: Request) -> Jobs:
    people: People = request.app.state.people
    return people.jobs


ServedJobs = Annotated[Jobs, Depends(_find_jobs)]
"""The parameter type of a view that receives the jobs of the person of the request."""


@dataclass(frozen=True, slots=True)
class JobList:
    """The remembered jobs of the person of the request, the latest first."""

    jobs: tuple[TargetJob, ...]


def list_jobs(jobs: ServedJobs) -> JobList:
    """List your jobs."""
    return JobList(jobs.list_jobs())


def see_job(jobs: ServedJobs, number: str) -> TargetJob:
    """See how far a job is, and what came out."""
    return jobs.find_job(number)


add_page(router, "/jobs", list_jobs, "jobs.html")
add_page(router, "/jobs/{number}", see_job, "job.html")


@router.post("/api/jobs", status_code=201)
@entrance("request for a job", "length", "types", "criteria")
def start_job(jobs: ServedJobs, asked: JobRequest, response: Response) -> TargetJob:
    """Have a target computed into a file."""
    job = jobs.start(asked)
    response.headers["Location"] = f"/api/jobs/{job.id}"
    return job


@router.post("/api/jobs/{number}/cancel")
def cancel_job(jobs: ServedJobs, number: str) -> TargetJob:
    """Cancel a job; a job that has ended does not change."""
    return jobs.cancel(number)


@router.post("/jobs/{number}/cancel", include_in_schema=False)
def cancel_from_page(jobs: ServedJobs, number: str) -> RedirectResponse:
    """Cancel a job, and go back to its page."""
    return RedirectResponse(f"/jobs/{jobs.cancel(number).id}", 303)


@router.get("/api/jobs/{number}/data", response_class=FileResponse)
@router.get("/jobs/{number}/data", response_class=FileResponse, include_in_schema=False)
def download(jobs: ServedJobs, number: str) -> FileResponse:
    """Download what a job has computed."""
    job, path = jobs.open_data(number)
    answer = CountedFile(path, media_type=FORMATS[job.asked.format][1], filename=job.file)
    answer.report_size = jobs.count_download
    return answer
