"""``provenn prefer``: which of several calculators is meant."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["prefer"]


def prefer(
    attribute: Annotated[str, typer.Argument(help="The name of the attribute.", show_default=False)],
    calculator: Annotated[str, typer.Argument(help="The name of the calculator.", show_default=False)],
    *,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Record which of several calculators provides an attribute, for all targets from now on.

    Try:

    - `provenn prefer z photo_z`
    """
    with opened(archive, as_json) as found:
        found.prefer(attribute, calculator)
        if as_json:
            write_json({"attribute": attribute, "calculator": calculator})
        else:
            write_text(f"{attribute} is what {calculator} derives")
