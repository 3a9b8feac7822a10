"""Files that commands write: there when all of it is, and not before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO

from provenn.errors import StoreError

__all__ = ["check_place", "written"]


def check_place(file: Path, *, overwrite: bool) -> None:
    """Refuse a place where a file cannot be written.

    Raises
    ------
    StoreError
        If there is a folder, or a file that is not to be replaced.
    """
    if file.is_dir():
        raise StoreError(f"{file} is a folder", hint="name a file in it")
    if file.exists() and not overwrite:
        raise StoreError(f"{file} is there already", hint="choose another name, or say --overwrite")


@contextmanager
def written(file: Path, *, overwrite: bool) -> Iterator[IO[str]]:
    """Give a file to write to, which takes its place when the body is done.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    temporary = None
    try:
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=".provenn-", delete=False
        ) as opened_file:
            temporary = Path(opened_file.name)
            yield opened_file
        temporary.chmod(0o666 & ~_mask())
        check_place(file, overwrite=overwrite)
        temporary.replace(file)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, StoreError):
            raise StoreError(f"{file} cannot be written: {error.strerror}", hint="choose another place") from error
        raise


def _mask() -> int:
    """Return which rights new files do not have here; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
