"""Prepare the folder of the demo: an archive, with its own copy of the stars."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp

from provenn.archive import DATABASE
from provenn.demo.fetching import Progress, RealCatalogs, StarOrigin, fetch_catalogs
from provenn.demo.generating import STARS, generate_catalogs
from provenn.durable import publish_new, write_durably
from provenn.errors import FetchError, StoreError

__all__ = ["OFFLINE", "prepare_stars"]

OFFLINE = "PROVENN_OFFLINE"
"""The environment variable that forbids fetching."""

_STARS_FOLDER = "stars"
_ORIGINS_FILE = "origins.json"
_CATALOGS = ("hipparcos", "bigsky", "names")


def prepare_stars(
    folder: Path, *, offline: bool = False, stars: int = STARS, progress: Progress = None
) -> RealCatalogs:
    """Return the stars in the folder of the demo; fetch or generate them first if they are missing.

    Parameters
    ----------
    folder
        The folder; the function creates it if it is missing.
    offline
        Whether to fetch nothing. Then the stars are generated, as they are if fetching fails.
    stars
        The number of stars in a generated Hipparcos.
    progress
        The function called with a text before each step, and after a failure.

    Raises
    ------
    StoreError
        If the folder holds something other than a demo, or cannot be written.
    """
    stars_folder = folder / _STARS_FOLDER
    if (stars_folder / _ORIGINS_FILE).is_file():
        return _read_stars(stars_folder)
    if folder.exists() and (not folder.is_dir() or (folder / DATABASE).exists() or any(folder.iterdir())):
        raise StoreError(f"{folder} exists and is not a demo", hint="name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = Path(mkdtemp(dir=folder.absolute().parent, prefix=".provenn-demo-"))
        try:
            catalogs = _write_stars(temporary, offline or bool(os.environ.get(OFFLINE)), stars, progress)
            origins = {name: asdict(origin) for name, origin in catalogs.origins.items()}
            content = {"generated": catalogs.generated, "origins": origins}
            write_durably(temporary / _ORIGINS_FILE, json.dumps(content, indent=1).encode())
            publish_new(temporary, stars_folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error}", hint="name another folder") from error
    return _read_stars(stars_folder)


def _read_stars(folder: Path) -> RealCatalogs:
    """Return the stars in a complete folder."""
    content = json.loads((folder / _ORIGINS_FILE).read_text(encoding="utf-8"))
    origins = {name: StarOrigin(**fields) for name, fields in content["origins"].items()}
    return RealCatalogs.of(
        {name: folder / f"{name}.parquet" for name in _CATALOGS}, origins, generated=content["generated"]
    )


def _write_stars(folder: Path, offline: bool, stars: int, progress: Progress) -> RealCatalogs:
    """Write the fetched catalogs into a folder, or generated catalogs if fetching is forbidden or fails."""
    report = progress or (lambda _: None)
    if not offline:
        try:
            catalogs = fetch_catalogs(progress)
        except FetchError as error:
            report(f"nothing can be fetched: {error.message}")
        else:
            for name in _CATALOGS:
                shutil.copyfile(getattr(catalogs, name), folder / f"{name}.parquet")
            return catalogs
    report("generating a sky: these stars are not real")
    return generate_catalogs(folder, stars=stars)
