"""The audit page: the actions of all people with time and interface, for administrators."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException

from provenn.web.accounts import get_current_account
from provenn.web.people import People
from provenn.web.rendering import ServedArchive, add_page

__all__ = ["router"]

router = APIRouter()

_SECONDS = 2.0
"""Seconds to wait for recent actions that are not written yet."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An action of a person in the audit log."""

    number: int
    at: datetime
    who: str
    via: str
    action: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The actions in the audit log, the latest first; only actions named `action` unless it is empty."""

    action: str
    most: int
    done: tuple[AuditRow, ...]


def list_audit(
    archive: ServedArchive,
    request: Request,
    *,
    action: Annotated[str, Query(max_length=100)] = "",
    most: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> AuditPage:
    """List the actions of people, with time and origin. The page requires the role admin."""
    account = get_current_account()
    if account is not None:
        if not account.may("admin"):
            raise HTTPException(403, "this needs a token with the role admin")
        archive = archive.as_seen_by(account.who, confined=False)
    people: People = request.app.state.people
    people.notes.flush(_SECONDS)
    entries = archive.audit(most=most, action=action or None)
    done = (
        AuditRow(entry.number, entry.at, entry.who, entry.via, entry.action, entry.subject, entry.detail)
        for entry in entries
    )
    return AuditPage(action, most, tuple(done))


add_page(router, "/audit", list_audit, "audit.html")
