"""The audit log: who did what, when and from where. For those who look after the archive."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.exceptions import HTTPException

from provenn.web.accounts import current
from provenn.web.rendering import Held, add_page

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Noted:
    """Something that somebody did."""

    number: int
    at: datetime
    who: str
    via: str
    action: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class Audit:
    """What was done, the latest first; all, or only what is told by one word."""

    action: str
    most: int
    done: tuple[Noted, ...]


def list_audit(
    archive: Held,
    *,
    action: Annotated[str, Query(max_length=100)] = "",
    most: Annotated[int, Query(ge=1, le=10_000)] = 200,
) -> Audit:
    """List who did what, when and from where. It needs the role admin."""
    account = current()
    if account is not None:
        if not account.may("admin"):
            raise HTTPException(403, "this needs a token of the role admin")
        archive = archive.as_seen_by(account.who, confined=False)
    found = archive.audit(most=most, action=action or None)
    done = (Noted(one.number, one.at, one.who, one.via, one.action, one.subject, one.detail) for one in found)
    return Audit(action, most, tuple(done))


add_page(router, "/audit", list_audit, "audit.html")
