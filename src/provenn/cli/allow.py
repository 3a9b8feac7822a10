"""``provenn allow``: permits of the owner of this account, valid for all archives."""

from typing import Annotated

import typer

from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["allow"]


def allow(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]…",
            help="Modules or packages, by their import path; captured source by its hash, sha256:…; format:NAME, "
            "option:NAME, expansion:NUMBER, export:HASH.",
            show_default=False,
        ),
    ] = None,
    *,
    forbid: Annotated[bool, typer.Option("--forbid", help="Withdraw the permission instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Allow code, formats and options that other people's archives use; or list what is allowed.

    An archive may refer to any code. Your own code is allowed when you register it. Allow code of others here: the
    functions that a module defines, or a function from a notebook by the hash of its source. Formats and options of
    Spark that are not on provenn's list are allowed by name, and so is the ratio to which files may unpack. A file that
    an archive writes anew is allowed when you export it with --follow. The list belongs to you and applies to all
    archives.

    Try:

    - `provenn allow`
    - `provenn allow survey.photometry`
    - `provenn allow format:avro option:recordName`
    - `provenn allow expansion:1000`
    """
    from provenn.gate import permits  # noqa: PLC0415 - other commands start without it

    for name in names or ():
        permit = name.lower() if name.lower().startswith(("format:", "option:", "expansion:", "export:")) else name
        if not permits.is_permit(permit):
            raise typer.BadParameter(
                f"{name!r} is neither the import path of a module, nor sha256: and a hash, nor format:NAME, "
                "option:NAME, expansion:NUMBER or export:HASH"
            )
        (permits.forbid if forbid else permits.allow)(permit)
    allowed = sorted(permits.read_permits())
    if as_json:
        write_json(allowed)
    else:
        write_text("\n".join(allowed) or "no permissions")
        expansions = sorted(
            (permit for permit in allowed if permit.startswith("expansion:")), key=lambda permit: int(permit[10:])
        )
        if len(expansions) > 1:
            most = expansions[-1]
            write_text(f"the largest expansion counts: {most}; to withdraw it: provenn allow --forbid {most}")
