"""Quotas of people, and their usage: the owner of the archive sets quotas, and everybody can read the quotas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from provenn.archive.context import HasContext
from provenn.errors import NotYoursError
from provenn.people import quotas
from provenn.people.quotas import EVERYONE, KINDS, Quota, QuotaKind

__all__ = ["EVERYONE", "KINDS", "Quota", "QuotaKind", "Usage", "list_quotas", "list_usage", "set_quotas", "today"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The quota and the usage of a person for a resource.

    Parameters
    ----------
    kind, what
        The kind of resource, and its description.
    limit
        The quota; None if there is no quota.
    used
        The usage; None if only the server knows it.
    """

    kind: QuotaKind
    what: str
    limit: int | None
    used: int | None


def set_quotas(archive: HasContext, who: str, amounts: Mapping[str, int | None]) -> None:
    """Set quotas of a person, or of all people without own quotas (`EVERYONE`).

    Parameters
    ----------
    archive
        The archive.
    who
        The person.
    amounts
        The quotas by kind; None removes a quota. Other kinds stay unchanged.

    Raises
    ------
    NotYoursError
        If the archive is confined to your view: then you are not its owner.
    QuotaError
        If a kind does not exist, or an amount is invalid.
    """
    database = archive.context.database
    if database.viewer is not None:
        raise NotYoursError("only an administrator of the archive can set quotas", hint="ask its owner")
    with database.writing() as writing:
        for kind, amount in amounts.items():
            quotas.change_quota(writing, who, kind, amount)


def list_quotas(archive: HasContext) -> Sequence[Quota]:
    """Return all quotas, by person."""
    with archive.context.full_database.reading() as reading:
        return quotas.list_quotas(reading)


def list_usage(archive: HasContext, who: str, day: date | None = None) -> tuple[Usage, ...]:
    """Return the quotas and usage of a person; downloads are counted for a day, by default today."""
    with archive.context.full_database.reading() as reading:
        limits = quotas.find_limits(reading, who)
        used = {
            "stored": quotas.count_stored_bytes(reading, who),
            "downloads": quotas.count_downloaded_bytes(reading, who, day or today()),
        }
    return tuple(Usage(kind, what, limits.get(kind), used.get(kind)) for kind, what in KINDS.items())


def today() -> date:
    """Return the current day in UTC, for counting downloads."""
    return datetime.now(UTC).date()
