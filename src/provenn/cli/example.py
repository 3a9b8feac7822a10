"""``provenn example``: the paper's example, step by step."""

from provenn.cli.output import AsJson, Overwrite, SvgFile, write_json, write_paragraphs, write_svg

__all__ = ["show_example"]


def show_example(*, svg: SvgFile = None, overwrite: Overwrite = False, as_json: AsJson = False) -> None:
    """Show the method on the paper's example: four catalogs, one proof, no data.

    The definitions of the catalogs A, B, C and D prove that B and D hold the same sources, although neither has been
    computed.

    Try:

    - `provenn example`
    - `provenn example --svg example.svg`
    """
    from provenn.cli import example_view as view  # noqa: PLC0415 - other commands start without hypercubes

    example = view.compute_example()
    if svg is not None:
        from provenn.cli import example_picture  # noqa: PLC0415 - as above

        write_svg(example_picture.example_svg(example), svg, overwrite=overwrite)
    if as_json:
        write_json(view.example_data(example))
    elif svg is None:
        write_paragraphs(view.example_paragraphs(example))
