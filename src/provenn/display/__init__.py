"""Values to look at, as text, SVG and HTML. Pure functions on plain values: labels and NumPy arrays."""

from provenn.display.array import array_svg, array_text
from provenn.display.hypercube import hypercube_svg
from provenn.display.relationship import relationship_html, relationship_svg, relationship_text
from provenn.display.text import hypercube_text
from provenn.display.venn import RegionState, venn_states_svg, venn_svg

__all__ = [
    "RegionState",
    "array_svg",
    "array_text",
    "hypercube_svg",
    "hypercube_text",
    "relationship_html",
    "relationship_svg",
    "relationship_text",
    "venn_states_svg",
    "venn_svg",
]
