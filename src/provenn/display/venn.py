"""A hypercube as a shaded Venn diagram.

As in Venn's own diagrams, empty regions are shaded. An inhabited region is tinted and has a filled circle, as in the
hypercube.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import product

from provenn.display.figure import (
    ACCENT,
    Figure,
    choose_signs,
    draw_text,
    estimate_text_width,
    render_document,
    stack_horizontally,
    stack_vertically,
)
from provenn.display.geometry import ARRANGEMENTS, find_anchors, trace_outlines
from provenn.display.markup import Element, ElementReference, make_element
from provenn.display.venn_regions import Cells, check_hypercube, name_region
from provenn.errors import HypercubeError, PictureError

__all__ = ["RegionState", "venn_figure", "venn_states_svg", "venn_svg"]


class RegionState(StrEnum):
    """Whether a region is empty, inhabited or unknown."""

    EMPTY = "empty"
    INHABITED = "inhabited"
    UNKNOWN = "unknown"


_SAYS = {
    RegionState.EMPTY: "empty",
    RegionState.INHABITED: "holds something",
    RegionState.UNKNOWN: "unknown",
}
_FILLS: dict[RegionState, dict[str, str | float | ElementReference]] = {
    RegionState.EMPTY: {"fill": ElementReference("-hatch")},
    RegionState.INHABITED: {"fill": ACCENT, "fill_opacity": 0.28},
    RegionState.UNKNOWN: {"fill_opacity": 0.0},
}
_HATCH = make_element(
    "pattern",
    make_element("path", d="M-1 1L1 -1M0 7L7 0M6 8L8 6", stroke="currentColor", stroke_opacity=0.55, fill="none"),
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
    cells = check_hypercube(labels, array)
    return venn_states_svg(labels, [RegionState.INHABITED if cell else RegionState.EMPTY for cell in cells.flat])


def venn_states_svg(labels: Sequence[str], states: Iterable[RegionState], *, inline: bool = False) -> str:
    """Draw a Venn diagram of the state of each region.

    Parameters
    ----------
    labels
        The sets, at most 4.
    states
        One state for each of the ``2**n`` regions, in the order of the cells of a hypercube: the last set changes
        fastest, outside before inside.
    inline
        Whether the picture goes into a page and takes its colours; otherwise it brings its own.
    """
    state_list = list(states)
    regions = product((0, 1), repeat=len(labels))
    return render_document(
        venn_figure(labels, state_list),
        title=f"Venn diagram of {', '.join(labels)}" if labels else "Venn diagram of no sets",
        description=". ".join(
            f"{name_region(labels, region)}: {_SAYS[state]}" for region, state in zip(regions, state_list, strict=True)
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
    paths = trace_outlines(arrangement.ellipses)
    marks = find_anchors(arrangement)
    outside = (0,) * n
    state_by_region = dict(zip(product((0, 1), repeat=n), states, strict=True))
    signs, names = choose_signs(labels)
    diagram = Figure(
        arrangement.width,
        arrangement.height,
        (
            make_element("defs", _HATCH),
            *(
                make_element(
                    "path",
                    make_element("title", f"{name_region(labels, region)}: {_SAYS[state]}"),
                    class_=state.value,
                    d=frame + paths.get(region, "") if region == outside else paths[region],
                    fill_rule="evenodd",
                    stroke="currentColor",
                    stroke_width=1.25,
                    **_FILLS[state],
                )
                for region, state in state_by_region.items()
            ),
            *(mark for region, state in state_by_region.items() for mark in _draw_mark(state, *marks[region])),
            *(
                make_element(
                    "text", sign, x=x - estimate_text_width(sign, 14) / 2, y=y + 5, font_size=14.0, font_style="italic"
                )
                for sign, (x, y) in zip(signs, arrangement.names, strict=True)
            ),
        ),
    )
    key = stack_horizontally([_draw_key(state) for state in RegionState if state in states], gap=18)
    return stack_vertically([diagram, key, *names], gap=8)


def _draw_mark(state: RegionState, x: float, y: float) -> tuple[Element, ...]:
    """Return the mark of a region: a filled circle, a question mark, or nothing."""
    if state is RegionState.INHABITED:
        return (make_element("circle", class_="full", cx=x, cy=y, r=4.5),)
    if state is RegionState.UNKNOWN:
        return (make_element("text", "?", x=x - 4, y=y + 5, font_size=14.0),)
    return ()


def _draw_key(state: RegionState) -> Figure:
    """Return the entry of a state in the key."""
    swatch = make_element("rect", width=16.0, height=16.0, rx=2.0, stroke="currentColor", **_FILLS[state])
    return stack_horizontally(
        [Figure(16, 16, (swatch, *_draw_mark(state, 8, 8))), draw_text(_SAYS[state], size=12)], gap=6
    )
