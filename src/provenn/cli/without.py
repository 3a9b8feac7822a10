"""``provenn without``: the sources that another catalog does not refer to."""

from provenn.cli.archives import CURRENT_FOLDER, ArchivePath, CatalogName, NewName, open_archive_at, write_catalog
from provenn.cli.having import Members, ReferringAttributes
from provenn.cli.output import AsJson

__all__ = ["define_without"]


def define_without(
    catalog: CatalogName,
    members: Members,
    *,
    on: ReferringAttributes,
    name: NewName = None,
    archive_path: ArchivePath = CURRENT_FOLDER,
    as_json: AsJson = False,
) -> None:
    """Define a catalog: the sources that another catalog does not refer to.

    Try:

    - `provenn without objects detections --on objid --name undetected`
    """
    with open_archive_at(archive_path) as archive:
        write_catalog(archive[catalog].without(members, on=on, name=name), name, as_json)
