"""The page with the quotas and the usage of the person of the request."""

from dataclasses import dataclass

from fastapi import APIRouter, Request

from provenn.archive.quotas import Usage
from provenn.web.people import People
from provenn.web.rendering import ServedArchive, add_page

__all__ = ["router"]

router = APIRouter()


@dataclass(frozen=True, slots=True)
class QuotaPage:
    """The limit and the usage of a person for every kind of quota."""

    who: str
    usage: tuple[Usage, ...]


def show_quota(archive: ServedArchive, request: Request) -> QuotaPage:
    """Show how much of the archive you may use, and how much you use."""
    people: People = request.app.state.people
    return QuotaPage(archive.who, people.quotas.list_usage(archive.who))


add_page(router, "/quota", show_quota, "quota.html")
