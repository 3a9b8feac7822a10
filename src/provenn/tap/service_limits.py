"""The limits of the TAP service."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ServiceLimits"]


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The limits of the TAP service; the capabilities state all of them but the jobs.

    Parameters
    ----------
    rows, most_rows
        The number of rows of an answer if the client names none, and at most.
    seconds, most_seconds
        How long a job may run if the client says nothing, and at most.
    kept_seconds, most_kept_seconds
        How long a job is kept if the client says nothing, and at most.
    upload
        The most bytes of an upload.
    jobs
        How many jobs of a person are kept; also the maximum of waiting and running jobs of a person.
    """

    rows: int = 20_000
    most_rows: int = 1_000_000
    seconds: int = 600
    most_seconds: int = 3600
    kept_seconds: int = 86_400
    most_kept_seconds: int = 604_800
    upload: int = 32_000_000
    jobs: int = 100
