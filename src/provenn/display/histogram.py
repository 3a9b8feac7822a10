"""A small histogram of the values of an attribute."""

from collections.abc import Sequence

from provenn.display.figure import ACCENT, Figure, render_document
from provenn.display.markup import format_number, make_element

__all__ = ["histogram_svg"]

_WIDTH, _HEIGHT = 168.0, 36.0


def histogram_svg(name: str, bins: Sequence[int], low: str, high: str, *, inline: bool = False) -> str:
    """Draw the number of values in bins of equal width.

    Parameters
    ----------
    name
        The attribute.
    bins
        The number of values in each bin. A bin with few values is still visible.
    low, high
        The lowest and the highest value, for the description.
    inline
        Whether the picture goes into a page and takes its colours; otherwise it brings its own.
    """
    most, step = max(bins, default=0) or 1, _WIDTH / max(1, len(bins))
    heights = [0.0 if not number else max(1.0, number / most * _HEIGHT) for number in bins]
    outline = "".join(
        f"M{format_number(place * step)} {format_number(_HEIGHT)}v{format_number(-height)}h{format_number(step)}"
        f"v{format_number(height)}z"
        for place, height in enumerate(heights)
        if height
    )
    base = make_element("path", d=f"M0 {_HEIGHT:g}h{_WIDTH:g}", stroke="currentColor", stroke_opacity=0.4, fill="none")
    bars = make_element("path", d=outline or "M0 0", fill=ACCENT, fill_opacity=0.85)
    fullest = bins.index(max(bins)) + 1 if bins else 0
    return render_document(
        Figure(_WIDTH, _HEIGHT, (bars, base)),
        title=f"Histogram of {name}",
        description=f"{sum(bins):,} values from {low} to {high} in {len(bins)} bins; most of them, {most:,}, "
        f"in bin {fullest}",
        inline=inline,
    )
