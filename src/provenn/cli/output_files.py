"""Files of commands: a file appears only when complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated

import typer

from provenn.errors import ProvennError, StoreError

__all__ = ["OutputFormat", "check_output_path", "open_output_file"]

OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="parquet|csv|fits|votable|ecsv|hats",
        help="The format, if the suffix does not determine it.",
        show_default=False,
    ),
]
"""The format of the files that an answer is written to."""


def check_output_path(file: Path, *, overwrite: bool) -> None:
    """Refuse a path where no file can be written.

    Raises
    ------
    StoreError
        If the path is a folder, lies in a folder that does not exist, or is a file that must not be replaced.
    """
    if file.is_dir():
        raise StoreError(f"{file} is a folder", hint="name a file in it")
    folder = file.absolute().parent
    if not folder.exists():
        raise StoreError(f"{folder} does not exist", hint="create the folder first")
    if file.is_file() and not overwrite:
        raise StoreError(f"{file} already exists", hint="choose another name, or add --overwrite")


@contextmanager
def open_output_file(file: Path, *, overwrite: bool) -> Iterator[IO[str]]:
    """Open a temporary file for the body to write; move the file to `file` when the body ends.

    Raises
    ------
    StoreError
        If the file cannot be written.
    """
    from provenn.data.leftovers import open_local_writing_folder  # noqa: PLC0415
    from provenn.durable import publish_new, publish_over  # noqa: PLC0415 - few commands write files

    try:
        with open_local_writing_folder(file.absolute().parent, file.name) as folder:
            with (folder / "result").open("w", encoding="utf-8", newline="") as temporary_file:
                yield temporary_file
            check_output_path(file, overwrite=overwrite)
            (publish_over if overwrite else publish_new)(folder / "result", file)
    except OSError as error:
        if isinstance(error, ProvennError):
            raise
        raise StoreError(f"{file} cannot be written: {error.strerror}", hint="choose another place") from error
