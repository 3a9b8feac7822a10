"""The folder of the demo: an archive, with its own copy of the stars."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp

from provenn.archive import DATABASE
from provenn.demo.fetching import Origin, Progress, RealCatalogs, real_catalogs
from provenn.demo.generating import STARS, generated_catalogs
from provenn.errors import FetchError, StoreError

__all__ = ["OFFLINE", "settled"]

OFFLINE = "PROVENN_OFFLINE"
"""The variable that says that nothing is to be fetched."""

_STARS = "stars"
_ORIGINS = "origins.json"
_CATALOGS = ("hipparcos", "bigsky", "names")


def settled(folder: Path, *, offline: bool = False, stars: int = STARS, progress: Progress = None) -> RealCatalogs:
    """Return the stars in the folder of the demo; put them there if they are not.

    Parameters
    ----------
    folder
        The folder; it is made if it is not there.
    offline
        Whether to fetch nothing; the stars are made up then, as they are where nothing can be fetched.
    stars
        How many stars a made-up Hipparcos has.
    progress
        Called with what is done, and with what could not be.

    Raises
    ------
    StoreError
        If the folder holds something else, or cannot be written.
    """
    place = folder / _STARS
    if (place / _ORIGINS).is_file():
        return _there(place)
    if folder.exists() and (not folder.is_dir() or (folder / DATABASE).exists() or any(folder.iterdir())):
        raise StoreError(f"{folder} is there, and it is no demo", hint="name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        new = Path(mkdtemp(dir=folder.absolute().parent, prefix=".provenn-demo-"))
        try:
            found = _found(new, offline or bool(os.environ.get(OFFLINE)), stars, progress)
            origins = {name: asdict(one) for name, one in found.origins.items()}
            said = {"generated": found.generated, "origins": origins}
            (new / _ORIGINS).write_text(json.dumps(said, indent=1), encoding="utf-8")
            new.rename(place)
        finally:
            shutil.rmtree(new, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {error}", hint="name another folder") from error
    return _there(place)


def _there(place: Path) -> RealCatalogs:
    said = json.loads((place / _ORIGINS).read_text(encoding="utf-8"))
    origins = {name: Origin(**one) for name, one in said["origins"].items()}
    return RealCatalogs.of(
        {name: place / f"{name}.parquet" for name in _CATALOGS}, origins, generated=said["generated"]
    )


def _found(new: Path, offline: bool, stars: int, progress: Progress) -> RealCatalogs:
    tell = progress or (lambda _: None)
    if not offline:
        try:
            found = real_catalogs(progress)
        except FetchError as error:
            tell(f"nothing can be fetched: {error.message}")
        else:
            for name in _CATALOGS:
                shutil.copyfile(getattr(found, name), new / f"{name}.parquet")
            return found
    tell("making up a sky: these stars are not real")
    return generated_catalogs(new, stars=stars)
