"""A hypercube as in the paper: its vertices projected on the page, with filled circles for inhabited regions."""

from collections.abc import Sequence
from itertools import product
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from provenn.display.figure import Figure, choose_signs, estimate_text_width, render_document, stack_vertically
from provenn.display.markup import Element, make_element
from provenn.display.venn_regions import MOST_DRAWN, Cells, check_hypercube, describe_hypercube, name_region
from provenn.errors import LabelError, PictureError, UnknownLabelError

__all__ = ["assign_directions", "hypercube_figure", "hypercube_svg"]

_RADIUS = 6.0
_TEXT = 12.0
# The narrowest whole numbers whose pairs, triples, … all have different sums: the vertices of a level stay apart.
_SPREAD = {5: (0, 1, 2, 4, 7), 6: (0, 1, 2, 7, 10, 13)}


def assign_directions(order: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the direction of each set in a picture, as (right, down).

    All directions point down, so the region outside all sets is at the top and the region inside all sets at the
    bottom; the first set points furthest left. No two vertices of the hypercube of all these sets coincide, and no edge
    runs through a vertex.
    """
    n = len(order)
    if len(set(order)) < n:
        raise LabelError(f"a set is named twice: {', '.join(order)}")
    if n > MOST_DRAWN:
        raise PictureError(
            f"a hypercube of {n} sets is too crowded to draw",
            hint=f"remove sets until at most {MOST_DRAWN} are left",
        )
    if n == 3:  # evenly spread, the middle set would hide the intersection of the two others
        vectors = [(-50.0, 38.0), (0.0, 38.0), (50.0, 38.0)]
    elif n <= 4:
        length = 46.0 + 4 * n
        angles = [pi * ((i + 0.5) / n - 0.5) for i in range(n)]
        vectors = [(length * sin(angle), length * cos(angle)) for angle in angles]
    else:
        middle = sum(_SPREAD[n]) / n
        vectors = [((x - middle) * 26.0, 64.0) for x in _SPREAD[n]]
    return dict(zip(order, vectors, strict=True))


def hypercube_svg(labels: Sequence[str], array: Cells, *, order: Sequence[str] | None = None) -> str:
    """Draw a hypercube.

    Parameters
    ----------
    labels
        The sets, one for each dimension.
    array
        Booleans of shape ``(2,) * n``: whether each region holds anything; index 1 is inside.
    order
        The sets of the whole picture, if this hypercube is one of several: with the same order, every set has the same
        direction in all of them.

    Returns
    -------
    str
        A complete SVG document. A filled circle is an inhabited region, an open circle an empty one.
    """
    cells = check_hypercube(labels, array)
    signs, key = choose_signs(labels)
    return render_document(
        stack_vertically([hypercube_figure(labels, cells, order=order, signs=signs), *key]),
        title=f"Hypercube of {', '.join(labels)}" if labels else "Hypercube of no sets",
        description=describe_hypercube(labels, cells),
    )


def hypercube_figure(
    labels: Sequence[str],
    array: Cells,
    *,
    order: Sequence[str] | None = None,
    signs: Sequence[str] = (),
    size: float = 1.0,
) -> Figure:
    """Return a hypercube as a figure.

    The `signs`, one per set, stand at the vertices of single sets. With a `size` below 1 the edges are shorter; circles
    and signs shrink less, to stay readable.
    """
    cells = check_hypercube(labels, array)
    radius, text_size = _RADIUS * (1 + size) / 2, _TEXT * (2 + size) / 3
    direction_by_label = assign_directions(labels if order is None else order)
    for label in labels:
        if label not in direction_by_label:
            raise UnknownLabelError(label, direction_by_label)
    vectors = np.array([direction_by_label[label] for label in labels]).reshape(len(labels), 2) * size
    indices = list(product((0, 1), repeat=len(labels)))
    points = np.array(indices).reshape(len(indices), len(labels)) @ vectors

    reach = radius + 1
    names = [
        (*_place_sign(vector, sign, radius, text_size), sign) for vector, sign in zip(vectors, signs, strict=False)
    ]
    left = min([float(points[:, 0].min()) - reach, *(x for x, _, _ in names)])
    right = max(
        [float(points[:, 0].max()) + reach, *(x + estimate_text_width(sign, text_size) for x, _, sign in names)]
    )
    points += np.array([-left, reach])
    point_by_index = dict(zip(indices, points, strict=True))
    return Figure(
        right - left,
        float(points[-1, 1]) + reach,
        (
            *_draw_edges(point_by_index, radius),
            *(
                _draw_vertex(labels, index, point, radius, full=bool(cells[index]))
                for index, point in point_by_index.items()
            ),
            *(
                make_element(
                    "text", sign, x=x - left, y=y + reach, font_size=text_size, font_style="italic", fill_opacity=0.8
                )
                for x, y, sign in names
            ),
        ),
    )


def _place_sign(vector: NDArray[np.float64], sign: str, radius: float, text: float) -> tuple[float, float]:
    """Return the position of the sign of a set: beside its vertex, on the side away from the middle."""
    x, y = float(vector[0]), float(vector[1])
    gap = radius + 3
    return (x - gap - estimate_text_width(sign, text) if x < 0 else x + gap), y + text * 0.35


def _draw_edges(point_by_index: dict[tuple[int, ...], NDArray[np.float64]], radius: float) -> tuple[Element, ...]:
    """Return all edges as a single element; nothing for a hypercube without edges."""
    # An edge ends at the circles, not at their centres, so that an open circle stays open on any background.
    path = []
    for index, start in point_by_index.items():
        for dimension, is_inside in enumerate(index):
            if not is_inside:
                end = point_by_index[(*index[:dimension], 1, *index[dimension + 1 :])]
                step = (end - start) * radius / np.hypot(*(end - start))
                (x1, y1), (x2, y2) = start + step, end - step
                path.append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
    if not path:
        return ()
    return (make_element("path", d="".join(path), stroke="currentColor", stroke_opacity=0.45, fill="none"),)


def _draw_vertex(
    labels: Sequence[str], index: tuple[int, ...], point: NDArray[np.float64], radius: float, *, full: bool
) -> Element:
    """Return the circle of a region: filled if it is inhabited."""
    return make_element(
        "circle",
        make_element("title", f"{name_region(labels, index)}: {'holds something' if full else 'empty'}"),
        class_="full" if full else "open",
        cx=float(point[0]),
        cy=float(point[1]),
        r=radius - 0.75,
        stroke="currentColor",
        stroke_width=1.5,
        # a transparent filling, so that the tooltip appears over the whole circle
        **({} if full else {"fill_opacity": 0.0}),
    )
