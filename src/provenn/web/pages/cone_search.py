"""Cone search (SCS) in each catalog that has a position in degrees, with VOSI for each."""

from dataclasses import replace
from math import isfinite

from anyio import to_thread
from fastapi import APIRouter, Request
from fastapi.responses import Response

from provenn.errors import TapError, UnknownCatalogError
from provenn.tap.answering import TapAnswer
from provenn.tap.parameters import Parameters, read_query
from provenn.tap.served_tables import ServedTable, find_table, quote_name
from provenn.tap.vosi import format_availability, format_cone_capabilities
from provenn.tap.votable_writing import VOTableNotes
from provenn.web.pages.tap import SINCE, compute_while_waiting
from provenn.web.tap_jobs import TapJobs
from provenn.web.tap_requests import (
    ServedTapJobs,
    TapRequest,
    check_may_compute,
    find_address,
    link_lineage,
    make_xml,
    read_request,
)

__all__ = ["router"]

router = APIRouter(include_in_schema=False)


@router.get("/scs/{name:path}/capabilities")
def show_capabilities(jobs: ServedTapJobs, request: Request, name: str) -> Response:
    """Show what the cone search in a catalog can do."""
    table = _find_placed_table(jobs, name)
    address = find_address(request, f"/scs/{name}")
    limit = jobs.limits.most_rows
    return make_xml(format_cone_capabilities(address, limit, table.description, (10.68, 41.27)))


@router.get("/scs/{name:path}/availability")
def show_availability(jobs: ServedTapJobs, name: str) -> Response:
    """Show that the cone search in a catalog answers."""
    _find_placed_table(jobs, name)
    return make_xml(format_availability(SINCE))


@router.get("/scs/{name:path}")
@router.post("/scs/{name:path}")
async def search_cone(jobs: ServedTapJobs, request: Request, name: str) -> Response:
    """Return the sources of a catalog within a radius of a position."""
    asked = await read_request(request)
    parameters = {key.upper(): value for key, value in asked.parameters.pairs}
    table = await to_thread.run_sync(_find_placed_table, jobs, name)
    query = _write_query(table, parameters)
    limit = "0" if _read_angle(parameters, "SR", 0, 180) == 0 else parameters.get("MAXREC", "")
    pairs = [("LANG", "ADQL"), ("QUERY", query), ("MAXREC", limit)]
    pairs.append(("RESPONSEFORMAT", parameters.get("RESPONSEFORMAT", "")))
    search = TapRequest(Parameters.of(pair for pair in pairs if pair[1]))
    read_query(search.parameters)
    check_may_compute()
    link = link_lineage(request)

    def annotate(notes: VOTableNotes, answer: TapAnswer) -> VOTableNotes:
        return link(replace(notes, ucds=_find_ucds(table)), answer)

    return await compute_while_waiting(jobs, search, annotate)


def _find_placed_table(jobs: TapJobs, name: str) -> ServedTable:
    """Return the table of a catalog with a position.

    Raises
    ------
    UnknownCatalogError
        If the viewer sees no such catalog, or it has no position.
    """
    table = find_table(jobs.list_tables(), name)
    if table is None or table.position is None:
        raise UnknownCatalogError(
            f"there is no catalog {name[:100]} with a position in degrees", hint="/tap/tables lists the catalogs"
        )
    return table


def _write_query(table: ServedTable, parameters: dict[str, str]) -> str:
    """Return the cone search as a query."""
    longitude, latitude = map(quote_name, table.position or ("", ""))
    centre = f"{_read_angle(parameters, 'RA', 0, 360)!r}, {_read_angle(parameters, 'DEC', -90, 90)!r}"
    radius = _read_angle(parameters, "SR", 0, 180)
    cone = f"CONTAINS(POINT('ICRS', {longitude}, {latitude}), CIRCLE('ICRS', {centre}, {radius!r})) = 1"
    return f"SELECT * FROM {table.name} WHERE {cone}"  # noqa: S608 - names are quoted, and numbers are numbers


def _read_angle(parameters: dict[str, str], name: str, low: float, high: float) -> float:
    """Return a parameter in degrees.

    Raises
    ------
    TapError
        If it is missing, or is no angle in the range.
    """
    text = parameters.get(name)
    if text is None:
        raise TapError(f"the parameter {name} is missing", hint="a cone search needs RA, DEC and SR, in degrees")
    try:
        angle = float(text)
    except ValueError:
        angle = float("nan")
    if not (isfinite(angle) and low <= angle <= high):
        raise TapError(f"expected degrees between {low} and {high} as {name}, got {text[:40]!r}")
    return angle


def _find_ucds(table: ServedTable) -> dict[str, str]:
    """Return the UCDs, in the old spelling of the standard, that mark the identifier and the position of a source."""
    longitude, latitude = table.position or ("", "")
    ucds = {longitude: "POS_EQ_RA_MAIN", latitude: "POS_EQ_DEC_MAIN"}
    key = [column.label for column in table.columns if column.key]
    return ucds | ({key[0]: "ID_MAIN"} if len(key) == 1 and key[0] not in ucds else {})
