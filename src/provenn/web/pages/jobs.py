"""Jobs: what the server computes, how far it is, and what came out."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse, RedirectResponse, Response

from provenn.web.jobs import FORMATS, Asked, Job, Jobs
from provenn.web.people import People
from provenn.web.rendering import add_page

__all__ = ["HeldJobs", "router"]

router = APIRouter()


def _held(request: Request) -> Jobs:
    people: People = request.app.state.people
    return people.jobs


HeldJobs = Annotated[Jobs, Depends(_held)]
"""The jobs of who asks, as a parameter of a view."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The jobs of who asks that the server knows, the latest first."""

    jobs: tuple[Job, ...]


def list_jobs(jobs: HeldJobs) -> Listed:
    """List your jobs."""
    return Listed(jobs.jobs())


def see_job(jobs: HeldJobs, number: str) -> Job:
    """See how far a job is, and what came out."""
    return jobs.job(number)


add_page(router, "/jobs", list_jobs, "jobs.html")
add_page(router, "/jobs/{number}", see_job, "job.html")


@router.post("/api/jobs", status_code=201)
def start_job(jobs: HeldJobs, asked: Asked, response: Response) -> Job:
    """Have a target computed into a file."""
    job = jobs.start(asked)
    response.headers["Location"] = f"/api/jobs/{job.id}"
    return job


@router.post("/api/jobs/{number}/cancel")
def cancel_job(jobs: HeldJobs, number: str) -> Job:
    """Cancel a job; one that has ended stays as it is."""
    return jobs.cancel(number)


@router.post("/jobs/{number}/cancel", include_in_schema=False)
def cancel_from_page(jobs: HeldJobs, number: str) -> RedirectResponse:
    """Cancel a job, and go back to its page."""
    return RedirectResponse(f"/jobs/{jobs.cancel(number).id}", 303)


@router.get("/api/jobs/{number}/data", response_class=FileResponse)
@router.get("/jobs/{number}/data", response_class=FileResponse, include_in_schema=False)
def download(jobs: HeldJobs, number: str) -> FileResponse:
    """Download what a job has computed."""
    job, path = jobs.data(number)
    return FileResponse(path, media_type=FORMATS[job.asked.format][1], filename=job.file)
