"""A hypercube as a shaded Venn diagram.

As Venn did, an empty region is shaded. A region that holds something is tinted and carries the filled circle that
it has in the hypercube.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import product

from provenn.display.figure import ACCENT, Figure, above, beside, document, signs_and_key, text_width, words
from provenn.display.geometry import ARRANGEMENTS, anchors, outlines
from provenn.display.markup import Element, Reference, element
from provenn.display.regions import Cells, checked, region_name
from provenn.errors import HypercubeError, PictureError

__all__ = ["RegionState", "venn_figure", "venn_states_svg", "venn_svg"]


class RegionState(StrEnum):
    """What is known of a region."""

    EMPTY = "empty"
    INHABITED = "inhabited"
    UNKNOWN = "unknown"


_SAYS = {
    RegionState.EMPTY: "empty",
    RegionState.INHABITED: "holds something",
    RegionState.UNKNOWN: "unknown",
}
_FILLS: dict[RegionState, dict[str, str | float | Reference]] = {
    RegionState.EMPTY: {"fill": Reference("-hatch")},
    RegionState.INHABITED: {"fill": ACCENT, "fill_opacity": 0.28},
    RegionState.UNKNOWN: {"fill_opacity": 0.0},
}
_HATCH = element(
    "pattern",
    element("path", d="M-1 1L1 -1M0 7L7 0M6 8L8 6", stroke="currentColor", stroke_opacity=0.55, fill="none"),
    id="-hatch",
    width=7.0,
    height=7.0,
    patternUnits="userSpaceOnUse",
)


def venn_svg(labels: Sequence[str], array: Cells) -> str:
    """Draw the Venn diagram of a hypercube of at most 4 sets.

    Parameters
    ----------
    labels
        The sets, one for each dimension.
    array
        Booleans of shape ``(2,) * n``: whether each region holds anything; index 1 is inside.

    Returns
    -------
    str
        A complete SVG document.
    """
    cells = checked(labels, array)
    return venn_states_svg(labels, [RegionState.INHABITED if cell else RegionState.EMPTY for cell in cells.flat])


def venn_states_svg(labels: Sequence[str], states: Iterable[RegionState], *, inline: bool = False) -> str:
    """Draw a Venn diagram of what is known of each region.

    Parameters
    ----------
    labels
        The sets, at most 4.
    states
        One state for each of the ``2**n`` regions, in the order of the cells of a hypercube: the last set changes
        fastest, outside before inside.
    inline
        Whether it takes the colours of the page it is put in; otherwise it brings its own.
    """
    known = list(states)
    regions = product((0, 1), repeat=len(labels))
    return document(
        venn_figure(labels, known),
        title=f"Venn diagram of {', '.join(labels)}" if labels else "Venn diagram of no sets",
        description=". ".join(
            f"{region_name(labels, region)}: {_SAYS[state]}" for region, state in zip(regions, known, strict=True)
        ),
        inline=inline,
    )


def venn_figure(labels: Sequence[str], states: Sequence[RegionState]) -> Figure:
    """Return a Venn diagram as a figure, with its key."""
    n = len(labels)
    if n not in ARRANGEMENTS:
        raise PictureError(
            f"a Venn diagram shows at most {max(ARRANGEMENTS)} sets, not {n}", hint="draw the hypercube instead"
        )
    if len(states) != 2**n:
        raise HypercubeError(f"{n} sets have {2**n} regions, not {len(states)}")
    arrangement = ARRANGEMENTS[n]
    frame = f"M0 0H{arrangement.width}V{arrangement.height}H0Z"
    paths = outlines(arrangement.ellipses)
    marks = anchors(arrangement)
    outside = (0,) * n
    known = dict(zip(product((0, 1), repeat=n), states, strict=True))
    signs, names = signs_and_key(labels)
    diagram = Figure(
        arrangement.width,
        arrangement.height,
        (
            element("defs", _HATCH),
            *(
                element(
                    "path",
                    element("title", f"{region_name(labels, region)}: {_SAYS[state]}"),
                    class_=state.value,
                    d=frame + paths.get(region, "") if region == outside else paths[region],
                    fill_rule="evenodd",
                    stroke="currentColor",
                    stroke_width=1.25,
                    **_FILLS[state],
                )
                for region, state in known.items()
            ),
            *(mark for region, state in known.items() for mark in _mark(state, *marks[region])),
            *(
                element("text", sign, x=x - text_width(sign, 14) / 2, y=y + 5, font_size=14.0, font_style="italic")
                for sign, (x, y) in zip(signs, arrangement.names, strict=True)
            ),
        ),
    )
    key = beside([_key(state) for state in RegionState if state in states], gap=18)
    return above([diagram, key, *names], gap=8)


def _mark(state: RegionState, x: float, y: float) -> tuple[Element, ...]:
    if state is RegionState.INHABITED:
        return (element("circle", class_="full", cx=x, cy=y, r=4.5),)
    if state is RegionState.UNKNOWN:
        return (element("text", "?", x=x - 4, y=y + 5, font_size=14.0),)
    return ()


def _key(state: RegionState) -> Figure:
    swatch = element("rect", width=16.0, height=16.0, rx=2.0, stroke="currentColor", **_FILLS[state])
    return beside([Figure(16, 16, (swatch, *_mark(state, 8, 8))), words(_SAYS[state], size=12)], gap=6)
