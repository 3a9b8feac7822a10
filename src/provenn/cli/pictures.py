"""Options and output of the commands that write pictures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from provenn.cli.output import check_svg_file, write_json, write_svg
from provenn.cli.output_files import open_output_file

__all__ = ["SvgFile", "write_picture"]

SvgFile = Annotated[
    Path,
    typer.Option(
        "--svg",
        metavar="FILE",
        allow_dash=True,
        callback=check_svg_file,
        help="The SVG file to write; - is the standard output.",
    ),
]


def write_picture(svg: str, file: Path, sentence: str, *, overwrite: bool, as_json: bool, data: dict[str, Any]) -> None:
    """Write a picture to a file, and say so unless that is the standard output.

    `sentence` says what the picture shows, and `data` its JSON.
    """
    if file == Path("-"):
        write_svg(svg, file, overwrite=overwrite)
        return
    with open_output_file(file, overwrite=overwrite) as opened:
        opened.write(svg)
    if as_json:
        write_json({"path": str(file), **data})
    else:
        typer.echo(f"wrote {sentence} to {file}")
