"""``provenn quota``: how much of an archive people may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table
from provenn.errors import QuotaError
from provenn.sizes import format_size, parse_size

if TYPE_CHECKING:
    from provenn.archive.quotas import Usage

__all__ = ["list_quotas", "set_quota", "show_quota"]

_SIZES: Final = ("stored", "downloads")
"""The kinds whose amount is a number of bytes."""


def set_quota(
    who: Annotated[str | None, typer.Argument(metavar="[WHO]", help="The person.", show_default=False)] = None,
    *,
    everyone: Annotated[
        bool, typer.Option("--everyone", help="For everyone without a personal quota, instead of a person.")
    ] = False,
    stored: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Bytes of stored fragments, for example 20GB.", show_default=False),
    ] = None,
    downloads: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Bytes downloaded from the server per day.", show_default=False)
    ] = None,
    jobs: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Jobs running at the same time.", show_default=False)
    ] = None,
    questions: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Requests to the server per minute.", show_default=False)
    ] = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Set the quotas of a person; `none` removes a quota.

    Try:

    - `provenn quota set ada --stored 50GB --downloads 200GB`
    - `provenn quota set --everyone --jobs 1 --questions 600`
    - `provenn quota set ada --stored none`
    """
    texts = {"stored": stored, "downloads": downloads, "jobs": jobs, "questions": questions}
    with open_archive_at(archive_path) as archive:
        from provenn.archive.quotas import EVERYONE, list_usage, set_quotas  # noqa: PLC0415 - others start without it

        if (who is None) != everyone:
            raise QuotaError("a quota is for one person or for everyone", hint="name the person, or add --everyone")
        amounts = {kind: _parse_amount(kind, text) for kind, text in texts.items() if text is not None}
        if not amounts:
            raise QuotaError("no quota to set", hint="use --stored, --downloads, --jobs or --questions")
        person = EVERYONE if who is None else who
        set_quotas(archive, person, amounts)
        usage = list_usage(archive, person)
    _write_usage(person, usage, as_json=as_json)


def show_quota(
    who: Annotated[
        str | None, typer.Argument(metavar="[WHO]", help="The person; by default you.", show_default=False)
    ] = None,
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Show the quotas of a person, and how much of them is used.

    Try:

    - `provenn quota show`
    - `provenn quota show ada --json`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.archive.quotas import list_usage  # noqa: PLC0415 - see above

        person = who or archive.who
        usage = list_usage(archive, person)
    _write_usage(person, usage, as_json=as_json)


def list_quotas(*, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """List all quotas.

    Try:

    - `provenn quota ls`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.archive.quotas import EVERYONE, KINDS  # noqa: PLC0415 - see above
        from provenn.archive.quotas import list_quotas as fetch_quotas  # noqa: PLC0415

        quotas = fetch_quotas(archive)
    if as_json:
        write_json(
            [
                {
                    "who": None if quota.who == EVERYONE else quota.who,
                    "kind": quota.kind,
                    "amount": quota.amount,
                    "set_at": quota.set_at.isoformat(),
                    "set_by": quota.set_by,
                }
                for quota in quotas
            ]
        )
    elif not quotas:
        write_nothing("no quotas", "provenn quota set NAME --stored 10GB limits a person")
    else:
        rows = [
            (
                "everybody else" if quota.who == EVERYONE else quota.who,
                KINDS[quota.kind],
                _format_amount(quota.kind, quota.amount),
                f"{quota.set_at:%Y-%m-%d %H:%M}",
                quota.set_by,
            )
            for quota in quotas
        ]
        write_table(("who", "what", "limit", "set", "by"), rows)


def _write_usage(who: str, usage: tuple[Usage, ...], *, as_json: bool) -> None:
    """Write the quotas of a person, and how much of each is used."""
    if as_json:
        kinds = {entry.kind: {"limit": entry.limit, "used": entry.used} for entry in usage}
        write_json({"who": None if who == "*" else who, **kinds})
        return
    rows = [
        (
            entry.what,
            "none" if entry.limit is None else _format_amount(entry.kind, entry.limit),
            "" if entry.used is None or who == "*" else _format_amount(entry.kind, entry.used),
        )
        for entry in usage
    ]
    write_table(("what", "limit", "used"), rows)


def _format_amount(kind: str, amount: int) -> str:
    """Return an amount of a quota for people: a size, or a number."""
    return format_size(amount) if kind in _SIZES else f"{amount:,}"


def _parse_amount(kind: str, text: str) -> int | None:
    """Return the amount in an option; None for ``none``.

    >>> _parse_amount("stored", "1.5 GB"), _parse_amount("jobs", "2"), _parse_amount("stored", "none")
    (1500000000, 2, None)
    >>> _parse_amount("stored", "9007199254740993")
    9007199254740993
    """
    if text.strip().lower() == "none":
        return None
    is_number = text.strip().isdecimal()
    amount = parse_size(text) if kind in _SIZES or is_number else None
    if amount is None:
        example = "20GB, 500 MB or 1000000" if kind in _SIZES else "2"
        raise QuotaError(f"--{kind} {text!r} is not an amount", hint=f"as in --{kind} {example}; or: none")
    return amount
