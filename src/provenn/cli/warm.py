"""``provenn warm``: keep a Spark ready for commands."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from provenn.cli.output import AsJson, write_json, write_text

if TYPE_CHECKING:
    from provenn.spark.warm.asking import WarmStatus

__all__ = ["warm"]

_IDLE = 30.0  # as in provenn.spark.warm.asking, which the help does not import


def warm(
    *,
    idle: Annotated[
        float,
        typer.Option(
            "--idle",
            metavar="MINUTES",
            min=0.1,
            max=100_000,
            help="End Spark when no command has used it for so long.",
        ),
    ] = _IDLE,
    stop: Annotated[bool, typer.Option("--stop", help="End Spark, after the commands that use it now.")] = False,
    now: Annotated[bool, typer.Option("--now", help="With --stop: do not wait for these commands.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Only say whether a Spark is warm.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep a Spark ready, so that commands that need Spark start in about a second.

    Spark runs in the background, for your commands on this machine alone. It ends when no command has used it for
    --idle minutes, or with --stop.

    Try:

    - `provenn warm`
    - `provenn warm --idle 120`
    - `provenn warm --status`
    - `provenn warm --stop`
    """
    if stop and status:
        raise typer.BadParameter("choose one of --stop and --status")
    if now and not stop:
        raise typer.BadParameter("--now needs --stop")
    from provenn.spark.warm import asking  # noqa: PLC0415 - only this command needs it

    if stop:
        if not as_json and asking.is_keeper_starting():
            typer.echo("Spark is starting: it ends as soon as it has started", err=True)
        _write(asking.stop_keeper(now=now), as_json, is_stopped=True)
    elif status:
        _write(asking.find_warm_spark(), as_json)
    else:
        if not as_json and asking.find_warm_spark() is None:
            typer.echo("starting Spark in the background", err=True)
        _write(asking.start_keeper(idle), as_json)


def _write(status: WarmStatus | None, as_json: bool, *, is_stopped: bool = False) -> None:
    if as_json:
        write_json(_make_data(status, is_stopped=is_stopped))
    else:
        write_text(_describe_end(status) if is_stopped else _describe(status))


def _make_data(status: WarmStatus | None, *, is_stopped: bool) -> dict[str, Any]:
    from provenn.spark.warm.asking import is_switched_off  # noqa: PLC0415 - as above

    if status is None:
        return {"warm": False}
    has_ended = is_stopped and not status.is_alive
    usable = not has_ended and not status.ending and not status.obstacle and not is_switched_off()
    return {"warm": not has_ended, "usable": usable, **asdict(status)}


def _describe_end(status: WarmStatus | None) -> str:
    if status is None:
        return "no Spark is warm"
    if not status.is_alive:
        return "Spark has ended"
    names = ", ".join(status.commands)
    return f"Spark ends after {names}; --now does not wait" if names else f"Spark is ending: process {status.pid}"


def _describe(status: WarmStatus | None) -> str:
    from provenn.spark.warm.asking import is_keeper_starting, is_switched_off  # noqa: PLC0415 - as above
    from provenn.spark.warm.folder import find_warm_folder  # noqa: PLC0415

    if status is None and is_keeper_starting():
        return "Spark is starting; `provenn warm` waits until it is warm"
    if status is None:
        return "no Spark is warm; `provenn warm` starts one"
    folder = find_warm_folder()
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(status.since))
    lines = [
        f"Spark is warm: process {status.pid}, since {since}",
        f"used by: {', '.join(status.commands) or 'no command now'}; {status.served} until now",
        f"ends after {status.idle / 60:g} minutes without commands, or with `provenn warm --stop`",
        f"log: {folder.log if folder else ''}",
    ]
    if status.ending:
        lines.append(f"ends after these commands: {status.ending}")
    if status.obstacle:
        lines.append(f"commands started here do not use it: {status.obstacle}")
    if is_switched_off():
        lines.append("commands started here do not use it: PROVENN_WARM is off")
    return "\n".join(lines)
