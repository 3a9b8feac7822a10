"""``provenn token``: who may use the server of an archive."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_table, write_text

if TYPE_CHECKING:
    from datetime import datetime

    from provenn.store.tokens import Token

__all__ = ["list_tokens", "new_token", "revoke_token"]


def new_token(
    who: Annotated[str, typer.Argument(metavar="WHO", help="The person, as archives record them.", show_default=False)],
    *,
    role: Annotated[
        str,
        typer.Option(
            metavar="ROLE",
            help="`reader` looks, asks and plans; `author` also has targets computed; `admin` also sees the audit log.",
        ),
    ] = "reader",
    expires: Annotated[
        float | None, typer.Option(metavar="DAYS", help="For how long it is good.", show_default="for ever")
    ] = None,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Make a token, with which somebody can use `provenn serve`. It is shown once, and not kept.

    Try:

    - `provenn token new ada --role author --expires 90`
    """
    with opened(archive, as_json) as found:
        from provenn.archive.serving import issue_token  # noqa: PLC0415 - other commands start without it

        made, secret = issue_token(found, who, role, days=expires)
    if as_json:
        write_json({**_data(made), "token": secret})
    else:
        write_text(f"{secret}\n")
        write_text(f"token #{made.number} of {made.who}, {made.role}, {_until(made)}. It is not shown again.")


def list_tokens(*, archive: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """List tokens, without their secrets.

    Try:

    - `provenn token ls`
    """
    with opened(archive, as_json) as found:
        from provenn.archive.serving import list_tokens as listed  # noqa: PLC0415 - see above

        tokens = listed(found)
    if as_json:
        write_json([_data(one) for one in tokens])
    elif not tokens:
        write_text("nobody has a token")
    else:
        header = ("number", "who", "role", "made", "by", "good", "last used")
        rows = [
            (
                f"#{one.number}",
                one.who,
                one.role,
                _day(one.created_at),
                one.created_by,
                _until(one),
                _day(one.used_at) or "never",
            )
            for one in tokens
        ]
        write_table(header, rows)


def revoke_token(
    number: Annotated[int, typer.Argument(metavar="NUMBER", help="The number of the token.", show_default=False)],
    *,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Make a token useless, with all sessions that were begun with it, from now on.

    Try:

    - `provenn token revoke 3`
    """
    with opened(archive, as_json) as found:
        from provenn.archive.serving import revoke_token as revoked  # noqa: PLC0415 - see above

        token = revoked(found, number)
    if as_json:
        write_json(_data(token))
    else:
        write_text(f"token #{token.number} of {token.who} is {_until(token)}")


def _until(token: Token) -> str:
    if token.revoked_at is not None:
        return f"revoked since {_day(token.revoked_at)}"
    return "for ever" if token.expires_at is None else f"until {_day(token.expires_at)}"


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M}"


def _data(token: Token) -> dict[str, Any]:
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
