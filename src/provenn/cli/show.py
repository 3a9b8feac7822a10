"""``provenn show``: a catalog in plain words."""

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, catalog_data, opened
from provenn.cli.output import AsJson, write_json, write_text

__all__ = ["show"]


def show(catalog: CatalogName, *, archive: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """Show a catalog in plain words: what it is, which sources and attributes it has, what is known of it.

    Try:

    - `provenn show bright`
    """
    with opened(archive, as_json) as found:
        told = found.describe(catalog)
        if as_json:
            write_json(catalog_data(told))
        else:
            write_text(str(told))
