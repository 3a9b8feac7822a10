"""SVG read back: independent of how it is written."""

import re
from math import atan2, cos, pi, radians, sin, sqrt
from xml.etree import ElementTree as ET

import numpy as np
from numpy.typing import NDArray

__all__ = ["contains", "flattened", "parsed", "tagged"]

NAMESPACE = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


def parsed(svg: str) -> ET.Element:
    """Read an SVG document, which must be well-formed."""
    return ET.fromstring(svg)  # noqa: S314 - our own output


def tagged(root: ET.Element, tag: str, class_: str | None = None) -> list[ET.Element]:
    """Find the elements with a tag, and a class."""
    return [item for item in root.iter(NAMESPACE + tag) if class_ in (None, item.get("class"))]


def contains(loops: list[list[Point]], x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which points are inside polygons, by the even-odd rule."""
    inside = np.zeros(x.shape, dtype=bool)
    for loop in loops:
        for (x1, y1), (x2, y2) in zip(loop, [*loop[1:], loop[0]], strict=True):
            if y1 != y2:
                inside ^= ((y1 > y) != (y2 > y)) & (x < x1 + (y - y1) * (x2 - x1) / (y2 - y1))
    return inside


def flattened(path: str, steps: int = 60) -> list[list[Point]]:
    """Turn the data of a path (M, H, V, A, Z) into polygons, by the formulas of the SVG standard (appendix B.2)."""
    loops: list[list[Point]] = []
    for command, numbers in re.findall(r"([MHVAZ])([^MHVAZ]*)", path):
        values = [float(number) for number in numbers.split()]
        if command == "M":
            loops.append([(values[0], values[1])])
        elif command == "H":
            loops[-1].append((values[0], loops[-1][-1][1]))
        elif command == "V":
            loops[-1].append((loops[-1][-1][0], values[0]))
        elif command == "A":
            loops[-1].extend(_arc(loops[-1][-1], values, steps))
    return loops


def _arc(start: Point, values: list[float], steps: int) -> list[Point]:
    rx, ry, tilt, large, sweep, x2, y2 = values
    (x1, y1), phi = start, radians(tilt)
    dx, dy = (x1 - x2) / 2, (y1 - y2) / 2
    u, v = cos(phi) * dx + sin(phi) * dy, cos(phi) * dy - sin(phi) * dx
    scale = max(1.0, sqrt((u / rx) ** 2 + (v / ry) ** 2))
    rx, ry = rx * scale, ry * scale
    denominator = (rx * v) ** 2 + (ry * u) ** 2
    factor = sqrt(max(0.0, (rx * ry) ** 2 - denominator) / denominator) * (1 if large != sweep else -1)
    cu, cv = factor * rx * v / ry, -factor * ry * u / rx
    cx = cos(phi) * cu - sin(phi) * cv + (x1 + x2) / 2
    cy = sin(phi) * cu + cos(phi) * cv + (y1 + y2) / 2
    first = atan2((v - cv) / ry, (u - cu) / rx)
    turn = (atan2((-v - cv) / ry, (-u - cu) / rx) - first) % (2 * pi)
    turn = turn if sweep else turn - 2 * pi
    angles = [first + turn * i / steps for i in range(1, steps + 1)]
    return [
        (
            cx + rx * cos(a) * cos(phi) - ry * sin(a) * sin(phi),
            cy + rx * cos(a) * sin(phi) + ry * sin(a) * cos(phi),
        )
        for a in angles
    ]
