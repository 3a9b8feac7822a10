"""``provenn show``: a catalog in plain words."""

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, catalog_data, open_archive_at
from provenn.cli.output import AsJson, write_json, write_text
from provenn.hints import phrase_for_command

__all__ = ["show"]


def show(catalog: CatalogName, *, archive_path: ArchivePath = CURRENT_FOLDER, as_json: AsJson = False) -> None:
    """Describe a catalog: its definition, sources, attributes and facts.

    Try:

    - `provenn show bright`
    """
    with open_archive_at(archive_path) as archive:
        description = archive.describe(catalog)
        if as_json:
            write_json(catalog_data(description))
        else:
            write_text(description.to_text(phrase_for_command))
