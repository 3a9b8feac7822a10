"""``provenn allow``: whose code calculators may run."""

from typing import Annotated

import typer

from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["allow"]


def allow(
    modules: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODULE]…",
            help="Modules or packages, by their import path; captured source by its hash, sha256:….",
            show_default=False,
        ),
    ] = None,
    *,
    forbid: Annotated[bool, typer.Option("--forbid", help="Take it back instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Allow calculators of a module to run on your account, or list the modules that are allowed.

    An archive may refer to any code. Yours is allowed when you register it; that of others, if you say so here. The
    list is yours, for all archives. A function of a notebook is allowed by the hash of its source, and by nothing else.

    Try:

    - `provenn allow`
    - `provenn allow survey.photometry`
    """
    from provenn.catalogs.calculators import allowed  # noqa: PLC0415 - other commands start without it

    for one in modules or ():
        if not allowed.is_permit(one):
            raise typer.BadParameter(f"{one!r} is neither the import path of a module nor sha256: and a hash")
        (allowed.forbid if forbid else allowed.allow)(one)
    known = sorted(allowed.allowed())
    if as_json:
        write_json(known)
    else:
        write_text("\n".join(known) or "no modules are allowed")
