"""DataLink: from rows to the page, the lineage and the provenance of their catalog."""

from functools import partial
from io import StringIO
from typing import Final

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from provenn.archive import Archive
from provenn.errors import TapError, UnknownCatalogError
from provenn.exchange import LineageFormat, export_lineage
from provenn.tap.datalink import Link, format_links
from provenn.web.rendering import ServedArchive
from provenn.web.tap_requests import find_address, make_xml, read_request

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_MOST: Final = 100
_FORMATS: Final[dict[str, tuple[LineageFormat, str]]] = {
    "PROV-JSON": ("prov-json", "application/json"),
    "PROV-N": ("prov-n", "text/provenance-notation"),
    "PROV-XML": ("prov-xml", "application/provenance+xml"),
    "OPENLINEAGE": ("openlineage", "application/x-ndjson"),
}


@router.get("/datalink/links")
@router.post("/datalink/links")
async def list_links(archive: ServedArchive, request: Request) -> Response:
    """List what is linked with catalogs: ID is a digest or a name, and may be repeated."""
    asked = await read_request(request)
    wanted = [value for key, value in asked.parameters.pairs if key.upper() == "ID"]
    if len(wanted) > _MOST:
        raise TapError(f"{len(wanted)} IDs are asked for, and the limit is {_MOST}")

    def list_all() -> list[Link]:
        return [link for which in wanted for link in _find_links(archive, request, which)]

    media_type = "application/x-votable+xml;content=datalink"
    return make_xml(format_links(await to_thread.run_sync(list_all)), media_type)


@router.get("/datalink/provenance")
@router.post("/datalink/provenance")
async def show_provenance(archive: ServedArchive, request: Request) -> Response:
    """Show the provenance of a catalog as W3C PROV: ID is a digest or a name."""
    asked = await read_request(request)
    parameters = {key.upper(): value for key, value in asked.parameters.pairs}
    name = parameters.get("RESPONSEFORMAT", "PROV-JSON").upper()
    if name not in _FORMATS:
        raise TapError(f"unknown RESPONSEFORMAT {name[:40]!r}", hint=f"use one of {', '.join(_FORMATS)}")
    if not parameters.get("ID"):
        raise TapError("the parameter ID is missing", hint="add ID=DIGEST, or the name of a catalog")
    lineage_format, media_type = _FORMATS[name]
    file = StringIO()
    write = partial(export_lineage, archive, file, parameters["ID"], format=lineage_format, shows_folders=False)
    await to_thread.run_sync(write)
    return Response(file.getvalue(), media_type=media_type)


def _find_links(archive: Archive, request: Request, which: str) -> list[Link]:
    """Return the links of a catalog; an error is a link, too."""
    try:
        catalog = archive.catalog(which)
    except UnknownCatalogError:
        return [Link(which[:200], error=f"NotFoundFault: there is no catalog {which[:100]}")]
    digest = catalog.digest

    def link(path: str, description: str, semantics: str, content_type: str) -> Link:
        return Link(which[:200], find_address(request, path), description, semantics, content_type)

    links = [
        link(f"/catalogs/{digest}", "what the catalog is, and how it is defined", "#documentation", "text/html"),
        link(f"/datalink/provenance?ID={digest}", "W3C PROV of the catalog", "#progenitor", "application/json"),
    ]
    for dependency in catalog.definition.dependencies:
        path = f"/datalink/links?ID={dependency.digest}"
        media_type = "application/x-votable+xml;content=datalink"
        links.append(link(path, "a catalog that this one is made from", "#progenitor", media_type))
    return links
