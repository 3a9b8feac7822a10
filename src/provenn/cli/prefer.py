"""``provenn prefer``: which of several calculators or catalogs is meant."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, opened
from provenn.cli.completion import provider_names
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["prefer"]


def prefer(
    attribute: Annotated[str, typer.Argument(metavar="ATTRIBUTE", help="Its name.", show_default=False)],
    provider: Annotated[
        str,
        typer.Argument(
            metavar="PROVIDER",
            help="A calculator that derives it; or a catalog that has it.",
            show_default=False,
            autocompletion=provider_names,
        ),
    ],
    *,
    archive: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Record what the name of an attribute means, where several calculators or catalogs provide it.

    All targets go by it from now on. A calculator and a catalog may have the same name: then the calculator is meant.

    Try:

    - `provenn prefer z photo_z`: what the calculator photo_z derives
    - `provenn prefer vmag hipparcos`: what the catalog hipparcos has
    """
    with opened(archive, as_json) as found:
        found.prefer(attribute, provider)
        if as_json:
            write_json({"attribute": attribute, "provider": provider})
        else:
            write_text(f"{attribute} is now that of {provider}")
