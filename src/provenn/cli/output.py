"""What commands do with their answer: show it, write it as JSON, draw it into a file."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from provenn.errors import ContradictionError, ProvennError

__all__ = [
    "AsJson",
    "SvgFile",
    "errors_as_json",
    "write_error",
    "write_json",
    "write_paragraphs",
    "write_svg",
    "write_table",
    "write_text",
]

AsJson = Annotated[bool, typer.Option("--json", help="Write the answer as JSON.")]
SvgFile = Annotated[
    Path | None,
    typer.Option(
        "--svg", metavar="FILE", allow_dash=True, help="Draw the answer into this SVG file; - is the standard output."
    ),
]


def write_json(answer: Any) -> None:  # noqa: ANN401 - JSON is what json takes
    """Write an answer for programs."""
    typer.echo(json.dumps(answer))


@contextmanager
def errors_as_json(wanted: bool) -> Iterator[None]:
    """Write an error for programs too, where JSON is wanted; people are told of it afterwards."""
    try:
        yield
    except ProvennError as error:
        if wanted:
            told: dict[str, Any] = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
            if isinstance(error, ContradictionError):
                told["conflict"] = [str(fact) for fact in error.conflict.facts]
                told["open_universe"] = error.conflict.open_universe
            write_json({"error": told})
        raise


def write_error(error: ProvennError) -> None:
    """Tell people what is wrong, on the standard error; what a file holds cannot steer their terminal."""
    from provenn.display.markup import visible  # noqa: PLC0415 - only where something is wrong

    for line in f"provenn: {error.message}".split("\n"):
        typer.echo(visible(line), err=True)
    if error.hint:
        typer.echo(f"hint: {visible(error.hint)}", err=True)


def write_svg(picture: str, file: Path) -> None:
    """Write a picture to a file, or to the standard output if that is ``-``."""
    if file == Path("-"):
        typer.echo(picture.encode(), nl=False)
        return
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"cannot write {file}: {error.strerror}", param_hint="--svg") from error
    typer.echo(f"wrote {file}", err=True)


def write_text(text: str) -> None:
    """Write lines for people; what an archive holds cannot steer their terminal."""
    from provenn.display.markup import visible  # noqa: PLC0415 - programs do without

    for line in text.split("\n"):
        typer.echo(visible(line))


def write_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a table for people: columns as wide as they need to be, whatever the terminal."""
    lines = [tuple(header), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        write_text("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def write_paragraphs(paragraphs: Iterable[tuple[str, str]]) -> None:
    """Write headings and what is below them; headings stand out where the terminal allows it."""
    from rich.console import Console  # noqa: PLC0415 - rich is slow to start
    from rich.text import Text  # noqa: PLC0415

    plain = bool(os.environ.get("NO_COLOR"))
    console = Console(highlight=False, soft_wrap=True, color_system=None if plain else "auto")
    for i, (heading, body) in enumerate(paragraphs):
        console.print(*([""] if i else []), Text(heading, style="bold"), "", Text(body), sep="\n")
