"""``provenn table``: the paper's table of relations between few sets, rebuilt by computation."""

import typer

from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_svg

__all__ = ["show_table"]


def show_table(*, svg: SvgFile = None, overwrite: Overwrite = False, as_json: AsJson = False) -> None:
    """Show the paper's table of relations between up to three sets.

    A filled circle is a region that holds something: the top is outside all sets, the bottom inside all of them. A
    relation in a lower cell implies those above it. Check marks show which relations make up an equality, a (strict)
    subset, a (strict) superset: of B, with respect to A. A number in parentheses counts omitted relations; check marks
    below it count those among them.

    Try:

    - `provenn table`
    - `provenn table --svg table.svg`
    """
    from provenn.cli import table_view as view  # noqa: PLC0415 - other commands start without hypercubes

    columns = view.compute_columns()
    if svg is not None:
        write_svg(view.table_svg(columns), svg, overwrite=overwrite)
    if as_json:
        write_json(view.table_data(columns))
    elif svg is None:
        typer.echo(view.table_text(columns))
