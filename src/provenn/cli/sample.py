"""``provenn sample``: a random fraction of the sources."""

from typing import Annotated

import typer

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.output import AsJson

__all__ = ["sample"]


def sample(
    catalog: CatalogName,
    fraction: Annotated[
        float, typer.Argument(metavar="FRACTION", help="The fraction: 0.1 is one source in ten.", show_default=False)
    ],
    *,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Which sample.")] = 0,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: a random but reproducible fraction of the sources.

    With the same seed, a smaller sample lies inside a larger sample, and a sample of a selection is the selection of
    the sample.

    Try:

    - `provenn sample hipparcos 0.1 --seed 1 --name few`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].sample(fraction, seed=seed, name=name), name, as_json)
