"""A hypercube as the paper draws it: its vertices projected on the page, filled where something is."""

from collections.abc import Sequence
from itertools import product
from math import cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from provenn.display.figure import Figure, above, document, signs_and_key, text_width
from provenn.display.markup import Element, element
from provenn.display.regions import MOST_DRAWN, Cells, checked, description, region_name
from provenn.errors import LabelError, PictureError, UnknownLabelError

__all__ = ["directions", "hypercube_figure", "hypercube_svg"]

_RADIUS = 6.0
_TEXT = 12.0
# The narrowest whole numbers of which any two, any three, … have different sums: the vertices of a level stay apart.
_SPREAD = {5: (0, 1, 2, 4, 7), 6: (0, 1, 2, 7, 10, 13)}


def directions(order: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return the direction in which each set of a picture lies, as (right, down).

    All point down, so the outside comes at the top and what is inside all sets at the bottom; the first set points
    most to the left. No two vertices of the hypercube of all these sets coincide, and no edge runs through a vertex.
    """
    n = len(order)
    if len(set(order)) < n:
        raise LabelError(f"a set is named twice: {', '.join(order)}")
    if n > MOST_DRAWN:
        raise PictureError(
            f"a hypercube of {n} sets is too crowded to draw",
            hint=f"remove sets until at most {MOST_DRAWN} are left",
        )
    if n == 3:  # evenly spread, the middle set would hide what is in the two others
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
        The sets of the whole picture, where this is one hypercube of several: the same order gives every set the
        same direction in all of them.

    Returns
    -------
    str
        A complete SVG document. A filled circle is a region that holds something, an open circle an empty one.
    """
    cells = checked(labels, array)
    signs, key = signs_and_key(labels)
    return document(
        above([hypercube_figure(labels, cells, order=order, signs=signs), *key]),
        title=f"Hypercube of {', '.join(labels)}" if labels else "Hypercube of no sets",
        description=description(labels, cells),
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

    Its `signs`, one for each set, are written where that set alone is. With a `size` below 1 the edges are shorter;
    circles and signs shrink less, so that they stay readable.
    """
    cells = checked(labels, array)
    radius, text = _RADIUS * (1 + size) / 2, _TEXT * (2 + size) / 3
    toward = directions(labels if order is None else order)
    for label in labels:
        if label not in toward:
            raise UnknownLabelError(label, toward)
    vectors = np.array([toward[label] for label in labels]).reshape(len(labels), 2) * size
    indices = list(product((0, 1), repeat=len(labels)))
    points = np.array(indices).reshape(len(indices), len(labels)) @ vectors

    reach = radius + 1
    names = [(*_beside(vector, sign, radius, text), sign) for vector, sign in zip(vectors, signs, strict=False)]
    left = min([float(points[:, 0].min()) - reach, *(x for x, _, _ in names)])
    right = max([float(points[:, 0].max()) + reach, *(x + text_width(sign, text) for x, _, sign in names)])
    points += np.array([-left, reach])
    where = dict(zip(indices, points, strict=True))
    return Figure(
        right - left,
        float(points[-1, 1]) + reach,
        (
            *_edges(where, radius),
            *(_vertex(labels, index, point, radius, full=bool(cells[index])) for index, point in where.items()),
            *(
                element("text", sign, x=x - left, y=y + reach, font_size=text, font_style="italic", fill_opacity=0.8)
                for x, y, sign in names
            ),
        ),
    )


def _beside(vector: NDArray[np.float64], sign: str, radius: float, text: float) -> tuple[float, float]:
    """Return where the sign of a set goes: beside its vertex, on the side away from the middle."""
    x, y = float(vector[0]), float(vector[1])
    gap = radius + 3
    return (x - gap - text_width(sign, text) if x < 0 else x + gap), y + text * 0.35


def _edges(where: dict[tuple[int, ...], NDArray[np.float64]], radius: float) -> tuple[Element, ...]:
    # An edge ends at the circles, not at their centres, so that an open circle is open on any paper.
    path = []
    for index, start in where.items():
        for dimension, inside in enumerate(index):
            if not inside:
                end = where[(*index[:dimension], 1, *index[dimension + 1 :])]
                step = (end - start) * radius / np.hypot(*(end - start))
                (x1, y1), (x2, y2) = start + step, end - step
                path.append(f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}")
    if not path:
        return ()
    return (element("path", d="".join(path), stroke="currentColor", stroke_opacity=0.45, fill="none"),)


def _vertex(
    labels: Sequence[str], index: tuple[int, ...], point: NDArray[np.float64], radius: float, *, full: bool
) -> Element:
    return element(
        "circle",
        element("title", f"{region_name(labels, index)}: {'holds something' if full else 'empty'}"),
        class_="full" if full else "open",
        cx=float(point[0]),
        cy=float(point[1]),
        r=radius - 0.75,
        stroke="currentColor",
        stroke_width=1.5,
        # an invisible filling, so that the tip appears over the whole circle
        **({} if full else {"fill_opacity": 0.0}),
    )
