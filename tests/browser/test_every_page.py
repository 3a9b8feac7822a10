"""Every page: readable in light and dark, wide and on a phone, by keyboard and by screen reader (axe-core)."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import pytest

from tests.web.survey import ODD

PAGES = {
    "catalogs": "/catalogs",
    "catalogs-all": "/catalogs?unnamed=true&sort=name",
    "catalogs-none": "/catalogs?text=nowhere",
    "catalog": "/catalogs/bright",
    "catalog-base": "/catalogs/stars",
    "catalog-odd": f"/catalogs/{quote(ODD[0])}",
    "catalog-placed": "/catalogs/placed",
    "catalog-curves": "/catalogs/curves",
    "sky": "/catalogs/placed/sky?also=northern",
    "sky-cell": "/catalogs/placed/sky?cell=0/3",
    "plot": "/catalogs/placed/plot?x=ra&y=gmag",
    "plot-curves": "/catalogs/curves/plot?x=mjd&y=gmags",
    "explore": "/catalogs/bright/explore?to=near",
    "lineage": "/catalogs/stars/lineage",
    "sets": "/catalogs/bright/sets?look=true",
    "compare": "/compare",
    "compare-two": "/compare?a=bright&b=stars",
    "compare-three": f"/compare?a=bright&b=faint&c={quote(ODD[1])}&ask={quote('tenth <= bright')}",
    "compare-sky": "/compare?a=placed&b=northern&c=faint_placed",
    "compare-unknown": f"/compare?ask={quote('faint <= tenth')}",
    "define": "/define",
    "define-preview": f"/define?sources=stars&criterion={quote('vmag < 5 AND plx > 3')}&name=here",
    "define-query": f"/define?query={quote('SELECT hip, vmag FROM stars WHERE vmag < 3')}&query_name=asked",  # noqa: S608 - nothing is executed
    "target": "/target",
    "target-plan": f"/target?sources=bright&attributes=vmag&attributes=dist_pc&where={quote('plx > 3')}",
    "knowledge": "/knowledge?unproved=true",
    "bounds": "/bounds?expression=bright+-+faint",
    "runs": "/runs",
    "quota": "/quota",
    "jobs": "/jobs",
    "api": "/api",
}
FAILURES = {
    "failure": ("/catalogs/nobody", 404),
    "failure-page": ("/no/such/page", 404),
    "failure-compare": (f"/compare?a=bright&b=nobody&ask={quote('bright <= ')}", 404),
    "failure-target": ("/target?sources=stars&attributes=vmga", 400),
    "failure-define": (f"/define?sources=stars&criterion={quote('vmagg < 5')}", 400),
    "failure-define-query": (f"/define?query={quote('SELECT hip FROM stars WHERE vmagg < 5')}", 400),  # noqa: S608 - see above
    "failure-query": ("/catalogs?page=0", 422),
}


REPEATED = ("catalogs-all", "catalog-odd", "compare-two", "failure-page")
"""Pages with nothing that another page does not show, too."""


def choose_pages(names: Iterable[str]) -> list[Any]:
    """Return the pages that `make test` looks at, and those that only campaigns do."""
    return [pytest.param(name, marks=pytest.mark.campaign if name in REPEATED else []) for name in names]


@pytest.mark.parametrize("name", choose_pages(PAGES))
def test_a_page_shuts_nobody_out(visitor, name):
    visitor.open(PAGES[name])
    visitor.look(name)
    visitor.tab_through()


@pytest.mark.parametrize("name", choose_pages(FAILURES))
def test_a_page_that_tells_of_a_failure_shuts_nobody_out(visitor, name):
    visitor.open(*FAILURES[name])
    visitor.look(name)
    visitor.tab_through()
