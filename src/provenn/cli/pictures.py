"""Options and output of the commands that write pictures."""

from pathlib import Path
from typing import Annotated, Any

import typer

from provenn.cli.output import check_svg_file, write_json
from provenn.cli.output_files import open_output_file

__all__ = ["SvgFile", "write_picture"]

SvgFile = Annotated[Path, typer.Option("--svg", metavar="FILE", callback=check_svg_file, help="The SVG file to write.")]


def write_picture(svg: str, file: Path, sentence: str, *, overwrite: bool, as_json: bool, data: dict[str, Any]) -> None:
    """Write a picture to a file, and say so; `sentence` says what it shows, and `data` its JSON."""
    with open_output_file(file, overwrite=overwrite) as opened:
        opened.write(svg)
    if as_json:
        write_json({"path": str(file), **data})
    else:
        typer.echo(f"wrote {sentence} to {file}")
