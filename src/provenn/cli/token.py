"""``provenn token``: tokens for the server of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.output import AsJson, write_json, write_nothing, write_table, write_text

if TYPE_CHECKING:
    from datetime import datetime

    from provenn.people.tokens import Token

__all__ = ["list_tokens", "new_token", "revoke_token"]


def new_token(
    who: Annotated[str, typer.Argument(metavar="WHO", help="The person, as in PROVENN_USER.", show_default=False)],
    *,
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE",
            help="`reader` browses, asks and plans; `author` also computes targets; `admin` also sees the audit log.",
        ),
    ] = "reader",
    expires: Annotated[
        float | None, typer.Option(metavar="DAYS", help="How long the token is valid.", show_default="for ever")
    ] = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Create a token, with which a person can use `provenn serve`. It is shown only once.

    Try:

    - `provenn token new ada --role author --expires 90`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.archive.tokens import issue_token  # noqa: PLC0415 - other commands start without it

        token, secret = issue_token(archive, who, role, days=expires)
    if as_json:
        write_json({**_token_data(token), "token": secret})
    else:
        write_text(f"{secret}\n")
        write_text(
            f"token #{token.number} of {token.who}, {token.role}, {_describe_validity(token)}. It is not shown again."
        )


def list_tokens(*, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """List tokens, without their secrets.

    Try:

    - `provenn token ls`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.archive.tokens import list_tokens as fetch_tokens  # noqa: PLC0415 - see above

        tokens = fetch_tokens(archive)
    if as_json:
        write_json([_token_data(token) for token in tokens])
    elif not tokens:
        write_nothing("no tokens", "provenn token new NAME makes a token for a person")
    else:
        header = ("number", "who", "role", "made", "by", "good", "last used")
        rows = [
            (
                f"#{token.number}",
                token.who,
                token.role,
                _format_time(token.created_at),
                token.created_by,
                _describe_validity(token),
                _format_time(token.used_at) or "never",
            )
            for token in tokens
        ]
        write_table(header, rows)


def revoke_token(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the token.", show_default=False)],
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Revoke a token, and end all sessions that began with it.

    Try:

    - `provenn token revoke 3`
    """
    with open_archive_at(archive_path) as archive:
        from provenn.archive.tokens import revoke_token as revoke  # noqa: PLC0415 - see above

        token = revoke(archive, number)
    if as_json:
        write_json(_token_data(token))
    else:
        write_text(f"token #{token.number} of {token.who} is {_describe_validity(token)}")


def _describe_validity(token: Token) -> str:
    """Return until when a token is valid, or since when it is revoked, in words."""
    if token.revoked_at is not None:
        return f"revoked since {_format_time(token.revoked_at)}"
    return "for ever" if token.expires_at is None else f"until {_format_time(token.expires_at)}"


def _format_time(moment: datetime | None) -> str:
    """Return a time in words; empty for None."""
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _token_data(token: Token) -> dict[str, Any]:
    """Return a token as JSON data, without its secret."""
    return {
        "number": token.number,
        "who": token.who,
        "role": token.role,
        "created_at": token.created_at.isoformat(),
        "created_by": token.created_by,
        "expires_at": token.expires_at and token.expires_at.isoformat(),
        "used_at": token.used_at and token.used_at.isoformat(),
        "revoked_at": token.revoked_at and token.revoked_at.isoformat(),
    }
