"""``provenn prefer``: choose the provider of an attribute among calculators and catalogs."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, open_archive_at
from provenn.cli.completion import complete_provider_names
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["prefer"]


def prefer(
    attribute: Annotated[
        str, typer.Argument(metavar="ATTRIBUTE", help="The name of the attribute.", show_default=False)
    ],
    provider: Annotated[
        str,
        typer.Argument(
            metavar="PROVIDER",
            help="A calculator that derives it; or a catalog that has it.",
            show_default=False,
            autocompletion=complete_provider_names,
        ),
    ],
    *,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Record which attribute a name means, if several calculators or catalogs provide it.

    All later targets use this choice. If a calculator and a catalog have the same name, the calculator is meant.

    Try:

    - `provenn prefer z photo_z`: z is the output of the calculator photo_z
    - `provenn prefer vmag hipparcos`: vmag is that of the catalog hipparcos
    """
    with open_archive_at(archive_path) as archive:
        before = archive.prefer(attribute, provider)
        if as_json:
            earlier = (
                None if before is None else {"by": before.by, "at": before.at.isoformat(), "meant": before.identity}
            )
            write_json({"attribute": attribute, "provider": provider, "before": earlier})
            return
        write_text(f"{attribute} now means the attribute of {provider}")
        if before is not None:
            meant = "another definition" if before.calculator is None else f"the attribute of {before.calculator}"
            write_text(f"before, {before.by} preferred {meant}")
