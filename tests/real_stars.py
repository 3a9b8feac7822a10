"""The real stars that tests are run on: from the cache, or fetched."""

import os
from functools import cache

import pytest

from provenn.demo.fetching import RealCatalogs, fetch_catalogs
from provenn.errors import FetchError

__all__ = ["real_stars"]


@cache
def real_stars() -> RealCatalogs:
    """Return real stars; where they cannot be fetched, skip, except where all tests must run."""
    try:
        return fetch_catalogs()
    except FetchError as error:
        if os.environ.get("CI"):
            pytest.fail(f"the stars cannot be fetched: {error}")
        pytest.skip(f"the stars cannot be fetched: {error.message}")
