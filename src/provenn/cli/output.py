"""How commands write their answer: as text, as JSON, as a picture in a file."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from provenn.cli.output_files import check_output_path, open_output_file
from provenn.errors import ContradictionError, ProvennError
from provenn.hints import phrase_for_command

__all__ = [
    "IS_JSON_WANTED",
    "AsJson",
    "Overwrite",
    "SvgFile",
    "check_svg_file",
    "find_width",
    "write_error",
    "write_error_as_json",
    "write_json",
    "write_nothing",
    "write_paragraphs",
    "write_svg",
    "write_table",
    "write_text",
]

AsJson = Annotated[bool, typer.Option("--json", help="Write the answer as JSON.")]

IS_JSON_WANTED: Final = "provenn.is_json_wanted"
"""Where the contexts of a command line keep whether ``--json`` is given, which callbacks of earlier options need."""


def check_svg_file(context: typer.Context, file: Path | None) -> Path | None:
    """Return the path of a picture, checked before anything is computed; a file is replaced only with --overwrite."""
    if file == Path("-") and context.meta.get(IS_JSON_WANTED):
        raise typer.BadParameter("the picture and JSON cannot both go to the standard output")
    if file is not None and file != Path("-"):
        from provenn.archive.picture_files import check_svg_path  # noqa: PLC0415 - few commands write pictures

        check_svg_path(file)
        check_output_path(file, overwrite=context.params.get("overwrite", False))
    return file


Overwrite = Annotated[bool, typer.Option("--overwrite", is_eager=True, help="Replace an existing file.")]
"""An eager option, so that the paths of files are checked with its value."""


SvgFile = Annotated[
    Path | None,
    typer.Option(
        "--svg",
        metavar="FILE",
        allow_dash=True,
        callback=check_svg_file,
        help="Draw the answer in this SVG file; - is the standard output.",
    ),
]


def write_json(answer: Any) -> None:  # noqa: ANN401 - JSON is what json takes
    """Write an answer as JSON."""
    typer.echo(json.dumps(answer))


def write_error_as_json(error: ProvennError, kind: str) -> None:
    """Write an error as JSON, under the name of its kind."""
    description: dict[str, Any] = {"kind": kind, "message": error.message, "hint": phrase_for_command(error.hint)}
    if isinstance(error, ContradictionError):
        description["conflict"] = [str(fact) for fact in error.conflict.facts]
        description["open_universe"] = error.conflict.open_universe
        if counts := getattr(error.conflict, "counts", ()):  # only a conflict of counts has them
            description["counts"] = [str(count) for count in counts]
    write_json({"error": description})


def write_error(error: ProvennError) -> None:
    """Write an error with hint to the standard error; control characters cannot steer the terminal."""
    from provenn.display.markup import make_printable  # noqa: PLC0415 - only where there is an error

    for line in f"provenn: {error.message}".split("\n"):
        typer.echo(make_printable(line), err=True)
    if error.hint:
        typer.echo(f"hint: {make_printable(phrase_for_command(error.hint))}", err=True)


def write_svg(picture: str, file: Path, *, overwrite: bool) -> None:
    """Write a picture to a file, whole or not at all; or directly to a pipe, or for ``-`` to the standard output."""
    if file == Path("-"):
        typer.echo(picture.encode(), nl=False)
        return
    if file.exists() and not file.is_file():
        file.write_bytes(picture.encode())
    else:
        with open_output_file(file, overwrite=overwrite) as opened:
            opened.write(picture)
    typer.echo(f"wrote {file}", err=True)


def write_text(text: str) -> None:
    """Write lines for people; control characters cannot steer the terminal."""
    from provenn.display.markup import make_printable  # noqa: PLC0415 - JSON does not need it

    width = find_width()
    for line in text.split("\n"):
        typer.echo(_wrap_line(make_printable(line), width))


_BRANCHES = " │├└─"
"""What the indent of a line in a tree is made of."""


def _wrap_line(line: str, width: int | None) -> str:
    """Return a line broken between words to fit the terminal, if there is one; only what is longer is broken inside.

    >>> print(_wrap_line("├── near: the sources of stars", 20))
    ├── near: the
    │     sources of
    │     stars
    """
    if width is None or len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip(_BRANCHES))]
    below = indent.translate(str.maketrans("├└─", "│  ")) + "  "
    wrapped = textwrap.wrap(
        line.removeprefix(indent),
        width,
        initial_indent=indent,
        subsequent_indent=below,
        break_on_hyphens=False,
    )
    return "\n".join(wrapped)


def write_nothing(what: str, next_step: str) -> None:
    """Write that there is nothing to show, and the command that changes that."""
    write_text(f"{what}\nhint: {next_step}")


def write_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table for people, fitted to the width of the terminal if there is one; see `fit_table`."""
    from provenn.cli.table_fitting import fit_table  # noqa: PLC0415 - few commands write tables

    for line in fit_table([tuple(header), *map(tuple, rows)], find_width()):
        write_text(line)


def find_width() -> int | None:
    """Return the number of characters in a line of the terminal; None for files and pipes, whose lines stay whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def write_paragraphs(paragraphs: Iterable[tuple[str, str]]) -> None:
    """Write headings and bodies; headings are bold where the terminal allows bold text."""
    from rich.console import Console  # noqa: PLC0415 - rich is slow to start
    from rich.text import Text  # noqa: PLC0415

    plain = bool(os.environ.get("NO_COLOR"))
    console = Console(highlight=False, soft_wrap=True, color_system=None if plain else "auto")
    for i, (heading, body) in enumerate(paragraphs):
        console.print(*([""] if i else []), Text(heading, style="bold"), "", Text(body), sep="\n")
